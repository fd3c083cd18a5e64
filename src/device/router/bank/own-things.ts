/**
 * Training text of the static router: a person's own facts, files, calendar, notes and devices.
 *
 * Form: `# handles`, then menu lines after `>`, then requests; `{slot}` stands for one of slots.ts.
 * None of the evaluation's text may appear here (test/device/router/bank.test.ts).
 */

/** Concepts about what belongs to the owner. */
export const ownThings = `
# search-info find-info look-it-up recall-fact
> Looks through notes, files and memory for something that the owner wants to know
> Use it to find out any detail that was stored or mentioned earlier
> Answers questions about the owner's own numbers, codes, names and preferences
> Searches every place where a piece of information could be
> Anything kept anywhere: facts, papers, things that were said
> Finds a detail in the owner's own records
what's my {fact}
I forgot the {fact}
the form asks for my {fact}
do you know our {fact}
where have I written the {fact}
tell me the {fact} again
can you look up the {fact}
they want my {fact} at the counter
have we kept the {fact} anywhere
what did {person} say about {topic}
did I tell you about {topic} once
what do I know about {person}
which {thing} did we choose back then
who recommended {topic} to me
what was the name of that {thing}
find everything on {topic}
where did we put the receipt for the {thing}
when did I buy the {thing}
how much did the {thing} cost back then
was there something about {topic} in my papers
which brand of {thing} do we use
which {thing} fits ours
where is the {doc} about {topic}
is there a guarantee on the {thing}
what did the {person} recommend for {topic}
did {person} ever tell me about {topic}
who fixed our {thing} last time
which one did {person} want
have I got the {fact} of {person}
the {fact} of {person}, please
look whether we still have the {doc}
what have I saved about {topic}
how do I reach the {person} who did {topic}
what's the reason we chose {topic}
who installed the {device}
what kind of {food} does {person} like
where did {person} study
how old is our {thing}
what colour is the {thing}
the contract for the {thing}
when does the guarantee of the {thing} end
who was the {person} from back then
what was the price of the {device}
the {fact}, it is for the booking
how do we use the {device} again
what did I pay {person}
the details of {topic}
what is our {fact}
how do I get hold of the {person}
who sold us the {thing}
where did we get the {thing}
what was written in the {doc}
which {food} did the children like
what was it that {person} wanted for Christmas
when was the last time we changed the {thing}
where are the papers for the {thing}
find the warranty of the {thing}
which company installed the {device}

# check-schedule my-calendar agenda day-view
> Reads the calendar and says what is planned on a day or in a week
> Looks up meetings, appointments and free time
> Use it for any question about what is coming up, when something takes place, or whether the owner is free
> Shows upcoming events
what's planned {time}
am I free {time}
do I have plans {time}
how does {time} look
when is the {event}
is {time} still open
am I busy {time}
show my calendar for {time}
at what hour is the {event}
where do I have to be {time}
which appointments are left {time}
do I have room for a {event} {time}
what's happening {time}
is there a {event} {time}
when do I meet {person}
who am I seeing {time}
what comes up {time}
does the {event} clash with anything
how long is the {event}
what's on {time}
what am I doing {time}
what are my plans {time}
how full is {time}
could {person} come over {time} or am I away
any meetings {time}
do I have to go anywhere {time}
what does the week look like
when am I next in {place}
until when is the {event}
how many appointments do I have {time}
is there time for a {event} {time}
when's {person} coming
what do we have planned for {time}
do {event} and {event} overlap
when is my next {event}
is anything happening {time}
where is the {event} taking place
when does the {event} begin

# current-date today-is calendar-date
> Knows today's date and the day of the week
> Use it for whatever hangs on which day this is
> Tells the current day, month and year and works out dates
what's the date
which weekday do we have
tell me today's date
is today Monday
which year is this
what date is it on Sunday
how many days until {time}
are we in March already
date and weekday please
which calendar week is it
what date was yesterday
is it the weekend yet
which date is {time}
what's the day today

# find-file get-document locate-file my-files
> Finds a document, photo or pdf on the owner's devices
> Locates a file from its description
> Fetches a file from a computer or phone
where is the {doc}
find my {doc}
open the {doc}
get me the {doc} as pdf
on which computer is the {doc}
I saved a {doc} somewhere
bring up the {doc}
I need the file with the {doc}
is there a copy of the {doc} on my laptop
look for the {doc} in my folders
the {doc} from last year please
which folder holds the {doc}

# take-note jot-down remember-this notebook-entry
> Writes a fact into the notebook
> Saves something the owner says so that it can be found again
> Remembers a detail for later
> Keeps what the owner says for a later day
> For facts worth keeping: codes, sizes, likes, places of things
> Puts a line into the notes
remember that {statement}
note that {statement}
write this down: {statement}
save this, {statement}
don't lose this: {statement}
make a note: {statement}
log that {statement}
put in my notes that {statement}
for later, {statement}
you should know that {statement}
add to the notebook {statement}
fyi {statement}
keep in your notes: {statement}
please store that {statement}
just so we know later, {statement}
don't forget, {statement}
a note about {person}: {statement}
I want this kept: {statement}
new fact: {statement}
let's remember {statement}
this is important, {statement}
hold on to this, {statement}
memo: {statement}
take this down, {statement}
I'd like you to know for the future that {statement}
archive this: {statement}
good to know: {statement}
note for myself: {statement}
add that {statement}
so you have it: {statement}
put it on record that {statement}

# list-devices my-machines device-status
> Lists phones and computers and whether they are online
> Shows battery and state of the owner's devices
which devices do I have
is my tablet online
battery of the phone
list all my machines
which laptop is connected
when was the old phone last seen
is the home computer running
how full is the battery

# backup-data make-backup sync-files
> Makes a backup of files and brings them back
> Copies data to a safe place and keeps devices in step
back up my phone
is everything backed up
restore the {doc} from yesterday
when was the last backup
copy my photos to the other disk
sync the laptop
bring back the deleted {doc}

# find-thing where-is-it home-inventory
> Knows where objects are kept in the house
> Tracks belongings, boxes and lent things
where did I put the {thing}
who borrowed the {thing}
which box holds the {thing}
I lent the {thing} to {person}
where do we keep the {thing}
I can't find the {thing}
the {thing} is in the cellar now

# photo-album find-pictures gallery
> Finds photos by person, place or occasion and makes albums
> Organises pictures
show pictures of {person}
photos from {place}
the picture where {person} laughs
make an album of {place}
delete the blurry photos
all photos taken {time}
collect our pictures from the {event}

# passwords-and-codes access-codes
> Keeps door codes, locker combinations and logins
> Looks up how to get in somewhere
what's the code for the garage
combination of the locker
login for the library
the alarm code please
how do I get into the building
pin of the old card
`;
