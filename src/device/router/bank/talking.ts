/**
 * Training text of the static router: messages, mail, calls, people and writing. Form: own-things.ts.
 */

/** Concepts about talking to others and writing. */
export const talking = `
# send-message text-someone write-to-contact
> Sends a text message to one of the contacts
> Writes to a person and delivers it
> Lets somebody know something
text {person} that I'm on my way
tell {person} about {topic}
message {person} about {topic}
let {person} know I'm late
send {person} a quick hello
ask {person} if {time} works
drop {person} a line
write {person} that {statement}
inform {person} that {topic} moved
congratulate {person}
say thanks to {person}
pass on to {person} that {statement}
can {person} come {time}? ask please
tell {person} that {statement}
let {person} know that {statement}
say to {person} {statement}
ask {person} whether {statement}
send word to {person} about {topic}
write to {person} and say {statement}
{person} should know that {statement}
find out from {person} if {time} is good
message for {person}: {statement}
wish {person} luck

# draft-reply answer-email compose-mail
> Drafts e-mails and answers to them
> Writes mails in the voice of the owner
> Helps to reply to letters and messages politely
write an email to {person} about {topic}
reply to {person}'s mail
answer that email
compose a mail about {topic}
decline the offer by mail
help me respond to {person}
mail {person} an apology
draft a letter to the bank about {topic}
how do I answer {person} politely
a short mail that asks for {topic}
{person} expects a written answer from me
that mail from {person} needs a reply
put together a polite email about {topic}
turn down {person}'s request in writing
draft an answer to the {doc} they mailed
what should I reply to this email
a friendly mail to {person} regarding {topic}
formulate a response to {person}
my inbox has a question from {person}, answer it

# phone-call dial-contact ring
> Calls a contact by voice or video
> Dials a number
call {person}
ring {person}
give {person} a ring
video call with {person}
dial the {place}
get {person} on the line
call back the last number

# find-contact address-book contact-card
> Looks up somebody's number, address or birthday
> Searches the contacts
phone number of {person}
what's {person}'s address
how can I reach {person}
email of {person}
when is {person}'s birthday
do I have a contact named {person}

# social-post write-post share-update
> Writes a post for social media with a picture and tags
> Publishes news to followers
post a picture of the {thing}
write a caption for {topic}
announce {topic} to my followers
tweet about {topic}
share the photo with hashtags

# creative-writing write-poem story
> Writes poems, stories, speeches and verses
> Invents a text for an occasion
write a poem about {topic}
tell a story about {topic}
a speech for the {event}
make a rhyme for {person}
a toast for {person}
invent a fairy tale with a dragon
lyrics about {topic}

# proofread fix-grammar improve-wording
> Corrects spelling and grammar and improves a text
> Makes sentences clearer and more formal
check my {doc} for mistakes
fix the typos
is this sentence right
make the {doc} sound friendlier
rewrite this in plain words
improve the wording
correct my grammar

# translate translator interpreter
> Translates words and texts between languages
> Says how something is called in another language
translate this into {language}
how do you say thank you in {language}
what does this mean in {language}
{language} version of the {doc}
put the letter into {language}
is there a {language} word for {topic}

# summarize-document key-points digest
> Reads a long text and gives the main points
> Shortens a document, thread or article
> Makes a summary
summarise the {doc}
give me the short version of the {doc}
main points of the {doc}
what does the {doc} say
sum up this thread
I don't have time to read the {doc}
condense the {doc}
the {doc} in three sentences
what should I take away from the {doc}
get me through this {doc} quickly
the most important bits of the {doc}
what's in the {doc}, briefly
make this {doc} short
I only want the core of the {doc}
the {doc} is endless, cut it down
what are the findings of the {doc}
reduce the {doc} to a paragraph

# read-aloud speak-text narrate
> Reads a text out loud
> Speaks an article or a message
read this to me
speak the {doc}
let me hear the last message
narrate the article while I drive

# invite-guests party-invitations rsvp
> Writes invitations and keeps the list of guests
> Knows who accepted and who declined
invite {person} to the {event}
who is coming to the {event}
has {person} said yes
add {person} to the guests
how many will we be at the {event}
send out the invitations

# complaint-letter consumer-complaint
> Writes complaints to companies and asks for money back
> Disputes a charge or a bad service
complain about the {thing}
I want my money back for the {thing}
the {thing} arrived broken
dispute the charge
write to the airline about the delay

# meeting-minutes take-minutes protocol
> Records what was said and decided in a meeting
> Turns a discussion into minutes with tasks
write the minutes of the {event}
what did we decide
who has to do what after the {event}
record the decisions about {topic}
type up my scribbles from the {event}

# meeting-prep briefing prepare-talk
> Prepares for a meeting with background, people and open questions
> Briefs the owner before a call or an interview
prepare me for the meeting with {person}
brief me before I see {person}
what should I know about {person} before we talk
talking points for {topic}
get me up to date on {topic} for the {event}
who attends the {event} and what is open
I meet {person} {time}, give me the background
get me ready for the {event} with {person}
what did {person} and I leave open
which points are pending for the {event}
I'm about to talk to {person}, what matters
background on {person} for the {event}
agenda and history before I see {person}
what was agreed with {person} the last time we sat together

# greeting-cards birthday-wishes
> Writes birthday wishes and greeting cards
> Remembers occasions and proposes words for them
wishes for {person}'s birthday
a card for the wedding
what do I write to {person} for the new baby
condolences for {person}

# gift-ideas present-finder
> Suggests presents for people and occasions
> Finds a gift within a budget
what can I give {person}
a present for {person}
gift under {number} euros
something nice for {person}'s anniversary
`;
