"""Words that count whatever the language of a message: laughter, and what nobody should write down."""

from __future__ import annotations

WORDS = {
    "laughter": r"""
        (?:ha ?){2,}h?|(?:ja, ?){2,}|(?:ja ?){2,}|(?:he ?){3,}|(?:hi ?){2,}|lol|lmao|rofl|mdr|xd|ptdr|jk
        :-?\)|;-?\)
    """,
    "secret": r"""
        (?:pristupov|bezpecnostn|obnovovac|odemykac)\w+ kod\w*|kod (?:od|k|ke|do|pro)\b
        cislo (?:platebni |kreditni )?karty|kombinac\w+|licencni klic\w*|ssh klic\w*
        code (?:du|de la|de l'|d'entree|wifi|de securite|de recuperation)\b|combinaison|carte bancaire
        carte bleue|numero de carte|cle (?:de licence|ssh|wifi)|codigo (?:de|del) \w+|combinacion|y clave \S+
        tarjeta de credito|numero de (?:la )?tarjeta|clave (?:de|del|ssh|wifi)|llave (?:ssh|privada)
        \w*(?:toegangs|kluis|alarm|deur|beveiligings|herstel|ontgrendel)codes?|kredietkaart\w*|creditcard\w*
        licentiesleutel|\w*(?:zugangs|tür|alarm|tresor|sicherheits|wiederherstellungs|entsperr
        freischalt)codes?|kreditkarte\w*|lizenzschlüssel|kombination|geheimnis
        (?:door|gate|alarm|access|entry|safe|lock|recovery|backup|security|unlock|bike
        verification)[ -]?(?:codes?|combination|phrase)|combination|licen[cs]e keys?|seed phrase
        recovery phrase|ssh.?keys?|(?:credit|debit) ?card(?: number)?|card number|social security|cvv2|secret
        passwor[dt]\w*|pass ?phrase|passcode|api.?keys?|access keys?|secret keys?|private keys?|credentials?
        pin
        pin.?codes?|cvv|cvc|token|wachtwoord\w*|pincode|inlogcode|sleutelcode|\w*passw[oö]rt\w*
        \w*kennwort\w*|pin-?nummer
        \w*zugangsdaten|geheimzahl|mots? de passe|code (?:de (?:ma |la )?carte|secret|confidentiel|pin|wifi
        d'acces
        de l'alarme)|digicode|(?:mes|vos|tes|nos) identifiants|identifiants (?:de connexion|:)|cle (?:api
        privee|secrete)|code de carte \w+|contrasenas?
        clave (?:de|del|api
        secreta|privada|wifi)|codigo (?:pin|secreto|de seguridad|de la alarma)|hesl[oaeu]m?
        pristupov\w+ (?:udaje|kod)
        kod (?:k|ke|od|pro) \w+|api klic\w*|tajny klic|tokenu?|jeton
    """,
}
