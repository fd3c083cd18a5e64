/**
 * What stands in the slots of the training text. A few values each: the router learns the frame of a
 * request, and from the values only that they may be anything.
 */

/** Values by slot, separated by `|`. */
export const slots: Readonly<Record<string, string>> = {
  person:
    "Anna|Mehmet|my sister|mum|the neighbour|Dr Weiss|Joao|grandpa|Mia|my boss|the plumber|Leila|uncle Bert|Sofia|the team|Paul|Omar|Julia|my cousin|dad|my husband|my wife|Mrs Kim|the landlady|Pedro|Hanna|my daughter|our son|grandma|Ivan|the accountant|Bruno|Aisha|my colleague|the coach|Lukas|my aunt|Clara|everyone|the others|him|her|them|my friends|the babysitter|Robert",
  time: "today|tomorrow|tonight|on Friday|next week|this weekend|on Sunday afternoon|at noon|in March|next month|on the 12th|on Monday morning|later|in two days|this month|Tuesday at five|this morning|tomorrow evening|on Wednesday|on Thursday night|at half past three|in the summer|after work|the day after tomorrow|next Sunday|on the 3rd of May|in an hour|around eight|before lunch|over Easter|on my birthday|next year|at the end of the month|on weekdays",
  place:
    "Lisbon|the lake|Hamburg|the airport|Rome|the station|Scotland|the old town|Vienna|the office|Kyoto|the mountains|Chicago|the harbour|Crete|Dublin|the coast|Munich|Denmark|the airport|Naples|the village|Porto|the islands|Warsaw|the library|home|Mexico|the swimming pool|the hotel|Budapest|the border",
  topic:
    "the budget|the new roof|the wedding|solar panels|the move|school fees|the reunion|the launch|the fence|the choice of carpets|the holiday|the website|insurance|the survey|the festival|the delay|our plans|the dog|dinner|the parcel|the heating|the exam|the new job|the garage|the accident|the surprise|the bill|the neighbours|the invitation|the strike|the flood|the recipe|the holidays|the report|the phone|a refund|the opening|the election",
  doc: "rental contract|tax return|floor plan|boarding pass|insurance letter|school report|manual|invoice|essay|presentation|x-ray|birth certificate|proposal|payslip|thesis|article|study|letter from the school|guidelines|minutes|book chapter|newsletter|contract|brochure|application|statement|catalogue|recipe|map|list",
  fact: "passport number|blood group|wifi password|shoe size|account number|licence plate|customer number|tax id|locker number|ring size|dentist's name|meter reading|membership number|insurance policy|iban|allergies|insurance number|pin|postcode|employee number|bra size|blood pressure in spring|landlord's address|vaccination dates|bike lock code|birth weight|first car|aunt's surname|height|frame number",
  thing:
    "drill|lamp|tent|printer|sofa|jacket|ladder|camera|suitcase|umbrella|bike|phone|carpet|toaster|guitar|washing machine|key|coat|boots|television|mattress|chair|glasses|passport|headphones|box|scooter|kettle|table|mirror|watch|bag|vase|mixer|stroller|tyre|battery|helmet",
  food: "eggs|rice|tomatoes|chicken|bread|lentils|apples|pasta|cheese|coffee|mushrooms|spinach|flour|salmon|pizza|soup|milk|butter|onions|carrots|beans|fish|oranges|ham|noodles|tofu|garlic|bananas|honey|oatmeal|peppers|minced meat|a lasagne|a curry|pancakes|biscuits|tea|juice|olives|yoghurt drinks|cream",
  event:
    "wedding|birthday party|parents' meeting|dentist appointment|concert|interview|board meeting|haircut|lunch|football match|workshop|dinner|exam|visit|barbecue|funeral|rehearsal|job interview|swimming lesson|flight|check-up|dinner with friends|video call|lecture|school play|trip|delivery|viewing|yoga class|appraisal|anniversary",
  device:
    "kitchen lamp|heater|fan|dishwasher|television|boiler|coffee machine|hall light|vacuum robot|radio",
  task: "water the flowers|pay the rent|call the bank|take the pills|feed the cat|fetch the laundry|hand in the form|defrost the fish|renew the pass|charge the car|lock the shed|phone mum|buy stamps|turn off the oven|book the tickets|sign the papers|change the filter|back up the laptop|iron the shirts|return the books|water the tomatoes|move the car|check the post|order the cake|clean the windows|stretch|pack the bag|print the tickets",
  statement:
    "the spare key is with Anna|the plumber costs eighty an hour|Paul dislikes olives|the paint is number 204|our seats are in row nine|the lease ends in May|the cake order is 881|the bus leaves from gate two|the meter stood at 4410|the new doctor is called Weiss|the bread is in the freezer|Mia likes dark chocolate|the parking place is number nine|the code of the bike lock is 7312|grandma lands at six|we lent the ladder to Bert|the filter was changed in June|Omar moves out in autumn|the shop closes on Mondays|Clara's shoe size is 38|the warranty runs until 2028|my locker is 114|the cat gets one tablet a day|the red wire is the live one|rent went up by forty|the tailor has my trousers|the password is in the blue book|the doctor said less salt|I left the umbrella at work|Lukas can sleep on the sofa|the tank holds fifty litres|we arrived safely|I am running late|the door is open|dinner is ready|the meeting is off",
  number: "12|45|80|3|150|seven|twenty|60|9|thirty",
  music: "jazz|a symphony|the new album|rock from the eighties|rain sounds|my running list|a waltz",
  language: "French|Polish|Hindi|Spanish|Turkish|Dutch|Japanese|Swedish",
  science:
    "photosynthesis|inflation|gravity|electric motors|the ice ages|fractions|the French revolution|genes|volcanoes|probability|grammar",
};
