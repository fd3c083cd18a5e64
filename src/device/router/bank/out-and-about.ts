/**
 * Training text of the static router: travel, places, shopping, free time. Form: own-things.ts.
 */

/** Concepts about being on the way and free time. */
export const outAndAbout = `
# plan-trip itinerary travel-planner
> Plans journeys with dates, route and places to stay
> Organises a holiday
> Makes an itinerary and a packing list
> Holidays and tours: where to go, sleep and what to take along
> Prepares a vacation from route to luggage
> For trips, city breaks and road tours
plan a trip to {place}
a weekend in {place}
what shall we see in {place}
three days in {place} {time}
I'd like to travel to {place}
pack for {place}
holiday with the children in {place}
put together a tour through {place}
where could we sleep in {place}
we're going to {place} {time}
a week in {place} with {person}
travel through {place} by train
what do I need to pack for {place}
organise a trip to {place} for {person}
we have four days for {place}
a round trip from {place} to {place}
where to go {time}
our holiday in {place}, where do we begin
which hotels and sights in {place}
what clothes for {place} {time}
driving tour around {place}
a city break in {place} for two
we'd like to see {place}, plan it
ten days along the {place}
how should we spend {number} days in {place}
I want to go on vacation {time}

# weather forecast rain-or-sun
> Gives the forecast for a place and a day
> Says whether it rains, snows or shines
> Sun, clouds, storms and degrees for today and the next days
> For umbrellas, jackets and frost
> What it is like outside
what's the weather {time}
will it rain {time}
how warm is it in {place}
do I need a coat {time}
is it snowing in {place}
forecast for {place}
how windy does it get
will the sun shine {time}
is it going to be hot {time}
how's the weather in {place}
take an umbrella to {place}?
is there thunder coming
how many degrees in {place}
fog or sun {time}
will it freeze {time}
is it dry enough for a {event} {time}
is bad weather on its way
do we get sun {time}
do I need a jacket
storm warning for {place}?
what are the temperatures {time}
can we sit outside {time}
is it raining in {place}
will there be ice on the road {time}
how are the conditions on the mountain

# directions route-finder navigation
> Finds the way and the travel time to a place
> Knows traffic, trains and buses
how do I get to {place}
route to {place}
how far is {place}
how long to {place} by car
is there traffic on the way to {place}
next bus to {place}
walk to {place} from here

# book-ride taxi-service cab
> Orders a taxi
get a taxi to {place}
I need a ride to {place}
cab {time} please
pick up {person} at {place}

# book-flight flights air-travel
> Finds and books flights
flights to {place} {time}
cheapest way to fly to {place}
check in for my flight
is the plane to {place} late
change my seat to the window

# train-tickets rail-travel timetable
> Finds trains, platforms and tickets
next train to {place}
ticket to {place} {time}
which platform for {place}
is the train to {place} on time
seat reservation to {place}

# book-hotel accommodation rooms
> Finds and books a room for the night
a hotel in {place} {time}
two nights in {place}
is breakfast included
cancel the room in {place}

# book-table restaurant-reservation
> Reserves a table in a restaurant
table for {number} {time}
reserve at the Italian place
a place for dinner near {place}
cancel our reservation {time}

# find-event tickets concerts-nearby
> Finds concerts, plays and exhibitions and buys tickets
concerts in {place} {time}
what's on at the theatre
tickets for {person}'s show
exhibitions in {place}

# movie-guide what-to-watch films
> Suggests films and series
what shall we watch
a good thriller
where can I stream that film
films with {person}
next episode of the series

# music-player play-songs
> Plays songs, albums and playlists
play {music}
put on {music}
louder
skip this song
some quiet music
I'd like to hear {music}

# book-club reading-list books
> Keeps the books that were read and suggests others
what should I read next
I finished the novel
add the crime story to my reading list
who wrote that book about {topic}

# track-parcel shipment delivery-status
> Says where an order is and when it arrives
where is my parcel
when will the {thing} arrive
has the {thing} been sent
my order is late

# compare-prices product-research buy-advice
> Compares products and prices before buying
which {thing} should I buy
is the {thing} cheaper elsewhere
best {thing} under {number}
differences between these two models

# sell-used second-hand classifieds
> Writes adverts for used things and answers buyers
sell the old {thing}
what is my {thing} worth
an ad for the {thing}
somebody offers {number} for the {thing}

# car-care vehicle-service
> Looks after the car: inspection, tyres, fuel
when is the car due for inspection
tyre pressure of the car
the engine light is on
book the service
how much does it use per hundred kilometres

# parking where-parked
> Remembers where the car was parked and pays for it
where did I park
extend the parking time
I'm on level {number}
pay for the car park

# sport-results scores league
> Tells results and fixtures of sports
how did {place} play
table of the league
when is the next match
who scored

# news headlines current-affairs
> Reads the latest news
what's in the news
latest about {topic}
headlines
what happened in {place}
anything new on the election

# hiking-routes walks trails
> Suggests walks and hikes with length and height
a hike near {place}
an easy walk of {number} kilometres
how steep is the path
is there a hut on the way

# photo-spots sightseeing guide
> Tells about sights and monuments
who built this church
what's there to see in {place}
opening hours of the museum
history of the castle

# games-night board-games
> Explains rules and suggests games for a group
rules of {topic}
a game for {number} players
who begins
how do you count points at the end
`;
