"""The words of English that statements are told apart by; the package says what the tags mean."""

TABLE = """
i = i, me, user, the user
u = we, us
m = my, mine
o = our
p = he, she, they, it, this, that, his, her, their, its, him, them, there
the = or newer, or later, or higher, or above, years old, remember that, remember, note that, by the way,
    fyi, the, very, really, do, does, am going to, please, currently, planned, scheduled, set
always = always
x = a, an, some, another, one of
b = is, are, am, will be, amounts to, happens, happen, takes place, take place, occurs, is held, are held
h = has, have, have got, has got
q = was, were, has been, have been, had been, got
f = for
g = of
l = in
n = at, with
t = to
r = from
a = as
@ = on, by, every, each, after, within
L = live, lives, am living, is living, reside, resides, am based, is based, are based
L:host l = runs in, run in, is running in, are running in, is hosted in, are hosted in, is located in, are
    located in, is deployed in, are deployed in, is deployed to, are deployed to, sits in
W = work, works, am working, is working, am employed, is employed
U = use, uses, using, are using, is using
P = prefer, prefers, would rather
K = like, likes, love, loves, enjoy, enjoys
H = hate, hates, dislike, dislikes, cannot stand, can not stand
M:move = moved, have moved, has moved, relocated, have relocated, has relocated
M = switched, have switched, has switched, migrated, have migrated, has migrated, transitioned, ported,
    rewrote, have rewritten, rewritten, postponed, rescheduled, changed, pushed back, brought forward,
    switched over, slipped, delayed, pushed, shifted
J = joined, started at, started working at, started a new job at, started a job at, have joined, got a job
    at
Q = quit my job at, resigned from, left, have left, has left
C = called, named
E = renamed, renamed to, now called, now named
X = cancelled, canceled, called off
O = over, than, more than
I = instead of, rather than, in place of
F = favourite, favorite
B = host on, hosts on, go through, goes through, is built with, is built on, is built in, are built with,
    is based on, is written in, are written in, is powered by, is backed by, is deployed on, runs on, run
    on, listens on, is running on, running on, is hosted on, are hosted on
V:lead = leads, heads
V:own = owns
V:charge = is in charge of, is responsible for, takes care of
Y:deploy = deploy, deploys, deploying
Y:release = release, releases, releasing
Y:ship = ship, ships, shipping
d:due = due, is due, are due
d:start = starts, start, begins
d:open = opens
d:close = closes
d:end = ends, end, expires, expire
d:cost* = costs, takes, lasts
& = and, but, because, so, while
&:or = or
k* = son, daughter, child, kid, brother, sister, friend, colleague, cat, dog, pet, cousin, neighbour,
    neighbor, aunt, uncle, client, customer
T = replaced, have replaced, has replaced
G = requires, require, required, needs, need, needed
A = fine, ok, okay, allowed, permitted, acceptable, you can, you may, it is fine to, it is ok to, it is
    okay to
not A = forbidden, prohibited, disallowed
S:password = password, passphrase, pin, pin code, passcode
not = not, never, no, cannot, can not, do not, does not, will not
ever = any more, anymore, any longer
u gone U = is no longer used, are no longer used, is not used anymore, is not used any more, is no longer in
    use, are no longer in use
gone U = dropped, have dropped, has dropped, abandoned, have abandoned, moved away from, have moved away from,
    has moved away from, migrated away from, have migrated away from, got rid of, have got rid of, ditched
gone = no longer, quit, stopped, gave up, have stopped, has stopped, have given up, do not any longer
now = now, new, nowadays, these days, from now on, as of now, as of today, recently, last month, last
    week, last year, this week, this month, today, already, actually, meanwhile, going forward, just
since = since, as of, starting
also = also, too, as well, another, second, additionally, other, still, sometimes
doubt = maybe, perhaps, might, would, could, should, if, probably, considering, thinking, wants to, want
    to, plan to, plans to, used to, lived, worked, had, used, formerly, previously, former, old, ex, once,
    until, before, when, unless, only, except, wish, not always, do not always, does not always
S:phone = phone number, telephone number, phone, mobile number, mobile, cell number, number
S:mail = email address, e-mail address, email, e-mail, mail address
S:address = address, home address, postal address
S:birthday = birthday, birth date, date of birth
S:name = name
S:title = job title, title
S:employer = employer, company
S:branch = default branch, main branch
S:port = port, port number
S:version = version
S:zone = time zone, timezone
S:language = preferred language, language
S:database = database
S:editor = editor, ide
S:budget = budget
S:price* = price, fee, salary, rate
S:limit* = limit, rate limit, timeout, quota
S:url* = url, website, domain, hostname, homepage
S:age = age
S:size* = shoe size, clothing size
S:event* = deployments, backups, deadline, due date, launch, release date, launch date, meeting, demo,
    exam, appointment, wedding, flight, trip, party, stand-up, standup, retro, delivery, workshop,
    conference, interview, go-live, audit date, backup, lunch, team lunch, sync, weekly sync, review,
    planning, deployment, maintenance window, newsletter, kickoff, rollout
R:lead = lead, leader, head
R:project = project manager
R:tech = tech lead
R:owner = owner, product owner
R:boss = boss, manager, supervisor
R:ceo = ceo
R:cto = cto
R:cfo = cfo
R:contact = contact, contact person
R:doctor = doctor, gp
R:dentist = dentist
R:landlord = landlord
R:accountant = accountant
R:spouse = wife, husband, spouse
0:2 = two
0:3 = three
0:4 = four
0:5 = five
0:6 = six
0:7 = seven
0:8 = eight
0:9 = nine
0:10 = ten
D:1 = monday, mondays
D:2 = tuesday, tuesdays
D:3 = wednesday, wednesdays
D:4 = thursday, thursdays
D:5 = friday, fridays
D:6 = saturday, saturdays
D:7 = sunday, sundays
D:jan = january, jan
D:feb = february, feb
D:mar = march
D:apr = april, apr
D:may = may
D:jun = june
D:jul = july
D:aug = august, aug
D:sep = september, sept
D:oct = october, oct
D:nov = november, nov
D:dec = december, dec
"""
