"""What people want of a memory, in English: the verbs, what is kept and for how long."""

from __future__ import annotations

_VERBS = {
    "keep": r"""
        {~remember}(?: well| please| also| too| this| it| these| {later})* ?:
        {~remember}(?: well| please| also| too)? that(?! (?:time|day|one|bug|guy|movie|meme)\b)
        {~remember}(?: well| please)? (?:this|these|it|the following|all of (?:this|that)
        what i (?:just )?\w+)
        {~remember} (?:{later}|{onwards})
        {~remember} (?:we|we're|we've|i|i'm|i've|he|she|they|my|our|there|it's|never|always|not to)
        {~remember} to (?:always|never)
        {~remember} to … (?:{always}|{later}|{onwards}|in (?:this|all|every|our) {place})
        {~remember} (?!to |when |how |what |which |where |why |who |if |me |and |the (?:last
        current))(?:\S+ ){1,6}?(?:{fact})
        remembering (?:that|this|it|we|my|our|the)
        memori[sz]e(?! (?:the )?(?:\w+ )?(?:function|results?|component|selector|call|value))
        memori[sz]ing
        commit(?:ting)? … to memory
        burn … into (?:your )?memory
        get (?:this|that|it) into your (?:head|memory|skull)|drill (?:this|that|it) into
        take (?:this|that|it) on board
        you(?:'ll| will)? (?:want|need|have) to (?:remember|know) (?:this|that|it) (?:later|again)
        (?:hold|hang) on ?to (?:this|that|it)
        {~remember}(?: well| please| always| also)? (?:this|that|it|these)(?: .{0,40})?{end}
        you(?:'ll| will| are going to)? need (?:this|that|it) (?:again|later|in future|next)
    """,
    "fact": r"""
        is|are|isn't|aren't|was|has|have|uses|use|runs?|lives?|needs?|must|should|can|cannot|can't|will
        won't
        prefers?|likes?|wants?|goes|go|starts|ends|belongs|takes|requires?|expires|owns|handles|means|stays
        costs|does|doesn't|don't|only|=
    """,
    "write": r"""
        (?:make|making|take|taking|keep) (?:yourself )?(?:a |an )?(?:\w+ )?(?:note|record|memo|reminder)
        (?:note|jot|write|writing|put|get|take|noting) (?:(?:this|that|it|these|the|our
        my) (?:\w+ ){0,4})?down
        (?:note|jot|write|put|get|take) down
        note (?:to|for) (?:self|yourself|myself|later|next time|memory|the future|future|the record)
        (?:add|create|save|store|leave) (?:a |this as a )(?:new |quick |short )?(?:memory|note|reminder)
        (?:save|store|record|log|keep) (?:this|that|it|the \w+) as (?:a |an |our |my )?(?:\w+ )?{kind}
        (?:save|store|record|note|log|capture|document) (?:the fact that|(?:this|our|the
        that) (?:\w+ )?(?:decision|agreement|rule|preference|outcome|choice))
        (?:save|store|record|note|log|file)(?: this| that| it)(?: please| somewhere)?{end}
        put (?:this|that|it|me|us|the \w+) on (?:the )?record
        for your (?:records?|files|archives?|notes|memory|information in future)
        (?:this|that)(?:'s| is) (?:one )?(?:for (?:the|your) (?:notes|record|memory)|worth (?:keeping|noting
        saving|recording|writing down))
        (?:get|put) (?:this|that|it|the \w+) in writing
        (?:let )?(?:it|this|that) be (?:noted|recorded|remembered|known)
        (?:log|record|store|save|keep|note) (?:this|that|it) in memory that
        note (?:it|this|that)(?: down)?{end}
    """,
    "kind": r"preference|decision|memory|note|fact|rule|convention|reminder",
    "store": r"""
        save|store|add|put|record|write|keep|log|file|note|stick|drop|enter|commit|bookmark|persist|capture
        saving|storing|adding|putting|recording|writing|keeping|noting|hold on to|hang on to|stash|register
        include|update|retain|extend
    """,
    "mind": r"""
        (?:keep|bear|have|keeping|bearing) (?:this |that |it |these |the following )?in mind
        (?:keep|bear|hold) that in mind
        (?:be aware|be mindful|take into account|mind|consider) (?:that|of|this|:)
        {~remember}
        know
    """,
    "unforgotten": r"""
        (?:don't|dont|do not|never)(?: ever| again)* forget (?:again )?(?:that|this|:|we|we're|i|i'm|our|my
        it's)
        never(?: ever| again)* forget(?! to| about| it\b| the (?:day|time))
        (?:don't|dont|do not|never)(?: ever)? let (?:me|us|yourself) forget(?! to)
        make sure (?:that )?you (?:don't|never) forget (?:that|this|we|i|our|my)
        (?:this|that) (?:must|should) (?:not|never) (?:be forgotten|get lost|slip)
        (?:don't|do not|never) lose (?:sight|track) of (?:this|that|the fact)
        (?:don't|do not|never) let (?:this|that|it) (?:slip|get lost|be forgotten)
    """,
    "ruled": r"""
        (?:new|house|project|team|standing|permanent|general|golden|ground|another) (?:\w+ )?{kind} … ?:
        make (?:it|this|that) (?:a|your) (?:\w+ )?(?:rule|habit|convention|default|policy)
        (?:this|that|it)(?:'s| is) (?:a |your |now )*(?:permanent|standing|general|lasting) (?:rule
        instruction|order)
        (?:this|that|it)(?:'s| is) worth remembering
        (?:consider|treat) (?:this|that|it) (?:as )?a (?:\w+ )?(?:rule|convention|policy|preference)
        (?:this|that|it) (?:applies|goes|holds|counts) (?:to|for) (?:all|every|any|the (?:whole|entire)
        everything)(?= (?:my|our|of|project|repo|code|service|future|work))
        (?:i|we) (?:never|always) want
    """,
    "informed": r"""
        so (?:that )?you(?:'ll)? (?:\w+ )?know|for your information|fyi|heads up|you should know|just so you
        for the record
        in case (?:you|we|i|it|this) (?:\w+ )?(?:need|come|work|ask|wonder)\w*
    """,
    "introduced": r"""
        (?:{later}|{onwards}) {colon}
        (?:{later}|{onwards}) (?:please|remember|note|know|always|never|don't|do not|use|you|we|i|my|our|run
        ask)
    """,
    "forget": r"""
        {~forget}|unlearn|unremember|forgetting|disregard|scratch|strike
        (?<=you\s)forgot
    """,
    "owned": r"""
        (?:{forget}) (?:about )?(?:everything|anything|all|whatever|what|which|where|how|the fact|why)
        (?:{forget}) (?:about )?(?:that|the fact that) (?:i|i'm|we|we're|my|our|the|you|he|she|they|it|there
        \w+ (?:{fact}))
        (?:{forget}) (?:about )?(?:my|our|i|we|\w+'s)
        (?:{forget}) (?:about )?{note}
        {told}
        {kept}
        {memory}
    """,
    "told": r"""
        (?:i|we|you)(?:'ve|'d| have| had)? (?:\w+ )?(?:told|gave|given|mentioned|said|shared|sent|pasted
        dictated|taught)
    """,
    "erase": r"""
        {~delete}|remove|erase|drop|wipe|purge|scrub|discard|get rid of|strike|dump
        scratch|{~forget}|unlearn|trash|deleting|removing|erasing|dropping|wiping|reset|empty
        throw (?:out|away)|toss out|clear(?= .*(?:{stock}|you))|cross out
        kill|nuke|ditch|scrap
    """,
    "delete": r"""
        {erase}
        take|pull|cut|throw|toss|clear|lose|cross
    """,
    "delete_it": r"""
        (?:{delete}) (?:it|that|them|this|those)(?: (?:out|away|off|please|again|then|too|entirely
        completely))*
        (?:can|should|must|may|has to|have to|needs to|ought to) (?:now |safely )?(?:go|be (?:deleted
        removed|dropped|forgotten|erased|wiped|purged|cleared|discarded|scrubbed|thrown (?:out|away)|struck
        taken out))
    """,
    "unkeep": r"""
        (?:stop|quit) (?:remembering|storing|memori[sz]ing|keeping (?:track|my|our|the|notes))
        (?:no longer|don't|do not) (?:\w+ ){0,3}(?:to )?(?:remember|keep|store|hold on to) … (?:any ?more
        any longer|on file)
        no longer (?:\w+ ){0,3}to (?:remember|keep|store|hold on to|know)
        no need to (?:remember|keep|store) … (?:any ?more|any longer)
    """,
    "announced": r"(?:{later}|{onwards})(?: \w+){0,4} ?:",
}

_MEMORY = {
    "session": r"sessions?|chats?|conversations?|times?|work|projects?|prs?|tasks?|reference|use|runs?|days?",
    "later": r"""
        for (?:later|good|the record|the future|future(?: {session})?|(?:the )?next (?:time|{session}|week))
        for (?:all |any )?(?:future|later|other|upcoming|coming|following|subsequent) {session}
        (?:in|across|between|over|during) (?:all )?(?:the )?(?:later|future|upcoming|other|next
        coming)? ?{session}
        long.?term|permanently|forever|next time|the next time|in the long run|from one session to the next
        so (?:we|i|you) (?:don't|never|won't|needn't) have to … (?:again|next time|twice|every time)
        (?:again )?(?:next time|tomorrow|next week)
        (?:in case|for when|if|when|should) (?:it|this|that|we|i|the \w+) (?:ever )?(?:\w+ )?(?:happens?
        comes? up|occurs?|needs?|breaks?|bites?|shows? up|returns?|crops? up)(?: \w+)? (?:again|later
        once more)
        (?:for|over|in) the (?:next|coming|following) (?:few |couple of )?(?:days|weeks|months|sessions)
        (?:we|you|i)(?:'ll| will) need (?:it|this|that) (?:again|later|in)
        (?:beyond|after|outside) (?:this|the current) session
        not (?:just|only) (?:for )?(?:today|now|this session)
        (?:between|across|over) (?:all )?(?:my |our |the )?sessions
    """,
    "onwards": r"""
        from now on(?:wards?)?|from here on(?: out| in)?
        from (?:this|that) (?:point|day|moment) (?:on|forward|onwards?)|from today(?: on)?|going forward
        moving forward|henceforth|hereafter|as of (?:now|today)|starting (?:now|today)
        (?:for|in|with|on) (?:all |any |every )?future(?: \w+)?|in the future|until further notice
        for the rest of (?:this|the) project
        as an? (?:\w+ )?(?:rule(?! of thumb)|instruction|order|convention|principle|policy)|at all times
        every single time|for good|in (?:all|any|every)(?: of)? (?:my|our) (?:\w+ )?(?:projects|repos
        services|scripts|code)|from (?:next|this) (?:week|month|sprint) on
    """,
    "always": r"always|never|every time|each time|whenever|at all times|without exception",
    "scope": r"""
        (?:in|on|for|across|throughout|within) (?:this|our|my|all(?: of)? (?:my|our|the)|every|any
        the whole) {place}
        around here|for me|with me|when(?:ever)? (?:you|i ask you|we)|before (?:you|every|each|any)
        after (?:you|every|each)
        unless i|until i|without asking
    """,
    "place": r"""
        (?:\w+ )?(?:project|repo|repos|repository|repositories|code ?base|projects|workspace|team|monorepo
        org|company|service|services|scripts?|work|prs?|commits?|code|apps?)
    """,
    "memory": r"""
        (?:your|my|our|the project'?s?|the team'?s?|the agent'?s?|long.?term|persistent)(?: {own})* {stock}
        (?:to|from|into|out of|in) (?:the )?(?:long.?term|persistent|project|permanent
        agent)(?: {own})* (?:memory|memories)
        memory\.md|the memory (?:file|bank|notes|log)|on (?:file|record)(?: about)?
        (?:in|to|into|from) the notes(?! (?:app|table|page|model|component|list|file|field|folder|section))
    """,
    "out": r"""
        (?:from|out of|off) (?:your|my|our|the|long.?term|project)(?: {own})* {stock}
        (?:it|that|this|them|those|everything|note|rule|decision|preference|fact) (?:\w+ )?(?:from
        out of) memory
        (?:from|out of|off) (?:the )?record
    """,
    "own": r"own|long.?term|persistent|project|personal|saved|internal|permanent|team|private|agent",
    "stock": r"""
        memory|memories|notes?|notebook|records?|knowledge(?: base)?|logs?|head|brain|mind
        archives?|files|long.?term storage|storage|memory bank|memory store|past conversations
        earlier conversations|old conversations|history
    """,
    "note": r"""
        (?:any|all|every|the|that|this|those|these|your|my|our|a|both)(?: \w+){0,2} (?:notes?|memories
        reminders?)(?! (?:app|apps|table|page|list|component|model|field|column|class|file|endpoint|feature
        screen|view|api|service|section))
        (?:the|that|this|any|every|a)(?: \w+){0,2} memory (?:about|of|that|on|from|where|you|entry|regarding
        concerning|which|saying|with)
        (?:memory|stored|saved) (?:entry|entries|facts?|note)
        (?:any|all|every|whatever|that|those|the)(?: \w+){0,2} (?:bit|part|thing|piece|entry|entries|info
        information|detail|rule|decision|preference) (?:about|on|regarding|of) .{1,60}(?:from|out of|in
        off) (?:your|the) (?:\w+ )?(?:{stock}|record)
        memories|from the record
    """,
    "kept": r"""
        you(?:'ve|'d| have| had)?(?: once| still| ever| previously| already| just)? {saved}
        (?:did|do|have|had) you (?:ever |still |already |currently )?(?:{saved}|save|store|note|keep|record
        remember|memori[sz]e)
        you (?:currently |still )?(?:remember|recall|know|have) (?:about|of|on) (?:me|my|us|our|the|project
        this)
        (?:anything|something|everything|what) (?:\w+ ){0,3}{saved}
        (?:have|has) (?:anything|something) (?:{saved}|about|on)
        (?:whatever|everything|anything|all|what|that|note
        thing) (?:that )?you (?:still |currently )?(?:remember|know|recall|have (?:on|about)|hold)
        do (?:you|we) (?:still )?have (?:anything|something|a note|notes|any notes|any record
        it) (?:\w+ ){0,2}(?:{saved}|about|on|somewhere)
        any (?:record|note|notes|trace|memory|memories) (?:of|on|about)
        do you still have (?:that|it|this|the)
        (?:is|was) (?:it|that|this) (?:noted|written down|recorded|documented) (?:anywhere|somewhere)
        (?:what|everything|all|anything) you(?:'ve| have)(?: got)? (?:on|about|for)
    """,
    "saved": r"""
        saved|stored|noted|remembered|kept|recorded|wrote|written|memori[sz]ed|learned|learnt|jotted|logged
        filed|made|on file|on record|down
    """,
    "personal": r"""
        (?:my|our|his|her|their|\w+'s) (?:\w+ )?(?:(?:e-?mail|home|postal|old|new|private) )?(?:address
        phone(?: number)?|number|e-?mail|name|birthday|salary|preferences?|details|password|account|iban|age
        location|employer|diagnosis)
    """,
    "into": r"""
        (?:this|that|it|these|them|the following|fact) (?:to|into) (?:the )?memory
        (?:to|into|in) memory(?: please)? ?(?::|that|for later|for next time)|(?:to|into) memory ?{colon}
        add(?:ing)? to memory
    """,
}

WISHES = _VERBS | _MEMORY
