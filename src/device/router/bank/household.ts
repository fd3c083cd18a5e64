/**
 * Training text of the static router: money, house, health and family. Form: own-things.ts.
 */

/** Concepts about running a household. */
export const household = `
# log-expense track-spending household-budget
> Records what was spent and compares it with the budget
> Sums up costs by month and kind
> What money was spent on, and how much is left
> Keeps an eye on costs
> For receipts, prices paid and the monthly total
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
the taxi was {number}
{number} at the bakery
I bought a {thing} for {number}
put {number} down as groceries
did we spend too much {time}
how high were our costs for {food}
what have we paid for {topic}
can we still afford a {thing} this month
how much did eating out cost us

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
