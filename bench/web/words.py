"""Words that the pages of the simulated web are made of: frequent ones, topics, regions, names.

All lists are made by hand.  Frequent words are in no order; what matters is that a text of them
is recognised as the language it is in.
"""

from __future__ import annotations

FREQUENT: dict[str, list[str]] = {
    "en": """the of and to in is that for it was on are as with his they at be this from have or
        by one had not but what all were when we there can an your which their said if will each
        about how up out them then she many some so these would other into has more her two like
        him see time could no make than first been its who now people my made over did down only
        way find use may water long little very after words called just where most know through
        back much before go good new write our used me man too any day same right look think also
        around another came come work three word must because does part even place well such here
        take why things help put years different away again off went old number great tell men say
        small every found still between name should home big give air line set own under read last
        never us left end along while might next sound below saw something thought both few those
        always looked show large often together asked house world going want school important
        until without keep children four city since light leave""".split(),
    "es": """el la de que y a en un ser se no haber por con su para como estar tener le lo todo
        pero más hacer o poder decir este ir otro ese si me ya ver porque dar cuando él muy sin
        vez mucho saber qué sobre mi alguno mismo yo también hasta año dos querer entre así
        primero desde grande eso ni nos llegar pasar tiempo ella sí día uno bien poco deber
        entonces poner cosa tanto hombre parecer nuestro tan donde ahora parte después vida quedar
        siempre creer hablar llevar dejar nada cada seguir menos nuevo encontrar algo solo mundo
        país contra aquí casa último salir público tomar conocer durante trabajo según tres son
        los las del al una fue han está están era sus unos unas estos estas quien quienes mientras
        aunque además sino tras ante bajo cual cuales había hay hace hacia ciudad años gente mejor
        mayor lugar forma caso agua noche mañana tarde nombre mujer niños familia aún
        esta""".split(),
    "fr": """le la les de des du un une et est en que qui dans pour pas sur avec il elle ils elles
        ce cette ces se son sa ses nous vous leur leurs au aux par plus ne mais ou où comme tout
        tous toute toutes être avoir faire dire pouvoir aller voir savoir vouloir venir falloir
        devoir été était sont ont avait fait sans entre même aussi bien encore très peu peut après
        avant depuis sous chez vers pendant contre jusque deux trois premier première dernier
        année ans jour temps vie homme femme monde pays ville maison eau nuit matin soir fois
        chose lieu partie travail enfant enfants famille nom petit petite grand grande bon bonne
        nouveau nouvelle autre autres quelque quelques chaque celui celle ceux dont donc alors
        ainsi car parce lorsque quand si non oui ici là toujours jamais rien beaucoup moins mieux
        trop assez déjà puis notre votre nos vos mes mon ma tes ton aujourd'hui selon""".split(),
    "de": """der die das und in zu den ist nicht von sie mit dem sich des auf für im dass an es
        eine ein als auch wird er so am wie einem sind aus bei hat nach werden oder wenn einer um
        noch man nur vor haben über war mehr durch sein bis dann kann schon zum zur ihr ihre wir
        unter sehr selbst gegen vom können zwei seine diese dieser dieses jahr jahre tag zeit
        leben welt land stadt haus wasser nacht morgen abend immer wieder hier dort jetzt heute
        damals ohne zwischen während weil aber doch also alle alles andere anderen ersten erste
        letzte neue neuen großen große kleine gut besser viel viele wenig etwas nichts muss müssen
        soll sollen will wollen wurde wurden hatte hatten waren gibt geht kommt macht sagt mann
        frau kinder familie arbeit menschen teil ort name weg mal uns unser unsere euch mir dich
        mich ihm ihn ihnen denn dabei damit dazu""".split(),
    "pt": """o a os as de do da dos das em no na nos nas um uma que e é para com não por mais se
        como mas foi ao aos à ele ela eles elas tem têm seu sua seus suas ou ser quando muito há
        já está estão eu também só pelo pela até isso entre era depois sem mesmo ter quem me esse
        essa este esta num numa nem são minha meu você vocês nós lhe foram onde cada bem ainda
        sobre tempo ano anos dia vez vida mundo país cidade casa água noite manhã tarde homem
        mulher crianças família trabalho coisa coisas parte lugar nome dois duas três primeiro
        primeira último grande pequeno novo nova bom boa melhor outro outra outros outras todo
        todos toda todas algum alguns pode podem fazer dizer ir ver dar saber querer chegar então
        assim porque pois desde durante contra sempre nunca nada tudo hoje agora aqui ali através
        pessoas maior menos tão""".split(),
    "it": """il lo la i gli le di del della dei delle a al alla in nel nella con su sul sulla per
        tra fra da dal dalla un uno una e è che non si sono come più ma anche o se questo questa
        questi queste quello quella ha hanno essere avere fare dire potere andare vedere sapere
        volere venire dovere stato stata era erano ci vi ne mi ti lui lei loro noi voi suo sua
        suoi sue mio nostro nostra quando dove chi cosa molto poco tutto tutti tutta tutte altro
        altri altra ogni qualche sempre mai già ancora dopo prima durante senza contro verso fino
        sotto sopra anno anni giorno tempo vita mondo paese città casa acqua notte mattina sera
        uomo donna bambini famiglia lavoro cose parte luogo nome due tre primo ultimo grande
        piccolo nuovo nuova buono buona migliore bene meglio così perché però quindi mentre oggi
        ora qui""".split(),
    "nl": """de het een van en in is dat op te zijn met voor niet aan er om ook als dan maar bij
        of uit nog naar heeft door over ze hij zich hebben hun worden wordt werd was waren kan
        kunnen moet moeten zal zullen wil willen gaan gaat komt komen maken maakt doen zeggen zien
        weten meer veel weinig alle alles andere anderen deze dit die wat wie waar wanneer hoe
        waarom omdat want dus toch wel geen nooit altijd vaak hier daar nu toen vandaag morgen
        jaar jaren dag tijd leven wereld land stad huis water nacht ochtend avond man vrouw
        kinderen familie werk mensen deel plaats naam twee drie eerste laatste nieuwe nieuw grote
        groot kleine klein goed goede beter zeer tussen tegen zonder tijdens onder boven sinds tot
        weer al onze ons jullie mijn jouw haar hem mij stond zag vond bleef jonge oude
        hoog laag""".split(),
    "ca": """el la els les de del dels a al als en un una uns unes i que és per amb no més però
        com seu seva seus seves aquest aquesta aquests aquestes aquell aquella ha han hi ho ser
        estar tenir fer dir poder anar veure saber voler venir haver era eren són està estan va
        van quan on qui què molt molta molts moltes poc tot tots tota totes altre altres altra
        cada algun alguns sempre mai encara també després abans durant sense contra cap fins sota
        sobre entre des any anys dia temps vida món país ciutat casa aigua nit matí tarda home
        dona nens família feina cosa coses part lloc nom dos dues tres primer primera últim gran
        petit nou nova bo bona millor bé així perquè doncs mentre avui ara aquí allà nosaltres
        vosaltres ells elles meu meva nostre nostra segons mateix mateixa només gairebé potser
        llavors""".split(),
    "pl": """i w na z do nie się że to jest o jak po co za od tak ale już by był była było były
        dla przez przy pod nad bez między przed czy gdy kiedy gdzie kto który która które którzy
        ten ta te tego tej tym być mieć może mogą można trzeba musi chce wie mówi robi idzie jego
        jej ich jem nas nam was wam mnie mi ci mój moja nasz nasza wszystko wszyscy każdy każda
        inny inne innych bardzo więcej mniej dużo mało nigdy zawsze często teraz dziś wczoraj
        jutro rok roku lat lata dzień czas życie świat kraj miasto dom woda noc rano wieczór
        człowiek kobieta dzieci rodzina praca rzecz część miejsce nazwa dwa trzy pierwszy ostatni
        nowy nowa duży mały dobry dobra lepszy dobrze także również jednak więc ponieważ dlatego
        jeszcze tylko nawet aż potem wtedy tutaj tam oraz albo lub dalej bliżej stary młody wysoki
        niski""".split(),
}

TOPICS = (
    "travel", "translation", "courses", "government", "shops", "art",
    "tech", "news", "sports", "science", "health", "music",
)  # fmt: skip

_TOPIC_WORDS: dict[str, str] = {
    "en": """travel hotel tours holiday beach flights apartment guide rent villa
        translation translator interpreter language legal documents certified
        localization text agency
        courses school learn language teacher lessons study academy grammar classes
        government ministry council public law citizens office services policy embassy
        shop store buy price gifts products fashion shoes order furniture
        art gallery museum painting artist exhibition sculpture design photography culture
        software computer web hosting network data programming technology mobile server
        news daily press report politics journal weekly stories editor opinion
        sports football team league match players tennis club golf stadium
        science research university laboratory physics biology project institute journal energy
        health clinic doctor dental hospital medicine patients surgery therapy care
        music band guitar concert festival songs records dance flamenco orchestra""",
    "es": """viajes hotel excursiones vacaciones playa vuelos apartamentos guía alquiler turismo
        traducción traductor intérprete idiomas jurado documentos oficial textos agencia lengua
        cursos escuela aprender idiomas profesor clases estudiar academia gramática alumnos
        gobierno ministerio ayuntamiento público ley ciudadanos oficina servicios política embajada
        tienda comprar precio regalos productos moda zapatos pedido muebles ofertas
        arte galería museo pintura artista exposición escultura diseño fotografía cultura
        software informática web hosting redes datos programación tecnología móvil servidor
        noticias diario prensa reportaje política periódico semanal historias editor opinión
        deportes fútbol equipo liga partido jugadores tenis club golf estadio
        ciencia investigación universidad laboratorio física biología proyecto instituto revista
        energía
        salud clínica médico dental hospital medicina pacientes cirugía terapia cuidado
        música banda guitarra concierto festival canciones discos baile flamenco orquesta""",
    "fr": """voyage hôtel vacances plage séjour traduction traducteur interprète langues documents
        cours école apprendre professeur leçons gouvernement ministère mairie public loi
        boutique acheter prix cadeaux mode art galerie musée peinture exposition
        logiciel informatique réseau données serveur actualités presse journal reportage politique
        sport football équipe ligue match science recherche université laboratoire énergie
        santé clinique médecin hôpital soins musique guitare concert festival chansons""",
    "de": """reisen hotel urlaub strand ferienwohnung übersetzung übersetzer dolmetscher sprachen
        urkunden kurse schule lernen lehrer unterricht regierung ministerium gemeinde behörde gesetz
        laden kaufen preis geschenke mode kunst galerie museum malerei ausstellung
        software rechner netzwerk daten server nachrichten zeitung presse bericht politik
        sport fußball mannschaft liga spiel wissenschaft forschung universität labor energie
        gesundheit klinik arzt krankenhaus pflege musik gitarre konzert festival lieder""",
    "pt": """viagens hotel férias praia turismo tradução tradutor intérprete línguas documentos
        cursos escola aprender professor aulas governo ministério prefeitura público lei
        loja comprar preço presentes moda arte galeria museu pintura exposição
        software informática rede dados servidor notícias jornal imprensa reportagem política
        esportes futebol equipe liga jogo ciência pesquisa universidade laboratório energia
        saúde clínica médico hospital cuidados música violão concerto festival canções""",
    "it": """viaggi albergo vacanze spiaggia turismo traduzione traduttore interprete lingue
        documenti
        corsi scuola imparare insegnante lezioni governo ministero comune pubblico legge
        negozio comprare prezzo regali moda arte galleria museo pittura mostra
        software informatica rete dati server notizie giornale stampa servizio politica
        sport calcio squadra lega partita scienza ricerca università laboratorio energia
        salute clinica medico ospedale cura musica chitarra concerto festival canzoni""",
    "nl": """reizen hotel vakantie strand huisje vertaling vertaler tolk talen documenten
        cursus school leren leraar lessen regering ministerie gemeente overheid wet
        winkel kopen prijs cadeaus mode kunst galerie museum schilderij tentoonstelling
        software computer netwerk gegevens server nieuws krant pers verslag politiek
        sport voetbal ploeg competitie wedstrijd wetenschap onderzoek universiteit laboratorium
        energie gezondheid kliniek arts ziekenhuis zorg muziek gitaar concert festival liedjes""",
    "ca": """viatges hotel vacances platja turisme traducció traductor intèrpret llengües documents
        cursos escola aprendre professor classes govern ministeri ajuntament públic llei
        botiga comprar preu regals moda art galeria museu pintura exposició
        programari informàtica xarxa dades servidor notícies diari premsa reportatge política
        esports futbol equip lliga partit ciència recerca universitat laboratori energia
        salut clínica metge hospital cura música guitarra concert festival cançons""",
    "pl": """podróże hotel wakacje plaża noclegi tłumaczenie tłumacz przekład języki dokumenty
        kursy szkoła nauka nauczyciel lekcje rząd ministerstwo urząd publiczny ustawa
        sklep kupić cena prezenty moda sztuka galeria muzeum malarstwo wystawa
        oprogramowanie komputer sieć dane serwer wiadomości gazeta prasa reportaż polityka
        sport piłka drużyna liga mecz badania uniwersytet laboratorium fizyka energia
        zdrowie klinika lekarz szpital opieka muzyka gitara koncert festiwal piosenki""",
}


def _by_topic(text: str) -> list[list[str]]:
    words = text.split()
    count = len(words) // len(TOPICS)
    assert len(words) == count * len(TOPICS), "each topic has as many words as the others"
    return [words[count * each : count * (each + 1)] for each in range(len(TOPICS))]


TOPIC_WORDS: dict[str, list[list[str]]] = {
    lang: _by_topic(words) for lang, words in _TOPIC_WORDS.items()
}
"""for each language the words of each topic, in the order of `TOPICS`"""

PLACES: dict[str, tuple[str, ...]] = {
    "spain": ("spain", "madrid", "barcelona", "malaga", "mallorca"),
    "mexico": ("mexico", "cancun", "oaxaca", "guadalajara"),
    "argentina": ("argentina", "mendoza", "rosario", "patagonia"),
    "chile": ("chile", "santiago", "valparaiso"),
    "colombia": ("colombia", "bogota", "cartagena"),
    "peru": ("peru", "lima", "cusco"),
    "costarica": ("costarica", "tamarindo", "limon"),
    "usa": ("usa", "texas", "california", "florida", "boston"),
    "uk": ("uk", "london", "wales", "leeds"),
    "canada": ("canada", "toronto", "quebec"),
    "australia": ("australia", "sydney", "perth"),
    "france": ("france", "paris", "lyon", "provence"),
    "germany": ("germany", "berlin", "bremen"),
    "italy": ("italy", "roma", "toscana"),
    "brazil": ("brazil", "bahia", "recife"),
    "netherlands": ("holland", "utrecht", "leiden"),
    "poland": ("poland", "gdansk", "krakow"),
}
"""regions, and what words of theirs occur in hosts, URLs and texts"""

NAMES: dict[str, tuple[str, str]] = {
    "en": ("English", "English version"),
    "es": ("Español", "Versión en español"),
    "fr": ("Français", "Version française"),
    "de": ("Deutsch", "Deutsche Version"),
    "pt": ("Português", "Versão em português"),
    "it": ("Italiano", "Versione italiana"),
    "nl": ("Nederlands", "Nederlandse versie"),
    "ca": ("Català", "Versió en català"),
    "pl": ("Polski", "Wersja polska"),
}
"""what switchers call each language"""

FLAGS = {
    "en": "uk", "es": "spain", "fr": "france", "de": "germany", "pt": "portugal",
    "it": "italy", "nl": "holland", "ca": "catalunya", "pl": "poland",
}  # fmt: skip
"""the files of flags"""

FOLDERS = {"en": "english", "es": "espanol", "fr": "francais", "de": "deutsch"}
"""folders that some sites name after a language"""

LISTS: dict[str, tuple[str, ...]] = {
    "en": ("links", "directory", "resources", "partners", "useful-links"),
    "es": ("enlaces", "directorio", "recursos", "links", "sitios"),
    "fr": ("liens", "annuaire", "ressources"),
    "de": ("links", "verzeichnis", "partner"),
    "pt": ("links", "diretorio", "recursos"),
    "it": ("link", "elenco", "risorse"),
    "nl": ("links", "gids", "partners"),
    "ca": ("enllaços", "directori", "recursos"),
    "pl": ("linki", "katalog", "zasoby"),
}
"""what pages are called that list other sites"""

MENU: dict[str, tuple[str, ...]] = {
    "en": ("Home", "About us", "Contact", "Products", "Photos"),
    "es": ("Inicio", "Quiénes somos", "Contacto", "Productos", "Fotos"),
    "fr": ("Accueil", "Qui sommes-nous", "Contact", "Produits", "Photos"),
    "de": ("Startseite", "Über uns", "Kontakt", "Produkte", "Fotos"),
    "pt": ("Início", "Quem somos", "Contato", "Produtos", "Fotos"),
    "it": ("Inizio", "Chi siamo", "Contatti", "Prodotti", "Foto"),
    "nl": ("Begin", "Over ons", "Contact", "Producten", "Foto's"),
    "ca": ("Inici", "Qui som", "Contacte", "Productes", "Fotos"),
    "pl": ("Strona główna", "O nas", "Kontakt", "Produkty", "Zdjęcia"),
}

HERE: dict[str, str] = {
    "en": "click here", "es": "pulse aquí", "fr": "cliquez ici", "de": "hier klicken",
    "pt": "clique aqui", "it": "clicca qui", "nl": "klik hier", "ca": "cliqueu aquí",
    "pl": "kliknij tutaj",
}  # fmt: skip
"""anchors that say nothing"""

COURSES: dict[str, tuple[str, ...]] = {
    "en": ("English", "Spanish", "Español", "French", "German"),
    "es": ("Inglés", "English", "Español para extranjeros", "Francés", "Alemán"),
}
"""anchors of a school's own pages that look as if they led to another language"""

SYLLABLES = """ba be bi bo bu ca ce ci co da de di do fa fe fi ga go ja jo ka ke ki la le li lo lu
    ma me mi mo mu na ne ni no pa pe pi po ra re ri ro sa se si so ta te ti to va ve vi xa za zo
    """.split()
"""names of sites are made of them, so that a name says nothing of its topic"""
