/**
 * Training text of the static router: work, trades, clubs and learning. Form: own-things.ts.
 */

/** Concepts about work, associations and learning. */
export const work = `
# time-sheet hours-worked track-time
> Records working hours per project
I worked {number} hours on {topic}
how many hours this week
start the clock for {topic}
overtime in this month

# task-board to-dos project-tasks
> Keeps tasks with owners and deadlines
what's still open on {topic}
add a task for {person}
mark {topic} as done
which deadlines come {time}
who is working on {topic}

# write-invoice billing client-bills
> Writes invoices and reminds clients who have not paid
bill {person} for {number} hours
invoice for {topic}
which clients still owe me
second reminder to {person}

# job-application cv cover-letter
> Helps with applications, CVs and interviews
write a cover letter for {topic}
update my cv
typical interview questions
I'd like to apply at the museum

# hiring candidates recruiting
> Sorts candidates and arranges interviews
which applicants fit best
invite {person} to an interview
reject the other candidates kindly

# expense-report travel-costs reimbursement
> Collects receipts of a business trip and claims the money back
hand in my travel costs to {place}
receipt of the hotel for the refund
mileage of my drive to {place}

# customer-support ticket-reply helpdesk
> Answers customers' questions and complaints
a customer cannot log in
reply to the buyer whose {thing} is defective
open ticket for {person}
how many complaints {time}

# sales-figures revenue-report statistics
> Reports turnover, sales and trends in numbers
how did sales develop
turnover of the last quarter
which {thing} sells best
compare this year with the last

# stock-keeping warehouse inventory
> Counts goods on the shelf and reorders what runs short
how many {thing}s are left in the store
reorder {thing}
what is running low
count the shelf with the {thing}s
do we still have {food} in the back

# supplier-orders purchasing wholesale
> Orders goods from suppliers and follows deliveries
order twenty {thing}s from the wholesaler
when does the supplier deliver
the delivery of {food} was short

# shift-roster staff-plan duty-plan
> Plans who works when and who replaces whom
who works {time}
{person} is ill, who takes over
swap my shift with {person}
make the roster for {time}
who is on duty on Sunday

# room-booking meeting-rooms desks
> Books rooms, desks and equipment in the office
a room for {number} people {time}
is the big room free
book the projector

# contract-check legal-review clauses
> Reads contracts and points out risky clauses
may they raise the price under this contract
what is the notice period
is this clause usual
check the agreement with {person}

# tax-helper tax-return deductions
> Collects documents for the tax return and says what can be deducted
can I deduct the {thing}
what's missing for the tax return
when is the tax due

# code-review programming software-help
> Reads code, finds bugs and writes functions
why does this function crash
write a regular expression for dates
review my pull request
the build fails

# server-status incidents monitoring
> Watches servers and reports outages
is the website down
which server is slow
disk space of the database
what happened in the outage last night

# spreadsheet-formulas tables data-analysis
> Writes formulas and analyses tables
sum the column by month
a formula that counts empty cells
chart of the figures
average of these numbers

# slides presentation-maker
> Makes slides for a talk
ten slides about {topic}
an opening for my talk
make the deck shorter

# logo-and-design layout graphics
> Suggests colours, fonts and layouts
which colours go with dark green
a poster for the {event}
crop the picture to a square

# club-members membership association
> Keeps the members of a club and their fees
who hasn't paid the fee of the club
add {person} as a member
how many members do we have
print the list of members

# team-lineup players coach
> Decides which players are in the team and in which position
who plays on the left
line-up for {time}
{person} is injured, who replaces him

# training-plan drills exercise-session
> Plans the training of a team with exercises and duration
what do we train {time}
ninety minutes for the juniors
a drill for quick passes
warm-up ideas

# stage-props theatre-fund costumes
> Keeps costumes and props of a theatre group
do we have a crown in the costumes
who wears the blue coat in act two
which props are on stage in the third scene

# workshop-tools tool-lending machines
> Lends tools and knows which machine is free or broken
is the circular saw free
{person} takes the drill until {time}
the lathe is broken

# painting-jobs quotes craftsmen
> Works out quotes for jobs and materials
what would painting {number} square metres cost
offer for a new roof
how much paint do I need
estimate for the kitchen of {person}

# order-intake customer-orders counter
> Takes a customer's order and the date of collection
a lady ordered two cakes for Saturday
{person} picks up the {thing} {time}
he wants it in blue and smaller

# farm-diary fields livestock
> Records what was done on fields and with animals
spread manure on the north field
the cow calved last night
how much hay is in the barn
when did we cut the meadow

# lab-notebook experiments samples
> Records experiments and samples
sample twelve turned green
repeat the titration at forty degrees
which sample is in the freezer

# research-papers literature citations
> Finds papers and writes citations
papers about {topic} since last year
cite this article
who showed that first

# explain-topic tutor how-it-works
> Explains how things work in simple words
> Teaches a subject
explain {science}
how does {science} work
why is there {science}
I don't understand {science}
teach me the basics of {science}

# quiz-me flashcards exam-practice
> Asks questions for studying and corrects the answers
> Practises vocabulary and facts
quiz me about {science}
test my {language}
ten questions on {science}
practise {language} verbs with me
flashcards on {science}

# calculator maths convert-units
> Calculates and converts units and currencies
what's {number} times {number}
{number} percent of {number}
convert {number} miles
how many grams are {number} ounces
divide {number} by {number}
square root of {number}

# museum-guide exhibits visitors
> Tells visitors about exhibits
who painted the lady in blue
how old is this vase
guide for a group of children

# volunteer-calls helpers donations
> Finds volunteers and thanks donors
who can help at the {event}
thank {person} for the donation
we need four people for the stall

# survey-maker questionnaires feedback
> Makes questionnaires and condenses the answers
a survey on {topic}
what did people answer about {topic}
five questions for visitors of the {event}

# incident-report accident-log safety
> Records accidents and dangers
{person} slipped on the stairs
the fire exit is blocked
write down how the accident happened

# dream-and-mood-journal diary
> Keeps a diary of days and moods
today was exhausting
I dreamt of the sea again
how did I feel in spring

# meditation calm-down breathing
> Guides through breathing and calm
I'm nervous
help me fall asleep
five minutes of quiet

# horoscope-and-names name-finder
> Finds names for children, pets and firms
a name for our puppy
names with A
what shall we call the company
`;
