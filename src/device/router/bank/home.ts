/**
 * Training text of the static router: household, food, money, health, family. Form: own-things.ts.
 */

/** Concepts about living. */
export const home = `
# set-reminder remind-me nudge
> Reminds the owner of a task at a time
> Gives an alert so that a chore is not forgotten
remind me to {task}
remind me {time} to {task}
don't let me forget to {task}
make sure that I {task} {time}
I have to {task} {time}, warn me
ping me {time} about {topic}
nudge me to {task}
reminder for {time}: {task}
alert me when it is time to {task}
at nine I have to {task}
in an hour tell me to {task}
I always forget to {task}
see to it that I {task} {time}
give me a shout when I should {task}
I need a reminder about {topic}
come back to me about {topic} {time}
please bring up {topic} again {time}

# add-event create-appointment book-calendar
> Puts new appointments on the calendar
> Creates an event with time and title
> Reserves time on a day
add {event} {time}
put {event} on the calendar {time}
schedule {event} for {time}
block {time} for {topic}
enter {event} {time}
new appointment {time} with {person}
save the date of the {event}
pencil in {person} {time}
reserve two hours {time}
the {event} is {time}, note it in my calendar
{event} with {person} {time}, enter that
I have a {event} {time}
{time} is the {event}
reserve {time} for {person}
keep {time} free for {topic}
make an appointment for the {event} {time}
add a {event} at the {place} {time}
set up a {event} with {person}
I'm meeting {person} {time}, put it down
move the {event} to {time}

# set-alarm wake-up alarm-clock
> Sets the alarm clock and wakes the owner
get me up {time}
set an alarm for half past six
wake-up call {time}
turn the alarm off
I must not oversleep

# timer countdown stopwatch
> Counts down minutes and rings
> Measures how long something takes
set a timer of {number} minutes
{number} minutes for the {food}
start the stopwatch
how long is left
count down from {number}

# recipe-ideas cook-dinner what-to-cook
> Suggests dishes and recipes from what is at home
> Explains how to cook a meal
what can I cook with {food}
recipe for {food}
how do I make {food}
dinner idea with {food}
something quick for lunch
I have {food} and {food}, what now
how long does {food} stay in the oven
a dessert with {food}
what goes with {food}
how do I cook {food}
what shall we eat {time}
ideas for a meal with {food}
how long do I boil {food}
bake something with {food}
what's for supper
can I replace {food} by {food} in the sauce

# shopping-list groceries supermarket
> Keeps the list of things to buy
> Adds groceries and household goods
add {food} to the list
we need {food}
buy {food} and soap
put {food} on the shopping list
what's still on my supermarket list
we ran out of {food}
take {food} off the list
no more {food} in the fridge
there's no {food} left
{food} is finished
buy more {food}
get {food} and {food} from the shop
I need {food}
remember {food} when shopping
two packs of {food}
what do we have to buy

# meal-plan diet-plan week-menu
> Plans meals for a week and counts calories
> Watches what and how much is eaten
plan our meals for {time}
how many calories has {food}
a vegetarian menu for the week
I want to eat less sugar
low carb breakfast

# order-food takeaway delivery-meal
> Orders a meal from a restaurant to the door
order {food}
get {food} delivered
I'm hungry, something from the Thai place
takeaway for two
repeat the last order of {food}

# log-expense track-spending household-budget
> Records what was spent and compares it with the budget
> Sums up costs by month and kind
I spent {number} on {food}
{number} euros for fuel
how much did we spend on {topic}
record {number} for the cinema
what went out this month
are we over budget
expenses for {time}
paid {number} for the {thing}
the {thing} cost me {number}
how much have I spent {time}
what did {food} cost us {time}
{number} for the restaurant
where does all the money go
how much is left of the budget
note an expense of {number}
total for {topic} this year

# pay-bill send-money bank-transfer
> Pays bills and sends money
> Transfers an amount to somebody
pay the water bill
send {number} to {person}
transfer the rent
settle the invoice
I owe {person} {number}
pay back {person}

# bank-balance accounts overview-money
> Shows balances and recent payments of the bank accounts
how much is in my account
did the salary arrive
recent payments
is there enough for the rent
who charged me {number}

# smart-home house-control lights
> Switches lights, heating and devices in the house
> Controls appliances and rooms
turn on the {device}
switch the {device} off
make it warmer in the living room
it's dark here
close the curtains
is the {device} still on
set the {device} to {number}
start the {device}

# clean-house chore-plan household
> Divides chores and says what has to be cleaned
whose turn is it to vacuum
the bathroom needs cleaning
plan the chores for {time}
who does the dishes
how do I get the stain out of the {thing}

# fix-at-home handyman repair-guide
> Explains how to repair things in the house
> Helps with tools, leaks and loose screws
the {device} makes a noise
how do I change a fuse
the door squeaks
how can I fix the {thing}
which screw fits a plaster wall

# workout-log fitness training
> Records runs, weights and other training
> Shows progress in sport
I ran {number} km
log my workout
how many steps today
did I train this week
{number} push-ups done
my running progress

# medicine-reminder pills medication
> Keeps track of medicines and when they are taken
did I take my tablets
next dose of the antibiotic
how many pills are left
I took the drops at noon

# symptom-diary health-log
> Records pain, sleep, mood and blood pressure
my head hurts again
I slept badly
note blood pressure {number} over eighty
how was my mood {time}
weight {number} kilos

# book-doctor health-appointment
> Finds a doctor and books an appointment there
I need a dermatologist
find a dentist near me
book a check-up {time}
my back hurts, who can see me

# pet-care vet animals
> Looks after pets: food, walks, vaccinations
when is the dog's next vaccination
the cat doesn't eat
which food for the puppy
walk the dog {time}
how old is the hamster

# baby-log child-care
> Records feeding, naps and growth of a baby
she slept for two hours
he drank {number} millilitres
nappy changed
how tall is the little one
when was the last feed

# family-tree genealogy relatives
> Keeps relatives, ancestors and their dates
when was great-grandfather born
who were {person}'s parents
how is {person} related to me
add a cousin to the tree

# insurance-claims report-damage
> Reports damage to the insurance and follows the claim
somebody dented my car
report the water damage
is the stolen {thing} covered
what has the insurance paid
`;
