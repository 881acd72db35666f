"""How people ask and talk about the past in English, and what stands around a wish."""

from __future__ import annotations

_PAST = {
    "asking": r"""
        what|which|when|where|why|who|whose|how|what's|who's|whats|whos|wheres|did|do|does|have|had|is|was
        were|are|can|could
        (?:tell|show|give|list|summari[sz]e|recap|explain|find|look|search|check|catch|bring|fill
        read)(?: \w+)?
        (?:since|until|for|by|in|at|to|with|about) (?:when|what|which|whom|who)
    """,
    "recall": r"""
        (?:do|did|don't|can|could|would) (?:you|u|ya) (?:{adverb} )*(?:{~remember}|recall)(?! (?:to|me)\b)
        (?:you )?(?:still )?(?:{~remember}|recall) (?:what|which|when|where|why|who|how|whether
        if) (?:{adverb} )*(?:we|i|our|my|the|it)
        recall (?:our|my|the|what|everything|anything|all)
        (?:retrieve|look up|pull up|dig up|bring up) (?:our|my|what (?:we|i)|everything (?:we|i|you))
        what (?:do|can|did) you (?:still )?(?:{~remember}|recall)
        refresh my memory
        as far as you (?:know|remember|recall)
        help me (?:remember|recall|out)(?= .*(?:we|our|i )\b)|jog my memory|what have you got on
    """,
    "lookup": r"""
        (?:search|check|look|dig|go|consult|scan|browse|see)(?: up| in| through| into| at| inside)* (?:your
        my|our) (?:\w+ )?{stock}
        (?:search|check|look)(?: the| in| up| through)* (?:memory|past sessions|earlier sessions
        old sessions)
        according to (?:your|my|our) (?:\w+ )?{stock}
        (?:search|check|look|dig|go|scan
        see)(?: up| in| through| into| at| back)*(?: at| in| through)? (?:our|my|the) (?:\w+ )?(?:past
        previous|earlier|old|last)(?: \w+)? (?:{session}|notes|discussions?)
        (?:pull|bring|dig|call|get|fetch|find|look|show|give)(?: up| out| me| back)* (?:our
        my) (?:\w+ )?(?:earlier|old|previous|past|last)? ?(?:decisions?|agreements?|notes?|conclusions?
        discussions?|conversations?)
    """,
    "remind": r"""
        remind(?:ing)? me|refresh my memory|catch me up|bring me up to (?:speed|date)|fill me in|recap
        summari[sz]e
        i'm back(?: from)?|back from (?:holiday|vacation|leave)|where (?:are|were) we|what's the status
    """,
    "adverb": r"""
        still|ever|already|previously|once|actually|all|both|just|finally|originally|even|again|happen to
        perhaps|not
        by any chance|initially|first|recently|also|eventually|together|by chance|really|usually|normally
    """,
    "shared": r"""
        (?:did|had|have|were|was|didn't|haven't|hadn't) (?:we|the team) (?:{adverb} )*{did}
        (?:did|had|have|was|didn't|haven't|hadn't) i (?:{adverb} )*(?:{decided}|decide|agree|choose|pick
        settle|say|tell|mention|plan|promise|want|ask|give|explain|go with|call|name)
        (?:we|i)(?:'ve|'d| have| had)? (?:{adverb} )*{decided}
        (?:was|were|is|are) (?:the|our|my) (?:\w+ ){0,2}(?:decision|conclusion|agreement|outcome|verdict
        consensus|rationale)
        since when (?:are|have|do|did|were) we
        (?:i|we) (?:told|gave|asked) you
        (?:did|have|had) you (?:ever )?(?:tell|told|suggest|suggested|recommend|recommended|propose
        proposed)
        (?:asked|told|wanted|needed|promised) us
        (?:is|was|were) (?:still )?(?:pending|open|outstanding|left(?: to do)?|on (?:our|my) (?:list|plate))
        (?:what|which) (?:instructions?|rules?|guidelines?|preferences?) (?:have|did|had) i
        (?:why|how come|since when|when) (?:aren't|are|don't|do|didn't|did) we (?:\w+ ){1,6}(?:again|anyway)
        was (?:the |our )(?:\w+ )?(?:reason|reasoning|thinking|idea|motivation|rationale|thought|logic
        argument)s? (?:behind|for|why|that|to
        against)|why was it (?:that )?we|did we (?:not )?already|(?:didn't|haven't) we
    """,
    "did": r"""
        decide|agree|choose|pick|settle|discuss|conclude|plan|say|tell|mention|talk|promise|go with|end up
        land|opt
        determine|set|commit|name|call|want|reject|rule|drop|move|switch|solve|fix|handle|use|leave|stop
        get around
        work|arrive|come|deal|resolve|give|write|note|save|store|start|migrate|ask|finish|introduce|abandon
        ditch|keep
        make|do|put|adopt|replace|remove|turn|change|reach|pin|reach|create|build|add|skip|avoid|need to
        {decided}|\w+ed
    """,
    "decided": r"""
        decided|agreed|chose|chosen|picked|settled|discussed|concluded|planned|said|told|mentioned|talked
        promised
        went with|ended up|landed|opted|determined|gave|given|rejected|ruled out|dropped|switched|wanted
        came up with
        arrived at|left off|noted|wrote down|named|spoke|shared|spoken|set for|set up|working on|going to
        gone with|left
    """,
    "ago": r"""
        yesterday|last (?:time|week|month|year|{session}|sprint|quarter|night|summer|winter|spring|autumn
        fall|meeting)
        last (?:mon|tues|wednes|thurs|fri|satur|sun)day|the other day|a (?:while|bit) (?:ago|back)|back then
        back in \w+
        (?:\w+ )?(?:days?|weeks?|months?|years?|sprints?|sessions?) (?:ago|back)|at the time|recently|lately
        (?:last|previous|earlier|prior|past) (?:\w+ )?(?:{session}|meeting|discussion|decision|call)
        previously|so far|this (?:morning|week)
        in (?:january|february|march|april|june|july|august|september|october)
        in (?:november|december)|earlier|before the holidays|in the past
    """,
    "again": r"again(?= ?[?,.!]*$| ?[,;(-])|once more",
    "ours": r"we|i|our|my|i've|we've|i'd|we'd|i'm|we're|mine|ours",
    "definite": r"the|that|those|this|these",
    "unknown": r"""
        (?:i|we) (?:can't|cannot|can not|don't|do not|couldn't
        no longer) (?:{adverb} |quite |for the life of me |exactly )*(?:{~remember}|recall|know)
        (?:i|we)(?:'ve| have)? (?:{adverb} |totally |completely )*(?:forgot|forgotten)(?! to)
        slipped my mind|escapes me
        i forget|i(?:'m| am) blanking|i lost track|not sure any ?more|i can't place
    """,
    "preference": r"""
        (?:what|which|whats|list|show|tell)(?:'s| is| are|) .{0,30}(?:my|our) (?:\w+ )?(?:preferences?
        preferred|favou?rite|usual|conventions?|policy|name|rules?|decisions?|agreements?|arrangements?)
        (?:do|does) (?:i|we) (?:usually|normally|prefer|typically|like|always)
    """,
    "earlier": r"""
        (?:as|like|the way|what|which|that|the \w+) (?:we|i)(?:'ve
        'd| have| had)? (?:{adverb} )*(?:{decided}|did|do usually)
        (?:where|what) (?:we|i|you) (?:left off|stopped|were)
        (?:same|again) … (?:as|like) (?:last time|yesterday|before|we did|in the (?:last|previous|other))
        (?:we|i|you|our) … {ago}
        {ago} (?:we|i|you) (?:\w+ )?(?:\w+ed|chose|told|did|made|set|wrote|built|had|were|spoke)
        like (?:last time|yesterday|we did)
        (?:my|our) (?:\w+ )?(?:preferences?|to-?dos?|todo list|open tasks|conventions|deadlines?|agreement)
        (?:who|when) (?:is|was|are) (?:our|my|the) (?:\w+ )?(?:contact|deadline|release|demo|meeting|launch
        owner|birthday|audit)
        {ago} (?:we|i|you) \w+
        you (?:once |already |previously |recently )?(?:told|explained|showed|suggested|found|proposed
        recommended|promised)(?: me| us| to)?
    """,
    "pointing": r"""
        (?:what|which|who|where|when|how|why) (?:was|were|is|did|do) (?:it|that|this|they|the|those|he|she
        we|you|one)
        what(?:'s| is| was| were)? (?:it|that|the)|was it|summari[sz]e|repeat|recap|remind|again|say that
    """,
}

_AROUND = {
    "opening": r"""
        (?:would|do) you mind|do you happen to know
        please|pls|plz|kindly|just|also|now|then|ok|okay|hey|hi|hello|yo|so|and|but|oh|ah|well|alright|right
        great|or
        thanks|thank you|thx|perfect|cool|nice|good|yes|yeah|yep|no|nope|actually|sorry|claude|opencode
        assistant|agent
        btw|by the way|fyi|important|one (?:more|last|other) thing|one thing|quick(?: question| note)?|first
        finally
        lastly|next|again|h+m+|wait|before i forget|before (?:we|i|you) \w+(?: \w+)?|in addition
        go ahead and|really
        while (?:you're|you are|we're|we are|i'm|i am) (?:at it|here)|feel free (?:to|and)|important note
        side note
        (?:can|could|would|will|can't|couldn't|won't) (?:you|u)(?: (?:also|maybe|perhaps|quickly|kindly
        again|then))?
        you (?:can|could|should|must|may|need to|have to|might want to|ought to)(?: (?:now|safely|also
        just))?
        i (?:want|need|expect|would like|order|ask|beg) (?:you to)?
        i'd (?:like|want|love|prefer) (?:you to|for you to)?
        be sure to|make sure (?:you|to|that you)|do me a favou?r and|try to|for context|reminder
        it(?:'d| would) be (?:good|great|nice|helpful) if you (?:could|would)?
        i'd appreciate it if you (?:could|would)?
        let's|let me know|i(?:'d| would) (?:like|love) to know|i wonder|i was wondering|any idea
        out of curiosity
        (?:do|would) you (?:happen to )?(?:still )?know|definitely|absolutely|instead|therefore|it's time to
        i'd rather (?:that )?you|i'd prefer (?:that |it if )?you
        i(?:'d| would) be (?:happy|glad|grateful|thankful) if you(?:'d| would| could)?
        it's (?:good|important|essential|useful|best|crucial) (?:for you to|that you|you|to)
    """,
    "asked": r"you|please",
    "joining": r"and|but|so|or|because|then",
    "reporting": r"""
        said|says|wrote|writes|asked|asks|tells|replied|answered|comments?|commented|message|text|label
        title|titled
        string|prints?|printed|error|docs?|documentation|called|named|commit|translate|quote|headline|email
        log|shows
        reads|output|throws|slogan|placeholder|if the|when the|once the|whenever the|so that the|ticket|test
    """,
    "trimmed": r"""
        that|about|of|on|for|regarding|concerning|to|please|pls|this|it|is|was|again|anymore|any more
        the fact|what|which|when|where|why|who|how|did|do|have|we|i|you|and|in|with|from
        {later}
        {onwards}
    """,
    "file": r"""
        (?:in|into|to|on|at|of|from
        under) (?:the |a |an |our |my |your |this |that |each )?(?:[\w./-]+ ){0,2}{artefact}
        (?!memory|claude|agents)[\w-]+\.(?:md|py|js|ts|tsx|jsx|json|ya?ml|txt|toml|css|html|go|rs|java|rst
        sql|sh)
        (?:table|column|class|component|migration|endpoint|route|module|package|folder|directory|screen
        button|page|cache|function|method|variable|branch|commit|migration)s?
    """,
    "artefact": r"""
        readme|docs?|documentation|changelog|code|comments?|docstrings?|file|spec|pr|pull request
        commit(?: message)?
        issue|ticket|page|header|footer|ui|database|db|redis|table|cookies?|local ?storage|cache|jira|wiki
        config
        json|yaml|csv|disk|screen|sidebar|list|dict|variable|array|buffer|struct|response|form|component
        function|class|method|schema|migration|endpoint|model
    """,
    "feature": r"""
        (?:the|a|each|every|logged.?in|returning) (?:\w+ )?(?:users?|visitors?|browser|form|widget|component
        page|login)(?:'s)?
        (?:between|across) (?:\w+ )?(?:(?:re)?(?:loads?|renders?|starts?)|calls|requests|runs|visits
        launches|tabs)
        on (?:reload|refresh|restart|logout|login)|scroll|checkbox|button|dialog|remember me|forget me
    """,
    "able": r"""
        (?:{~remember}|recall|{~forget}|retain) (?:things|stuff|anything|everything|past|previous|earlier
        old|information)
        (?:{~remember}|recall|retain|keep) (?:conversations|context|what (?:people|users|i) (?:say|tell)
        our (?:chats|conversations))
        (?:{~remember}|recall|memory) (?:across|between|from one|over) (?:\w+ )?{session}(?= ?\?| or| and|$)
        how (?:does|do|is|are) (?:your|the) memory
        (?:is it possible for|are you able|are you capable|can you even|do you actually|would you be able
        is there a way).{0,30} (?:remember|recall|forget|memori[sz]e|store|keep)|(?:{~remember}
        recall) .{0,40} or (?:not|is that|doesn't|does)
    """,
    "explained": r"""
        how (?:does |do |did )?(?:\w+ ){1,4}works?|how to|how do (?:i|you|we)
        what (?:\w+ ){1,4}(?:does|means?|stands for)
        the (?:syntax|difference|meaning|usage) (?:of|between)
        work(?:s|ed)? in (?:go|rust|python|java|javascript|typescript|c|sql)
    """,
    "mistaken": r"""
        wrong|break|broke|broken|miss|missed|(?:do|use|put|pass|get|see) (?:this|these|here)|test this
        just (?:change|do)
    """,
    "idiom": r"""
        {~forget} (?:it|this|that|about (?:it|that|this))(?:{end}|(?= (?:and|i|we) ))
        (?:don't|dont|do not|never|didn't|not) (?:ever |again )*{~forget}
        never ?mind|nvm|(?:i|we)(?:'ve| have)? just (?:said|wrote|asked|typed)|scrap that
    """,
    "instead": r"""
        for (?:now|a (?:moment|second|minute|sec)|today|the moment)|just|instead|let's|lets|we'll|i'll|focus
        start over
        never mind|nevermind|from scratch|instructions|gate|password (?:link|page|flow|form|button)|tests?
        approach
    """,
    "postponed": r"""
        ^(?:maybe |perhaps )?(?:we|i|you|it|this
        that)(?:'ll| will| can| could| might| may| should(?! always| never))(?! (?:always|never))
        mind|forget|ever|seen|heard|restores?|returns?|throws?|raises?|renders?|displays?|emits?|shows?
        calls?|fails|works|happens|gets
    """,
    "stated": r"^(?:the|it|this|there|these|those|that|why|how|what|when|if)",
    "negated": r"not|don't|never|no need",
    "unkept": r"""
        (?:don't|do not|not|no need to|needn't|never) (?:\w+ ){0,2}(?:{~remember}|save|store|keep|write
        record|note|log|add)
        ^(?:\w+ )?remember (?:this|that|the|those|when|how) .*(?<!ok)(?<!okay)(?<!please)(?<!right)\?
    """,
    "content": r"\w+ ?:|that|what|which|where|how|whatever|everything|about|regarding|concerning",
    "surely": r"""
        as you|you (?:probably|surely|certainly|might|may|will|must|no doubt)|i'm sure|i bet|no doubt
        of course you|you'll
    """,
    "that": r"that",
    "connecting": r"that|please|pls|the fact|this|it|too|also|for|{later}|{onwards}",
    "about": r"about|regarding|concerning",
}

TALK = _PAST | _AROUND
