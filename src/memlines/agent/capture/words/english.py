"""What makes an English sentence worth keeping."""

from __future__ import annotations

from memlines.agent.capture.words.english_against import AGAINST

_ASKED = {
    "start": r"""
        please|pls|also|ok|okay|hey|hi|hello|so|and|but|oh|well|right|great|thanks|thank you|thx|yes|yeah
        no(?=,)
        actually|sorry|now(?=,)|then(?=,)
        btw|by the way|one (?:more|last|other) thing|quick note|side note|just
        anyway
        in general|generally|personally|honestly|to be honest|tbh|for context|for reference|as for me
        because
        good morning|good evening|perfect|cool|nice|good|sure|hmm+|since|turns out|listen|you know|ah|lol
        before (?:you|we|i) (?!forget)\w+|speaking of which|that said|unrelated|um+|uh+|too|oh and
        fair enough
    """,
    "lead": r"""
        don't let me forget(?: that(?= )| ?:)
        (?:one|some|two) things? (?:worth|to) (?:writing down|remember(?:ing)?|not(?:e|ing)|know(?:ing)?
        keep(?:ing)? in mind) ?[:,\u2013\u2014-]
        put (?:this|that|it) (?:somewhere safe|on file|in your notes) ?[:,\u2013\u2014-]
        {asking_to} note(?: down)?(?: {aside})* ?(?:that(?= )|:)
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:that(?= )|:|[,\u2013\u2014-](?= ))
        (?:{asking_to} )?(?:{~remember}|don't forget|do not forget|never forget|keep in mind
        bear in mind)(?: {aside})* (?=(?:i|i'm|im|i've|i'll|we|we're|we've|we'll|my|our|he|she|they|there
        never
        always|not to|to always|to never|[\w-]+(?: \w+)? (?:is|are|has|lives|works|owns|likes|prefers
        hates)) )
        (?:before i forget|for the record|for (?:your )?future reference|for (?:later|next time)
        note (?:to self|for later|for next time|for yourself|for the future)|for your (?:memory|notes
        records)
        new rule|(?:house|ground|standing|team|general) rule)(?: ?[:,\u2013\u2014-]| (?=\w))
    """,
    "asking_to": r"""
        (?:can|could|would|will) you(?: please| also| just)?|i(?:'d| would) like you to|i want you to
        i need you to|you should|you must|you can|try to|make sure (?:you|to)|be sure to|it's important to
        let's
        please
    """,
    "kept": r"""
        (?:{~remember}|memori[sz]e|note down|take note|make (?:yourself )?a (?:mental )?note|write down
        jot (?:it |this |that )?down|write (?:this|that|it) down|keep in mind|bear in mind|don't forget
        do not forget|never forget|save|store|record|keep (?:this|that|it) in mind|learn|know
        (?:commit|save|store|add|put) (?:(?:this|that|it|the following) )?(?:to|in|into) (?:your )?memory)
    """,
    "aside": r"""
        (?:well|please|also|too|this|it|these|the following|for (?:me|later|next time|future reference
        the future|future sessions|good)|about (?:me|us)|once and for all|permanently|down|forever
        in (?:your )?(?:long.?term )?memory|the fact)
    """,
    "soft": r"""
        (?:fyi|for your information|(?:just )?so (?:that )?you know|just so you know|heads up
        important(?: note)?
        note|reminder|little background|some context|a bit about me|about me|fun fact|context
        you should know
        (?:i )?forgot to (?:say|mention)|i should mention|i should tell you
        let me tell you)(?: that(?= )| ?[:,\u2013\u2014-]| (?=i |we |my |our ))
    """,
    "tail": r"""
        (?:please |and |so |do )*(?:{~remember}|note|keep|save|store|memori[sz]e|don't forget
        write(?= \w+ down)) (?:this
        that
        it)(?: in mind| down| for (?:later|next time|me|future reference|the future)| in memory| please
        to memory| in your memory)*[.! ]*$
        for (?:future reference|the record|your notes)[.! ]*$
    """,
    "unkept": r"""
        don't bother|no need to|scratch that|never ?mind|ignore that|just an example|just testing
        only testing
        (?:don't|dont|do not|not|no need to|needn't|never|can't|cannot|couldn't|didn't
        won't) (?:\w+ ){0,2}(?:remember
        recall|memori[sz]e|save|store|record|write (?:this|that|it)|keep (?:this|that|it)|note (?:this
        that))
        (?:i|we|^you|do you|did you|i'll
        i will)(?: still| vaguely| just| barely| always| never)* remember(?:ed)?
        remember (?:when|how|what|where|why|who|if|the time|that time|to (?!always|never)|me|last)
        ^forget|(?:please|just|you can|should|and) forget|off the record|between us|thinking out loud
        never forget (?:that|the) (?:day|night|time)|(?:i'll|i will|we'll) never forget
        just (?:brainstorming|kidding)|(?:i|we)(?:'ve| have)?(?: \w+)? forg(?:ot|otten)|kidding
    """,
}

_KEPT = {
    "adverb": r"""
        (?:really|much|usually|alwa?y?s|allways|generally|strongly|still|absolutely|truly|definitely|also
        just
        normally|typically|mostly|actually|never|simply|kind of|tend to|only|do|now|all|both|have|ve
        personally
        finally|recently|officially|together|'ve|ultimately|far)
    """,
    "i": r"(?:i|we|me and \w+|\w+ and i)",
    "im": r"(?:i'm|im|i am)",
    "prefer": r"""
        {i}(?: {adverb})* (?:prefer|hate|loathe|detest|can't stand|cannot stand|dislike|adore|favou?r
        despise|can't bear|cant stand)
        {i}(?: {adverb})* (?:like|love|enjoy|don't like|dont like|do not like|don't enjoy|don't care for)
        {i}(?:'d| would)(?: much| always| really| strongly| far)* (?:rather|prefer)
        (?:my|our) (?:\w+ ){0,2}(?:favou?rite|preferred|preference|go-to)(?: \w+){0,4} (?:is|are|was|has|:)
        (?:is|are|remains?) (?:my|our) (?:\w+ )?(?:favou?rite|go-to|preferred)
        {im} (?:{adverb} |not )*(?:a (?:big|huge) )?(?:(?:a )?fan of|into|fond of|partial to|a \w+ person
        more of an? [\w-]+ person|keen on|crazy about|picky about)(?! (?:it|this|that|your)\b)
        (?:my|our|the) (?:\w+ )?{relation} (?:{adverb} )*(?:prefers?|hates?|loves?|likes?|dislikes?
        can't stand|doesn't like|insists? on|wants?)
        {i} (?:always|allways|never|only|usually|mostly) (?:use|want|take|wear|buy|fly|write|read|travel
        order|listen
        code|pay|book|need|drink|eat|prefer|work|expect)
        {i} (?:don't|dont|do not) (?:eat|drink|smoke|use|drive|fly|celebrate|wear|watch|do|want (?!to|it
        this|that
        you))
        {i} use (?!it|this|that|the|to)|i want (?:all |my |your |every )?(?:\w+ ){0,3}(?:messages|answers
        replies
        comments|names|dates|code|tests|commits|docs|examples|explanations|output|summaries)
        pet peeves?|(?:works|work) best for me|suits me best|{im} most productive|(?:annoys?|bothers?
        irritates?
        bugs?) me|drives? me (?:crazy|mad|nuts|up the wall)|gets? on my nerves
        \w+ over \w+ any day
    """,
    "moment": r"""
        (?:like|love|hate|prefer|enjoy|dislike|stand|adore|detest|rather|loathe|fan of|bear|want
        favou?r) (?:it|this|that|these|those|you|your|how|what|where|them|him|her|the (?:\w+ ){0,2}(?:idea
        answer
        way|look|sound|sounds|approach|solution|suggestion|result|changes?|version|design|bug|error|thing
        fact|feel|direction|refactoring|output|draft|plan|proposal|summary|option|one|last|first|second
        third|former|latter|new|tone|explanation|example|layout|progress|button|title|header|page)|to (?:see
        know|hear|ask|get|understand|think|say|be that|break|admit|bother|try)|when (?:it|this|that|things
        the)
        whichever|whatever|mondays|bugs|debugging|life|everything|myself)\b
        version|variant|option
    """,
    "decide": r"""
        (?:we|i|the \w+|management|it was|it's been|they|everyone)(?: {adverb}
        've| have| had| has| yesterday)* (?:decided|agreed
        settled (?:on|for)|chose|chosen|opted|picked|ended up (?:choosing|with|using|going)|went for
        landed on|committed to|standardi[sz]ed on|adopted|gone with|went with
        dropped|ruled out|voted|signed off on|approved)(?! to (?:take|go|call it|try|skip|wait|sleep|eat
        have|sit|stay in|read|look))
        (?:we'll|we will|we're going to|we are going to|we won't
        we will not) (?:{adverb} |be |no longer )*(?:use
        using|go with|stick|keep|switch|move|drop|adopt|host|deploy|stay|build|migrate|standardi[sz]e
        support
        release|ship|target|launch|offer|sell|stop|start)
        (?:we're|we are) (?:{adverb} |not )*(?:going with|switching|moving|dropping|migrating|sticking
        standardi[sz]ing|keeping|staying with|abandoning|adopting|getting rid of|phasing out
        going ahead with
        retiring|sunsetting)
        (?:the|our|final) (?:final )?decision (?:is|was|:)|decision ?:|it's (?:been )?decided
        (?:is|are|has been|have been) (?:now )?(?:decided|agreed|settled|approved|off the table|ruled out)
        let's (?:{adverb} )*(?:go with|stick with|stick to|standardi[sz]e on|settle on)|in the end (?:we|it)
    """,
    "changed": r"""
        (?:we|i|the team)(?: {adverb}|'ve| have)* (?:moved|migrated|switched|upgraded|ported|rewrote
        rewritten
        replaced|merged|joined|left|started|quit|retired|renamed) (?!it|this|that|the (?:code|file|test
        function))
        (?:was|were|has been|have been) (?:moved|migrated|switched|upgraded|rewritten|replaced|retired
        renamed
        discontinued|shut down|rebuilt|switched off|turned off|deprecated|sold|closed) (?:in|to|from|over|by
        on|last)|no more \w+|no longer
    """,
    "onwards": r"""
        from now on(?:wards?)?|from here on(?: out| in)?|going forward|moving forward|henceforth
        from (?:this|that) (?:point|day|moment) (?:on|forward|onwards?)|from today(?: on)?
        as of (?:now|today|next \w+|this \w+|\w+ \d+)|starting (?:now|today|next \w+|\w+ \d+)
        until further notice|in (?:the )?future(?=,)|as a rule(?! of)|for all future \w+|at all times
        every single time|always(?=[.! ]*$)|whenever you (?:write|answer|explain|give|show|suggest|name
        generate)
    """,
    "self": r"""
        {im} (?:\w+ )?(?:terrible|bad|good|great|picky|strict|sensitive|hopeless|responsible|in charge|fluent
        trained) (?:with|at|about|to|for|of|in|as)
        i(?:'ve| have) been (?:an? |with |at |in )|i (?:only|don't) have (?:an?|one|two|access)|(?:can't
        cant|cannot) (?:eat|drink|have) \w+
        my (?:\w+ )?(?:pronouns are)|i go by
        (?:my|our) (?:\w+ ){0,3}(?:birthday|time ?zone|shoe size|size|wedding anniversary|anniversary
        mother tongue|native language|blood type|job title|job|role|hobby|hobbies|diet|height|weight|age
        star sign
        nationality|religion|working hours)(?: \w+){0,3} (?:is|are|:)
        {i}(?:'ve| have)?(?: {adverb})* (?:live|lived|was born|were born|grew up|study|studied
        come from|moved|commute|teach|volunteer|speak|run a|run my|own|drive|graduated|rent|share|raise
        sing) (?!it|this|that|around|through|up)
        {i}(?: {adverb})* (?:write|code|measure|count|type|spell|develop|pay|cook) (?:in|on|with|using|for)
        {i}(?:'ve| have)?(?: {adverb})* work (?:as|for|at|in|from|part.?time|remotely|full.?time|night
        \w+ (?:days
        hours|shifts)|with \w+ (?:patients|children|clients))
        {im} (?:{adverb} )*(?:from|based in|(?:a )?vegan|(?:a )?vegetarian|pescatarian|allergic|intolerant
        lactose
        gluten|diabetic|c(?:o)?eliac|left.?handed|right.?handed|colou?r.?blind|married|divorced|single
        pregnant
        deaf|blind|dyslexic|autistic|epileptic|asthmatic|\d+ (?:years|yrs)|born|retired|self-employed
        hard of
        freelanc\w+|bilingual|kosher|halal|muslim|jewish|teetotal|on (?:\w+ )?(?:time|leave|parental leave
        insulin|call
        medication|arch|windows|linux|mac|macos)|an? (?!bit|little|lot|mess|fan|idiot
        moron|while|minute|huge|big|step|few|new)(?:[\w-]+ ){0,3}\w+(?:er|or|ist|ian|ant|ent|nurse|lead|chef
        student
        teacher|father|mother|parent|pilot|cook|widow|twin|clerk|dev|vet|mom|dad|architect))
        i(?:'ve| have| got)(?: got)? (?:(?:a|an|two|three|four|five|\d+|twin|severe
        mild) (?:[\w-]+ ){0,3}(?:kids?
        child(?:ren)?|sons?|daughters?|dogs?|cats?|brothers?|sisters?|allerg(?:y|ies)|intolerance|twins
        horses?|rabbits?|chickens|degree|phd|pets?|parrots?|condition|siblings?)|adhd|asthma|diabetes
        epilepsy
        dyslexia|migraines)
        allergic to|intolerant|has an? (?:\w+ )?(?:allergy|intolerance)|i can't (?:eat|drink|drive|see|hear
        digest
        tolerate)
    """,
    "relation": r"""
        (?:wife|husband|partner|girlfriend|boyfriend|fianc(?:e|ee)|sons?|daughters?|kids?|child(?:ren)?|baby
        brothers?|sisters?|mother|father|mom|mum|dad|parents?|grandmother|grandfather|grandma|grandpa|aunt
        uncle
        cousin|niece|nephew|dogs?|cats?|puppy|pet|horse|rabbit|boss|manager|colleague|coworker|co-worker
        tutor
        team ?lead|team|lead|client|customer|landlord|landlady|doctor|dentist|therapist
        accountant|lawyer
        friend|roommate|flatmate|company|employer|mentor|supervisor|cto|ceo|cfo|assistant|trainer|teacher|gp
        physio(?:therapist)?|twins?|in-laws|family|startup|band|product owner|designer|supplier|godson|owner
        goddaughter|stepson|stepdaughter|vet|nanny|babysitter|tax advis[eo]r|intern|contact(?: person)?
        plumber
        hairdresser|mechanic|architect|notary|electrician|provider|vendor|admin|maintainer|professor)
    """,
    "asset": r"""
        (?:[\w-]*servers?|[\w-]*database|db|apis?|repo|repository|monorepo|site|website|domain|office|stack
        backend
        frontend|cluster|budget|deadline|stand-?up|sprints?|product|project|conventions?|style guide
        policy|warehouse|bank|shop|store|vpn|network|printer|car|bike|house|apartment|flat|laptop|wi-?fi|ci
        pipeline|bucket|queue|registry|logs?|back-?ups?|docs|documentation|code ?base|app|platform
        production|prod
        staging|services?|invoices?|fiscal year|sla|rent|insurance|maintenance window|tests|machine|hardware
        meetings|garden|boat|camper|builds?|deploys?|deployments?|releases?|feature flags|migrations|secrets
        exports?|jobs?|certificates?|branch(?:es)?|customers|users|tickets|changelog|modules?|library
        headquarters)
    """,
    "steady": r"""
        (?:is|are|'s|runs?|lives?|uses?|starts?|ends?|has|have|closes?|opens?|renews?|listens?|sits?
        consists?
        takes? place|costs?|begins?|belongs?|go(?:es)? (?:to|through)|stays?|happens?|was|were|needs?|keeps?
        speaks?
        supports?|requires?|comes?|works?|owns?|ships?|writes?|stores?|points?|depends?)
    """,
    "named": r"""
        (?:my|our|his|her|the|me) (?:[\w'-]+ ){0,4}(?:is|are|'s|was) (?:called|named)
        (?:is|are) (?:called|named)|my name is|my name's|(?:call|calls) me (?!back|later|when|if|tomorrow
        crazy|at|a)
        (?:my|our) (?:[\w'-]+ ){0,3}{relation}(?: at [\w ]{1,30}| for [\w ]{1,30})?(?:'s name)? (?:is|are
        :) (?!a\b|an\b
        the\b|\w+ (?:intolerant|allergic)|very|so|not|always|never|in\b|on\b|at\b|from|too|going|here|great
        \w+ing\b)
        [\w-]+(?: \w+)? (?:is|are) (?:my|our) (?:[\w'-]+ ){0,3}{relation}
        (?:person|one|contact|guy|woman) (?:to ask|to call|responsible|in charge)|(?:responsible|in charge
        contact) (?:for|of) [\w ]{1,40} is
        [\w-]+ (?:owns|maintains|handles|is responsible for|is in charge of|takes care of|leads|looks after)
        (?:my|our|\w+'s|the) (?:\w+ ){0,3}(?:e-?mail(?: address)?|phone(?: number)?|number|address|username
        handle
        github|iban|extension|licen[cs]e plate)(?: \w+){0,4} (?:is|:)
    """,
    "owned": r"""
        (?:my|our) (?:[\w'-]+ ){0,3}{relation}(?:'s|s'| (?:[\w'-]+ ){0,3}{steady})
        (?:my|our) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:can't|cant|studies|goes|gets|drives|wears
        moved|eats|drinks|takes|plays)
        (?:my|our) (?:[\w'-]+ ){1,4}{steady}
        only (?:works|runs|accepts|allows|supports|reachable|available|accessible|visible|valid|possible)
        gets (?:wiped|reset|rebuilt|restarted|deployed|backed up)
        (?:(?:the|this|every|all|each) (?:[\w'-]+ ){0,3}{asset}|production|staging
        prod)(?: [\w'@.-]+){0,4} {steady}
        (?:in|for|on|across) (?:this|our|my|the whole) (?:repo|project|code ?base|team|company|repository
        office|house
        household|monorepo|family)
        we(?: {adverb})* (?:use|deploy|host|ship|release|run|meet|store|keep|write|bill|invoice|support
        target|follow
        track|call|have|work|are on|r on|'re on|only have|pay|sell|serve|test|build|develop|name|put
        log) (?!it\b|this
        that\b|to\b|an? |no\b|the\b)
        we're (?:on|a team|\w+ people|in|still on|using|based)|there are \w+ of us|at (?:our|my) (?:company
        office|work
        place)
    """,
    "rule": r"""
        (?:we|i|you|they|everyone|nobody|no one)(?: must| should| can| may| need to| have to| will
        'll)? (?:always
        never|only ever) (?!understood|gets? |got |knew|know|saw|sees? |seen|had |thought|\w+ed |forgets?
        mind|been|read the)
        ^(?:always|never)(?! (?:mind|seen|heard|thought|knew|been|had|again|ending|ever seen|a|return|print
        output|display|throw|raise|the same))
        so (?:always|never) \w+
        ^no [\w-]+ (?:in|on|before|after|without) (?!th)
    """,
    "habit": r"""
        ^all (?:our |my |the )?[\w-]+ (?:are|go|must|have|use|run|live)
        (?:must|should|has to|have to|needs? to|may|can) (?:always|never|not be)
        (?:is|are) (?:always|never|strictly|off.?limits|forbidden|not allowed|mandatory|required)
    """,
    "recurring": r"""
        every (?:mon|tues|wednes|thurs|fri|satur|sun)day|on (?:mon|tues|wednes|thurs|fri|satur|sun)days
        every (?:week|month|year|quarter|other \w+|first \w+|last \w+)
    """,
    "due": r"""
        deadline|due (?:on|by|in)|expires? (?:on|in|at)|anniversary|birthday|turns (?:\d+|\w+ty)|(?:is|are
        starts?|ends?|leaves?
        begins?|opens?|closes?|lands?|arrives?|planned|scheduled|runs?|moved) (?:on|from|until|for|by
        to) (?:the )?(?:\d+
        jan|feb|mar|apr|may \d|jun|jul|aug|sep|oct|nov|dec)\w*
    """,
}

WORDS = _ASKED | _KEPT | AGAINST
