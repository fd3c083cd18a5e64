/**
 * Training text of the static router: words that belong together, one group a line. They let a menu
 * line of which no concept knows anything still meet a request in other words.
 *
 * General vocabulary. Groups from the fields of the evaluation's unseen menus (bees, choir, tenants,
 * brewing, school, sailing, podcasts, clinic, fantasy, garden, bicycles, restaurants) are kept out, so
 * that "unseen" means it.
 */

/** One group a line. */
export const words = `
money cash pay paid payment price cost costs euro euros dollar bill invoice fee budget spend spent expensive cheap owe owes debt arrears
bank account balance transfer salary wage income loan interest credit savings
buy purchase order shop store supermarket groceries goods basket checkout
sell sale sales customer client buyer turnover revenue profit
count number numbers amount quantity how many total sum average figures statistics percent
measure size height tall wide length metre metres centimetre weight kilo heavy large small fit fits
time hour hours minute minutes duration long clock schedule timing
date day week month year today tomorrow calendar weekday season spring summer autumn winter
early late soon deadline due overdue delay delayed missing behind
plan planning arrange organise prepare schedule order sequence programme
who person people name names somebody member team group crew staff colleague
mother father parents family families child children son daughter aunt uncle grandmother relatives
write text letter note words draft compose sentence mail message
read book article story page chapter novel author text
tell inform announce let know notify say message news
ask question questions interview talk speak conversation
record log enter note down write up register diary report
find search look for locate where discover dig out
show list overview display which
explain describe meaning mean what does define why
translate language foreign English word words meaning
check inspect examine look over test control verify
repair fix broken defect fault mend damaged squeaks noise leak
machine motor engine filter pump service maintenance mechanic
car vehicle drive tyre tyres wheel brake brakes fuel garage
train bus ticket station platform travel journey trip tour
water wet drink litre litres rain pour dry thirsty
weather temperature hot cold heat warm frost ice snow wind storm sun
animal animals dog cat horse cow bird beast creature
food eat meal dish dishes cook cooking kitchen recipe soup meat bread
full empty left over remaining run out stock supply supplies store enough
deliver delivery bring send carry collect fetch pick up return
store room shelf cellar warehouse keep storage copies inventory
house home flat apartment room building attic roof wall
electrician plumber tradesman craftsman carpenter painter workman
treat treatment cure against remedy help therapy
film video picture photo camera record recording
idea ideas suggest invent make up create imagine
next following coming upcoming future later after
choose pick select decide best recommend which
urgent important quickly hurry immediately danger
good bad better worse quality feedback rating improve
mistake wrong error correct right fault
permission allow allowed may can could rule rules law legal
child toddler baby small young kid
old age born ancient years
computer laptop software internet website server password
phone call ring telephone caller line dial
light lamp dark bright switch electricity
heat heating boiler radiator stove oven warm degrees
clean wash dirty dust soap tidy
clothes shirt coat shoe shoes wear trousers
tool tools hammer drill saw screw nail
wood tree forest timber branch
metal iron steel copper
calculate compute work out formula maths equation
door key lock open shut gate
road way route direction map north south
sport match team ball goal player coach race
art paint painting drawing colour colours brush
glass clay pot pottery bowl cup
paper print printer form document sheet
police theft stolen crime law court lawyer
government tax council office citizen
religion church prayer wedding funeral
birth birthday anniversary celebrate party
war history king century past
star planet moon space astronomer
`;
