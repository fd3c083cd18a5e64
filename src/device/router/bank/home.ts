/**
 * Training text of the static router: reminders, appointments, food. Form: own-things.ts.
 */

/** Concepts about the day at home. */
export const home = `
# set-reminder remind-me nudge
> Reminds the owner of a task at a time
> Gives an alert so that a chore is not forgotten
> For chores and duties that must not be forgotten
> Gives the owner a nudge at the right hour
> Alerts and to-dos at a time
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
I mustn't forget to {task}
{task} {time}, remind me
wake my memory about {topic} {time}
tell me when it's time to {task}
set something so that I {task} {time}
every Monday I have to {task}
in ten minutes: {task}
could you nag me to {task}
I should {task} {time}, say something then

# add-event create-appointment book-calendar
> Puts new appointments on the calendar
> Creates an event with time and title
> Reserves time on a day
> For new dates: dinners, visits, classes and trips go onto the calendar
> Makes an entry with day and hour
> Books a slot in the diary
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
{person} comes {time}, put that down
{event} at nine {time}
new date: {event}, {time}
I've been invited to a {event} {time}, add it
mark {time} for the {event}
the children have a {event} {time}, enter it
reserve a slot {time} for the {event}
we agreed on {time} for the {event}
hold {time} for me

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
> Dinner, lunch and cakes from what there is
> Cooking instructions and ideas for meals
> For the question of what to eat and how to prepare it
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
what's a good dinner {time}
I have leftover {food}
cook something with {food}
how do you prepare {food}
an easy cake
inspire me for lunch
what could we make for {number} guests
how is {food} made
give me something to cook tonight

# shopping-list groceries supermarket
> Keeps the list of things to buy
> Adds groceries and household goods
> What is missing in kitchen and bath goes on this list
> Collects what has to be bought
> For groceries, drinks and things for the household
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
we have no {food}
{food} is running out
please get {food}
toothpaste and {food} next time at the shop
pick up some {food}
I have to get {food}
buy a new {thing}
don't forget the {food} at the supermarket
we're low on {food}

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
`;
