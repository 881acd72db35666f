"""What speaks against keeping an English sentence: it asks, supposes, reports, or is about the moment."""

from __future__ import annotations

AGAINST = {
    "byway": r"""
        btw|by the way|fyi|fwiw|incidentally|just so you know|for context|for what it's worth|one more thing
    """,
    "every": r"every(?:thing|one|body)|no(?:body| one|thing)|any(?:thing|one|body)",
    "final": r"(?:for good|permanently|once and for all)(?=[.! ]*$)",
    "thus": r"so|therefore|hence",
    "definite": r"""
        the|an?|all|each|every|most|both|our|my|in|at|on|for|any|no|only|some|these days|invoices|production
        staging
    """,
    "plain": r"""
        (?:^|[,;] |so |and |because |on \w+ )(?:i|we)(?: {adverb})* (?!\w+ed )\w+ \w+
        (?:half|most|some|many|all|none|few) of (?:our|my)|(?:our|my) (?:[\w'-]+ ){0,3}\w+s \w+
    """,
    "passing": r"""
        want|need|needs|try|tried|trying|get|got|gets|see|saw|have to|had|must|should|can|could|would|will
        think
        thought|know|knew|mean|guess|wonder|hope|wish|feel|felt|am|'m|i'm|was|were|did|didn't|made|make|add
        ran|wrote
        found|find|keep|said|told|ask|look|forgot|understand|appreciate|agree|believe|going|gonna|let|do|done
        been
        thanks|thank|night|bye|lunch|bed|minute|minutes|hour|hours|moment|soon|later|came|went|took|gave|put
        just|'ve
        have|haven't|doubt|suspect|expect|assume|suggest|propose|promise|apologi[sz]e|insist|remember|recall
        bet|swear
        \w+ing|it|this|that|these|those|here|there|you|your|him|them|she|he|love|laugh|cry|broke|lost|won
        started
    """,
    "asks": r"""
        who|whose|whom|why|how|which|what(?! (?:i|we) (?:really )?(?:like|love|prefer|want|hate))|what's
        who's
        how's|where(?! (?:i|we) )|where's|is|are|am i|do (?!not|n't)|does|did|has|have (?:you|we|i|they)|was
        were|any (?:idea|chance|tips|suggestions|way)|(?:can|could|would|should|shall|may|might) (?:you|we|i
        it
        that|this|they|he|she|someone|there|the)|will (?:you|we|i|it|that|this|they|he|she|there|the)
        when (?:is|are|does|do|did|was|were|will|can|should|would)|isn't|aren't|don't you|doesn't|didn't
        wouldn't
        won't|can't you|couldn't|tell me|explain|i wonder|wondering|i(?:'d| would) (?:like|love) to know
        {im} (?:curious|asking)|what if|how about|question|quick question|remind me|since when
        not sure (?:if|whether|what
        how|why)|i (?:need|want) to know|do you|guess (?:what|who)|let me know|whats|hows|anyone
    """,
    "unreal": r"""
        were i|should i ever|even if (?:i|we)|in case (?:i|we) ever|supposing
        (?:if|had) (?:i|we|you|he|she|they|it) (?:were|was|had|could|would|did|ever|wanted|lived|worked)
        suppose|supposing|imagine|imagining|hypothetically|pretend|what if|let's say|as if|as though
        would have
        say (?:i|we)|assume|assuming|in theory|for the sake of argument|were to|i wish
    """,
    "condition": r"if",
    "doubt": r"""
        never (?:said|understood|thought|knew|wanted|meant|saw)
        {unreal}|maybe|perhaps|might|could|probably|possibly|would be|would love|would do
        would (?:always|never|use|go|choose|pick|hate|like|want|be|say|do)|wouldn't|i guess|not sure|unsure
        don't know|dont know|do not know|no idea|i (?:think|believe) (?:i|we)|used to|thinking (?:of|about)
        wondering
        considering|considered|whether|in case|unless|{i}'d (?!rather|much rather|prefer|strongly prefer
        really prefer
        always prefer|far rather)|should we|otherwise|one day|someday|hopefully|i hope|hope|seems?
        apparently
        supposedly|undecided|haven't decided|not decided|leaning|toying|tempted|(?:almost
        nearly)(?! all| every| always| never)|wish|kind of
    """,
    "told": r"""
        (?:he|she|they|who|someone|somebody|everyone|everybody|people|it|{relation}|article|docs|friends?
        documentation|book|post|blog|author|tutorial|readme|video|podcast|[\w-]+)(?: (?:always|just|once
        also
        keeps|recently|really))? (?:said|say|says|saying|told|tells|claims?|claimed|argues?|argued|wrote
        writes that
        mentioned|mentions|thinks|thought|believes|suggests|suggested|recommends|recommended|swears|texted
        quoted|tweeted|states|stated|insisted|replied|asked|posted|explains)
        according to|i (?:read (?:that|about|in|an? |the )|heard|saw)|quote|quoting|in the (?:movie|book|song
        film|story|article
        interview
        novel|game)|rumou?r|they say|the saying|proverb|lyrics|character
    """,
    "task": r"""
        (?:compose|develop|outline|break down|brainstorm|craft|prepare|identify|investigate|discuss|evaluate
        research|produce|assess|elaborate|illustrate|interpret|narrate|invent|examine|explore|define
        determine|demonstrate|estimate|criti[cq]\w+|paraphrase|rephrase|simulate|classify|categori[sz]e
        arrange|organi[sz]e|assemble|propose|present|construct|formulate|transform|rank|solve|teach|advise
        guide|instruct|lay out|map out|come up with|recount|reflect|trace|sketch|share|deliver|detail
        clarify|cite|contrast|argue|speculate|predict|differentiate|distinguish|devise|invent|conduct)(?=\s)
        (?:commit|document|log|minify|query|reorder|store|save|undo|revert|upgrade|downgrade|drop|merge|bump
        deploy|publish|validate|optimi[sz]e|simplify|document|expose|wrap|cache|clean|configure|connect
        migrate|inline|extend|reduce|increase|highlight|align|disable|enable|handle|avoid using|name|count
        load|import|export|mock|seed|scaffold|rebase|squash|tag|release)(?=\s)
        (?:i (?:just )?(?:want|need) (?:you to|to|an?|the|some|help|your|this|it|that|these|another)
        i(?:'d| would) (?:like|love) (?:you to|to|a|an|some|your|the)|could you|can you|would you|help me
        let's(?! (?:go with|stick|standard|settle|agree))|let me|write|create|make|build|implement|generate
        refactor|fix|add|remove|delete|rename|translate|summari[sz]e|show|give|find|list|convert|change
        update
        check|review|help|debug|test|run|draft|rewrite|look|open|read|move|merge|split|replace|sort|compare
        describe|analy[sz]e|design|try|start|stop|continue|go|use|put|set|send|install|explain|calculate
        suggest|recommend|provide|format|extract|parse|plan|act|pretend|play|return|ensure|make sure|print
        bump|increase|erase|retrieve|remind|turn|search
        figure out|walk me|tell|do (?!not)|think|consider|pick|choose|keep (?!in mind)|proofread|shorten
        include
        integrate|modify|insert|append|incorporate|introduce|rearrange|encode|respond|answer|i'm trying
        im trying)
    """,
    "here": r"""
        in this (?:\w+ )?(?:function|file|method|class|test|script|case|example|query|module|loop|component
        email|letter|text|essay|mockup|one|message|document|paragraph|poem|story|commit|pr|task|chat|table)
        this time
        right now|just now|for now|at the moment|below|above|the following|for the moment|today|yet
        tonight|this (?:morning|afternoon|evening|function|code|file|error|bug|query|method|class|test
        one|answer|movie|song|regex|approach|solution|script|image|line|test|page|button)|that (?:function
        bug|error
        answer|one|test|worked)|so far|just (?:ate|had|finished|started|pushed|merged|saw|did|got|tried)
        the (?:first|second|third|last|previous|other) (?:one|option|version|approach|solution|example
        answer)
        so much|so tired|these (?:tests|lines|results|files|changes|errors)|your (?:\w+ )?(?:answer|response
        reply)
    """,
    "vague": r"""
        it(?! (?:was|is|has been) (?:decided|agreed))|it's|its|this|that|that's|these|those|they|they're|he
        he's|she|she's|there's|which|one|something|someone
        both|neither|such|same|you(?! can (?:reach|find|call))|ha|wow|ugh|argh|meh|yuck|oops|then
    """,
    "state": r"""
        stuck in|traffic|exhausted|starving|headache|freezing|sleepy|soaked
        line \d+|passes|talk tomorrow|see you|drive home|on my way|lovely|perfect|excuse|typos?|in (?:five
        ten|\d+) minutes
        broken|failing|fails?|failed|(?:is|are|went|goes) down|slow|not working|doesn't work|don't work
        isn't working
        wrong|empty|crash\w*|is red|stuck|weird|messy|a mess|tired|hungry|sick|bored|busy|stressed
        driving me|killing me
        errors?|exception|time-?outs?|timing out|returns?|throws?|throwing|raises?|undefined|null|bugs?
        buggy|hangs?
        leak\w*|giving me|not responding|ready|done|finished|complaining|confused|excited|happy|sad|angry
        annoyed
        worried|glad|i'm sure|afraid|frustrated|impressed|amazing|awesome|terrible|awful|nice|funny|upset
        on fire|brain|my head|hurts?|melting|crying|screaming|brb|back in|by (?:noon|tonight|tomorrow)
        loading|trying|getting (?:this|an error|errors|weird|strange
        nowhere|a)|working on|looking (?:at|for|into)|debugging|problem|issue|flaky|memory leak|fuzzy
        running (?:late|out)|sleeping|barking|asleep|increas\w+|duplicat\w+|wrongly|incorrect\w*|missing
        twice|grows
        keeps? \w+ing|suddenly|sometimes|randomly|shows? up|somehow|doesn't|don't seem|instead of the|unused
    """,
}
