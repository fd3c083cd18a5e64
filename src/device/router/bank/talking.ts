/**
 * Training text of the static router: messages, mail, calls, people and writing. Form: own-things.ts.
 */

/** Concepts about talking to others and writing. */
export const talking = `
# send-message text-someone write-to-contact
> Sends a text message to one of the contacts
> Writes to a person and delivers it
> Lets somebody know something
> Delivers short messages to friends, family and colleagues
> For telling, asking or informing a person by text
> Sends words to a contact
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
{person} please bring the {thing}, tell them
tell everybody that {topic} is postponed
ask {person} to feed the cat
ask {person} for the {fact}
could you let {person} know about {topic}
tell {person} happy birthday from me
text him that I can't make it {time}
send {person} my regards
let them know we'll be there {time}
tell {person} to wait for me at the {place}
say sorry to {person}
write my friend that the {thing} has arrived

# draft-reply answer-email compose-mail
> Drafts e-mails and answers to them
> Writes mails in the voice of the owner
> Helps to reply to letters and messages politely
> For mails that need an answer: accepts, declines, thanks
> Written correspondence with anybody
> Suggests what to write in an email
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
refuse politely by email
accept {person}'s offer in writing
there is an email from the {place}, answer for me
thank {person} by mail for {topic}
email the company about {topic}
a formal letter to {person}
write to the agency that we are not interested
draft something to the people from {place}
what do I write back

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
> Makes long things short
> For reports, articles and papers that nobody has time to read
> The essence of a text in a few lines
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
what is the {doc} about
what are the main things in this report
tell me only what is relevant in the {doc}
so many pages, what do they say
shorten this text
a quick overview of the {doc}
extract the key facts from the {doc}
the gist, please
bring the {doc} down to the essentials
what does this paper conclude

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
> What one should know before sitting down with somebody
> Gathers who attends, what was said and what is open
> Gets the owner up to speed for a conversation
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
I have a call with {person} {time}, what do I need to know
what's the state of {topic} before we meet
fill me in before the {event}
prepare questions for {person}
what was decided about {topic} so far, we meet {time}
who is at the {event} and what do they want
help me go prepared into the {event}
background for my interview with {person}

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
