"""What people want of a memory, in Spanish: the verbs, what is kept and for how long."""

from __future__ import annotations

_VERBS = {
    "keep": r"""
        {~recuerda} (?:{fill} )*(?:que|:|esto|eso|lo siguiente|lo que|mi|mis|nuestro|nuestra|bien|siempre
        {later}|{onwards})(?! no)
        {~recuerda} (?:el|la|los|las) (?:\S+ ){1,8}?(?:es|son|está|están|va|van|se|tiene|usa|vive|corre|debe
        hay|era)
        recuerd[aáeo]lo(?: {fill})*|recuérdenlo|recuérdelo|recordalo
        recuerd[eé]n? (?:usted |ustedes )?(?:{fill} )*(?:que|esto|:|lo)|recordad (?:que|esto|:)
        record[aá] (?:{fill} )*(?:que|esto|:)
        recordar(?:lo|la)? (?:{fill} )*(?:que|esto|eso|:|lo siguiente|{later}|mi|nuestro|nuestra)
        ac(?:ué|ue)rdate (?:{fill} )*(?:de )?(?:que|esto|eso|:|mi|siempre|{later}|lo que)
        acordate (?:{fill} )*(?:de )?que|acuérdese (?:{fill} )*de que|acordarte (?:{fill} )*de que
        {~memoriza}(?:lo|la)?|memorice|memorizá|memorizar|memorices|aprende(?:te)? (?:de memoria|esto|que)
        apréndete
        (?:guarda|guarde|guardá|guardad|conserva|graba|grábate|grabate|mete|métete|ten|tené|tenga|retén
        reten)(?:lo|te|lo bien)?(?: {fill}| esto| eso)* en (?:la )?(?:memoria|cabeza|mente) (?!cach|ram
        compartida)
        retén|retenga|qu[eé]date con|quedate con|que no se te olvide(?:n)? (?:{fill} )*(?:que|nunca|:)
        que no se te pase (?:que|:)
        quede constancia|que conste|para que conste
        que (?:se )?te (?:quede|quedes) (?:bien )?(?:grabado|claro|en la (?:cabeza|memoria)|con)
        grábat(?:e|elo)(?: {fill})*|grabatelo|mét(?:e|ete|etelo)(?: {fill})* en la cabeza
        (?:lo|esto|eso) (?:debes|tienes que|deberías) (?:recordar|saber|tener)
        tenlo (?:tú |bien |siempre )*(?:guardado|anotado|apuntado|grabado|en cuenta para|presente)
        (?:guarda|guardá|guarde|registra|registrá|registre|almacena|conserva|pon|mete|añade|agrega|anota
        apunta)(?:lo)?(?: {fill}| esto| eso)* en memoria(?! (?:cach|ram|compartida|intermedia))
        lo (?:necesitaremos|necesitarás|vas a necesitar) (?:más adelante|luego|después|otra vez)
        (?:esto |eso )?l[oa]s? (?:vas|vamos) a (?:\w+ )?(?:necesitar|usar)
        (?:esto |eso )?te (?:hará falta|servirá)|l[oa] necesitar(?:ás|emos)
        (?:recordar|memorizar|tener|retener)l[oa](?: en cuenta| presente| siempre| bien)*{end}
    """,
    "keep_late": r"""
        (?:lo |la |te )?(?:recuerdes|recordaras|recordases|acuerdes|acordaras|memorices|memorizaras|retengas
        tengas (?:en mente|en memoria|presente))
        se te quede
    """,
    "fill": r"""
        bien|también|por favor|porfa|porfis|plis|siempre|ya|pues|además|esto|eso|aquí|ahí|bien claro|para mí
    """,
    "write": r"""
        {~apunta}(?:lo|la|los|las|te|telo|tela)?(?! (?:a |al |hacia|contra))|apunte(?:lo|la)?(?! (?:a|al))
        apunt[aá](?:lo)?(?! (?:a|al))|apuntad(?:lo)?|apuntar(?:lo|la|te)?(?! (?:a|al))
        ap[uú]nt[ae](?:lo|te|telo)
        {~anota}(?:lo|la|te|telo)?|anote(?:lo|la)?|anot[aá](?:lo)?|anotad(?:lo)?|anotar(?:lo|la)?
        an[oó]t[ae](?:lo|te|telo|la)
        tom(?:a|e|á|ad|ar) (?:buena |debida )?nota|hazte una nota|haz una nota
        deja (?:una )?(?:nota|constancia)
        dejar? constancia|deje constancia
        (?:registra|registre|registrá)(?:lo| esto| que| la decisión| esta decisión| bien)|reg[ií]str[ae]lo
        d[eé]j[ae]lo (?:\w+ )?(?:registrado|anotado|apuntado|escrito|guardado|por escrito)
        (?:escribe|escriba|escrib[ií])(?:lo|te)?(?: {fill}| esto| eso)* (?:en algún (?:lado|sitio)|para|que
        abajo)|escríbelo
        (?:crea|cree|añade|agrega|guarda|haz|pon|escribe)(?:me
        te)? (?:{fill} )*una (?:nueva |breve )?(?:nota|memoria|anotación) (?:{fill} )*(?:de|que|sobre|con
        para|diciendo|:)
        nota (?:para|mental) (?:{fill} |mí |mi |ti |uno |el |más |después |futuro |luego )*(?:mismo|misma
        tarde|futuro)? ?:?
        gu[aá]rd[ae](?:lo|la|te|telo|telo bien)(?: {fill})*{end}
        guarda (?:esto|eso|este dato|esta (?:decisión|información|preferencia
        regla))(?: {fill})*(?={end}| ?[:.,!]| como| que)
        gu[aá]rd[ae]te (?:esto|eso|la|el|este|esta|bien)
        para (?:tu|tus|nuestro|el|nuestros) (?:archivos?|registros?|notas|apuntes)
        (?:ponlo|pon esto|déjalo) por escrito|escribe (?:esto|eso) en (?:tu|tus)
        (?:me |te )?l[oa] (?:apuntas|anotas|registras)|tomas nota
        (?:escribe|escribí|escriba|pon)(?: {fill}|lo|me)*(?: por ahí| en algún (?:lado
        sitio)| en alguna parte)
        (?:apuntar|anotar|registrar|guardar)l[oa](?: bien| siempre)*{end}
    """,
    "write_late": r"""
        (?:lo |la |te lo |te )?(?:apuntes|anotes|anotaras|apuntaras|registres|tomes nota|guardes constancia
        dejes (?:anotado|constancia|registrado))
    """,
    "store": r"""
        guarda(?:lo|la|te)?|gu[aá]rdalo|guarde(?:lo)?|guard[aá]|guardar(?:lo|la)?|añade(?:lo)?|añadir(?:lo)?
        agrega(?:lo)?|agregar(?:lo)?|pon(?:lo|er|erlo)?|ponga|mete(?:lo)?|meter(?:lo)?|almacena(?:lo)?
        almacenar(?:lo)?
        registra(?:lo)?|registrar(?:lo)?|escribe(?:lo)?|escribir(?:lo)?|incluye(?:lo)?|conserva(?:lo)?
        conservar(?:lo)?|graba(?:lo)?|grabar|archiva|anota|apunta|incorpora|deja(?:lo)?|ten(?:lo|er|erlo)?
        tenga|tené|retén|mantén|mantener
        (?:me |te )?l[oa] (?:guardas|metes|añades|pones)
    """,
    "store_late": r"""
        (?:lo |la |te lo |te )?(?:guardes|añadas|agregues|pongas|metas|almacenes|registres|conserves
        incluyas|sepas|tengas|guardaras|añadieras)
    """,
    "mind": r"""
        ten(?:lo|ga|gan|é)?(?: {fill})* (?:en cuenta|presente|en mente|claro)
        ten(?:er|erlo) (?:en cuenta|presente|en mente)|toma en cuenta|considera|piensa en|sabe que|sepa que
        fíjate|no olvides|no te olvides|(?:lo )?tengas (?:en cuenta|presente)
        {~recuerda}|ac(?:ué|ue)rdate
    """,
    "unforgotten": r"""
        no (?:te |se )?(?:{fill} )*olvid(?:es|éis|e|en|és)(?: {fill}| nunca| jamás| más)* (?:de )?(?:que
        esto|:|mi|nuestr[oa])
        nunca (?:te )?olvides (?:de )?(?:que|esto|:)|jamás (?:te )?olvides (?:de )?que
        no (?:me|nos) dejes olvidar(?:me|nos)? (?:de )?(?:que|:|la|el|nunca)
        que no se (?:me|nos|te) olvide(?:n)? (?:nunca )?(?:que|:)
        que no se (?:me|nos|te|le) olvide(?:n)?(?! \w+r\b)|(?:esto|eso) no se (?:puede|debe) olvidar
        no (?:te )?olvides (?:nunca |jamás )?(?:esto|eso)|(?:nunca|jamás) (?:te )?olvides
    """,
    "ruled": r"""
        (?:nueva|otra) (?:regla|norma|instrucción|convención|preferencia) … ?:
        (?:regla|norma|instrucción|preferencia|convención) (?:permanente|general|fija|del proyecto
        de la casa|de equipo|de oro) … ?(?::|,)
        (?:es|sea) una (?:norma|regla|instrucción|preferencia) (?:permanente|general|fija)
        haz de (?:esto|eso) una (?:regla|norma|costumbre)|conviértelo en (?:norma|regla|costumbre)
        (?:como|por) (?:norma|regla)(?: permanente| general| fija)*
        (?:esto|eso) (?:vale|aplica|se aplica|rige) (?:para|en|a) (?:tod[oa]s?|cualquier|cada)
    """,
    "informed": r"""
        para que lo (?:sepas|tengas|recuerdes|sepa)|para tu información|para que sepas|que sepas que
        te (?:lo )?(?:digo|aviso|comento) para|debes saber|has de saber|por si (?:acaso|te|lo|vuelve)
        para tu conocimiento|ojo|sábete|que lo sepas
    """,
    "introduced": r"""
        (?:{later}|{onwards}) {colon}
        (?:{later}|{onwards}) (?:siempre|nunca|jamás|usa|usad|no|quiero|prefiero|tú|recuerda|ten|mi|mis
        nuestro|nuestra|escribe|pon|hay que|solo|los|las|debes|pregúntame|quédate|sepas|que)
        (?:{later}) que (?:me|te|tú|hagas|vayas|\w+as|\w+es)
    """,
    "forget": r"""
        {~olvida}(?:te)?(?: de)?|olv[ií]date(?: de)?|olvide(?:se)?(?: de)?|olvid[aá](?:te)?(?: de)?|olvidad
        olvidar(?:te)?(?: de)?|desaprende|desaprender|ignora|descarta
    """,
    "owned": r"""
        (?:{forget})(?: {fill}| por completo| completamente| totalmente)* (?:de )?(?:que|lo que|lo de|todo
        toda|mi|mis|nuestro|nuestra|nuestros|nuestras|cómo|cuál|dónde|cuanto|aquello|lo)
        (?:olvides|olvidaras|olvide|olvidar) (?:de )?(?:que|lo que|todo|mi|mis|nuestr[oa]s?|lo de)
        {note}
        {told}
        {kept}
        {memory}
    """,
    "told": r"""
        te (?:dije|di|conté|mencioné|pasé|envié|mandé|comenté|pegué|pedí|escribí|he dicho|he dado|he contado
        he pasado|había dicho|había dado|había contado)|(?:dije|dijimos|conté|mencioné|comenté|acordamos
        decidimos)
        que te (?:\w+ )?(?:dije|di|dado|dicho|pasé|conté)
    """,
    "forget_late": r"(?:te |lo )?(?:olvides|olvidaras|olvidases|olvide|olvidar|olvidarte|olvidarlo)",
    "erase": r"""
        {~borra}(?:lo|la|los|las|me)?|borre(?:lo|la)?|borr[aá]|borrar(?:lo|la|los|las)?
        b[oó]rr[ae](?:lo|la|los|las)|{~elimina}(?:lo|la|los|las)?|elimine|elimin[aá]|eliminar(?:lo|la)?
        el[ií]min[ae](?:lo|la|los|las)
        quita(?:lo|la|los|las)?|qu[ií]t[ae](?:lo|la|los|las)|quite|quit[aá]|quitar(?:lo|la)?
        suprime(?:lo|la)?
        supr[ií]m[ea](?:lo|la)|suprima|suprimir|saca(?:lo|la)?|s[aá]c[ae](?:lo|la)|saque|sacar(?:lo|la)?
        tacha(?:lo|la)?|t[aá]ch[ae](?:lo|la)|tachar
        tira(?:lo|la)?|t[ií]r[ae](?:lo|la)|limpia|limpie|limpiar|vac[ií]a|vacíe|vaciar|descarta(?:lo|la)?
        desecha|deshazte de|olvida|olvídate de|purga
        (?:me )?l[oa]s? (?:borras|eliminas|quitas|suprimes)
    """,
    "delete": r"""
        {erase}
        retira|retire|retirar
    """,
    "delete_late": r"""
        (?:lo |la |los |las |me )?(?:borres|elimines|quites|suprimas|saques|taches|borraras|eliminaras
        quitaras|tires|descartes|olvides|retires|limpies)
    """,
    "delete_it": r"""
        (?:b[oó]rra|el[ií]mina|qu[ií]ta|supr[ií]me|s[aá]ca|t[aá]cha|t[ií]ra|desc[aá]rta|olv[ií]da|b[oó]rre
        el[ií]mine|ret[ií]ra|qu[ií]te|b[oó]rr[aá])(?:lo|la|los|las|melo|mela)
        (?:borra|elimina|quita|suprime|saca|olvida|borrá|eliminá|tira|descarta) (?:eso|esto|ese|esa
        todo eso)
        (?:borrar|eliminar|quitar|suprimir|sacar|olvidar|tirar|tachar)(?:lo|la|los|las)
        (?:puede|puedes|se puede|debe|hay que|deberías) (?:ya )?(?:borrar|eliminar|quitar|desaparecer
        borrarse|eliminarse|olvidarse|olvidar)(?:lo|la|se)?
        fuera (?:con )?(?:de|ese|esa|eso)|(?:la|lo|los|las) (?:borres|elimines|quites|olvides|borras|quitas
        eliminas|puedes (?:borrar|tirar|quitar|eliminar))
    """,
    "unkeep": r"""
        ya no (?:\w+ ){0,4}(?:recuerdes|guardes|conserves|almacenes|recordar|guardar|conservar|memorices
        tengas|retengas|recordarlo|guardarlo)
        no (?:\w+ ){0,4}(?:recuerdes|guardes|conserves|almacenes|recordar|guardar
        tengas guardad\w+) … (?:más|nunca más)
        (?:deja|dejá|deje|para) de (?:recordar|guardar|almacenar|conservar|tener)
        no hace falta que (?:\w+ )?(?:recuerdes|guardes|conserves) … (?:más|ya)
        (?:pues )?(?:deja|dejá|deje|dejad) de (?:recordarl[oa]|guardarl[oa]|tenerl[oa])
    """,
    "announced": r"(?:{later}|{onwards})(?: \w+){0,4} ?:",
}

_MEMORY = {
    "session": r"""
        sesión|sesiones|veces|vez|conversaciones|conversación|charlas?|chats?|tareas|proyectos?|trabajos?
        ocasiones|mensajes
    """,
    "later": r"""
        para (?:más tarde|luego|después|el futuro|siempre|la próxima(?: vez)?|la siguiente|próximas|futuras?
        más adelante|la posteridad|el recuerdo)
        para (?:las |los |todas las |la |el )?(?:próxim[oa]s?|futur[oa]s?|otr[oa]s?|siguientes?|posteriores
        demás) {session}
        (?:en|entre|durante) (?:las |los |todas las |la )?(?:próxim[oa]s?|futur[oa]s?|otr[oa]s?|siguientes?
        posteriores) {session}|para {session} (?:futuras?|posteriores|siguientes)
        la próxima(?: vez)?|a largo plazo|de forma permanente|permanentemente|definitivamente
        de una sesión a otra|de una vez por todas|entre sesiones|a futuro
        para (?:no|que no|que la próxima) … (?:otra vez|de nuevo|repetir\w*|cada vez|volver|vez)
        así no (?:te|me|nos|lo) … (?:cada vez|otra vez|de nuevo|repetir\w*)
        (?:para|por si|si) (?:cuando )?(?:vuelve|vuelva|volviera|vuelve a|se repite|se repita|ocurre|pasa
        ocurra) (?:a )?(?:\w+ )?(?:otra vez|de nuevo|pasar|ocurrir|suceder
        salir)?|más adelante|para cuando|(?:durante |para |en )?(?:las|los) próxim[oa]s (?:semanas|días
        meses)|lo (?:necesitaremos|usaremos)
        más allá de esta sesión|también después de esta sesión|no solo (?:para )?(?:hoy|ahora|esta sesión)
    """,
    "onwards": r"""
        a partir de (?:ahora|hoy|este momento|aquí|ya|mañana)|de (?:ahora|hoy|aquí) en (?:adelante|más)
        desde (?:ahora|hoy|ya)(?: en adelante)?|en (?:lo sucesivo|adelante)|en el futuro|hasta nuevo aviso
        por norma(?: general)?|por regla general
        (?:para|en) tod[oa]s (?:mis|nuestr[oa]s|los|las) (?:\w+ )?(?:proyectos|servicios|repos|repositorios
        scripts|commits|tareas|archivos)|como norma
    """,
    "always": r"""
        siempre|nunca|jamás|cada vez|todas las veces|sin excepción|en todo momento|exclusivamente|únicamente
        nunca más
    """,
    "scope": r"""
        (?:en|para|por) (?:este|esta|nuestro|nuestra|nuestros|mi|mis|todos (?:mis|nuestros|los)|todas (?:mis
        nuestras|las)|cada|cualquier|todo el) {place}|(?:para mí|conmigo|por aquí|aquí)|antes de (?:que|cada
        tocar|hacer)|después de cada|cuando (?:escribas|hagas|me|toques|termines|vayas)|sin (?:preguntar\w*
        avisar\w*|consultar\w*|mi)|salvo que
    """,
    "place": r"""
        (?:\w+ )?(?:proyectos?|repos?|repositorios?|código|equipo|workspace|scripts?|servicios?|apps?
        aplicación|commits?|monorepo|base de código|prs?)
    """,
    "memory": r"""
        (?:tu|su|mi|nuestra|nuestro|tus|sus|mis|nuestras|nuestros|vuestra
        vuestras)(?: {own})* {stock}(?: {own})*|memoria (?:a largo plazo|permanente|persistente)|memory\.md
    """,
    "own": r"""
        propi[oa]s?|a largo plazo|largo plazo|permanentes?|personal(?:es)?|persistentes?|intern[oa]s?
        guardad[oa]s?
    """,
    "out": r"""
        (?:de|fuera de) (?:tu|su|mi|nuestra|tus|sus|mis|nuestras)(?: {own})* {stock}
        \w+l[oa]s? de la memoria
    """,
    "stock": r"""
        memorias?|notas?|recuerdos?|apuntes?|cuaderno|registros?|archivos?|conocimientos?|libreta|diario
        anotaciones|cabeza|agenda
        base de conocimientos?|historial|conversaciones|charlas|ficha|fichas|dossier
    """,
    "note": r"""
        (?:la|el|los|las|esa|ese|esos|esas|esta|este|estas|estos|tu|tus|mi|mis|una|todas las|todos los
        cualquier|aquella|aquel)(?: \w+){0,2}? (?:notas?|recuerdos?|apuntes?|anotación|anotaciones
        recordatorios?|memos?)
        (?:la entrada|el dato|la regla|la información|la ficha|los datos) … (?:memoriz|guard|anot|apunt
        regist|memoria)\w*
        (?:todos|todas) (?:los|las|tus) (?:recuerdos|notas|apuntes)
        (?:lo|la parte|el dato|la decisión|la regla|la info|la información|el trozo|eso|aquello) (?:de|del
        sobre|acerca) .{1,60}de (?:tu|tus|sus?)
    """,
    "kept": r"""
        (?:has|habías|hayas|hubieras|ha|haya|había) (?:\w+ )?{saved}
        (?:tienes|tenías|tengas|tiene|tenga|tenemos|tenés|teníamos) (?:\w+ ){0,3}{saved}
        (?:sabes|sabés|sabe|recuerdas|guardas|conoces) (?:todavía |aún |tú )?(?:de|sobre|del|acerca) (?:mí
        mi|mis|nuestr[oa]s?|la|el|los|las|nosotros|sesiones|proyecto|lo)?
        (?:hay|tienes|tenemos|existe|queda) (?:algo|alguna nota|algún apunte|alguna|algún|constancia
        notas)(?: \w+){0,2} (?:sobre|de|del|en|acerca|respecto|{saved})
        (?:memorizaste|guardaste|anotaste|apuntaste|registraste|hiciste|tomaste|almacenaste|aprendiste)
        (?:lo|la) tienes (?:tú |por ahí|guardad|anotad|apuntad)\w*
        (?:todo )?lo que (?:tú )?(?:sabes|sepas|recuerdas|recuerdes|tienes|tengas|conoces|hayas|guardas)
        (?:dejamos|dejaste|quedó) (?:\w+ )?{saved}|qué (?:sabes|tienes) (?:de|sobre|del)
        consta (?:en|por)|(?:está|quedó|queda|figura) (?:\w+ )?(?:en|por) (?:algún|alguna) (?:lado|sitio
        parte)
        en algún (?:lado|sitio)
    """,
    "saved": r"""
        (?:guardad|anotad|apuntad|registrad|memorizad|almacenad|grabad|aprendid|recogid)[oa]s?|escrit[oa]s?
        por ahí|en memoria|pendiente
    """,
    "personal": r"""
        (?:mis?|nuestr[oa]s?|sus?) (?:\w+ )?(?:dirección|teléfono|móvil|número|correo|e-?mail|nombre
        cumpleaños|sueldo|salario|preferencias?|datos|contraseña|cuenta|edad)
    """,
}

WISHES = _VERBS | _MEMORY
