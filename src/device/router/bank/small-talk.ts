/**
 * Training text of the static router: what people say that no skill answers. Part of how "nothing
 * fits" is learned; the other part is requests whose skill is not on the menu.
 */

/** One utterance a line. */
export const smallTalk = `
hi
hey you
good evening
how are you
how's it going
who are you
are you a person
what can you do for me
thank you
thanks a lot
great
that's fine
okay then
yes please
no
never mind
forget it
wait a second
sorry
goodbye
see you later
you're funny
I'm bored
I love you
do you sleep
are you there
say something
what do you think about people
what's the meaning of life
you are wrong
that's not what I meant
can you repeat that
come again
hm
well
cool
nice weather we're having
make me laugh
sing something
do you know any riddles
let's chat
I don't know
who made you
how old are you
`;
