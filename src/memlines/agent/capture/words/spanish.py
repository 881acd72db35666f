"""What makes a Spanish sentence worth keeping, and what speaks against it."""

from __future__ import annotations

_ASKED = {
    "start": r"""
        por favor|porfa|también|vale|ok|okay|hola|oye|ey|entonces|así que|y|pero|oh|ah|bueno|bien|genial
        perfecto|gracias|muchas gracias|sí(?=,)|no(?=,)|en realidad|perdón|perdona|luego(?=,)
        por cierto
        a propósito|de paso|además|btw|una cosa más|otra cosa|en general|personalmente|la verdad
        sinceramente|antes de \w+|mira|sabes|ps|pd|ah y|pues
        buenos días|buenas(?: tardes| noches)?|por si acaso|eso sí|yo|a ver|jo
    """,
    "lead": r"""
        (?:tenlo|tenedlo) (?:presente|en cuenta)(?: \w+){0,4} ?:
        (?:esto|eso) (?:apúntalo|guárdalo|anótalo|recuérdalo) ?[:,\u2013\u2014-]
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:(?:de )?que(?= )|:|[,\u2013\u2014-](?= ))
        (?:{asking_to} )?{kept}(?: {aside})* (?=(?:yo|mi|mis|nosotros|nuestro|nuestra|siempre|nunca|soy
        tengo) )
        (?:antes de que (?:se )?me olvide|que conste|para (?:que conste|más adelante|la próxima(?: vez)?
        el futuro|después)|nueva regla|nota para (?:luego|más tarde|mí|el futuro)|a tener en cuenta
        regla (?:general|de la casa)|recordatorio)(?: ?[:,\u2013\u2014-]| (?:que )?(?=\w))
        (?:puedes|podrías|quiero que)(?: \w+){0,2} (?:recordar|recuerdes|anotar|apuntar|guardar
        tener en cuenta)(?: {aside})* ?(?:que(?= )|:)
        (?:tienes que|debes|deberías) (?:saber|recordar|tener en cuenta)(?: {aside})* ?(?:que(?= )|:)
    """,
    "asking_to": r"(?:puedes|podrías|quieres|me puedes|te importa)(?: \w+){0,2}|quiero que|me gustaría que",
    "kept": r"""
        recuerda|recuerde|acuérdate|acuerdate|apunta|apúntate|anota|anótate|toma nota
        ten(?: {aside})* (?:en cuenta|presente)|guarda|no (?:te )?olvides|no olvidar|memoriza
        que no se te olvide|nunca olvides|registra|quédate con|sepas|conserva|no hay que olvidar|graba
    """,
    "aside": r"""
        esto|eso|lo siguiente|por favor|porfa|bien|también|este dato|para (?:luego|más tarde|siempre|mí
        la próxima|el futuro|más adelante)|en (?:tu )?memoria|siempre|de|este detalle|lo
    """,
    "soft": r"""
        (?:para tu información|para que (?:lo )?sepas|fyi|importante|ojo|aviso|te cuento|te aviso|dato
        contexto|sobre mí|que sepas|has de saber|te comento|info|nota)(?: que(?= )| ?[:,\u2013\u2014-])
    """,
    "tail": r"""
        (?:recuérdalo|apúntalo|anótalo|guárdalo|memorízalo|tenlo (?:en cuenta|presente)|no lo olvides
        que no se te olvide|acuérdate(?: de (?:eso|esto))?|recuerda (?:esto|eso)|toma nota|apunta (?:esto
        eso))(?: por favor| porfa| para (?:luego|la próxima|más adelante))*[.! ]*$|para que conste[.! ]*$
    """,
    "unkept": r"""
        déjalo|no es necesario|da igual|es solo una prueba|solo (?:es )?un ejemplo
        no (?:\w+ ){0,4}(?:recuerdes|recordarlo|recordar|guardes|guardarlo|apuntes|anotes|memorices|acuerdo
        recuerdo|acordaba)|(?:no )?(?:me|te|nos) (?:acuerdo|acuerdas|acordamos)|recuerdas|(?:nunca
        no) recuerda|(?:se me|me) (?:ha )?olvid(?:ó|é|ado)|he olvidado|^olvida|olvídate|olvídalo|(?:y|puedes
        ya) olvidar|nunca olvidaré|en voz alta|es broma|bromeo|no hace falta
    """,
}

_KEPT = {
    "adverb": r"""
        siempre|nunca|jamás|normalmente|casi siempre|realmente|mucho|también|todavía|aún|seguimos|solo|sólo
        generalmente|mejor|sobre todo|finalmente|definitivamente|únicamente|todos|ya|ahora|de lejos
        sistemáticamente|por norma|exclusivamente|al final|nos|me|lo|más|desde \w+|no
    """,
    "prefer": r"""
        (?:prefiero|preferimos|odio|odiamos|detesto|detestamos|adoro|aborrezco|me encantan?|nos encantan?
        no soporto|no aguanto|no trago|me gustan? (?:\w+ )?(?:más|los|las|el|la|que|trabajar|usar|tomar|leer
        escribir|comer|beber|mucho los|mucho las)|no me gustan?|nos gustan?|no nos gustan?|me molestan?
        me (?:pone|ponen) (?:\w+ )?nervios[oa]|me sacan? de quicio|evito)
        (?:mi|mis|nuestro|nuestra) (?:\w+ ){0,3}(?:favorit[oa]s?|preferid[oa]s?|preferencia)
        es mi (?:\w+ )?(?:favorit[oa]|preferid[oa])|soy (?:\w+ )?(?:fan|partidari[oa]|más de|muy de
        amante) (?!de (?:esto|eso))
        (?:siempre|nunca|jamás|solo|normalmente) (?:uso|bebo|como|leo|escribo|trabajo|compro|viajo|tomo|pido
        quiero|llevo|utilizo|programo|voy|pago)|(?:uso|bebo|como|leo|escribo|trabajo|tomo|utilizo|programo
        quiero) (?:\w+ )?(?:siempre|nunca|solo|únicamente|exclusivamente)|no (?:como|bebo|fumo|uso|quiero
        tomo|conduzco|utilizo|veo) (?!que|saber|nada|lo|más|la diferencia|por)
        quiero (?:siempre |todos? |todas? )?(?:los|las|mis|tus) (?:\w+ )?(?:mensajes|respuestas|comentarios
        nombres|fechas|commits|tests|ejemplos|explicaciones|textos|variables)|(?:tutéame|tuteame|trátame de
        háblame de|llámame|contéstame|respóndeme|explícame)|siempre (?:en|sin|con) \w+(?: por favor)?
        me (?:va|viene|funciona) mejor|lo mío (?:es|son)
    """,
    "moment": r"""
        (?:gustan?|odio|encantan?|prefiero|quiero|detesto|soporto|aguanto|adoro
        molestan?) (?:{adverb} |mucho |muchísimo )*(?:esto|eso|esta|este|estos|estas|ese|esa|tu
        tus (?!respuestas)|lo que|la idea|cómo|el (?:resultado|segundo|primero|nuevo|tono)|la (?:segunda
        primera|versión|respuesta|nueva|forma)|cuando (?:pasa|el|esto)|que (?:este|esta|la|el|tú
        me (?:ayudes|digas|hagas)))|versión|opción|variante|me encanta(?= ?$| ?[!.,])
        (?:esto|eso|así) (?:me|ya) (?:gusta|encanta)
    """,
    "decide": r"""
        (?:hemos|he|han|ha|se ha|habíamos) (?:\w+ )?(?:decidido|elegido|acordado|optado|quedado en|escogido
        apostado|descartado|aprobado|votado|renunciado)|se (?:acordó|decidió|aprobó|eligió|votó|descartó)
        (?:decidimos|acordamos|elegimos|optamos|escogimos|apostamos|descartamos|quedamos en)|decisión (?:es
        fue|final|:|tomada)
        nos quedamos con|vamos (?:{adverb} )*(?:con|a (?:usar|seguir con|dejar de|mantener|migrar|cambiar
        quedarnos|apostar|pasar|abandonar))|(?:ya no|no) vamos a|(?:usaremos|mantendremos|dejaremos
        seguiremos|pasaremos|cambiaremos|abandonaremos|lanzaremos|alojaremos|ofreceremos|migraremos)
        dejamos de|queda (?:descartad[oa]|decidido|aprobad[oa])|pasamos a usar|lo cambiamos|nos cambiamos
    """,
    "changed": r"""
        (?:hemos|he|han|ha|se ha) (?:\w+ )?(?:migrado|mudado|pasado (?:de|a)|cambiado (?:de|a)|reemplazado
        sustituido|reescrito|actualizado a|trasladado|apagado|cerrado|vendido)|se (?:apagó|cerró|vendió
        migró|sustituyó|retiró|jubiló)|(?:migramos|pasamos|cambiamos|mudamos|trasladamos|reemplazamos
        sustituimos|actualizamos|me mudé|nos mudamos|me cambié) (?!esto|eso)
        desde (?:enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre
        hace (?:poco|un|una|dos|tres|\w+ (?:meses|años|semanas))|este (?:mes|año|verano)|el (?:año|mes
        verano|lunes))|ya no (?:usamos|está|están|trabajo|vivo|tenemos|se usa|es)
    """,
    "onwards": r"""
        a partir de (?:ahora|hoy|mañana|este|la próxima|el próximo)|de ahora en adelante|desde (?:ahora
        hoy)(?: en adelante)?|en adelante|en lo sucesivo|de aquí en adelante|hasta nuevo aviso|por norma
        como regla|cada vez que (?:me )?(?:escribas|respondas|des|contestes)|cuando (?:me )?(?:escribas
        respondas|expliques|contestes|des código)
    """,
    "self": r"""
        (?:escribo|programo|desarrollo) (?:en|con)|(?:vivo|vivimos) (?:{adverb} )*(?:en|con|cerca|entre
        sol[oa])|trabajo (?:{adverb} )*(?:en|como|de|para|desde|por|a|con turnos|cuatro|tres)|(?:estudio
        estudié) (?!esto|eso|el código|la)|soy (?:{adverb} )*(?:alérgic[oa]|celíac[oa]|intolerante
        vegetarian[oa]|vegan[oa]|diabétic[oa]|daltónic[oa]|zurd[oa]|diestr[oa]|sord[oa]|cieg[oa]
        divorciad[oa]|solter[oa]|viud[oa]|disléxic[oa]|epiléptic[oa]|asmátic[oa]|autónom[oa]
        jubilad[oa]|musulm[aá]n[a]?|judí[oa]|de (?!l)\w+|padre|madre|una? (?!poco|desastre|idiota)\w+
        [\w-]+(?:or|ora|ero|era|ista|iente|ante|ico|ica|logo|loga|grafo|grafa|tecto|tecta|profe|médic[oa]
        abogad[oa]|dev)(?= |$|[.,]))|estoy (?:{adverb} )*(?:casad[oa]|jubilad[oa]|embarazada|divorciad[oa]
        de baja|en el paro|a dieta)
        tengo (?:{adverb} )*(?:una? |dos |tres |cuatro |\d+ )?(?:\w+ )?(?:hij[oa]s?|peques|niñ[oa]s|críos
        perr[oa]s?|gat[oa]s?
        herman[oa]s?|alergias?|celiaquía|intolerancia|diabetes|asma|tdah|dislexia|epilepsia|migrañas?
        mellizos|gemel[oa]s|caballo|nietos|\d+ años)|alérgic[oa] a|intolerante a|(?:no puedo
        no puede) (?:comer|tomar|beber|conducir)|nací en|me crié
        (?:mi|nuestro) (?:\w+ )?(?:cumpleaños|talla|aniversario|número de pie|zona horaria|huso horario
        lengua materna|idioma materno|profesión|puesto|edad|signo|grupo sanguíneo|horario)|duermo
        curro (?:en|de|como)|doy clases
    """,
    "relation": r"""
        (?:mujer|marido|espos[oa]|pareja|novi[oa]|prometid[oa]|hij[oa]s?|niñ[oa]s?|bebé|herman[oa]s?|madre
        padre|mamá|papá|padres|abuel[oa]s?|tí[oa]|prim[oa]|sobrin[oa]|perr[oa]|gat[oa]|caballo|conejo
        jef[ea]|encargad[oa]|gerente|compañer[oa]|equipo|clientes?|clienta|casero|casera
        médic[oa]|doctora?|dentista|terapeuta|psicólog[oa]|gestora?
        contable|abogad[oa]|empresa|mentora?|becari[oa]|asistente|ayudante|entrenadora?|profesora?|profe
        veterinari[oa]|canguro|niñera|proveedora?|(?:persona de )?contacto|diseñadora?|notari[oa]
        fontaner[oa]|peluquer[oa]|suegr[oa]s?|mellizos|gemel[oa]s|cto|dueñ[oa]|colegio|mascota|fisio\w*
        directora?|responsable|supervisora?|tutora?|electricista|administradora?)
    """,
    "asset": r"""
        (?:sistema|servidor(?:es)?|base de datos|bd|api|repositorio|repo|sitio|web|página|dominio|oficina
        stack
        backend|frontend|clúster|presupuesto|sprints?|producto|proyecto|convención|política|almacén|banco
        tienda|vpn|red|impresora|coche|bici|casa|piso|apartamento|portátil|wifi|ci|pipeline
        copias? de seguridad|backups?|documentación|código|app|aplicación|plataforma|producción
        preproducción|servicios?|facturación|facturas|pruebas|tests?|máquina|reuniones|reunión|versiones
        releases?|certificado|rama|clientes|tickets|módulo|entorno|ficheros|archivos|scripts?|logs?|alquiler
        seguro|contrato|boda|informes)
    """,
    "steady": r"""
        (?:es|son|está|están|corre|corren|usa|usan|utiliza|empieza|empiezan|termina|terminan|tiene|tienen
        cierra|abre|se encuentra|consta|cuesta|cuestan|pertenece|queda|quedan|era|será|se llama|se llaman
        trabaja|trabajan|debe|deben|soporta|exige|viene|habla|hablan|vive|viven|escribe|puede|depende|pasa
        dura|duran|contiene|caduca|vence|se conserva|se conservan
        se guardan?|funciona con|va|van|escucha|sigue|siguen|sale|salen|salimos|cumple|lleva)
    """,
    "named": r"""
        (?:se llaman?|me llamo|llamad[oa]s?|le decimos)|(?:responsable|encargad[oa]|contacto) (?:de|del
        para) [\w ]{1,40}es|mi nombre es|(?:mi|mis|nuestro|nuestra|nuestros
        nuestras) (?:[\w'-]+ ){0,3}{relation}(?: (?:en|de|para|del) [\w ]{1,30}?)? (?:es|son|:) (?!un\b
        una\b|el\b|la\b|los\b|las\b|muy|tan\b|no\b|siempre|nunca|de\b|alérgic|celíac|vegetarian|vegan|zurd)
        [\w-]+(?: \w+)? es (?:mi|nuestro|nuestra) (?:[\w'-]+ ){0,2}{relation}|(?:el
        la) (?:\w+ )?{relation} (?:en|de|del|para) [\w ]{1,40}(?:es|:)|se encarga \w+|lo lleva \w+
        [\w-]+ (?:se encarga de|gestiona|es responsable|lleva el|lleva la|dirige|lidera)
        (?:mi|nuestro|nuestra|el|su) (?:[\w'-]+ ){0,2}(?:e-?mail|correo|dirección|número|teléfono|tlf|móvil
        usuario|iban|matrícula)(?: \w+){0,5} (?:es|:)|tlf|llámame \w+$
    """,
    "owned": r"""
        (?:mi|mis|nuestro|nuestra|nuestros|nuestras) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:estudia
        va|viaja|conduce|lleva|juega|no|come|bebe)|se (?:hacen?|usan?
        publican?|guardan?|escriben?|despliegan?) (?:únicamente|solo|siempre|exclusivamente)
        solo (?:es accesible|está disponible|se accede|funciona|se puede|aceptamos)
        (?:mi|mis|nuestro|nuestra|nuestros|nuestras) (?:[\w'-]+ ){0,4}{steady}|(?:el|la|los|las|todos los
        todas las|cada|este|esta) (?:[\w'-]+ ){0,3}{asset}(?: [\w'@.-]+){0,4} {steady}
        (?:en|para) (?:este|esta|nuestro|nuestra|mi|todo el|toda la) (?:repositorio|repo|proyecto|equipo
        empresa|código|oficina|casa|base)|en (?:la oficina|el trabajo|mi casa|casa|mi empresa|el curro)
        aquí en (?:la|mi|nuestra)
        (?:usamos|utilizamos|desplegamos|alojamos|publicamos|guardamos|escribimos|facturamos|seguimos (?:con
        en|usando)|tenemos|trabajamos|pagamos|vendemos|probamos|desarrollamos|estamos (?:en|con \w+ \d)
        somos \w+ (?:en|personas)|llamamos|hacemos (?:despliegues|reuniones)|nos reunimos|salimos
        soportamos) (?!esto|eso|una?\b|que\b|un\b)
    """,
    "rule": r"""
        (?:se|nosotros|yo|nadie|hay que|todos|tú)(?: \w+){0,3} (?:siempre|nunca|jamás)|(?:siempre|nunca
        jamás) (?:se|hay que|debe|deben|usamos|hacemos|subimos|escribimos|ponemos|tocamos|desplegamos|uses
        hagas|pongas|escribas|subas|toques|me)
        ^(?:siempre|nunca|jamás|nada de)(?! (?:igual|llueve|he|había|pasa|lo mismo|es)) |^(?:usa|utiliza
        escribe|responde|pon|haz|llama|contesta|evita)(?: \w+){0,6} (?:siempre|nunca)|^no (?:uses|utilices
        escribas|pongas|hagas) .{0,60}(?:nunca|en este (?:proyecto|repo\w*))
    """,
    "habit": r"""
        ^(?:todos|todas) (?:los|las|nuestros|nuestras|mis) [\w-]+ (?:se|son|están|van|deben|tienen|pasan
        corren)
        (?:siempre|nunca) (?:son|es|está|están|van|salen)|^nada de [\w-]+ (?:en|antes|sin|los)
        (?:debe|deben|tiene que|tienen que|puede|pueden)(?: \w+){0,4} (?:siempre|nunca|jamás)
        (?:prohibid[oa]|obligatori[oa])
    """,
    "recurring": r"""
        (?:todos los|cada|los) (?:lunes|martes|miércoles|jueves|viernes|sábados?|domingos?|mes(?:es)?|semana
        año|trimestre)|cada \w+ (?:semanas|días|meses)
    """,
    "due": r"""
        fecha (?:límite|tope)|plazo|caduca|vence|cumpleaños|aniversario|se casa|boda
        (?:el|del|al|antes del|hasta el|desde el) (?:\w+ )?\d{1,2} de (?:ene|feb|mar|abr|may|jun|jul|ago|sep
        oct|nov|dic)\w*
    """,
}

_AGAINST = {
    "byway": r"por cierto|de paso|por si (?:sirve|acaso|ayuda)|para que lo sepas|que sepas",
    "every": r"todo el mundo|todo|nadie|nada",
    "final": r"(?:para siempre|definitivamente|del todo)",
    "thus": r"así que|por eso",
    "definite": r"el|la|los|las|una?|todos|todas|cada|nuestr[oa]s?|mi|mis|en|para",
    "plain": r"""
        ^(?:(?:los|las|el|la|por|en|cada) \w+ (?:por la \w+ )?)?(?:no |ya no |solo )?\w{2,}(?:o|amos|emos
        imos) (?:en|a|con|los
        las|el|la|por|de|desde|una?|dos|todo|todos|entre|sin)|(?:mitad|mayoría|parte) de (?:nuestr[oa]s|mis)
        ya no \w+(?:amos|emos|imos)
    """,
    "passing": r"""
        quiero|queremos|necesito|necesitamos|debo|debemos|puedo|podemos|voy|vamos|pienso|creo|sé|sabemos|veo
        vemos|encuentro
        intento|intentamos|he|hemos|había|estoy|estamos|estaba|era|fui|fuimos|vengo|entiendo|espero|pregunto
        busco|gracias
        noches|hambre|comer|enseguida|luego|ahora|esto|eso|esta|este|ese|esa|aquí|tú|tu|tus|te|río|lloro
        siento|hago|hacemos
        dejo|digo|dijo|oigo|tengo que|tenemos que|como|cuando|bueno|mucho gusto|otro|solo quiero|recibo
        obtengo|acabo|llevo
    """,
    "asks": r"""
        ¿|quién|quiénes|que (?!conste|sepas|no|lo)|cuál|cual|cuáles|dónde|por qué|porqué|como (?:se|puedo
        hago|podria|esta|estas)|cuánt[oa]s?|cuándo (?:es|era|será|tengo|puedo|vence|sale|hay)|(?:puedes
        podrías|quieres|sabes|conoces|crees|piensas|te acuerdas|recuerdas|tienes|has|es posible
        hay (?:alguna|forma|manera)|debería|deberíamos|me (?:haces|ayudas|puedes|dices|explicas)|te parece
        puedo|podemos|vale la pena)
        desde cuándo|recuérdame|alguna idea|me pregunto|curios[oa]|pregunta|explica|dime|cuéntame|que tal
        qué tal
    """,
    "unreal": r"""
        en (?:el )?caso de que
        en caso de que|de haber \w+|aunque (?:fuera|tuviera)|suponiendo|imagínate
        si (?:yo |nosotros |nos |me |te |se )*(?:fuera|fuéramos|tuviera|tuviéramos|hubiera|hubiéramos
        pudiera|viviera|quisiera|estuviera|prefiriera|usáramos|trabajara|\w+(?:iera|iese|ara|ase|áramos
        iéramos))|imagina|imaginemos|supón|supongamos|pongamos que|digamos que|y si|como si|en teoría
        hipotéticamente|teóricamente|haz como si|(?:hubiera|hubiéramos|habría|habríamos) \w+(?:ado|ido|cho
        to)
    """,
    "condition": r"""
        si(?= (?:yo|no|el|la|los|me|te|se|hay|tengo|tienes|es|quieres|puedes|alguien|mi|un|una|algo|lo
        usamos))|en cuanto
    """,
    "doubt": r"""
        {unreal}|nunca (?:dije|he|vi|entendí|pensé|supe)|quizás?|tal vez|a lo mejor|podría|podríamos
        probablemente|posiblemente|supongo|no sé
        ni idea|creo que|pienso que|dudo|dudamos|ya veremos|al parecer|parece|ojalá|espero|algún día
        casi(?! siempre| todos| todas| nunca)|antes(?= (?:vivía|usaba|trabajaba))|a menos|salvo que
        por si acaso|debería
        deberíamos|sería|\w{3,}(?:ríamos|rían)|gustaría|aún no hemos decidido|a veces
    """,
    "told": r"""
        (?!que |ya |lo |se |no )(?:ella|ellos|alguien|gente|{relation}|artículo|libro|autora?|ministr[oa]
        documentación|periódico|\w+) (?:me |nos |le |siempre |ayer )*(?:dice|dijo|dicen|decía|afirma|afirmó
        cuenta|contó|escribió|opina|piensa|recomienda|recomendó|aconseja|soltó|respondió|preguntó|asegura
        aseguró|jura|tuiteó|comentó|declara|declaró)(?= |:)
        según|al parecer|leí|he leído|oí|he oído|cita|en (?:la película|el libro|el artículo|la entrevista
        el periódico|la canción)|refrán|personaje|de mi novela|dicho popular|dicen que
    """,
    "task": r"""
        (?:deshaz|divide|pasa|mete|métele|guarda (?:el|la|los|las)|haz|sube|despliega|valida|documenta|limita
        reduce|amplía|carga|configura|restaura|migra|separa|extrae|desactiva|activa|refactoriza|súbelo
        compruébalo|\w{3,}[ae]me(?:l[oa]s?)?|cámbial[oa]s?|quítal[oa]s?|ponl[oa]s?|hazl[oa]s?
        bórral[oa]s?)(?=\s)
        (?:necesito|necesitaría|quiero (?:que|una?|este|esta|el|la|ver|saber)|querría|quisiera|me gustaría
        busco|estoy (?:intentando|tratando)|intento|puedes|podrías|ayúdame|ayuda|haz(?:me)?
        escribe(?:me)?(?!(?: \w+){0,6} (?:siempre|nunca))|da(?:me)?|muestra|muéstrame|enséñame|encuentra
        busca|añade|agrega|borra|elimina|quita|renombra|reemplaza|sustituye|cambia|modifica|corrige|arregla
        traduce|resume|resúmeme
        explica(?:me el|me la|me cómo)|comprueba|revisa|mira|prueba|ejecuta|abre|lee|mueve|ordena|compara
        describe|analiza|diseña|intenta|empieza|pon(?:le|la|lo)?(?!(?: \w+){0,6} (?:siempre|nunca))
        envía|instala|calcula|construye|implementa|genera|refactoriza|crea|prepara|redacta|mejora|acorta
        propón|lista|convierte|vamos a (?:ver|hacer|probar)|déjame|te paso|sugiere|actualiza|saca|asegúrate
        sube|aumenta|vacía|limpia|elige|optimiza|exporta|simplifica|completa|recupera|localiza|averigua
        guarda el|guarda la)
    """,
    "here": r"""
        en (?:esta|este) (?:función|fichero|archivo|método|clase|test|prueba|script|caso|ejemplo|consulta
        componente|correo|carta|texto|párrafo|mensaje|documento|cuento|poema)|esta vez|ahora mismo
        en este momento|por ahora|de momento|por el momento|actualmente|hoy|esta (?:mañana|tarde|noche)
        arriba|abajo|recién|hace un rato
        (?:este|esta|ese|esa|estos) (?:error|bug|función|test|código|línea|versión|botón|página|película
        enfoque|solución|respuesta|fichero|archivo|script|problema|párrafo|texto|prueba)|toda la (?:tarde
        mañana|noche)|todo el día|hasta ahora|primero
    """,
    "vague": r"""
        esto|eso|ello|ella|ellos|ellas|aquí siempre|ahí|así|usted|uf+|puaj|argh|vaya|guau|es(?= (?:muy|un|una
        que|lo
        importante|mejor|raro))|lo(?= (?:que|de|he|hace))|ese|esa|este(?= (?:es|no|me))|esta(?= (?:es|no
        me))|hay
    """,
    "state": r"""
        atasco|sueño|dolor de cabeza|empapad[oa]|nervios[oa]|molid[oa]
        línea \d+|ya pasa|se cierra|hasta (?:mañana|luego|pronto)|a casa|de camino|estupendo|tarde otra vez
        funciona|en (?:cinco|diez|\d+) minutos|espero|esperamos
        rot[oa]s?|falla|fallan|falló|fallado|se cae|cuelga|crash\w*|lent[oa]s?|no (?:funciona|funcionan|va
        responde|arranca|carga)|error(?:es)?|mal|vací[oa]s?|rojo|atascad[oa]|rar[oa]|extrañ[oa]|desastre
        cansad[oa]|agotad[oa]|hambre|enferm[oa]|ocupad[oa]|estresad[oa]|list[oa]|terminad[oa]|content[oa]
        feliz|enfadad[oa]|triste|hart[oa]|miedo|increíble|horrible|bonit[oa]|divertid[oa]
        no (?:carga|cargan|encuentra|encuentran|arranca|compila|aparece)n?|null|undefined|excepción
        time-?out|bug|bugs|devuelve|retorna|lanza|problema|de repente|falta|faltan|duplicad[oa]s?|dos veces
        desaparece|fuga|parpadea|llorando|ahora vuelvo|acabo de|acabamos de|lo quiere|para (?:las|hoy|mañana)
        cabeza|duele|cerebro|nunca pasan|no me entra|sueño|llevo (?:toda|todo
        horas)
    """,
}

WORDS = _ASKED | _KEPT | _AGAINST
