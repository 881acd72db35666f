"""How people ask and talk about the past in Spanish, and what stands around a wish."""

from __future__ import annotations

_PAST = {
    "asking": r"""
        ¿|que (?!se|te|no|lo|la|me|nos|le|conste|quede|sepas)|cuales|cual|cuando|donde|por que|porque
        como (?!norma|regla)|quien(?:es)?|cuantos?|cuantas?
        (?:dime|decime|dígame|recuérdame|recordame|cuéntame|muéstrame|enséñame|resume|resúmeme|lista|busca
        mira|revisa|consulta|dame|hazme|ponme|encuentra|léeme|comprueba)
        (?:desde|hasta|para|a|de|en|con|por|sobre|contra) (?:cuándo|cuando|qué|que|cuál|cual|cuáles|quién
        quien|dónde|donde)
        (?:te acuerdas|recuerdas|sabes|tienes|hay|habíamos|hemos|te dije|teníamos|te he)
    """,
    "recall": r"""
        (?:tú )?(?:te|se|os|vos te) (?:acuerdas|acordás|acuerda|acordáis)|(?:acuérdas|acordas)
        (?:recuerdas|recordás|recordáis|recuerda usted)|(?:todavía|aún) (?:recuerdas|te acuerdas)
        (?:sabes|sabés|sabe) (?:todavía|aún) (?:qué|cuál|por qué|quién|cómo|dónde|cuándo)
        (?:recuérdame|recordame|recuérdanos|recuérdeme) (?:{fill} |otra vez |de nuevo )*(?:lo que
        nuestr[oa]s?|mis?|(?:qué|que|cuál|cual|por qué|cuándo|dónde|quién|cómo|el|la|los|las|en qué|a qué
        de qué|si) … (?:\w+[aei]mos|habíamos|hemos|te|nos|nuestr[oa]s?|mi|he|elegí|dije|era|eran))
        recordar(?:me|nos) (?:{fill} )*(?:lo que|qué|que|cuál|cual|por qué|cuándo|dónde|quién|a qué|en qué
        el|la|los|las|nuestr[oa]s?)(?! (?:hacer|ejecutar))
        qué (?:es lo que )?(?:recuerdas|recordás)|refr[eé]scame la memoria|hasta donde (?:sabes|recuerdas)
        de qué te acuerdas|qué sabes todavía
        ayúdame a (?:recordar|acordarme|hacer memoria)|échame una mano con la memoria|haz memoria
    """,
    "lookup": r"""
        (?:busca|buscá|busque|mira|mirá|revisa|revisá|consulta|comprueba|rebusca|echa un vistazo|repasa
        fíjate|hurga)(?: {fill}| a| un poco)* (?:en |a )?(?:tu|tus|su|sus|nuestr[oa]s?
        mis?) (?:\w+ )?{stock}
        (?:según|de acuerdo con|en) (?:tu|tus|su|sus|nuestr[oa]s?|mis) (?:\w+ )?{stock}
        (?:busca|encuentra|mira|recupera) (?:{fill} )*(?:lo que|qué|cuándo|por qué) … (?:\w+[aei]mos|dije
        habíamos|hemos)
        (?:busca|mira|revisa|repasa|consulta|relee)(?: {fill})* (?:en )?(?:las|nuestras|mis|nuestros
        los) (?:\w+ )?(?:conversaciones|sesiones|notas|charlas
        chats)(?: (?:pasadas|anteriores|antiguas|previas|viejas))?
        (?:recupera|busca|saca|muéstrame|encuentra|rescata|dame)(?: {fill})* (?:nuestr[oa]s?
        mis?) (?:\w+ )?(?:decisión|decisiones|acuerdos?|notas?|conclusiones|conclusión|conversaciones
        charlas?)
    """,
    "remind": r"""
        recuérdame|recordame|recuérdeme|recuérdanos|recordarme|recordarnos|ponme al (?:día|corriente)
        hazme un (?:resumen|repaso)|resúmeme|refréscame|resume|dame un (?:resumen|repaso)
        ayúdame a (?:recordar|acordarme)|(?:vuelvo|acabo de volver) de|he vuelto
        ya (?:he vuelto|estoy de vuelta)|en qué punto|cómo (?:iba|quedó)
    """,
    "shared": r"""
        (?:habíamos|hemos|hubimos) (?:\w+ )?{participle}
        (?:he|había|habías) (?:\w+ )?(?:dicho|dado|mencionado|elegido|decidido|contado|comentado|explicado
        pedido|indicado|escogido|prometido)
        {preterite}
        (?:en qué|dónde|por dónde|donde|por donde) (?:habíamos )?(?:quedamos|nos quedamos|íbamos|lo dejamos
        estábamos|quedado|quedó)
        desde cuándo (?:estamos|usamos|tenemos|llevamos|\w+mos)
        (?:te|nos) (?:dije|di|conté|pedí|pedía|dijo|pasé|expliqué|comenté|mencioné|dijiste|propusiste
        recomendaste)|me (?:dijiste|recomendaste|propusiste|sugeriste)
        (?:cuál|cuáles|qué) (?:era|fue|eran|fueron) (?:la|el|nuestr[oa]|mi|los|las) (?:\w+ ){0,2}(?:decisión
        conclusión|acuerdo|razón|motivo|plan|elección|argumento|fecha|decisiones|acuerdos)
        (?:queríamos|íbamos a|pensábamos|decíamos|hablábamos|usábamos|trabajábamos|estábamos|teníamos
        quedamos)
        (?:quedó|quedaba|quedaban|estaba|estaban) (?:algo )?(?:pendientes?|por hacer|abiert[oa]s?
        en el aire)
        qué (?:instrucciones|reglas|normas|preferencias) te|nos (?:pidió|pidieron|dijo)
        (?:cómo|como) se llamaba
        diste con|encontraste|qué (?:era|fue) lo de|cuándo (?:nos )?\w+mos
        mencioné|conté|comenté|expliqué
        (?:cuál|qué) (?:era|fue|eran) (?:el|la|nuestr[oa]) (?:\w+ )?(?:razón|razonamiento|motivo|idea
        motivación|argumento|lógica|justificación|pensamiento)(?:s)?(?: detrás| para| de| por)?|no habíamos
    """,
    "participle": r"\w+(?:ado|ido|ada|ida)|dicho|hecho|puesto|visto|escrito|dado|resuelto|vuelto",
    "preterite": r"""
        (?:decid|eleg|discut|defin|escrib|conclu|convin|dij|hic|pus|tuv|quis|descart|acord|habl|opt|acab
        llam|cambi|plane|pas|dej|fij|qued|pens|habl|migr|us|arregl|solucion|resolv|nombr|llegan|lleg|empez
        comentam|coment|adopt|escog|aprob|establec|abandon|desech|rechaz|pact|consensu|apunt|anot|cre|guard
        document|registr|instal|configur|mont|arregl|mov|abr|cerr|constru|sub|pregunt|prob|tom)(?:amos
        imos)(?! (?:que hacer|ahora))
        fuimos|dije|elegí|decidí|escogí
    """,
    "ago": r"""
        ayer|anteayer|la última vez|(?:la|el) (?:semana|mes|año|sesión|sprint|trimestre|vez|verano|reunión
        lunes|martes|miércoles|jueves|viernes) (?:pasad[oa]|anterior)|el otro día
        (?:en )?(?:la|el|nuestra|las|nuestras) (?:últim[oa]s?|anterior(?:es)?) (?:{session}|reunión|charlas)
        {session} (?:anterior(?:es)?|pasadas?|previas?)
        hace (?:\w+ ){1,3}(?:días?|semanas?|mes(?:es)?|años?|tiempo|rato|sprints?)|hace (?:tiempo|poco)
        en su (?:día|momento)|entonces|anteriormente|previamente|hasta ahora|esta mañana
        antes de las vacaciones|recientemente|antaño|por aquel entonces|al principio
        en (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)
    """,
    "again": r"""
        (?:cómo|cual|cuál|qué|quién) (?:se llamaba|era|eran|decías|me dijiste)|otra vez(?= ?[?])
        que no me acuerdo|ahora no caigo|cómo era
    """,
    "ours": r"nosotros|nos|nuestr[oa]s?|mis?|yo|\w{2,}[aei]mos|he|habíamos|hemos|teníamos|estábamos",
    "definite": r"el|la|los|las|lo|ese|esa|esos|esas|este|esta|aquel|aquella|del|al",
    "unknown": r"""
        no (?:me )?(?:\w+ )?(?:recuerdo|acuerdo|sé)(?: ya| ahora| bien)?|no consigo (?:recordar|acordarme)
        ya no (?:sé|recuerdo|me acuerdo)|se me (?:ha )?(?:olvidó|olvidado|fue|pasó)
        (?:he )?olvid(?:é|ado) (?:qué|cuál|el|la|si|cómo|quién|cuándo|dónde|por qué)|se me escapa|no caigo
    """,
    "preference": r"""
        (?:cuál|cuáles|qué|lista|dime|muéstrame) .{0,30}(?:mis|nuestras|nuestra|mi|nuestros
        nuestro) (?:\w+ )?(?:preferencias?|convenciones|convención|decisiones|decisión|acuerdos?|costumbres?
        normas)
        (?:uso|prefiero|usamos|preferimos|suelo|solemos) (?:normalmente|habitualmente|siempre|por lo general
        usar|utilizar)
    """,
    "earlier": r"""
        como (?:hablamos|acordamos|quedamos|decidimos|dijimos|comentamos|te dije|siempre acordamos|ayer
        la última vez|la otra vez|habíamos \w+|hemos \w+|vimos|discutimos|en la sesión)
        (?:lo que|el|la|los|las|que) (?:\w+ )?(?:acordamos|decidimos|hablamos|elegimos|dijimos|habíamos \w+
        elegí|te dije|quedamos|planeamos)
        (?:donde|por donde|desde donde) (?:lo )?(?:dejamos|nos quedamos|quedamos|íbamos|estábamos)
        (?:mism[oa]s?|igual) … (?:que|como) (?:la última vez|ayer|antes|la otra vez|la vez|el otro día)
        (?:\w+[aei]mos|hice|hiciste|dije|te) … (?:ayer|el otro día|la última vez|la semana pasada
        el mes pasado)
        (?:ayer|el otro día|la última vez|la semana pasada|el mes pasado) … (?:\w+[aei]mos|hice|hiciste|dije
        te|me)
        (?:mis|nuestr[oa]s|mi|nuestr[oa]) (?:\w+ )?(?:preferencias?|lista de tareas|convenciones|decisiones
        pendientes|fecha límite)
        (?:quién|quien|cuándo|cuando) (?:es|era|fue) (?:nuestr[oa]|mi|la|el) (?:\w+ )?(?:contacto|entrega
        fecha límite|demo|reunión|lanzamiento)
        {ago} … (?:\w+(?:aste|iste|amos|imos)|diste|hice|dije)
    """,
    "pointing": r"""
        (?:cuál|cual|qué|que|quién|quien|dónde|cuándo|cómo|como) (?:era|eran|fue|fueron|es|se llamaba|quedó)
        resum\w+|repit\w+|me l[oa]s? (?:repites|recuerdas|dices|resumes)|repetir\w*|recordar\w*|otra vez
        de nuevo|qué era
    """,
}

_AROUND = {
    "opening": r"""
        ¿|¡|por favor|porfa|porfis|porfi|plis|gracias|muchas gracias|vale|ok|okay|bueno|bien|hola|oye|oiga
        eh|ey
        y|e|pero|oh|ah|sí|no|pues|entonces|perfecto|genial|claro|en realidad|perdona|disculpa|lo siento
        claude|opencode|asistente|o
        por cierto|a propósito|importante|ojo|atención|una cosa más|otra cosa|una cosa|una pregunta|pregunta
        primero|por último|luego|espera|hm+|mm+|también|además|ahora|ya|solo|simplemente|nada más
        antes de que (?:se me olvide|me olvide|\w+)|antes de (?:empezar|seguir|\w+)
        (?:puedes|podrías|podés|puede|podría|quieres|querrías
        podríais)(?: usted| ustedes| tú| también| por favor| ya)*|(?:debes|deberías|tienes que|tenés que
        necesitas|has de|debe)|hay que
        (?:quiero|quisiera|necesito|me gustaría|prefiero|te pido|le pido|te ruego|ruego|agradecería
        te agradecería)(?: que)?|sería (?:bueno|genial|ideal
        conveniente)(?: que)?|haz(?:me)? el favor de|hágame el favor de|asegúrate de|procura|trata de
        intenta|sírvase|vas a|convendría que|te importa|te importaría|le importaría
        dime|decime|dígame|cuéntame|sabes|me (?:puedes|podrías) decir|me pregunto|alguna idea|recordatorio
        nota
        podemos|vamos a|mira|en serio|de verdad|me dices|me recuerdas|que|así que|por tanto|sobre todo
        si puedes|te acuerdas|no recuerdo|no me acuerdo
        funcionó|listo|estupendo|conviene que|es importante que|me harías el favor de|sería tan amable de
        tendrías la bondad de|pues|ya puedes|ya podés|te agradezco que|anda|venga|dale|hey|al final
    """,
    "asked": r"""
        (?:puedes|podrías|podés|puede|podría|quieres|querrías|debes|deberías|tienes que)|quiero que
        quisiera que
        necesito que|me gustaría que|prefiero que|te pido que|para que|por favor|porfa|sería \w+ que
        es \w+ que|hace falta que|que|agradecería
    """,
    "joining": r"y|e|pero|o|porque|pues|así que|entonces|que",
    "reporting": r"""
        dijo|dice|decía|escribió|escribe en|preguntó|pregunta|respondió|contestó|comentario|mensaje|texto
        etiqueta|título|cadena|error|documentación|llamad[oa]|commit|traduce|cita|correo|log|muestra|pone
        botón|si el usuario|cuando el usuario|cuando un|test|asunto
    """,
    "trimmed": r"""
        que|de|del|sobre|en|para|por|a|al|por favor|porfa|esto|eso|es|era|acerca|respecto|qué|cuál|cuándo
        dónde|por qué|quién|cómo|lo|lo que|y|con|si|ya|se|te|nos|hemos|habíamos|acerca de|el hecho
        {later}
        {onwards}
    """,
    "file": r"""
        (?:en|a|al|del|de|sobre|bajo|hacia) (?:[\w./-]+ ){0,3}?{artefact}
        (?!memory|claude|agents)[\w-]+\.(?:md|py|js|ts|tsx|jsx|json|ya?ml|txt|toml|css|html|go|rs|java|rst
        sql|sh)
        (?:tabla|columna|clase|componente|migración|endpoint|ruta|módulo|paquete|carpeta|pantalla|botón
        página|caché|función|método|variable|rama)s?
    """,
    "artefact": r"""
        readme|docs?|documentación|changelog|código|comentarios?|docstrings?|fichero|archivo|spec|pr
        pull request|commit|ticket|página|interfaz|ui|base de datos|bd|db|redis|tabla|cookies?
        local ?storage|caché|jira|wiki|config|configuración
        json|yaml|csv|disco|pantalla|lista|dict|diccionario|variable|array|búfer|buffer|struct|respuesta
        formulario|componente|función|clase|método|esquema|migración|endpoint|modelo|carpeta|bucle
    """,
    "feature": r"""
        (?:el|la|los|las|un|una|cada|del|al) (?:\w+ )?(?:usuari[oa]s?|visitantes?|navegador|formulario
        widget|componente|página|login)
        entre (?:\w+ )?(?:recargas?|reinicios?|renders?|llamadas|peticiones|visitas)
        al (?:recargar|reiniciar|cerrar sesión|iniciar sesión)|desplazamiento|casilla|botón|diálogo
        recuérdame en|recordarme en|recordar usuario|derecho al olvido|contraseña olvidada
    """,
    "able": r"""
        (?:recordar|acordarte|memorizar|olvidar|retener) (?:de )?(?:las |los |tus )?(?:cosas|todo
        conversaciones|información|datos|algo|lo que (?:te )?(?:digo|dicen))
        (?:recordar|acordarte|memorizar|recuerdas|te acuerdas|guardas) … (?:de una (?:sesión
        conversación) a (?:otra|la siguiente)|entre (?:sesiones|conversaciones))
        cómo funciona (?:tu|la|su) memoria
        (?:es posible|eres capaz|sois capaces|puedes siquiera|hay (?:alguna )?(?:forma
        manera)).{0,40}(?:recordar|recuerdes|memorizar|olvidar|retener|acordarte)|recordar .{0,30}o (?:no|es
        eso)
    """,
    "explained": r"""
        cómo (?:funciona|funcionan|funcionaba|se usa|se usan|se hace|se escribe|usar|hacer|va|van)
        qué (?:es|son|hace|significa|era) (?:un|una|el|la)(?! (?:decisión|fecha|puerto|nombre))
        la (?:sintaxis|diferencia)|para qué sirve
    """,
    "mistaken": r"""
        mal aquí|hice mal|rompí|roto|me equivoqué|falta(?:ba)? aquí|acabo de (?:cambiar|hacer)|saltado
    """,
    "idiom": r"""
        olv[ií]d[ae](?:lo|te){end}|(?:{~olvida}|olvide) (?:eso|esto){end}
        no (?:te |se )?(?:\w+ )?olvid\w+|nunca (?:te )?olvides|déjalo(?= ?$| ?[,.;!])
        (?:acabo de|acabamos de) (?:decir|escribir|preguntar)|da igual|no importa
    """,
    "instead": r"""
        por ahora|de momento|por el momento|mejor|en su lugar|simplemente|vamos a|céntrate|empieza de nuevo
        desde cero|instrucciones|tests?|enfoque|primero|da igual|hoy
    """,
    "postponed": r"""
        (?:ya )?(?:veremos|lo haremos|podríamos|podremos|lo vemos|lo dejamos)|quizás?|tal vez|a lo mejor
        devuelve|lanza|muestra|retorna
        (?:siempre|nunca|jamás) (?:se|me|que|lo|la|hay|es|está|falla|pasa|he|había|funciona|igual|el|un|una
        da)
    """,
    "stated": r"^(?:el|la|los|las|esto|eso|ese|esa|este|esta|por qué|cómo|qué|cuando|si) (?!nunca|siempre)",
    "negated": r"no|nunca|jamás|nada|tampoco",
    "unkept": r"""
        no (?:\w+ ){0,3}(?:guardes|recuerdes|apuntes|anotes|memorices|registres|guardar|recordar|anotar
        apuntar|almacenes)(?! .*(?:{later}))
    """,
    "content": r"\w+ ?:|que|lo que|cual|donde|como|todo|sobre|acerca|respecto",
    "surely": r"""
        seguro que|como (?:tú |ya )?(?:recuerdas|sabes|recordarás|sabrás)|sin duda|supongo que|seguramente
        probablemente|imagino que|ya (?:sabes|recordarás) que
    """,
    "that": r"que",
    "connecting": r"que|esto|eso|lo|por favor|porfa|bien|también|de|{later}|{onwards}",
    "about": r"sobre|acerca de|respecto a|con respecto a|para",
}

TALK = _PAST | _AROUND
