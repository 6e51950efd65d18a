<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE">
<context>
    <name>potluck::app::DataMove</name>
    <message>
        <source>Moving was cut off; nothing has changed.</source>
        <translation>Das Verschieben brach ab; nichts hat sich geändert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::AboutCard</name>
    <message>
        <source>Potluck %1</source>
        <translation>Potluck %1</translation>
    </message>
    <message>
        <source>Free software under the licence Apache-2.0: everyone brings what they have, and together they train one model.</source>
        <translation>Freie Software unter der Lizenz Apache-2.0: Alle bringen mit, was sie haben, und trainieren zusammen ein Modell.</translation>
    </message>
    <message>
        <source>Libraries and their licences</source>
        <translation>Bibliotheken und ihre Lizenzen</translation>
    </message>
    <message>
        <source>Libraries and their &amp;licences</source>
        <translation>Bibliotheken und ihre &amp;Lizenzen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ActivityCard</name>
    <message>
        <source>Your computer first</source>
        <translation>Dein Computer geht vor</translation>
    </message>
    <message>
        <source>Training pauses by itself, frees its memory and comes back later, while:</source>
        <translation>Das Training pausiert und gibt seinen Arbeitsspeicher frei, solange:</translation>
    </message>
    <message>
        <source>My &amp;list of programs, with commas</source>
        <translation>Meine &amp;Liste von Programmen, mit Kommas</translation>
    </message>
    <message>
        <source>for example blender, obs</source>
        <translation>zum Beispiel blender, obs</translation>
    </message>
    <message>
        <source>Programs beside which nothing is trained</source>
        <translation>Programme, neben denen nichts trainiert wird</translation>
    </message>
    <message>
        <source>Resume after this many quiet &amp;seconds</source>
        <translation>Nach so vielen ruhigen &amp;Sekunden fortsetzen</translation>
    </message>
    <message>
        <source>Seconds of quiet before training comes back</source>
        <translation>Sekunden der Ruhe, bevor wieder trainiert wird</translation>
    </message>
    <message>
        <source>My hours</source>
        <translation>Meine Zeiten</translation>
    </message>
    <message>
        <source>Empty: training; ½: half speed; –: pause. A click or the space bar changes an hour.</source>
        <translation>Leer: Training; ½: halbe Kraft; –: Pause. Ein Klick oder die Leertaste ändert eine Stunde.</translation>
    </message>
    <message>
        <source>Input never stops; a game pad may drift. It does not count until it pauses.</source>
        <translation>Die Eingabe hört nie auf; vielleicht driftet ein Gamepad. Sie zählt erst wieder nach einer Pause.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ActivityWords</name>
    <message>
        <source>You paused it</source>
        <translation>Du hast angehalten</translation>
    </message>
    <message>
        <source>A program of your list runs</source>
        <translation>Ein Programm deiner Liste läuft</translation>
    </message>
    <message>
        <source>A game runs</source>
        <translation>Ein Spiel läuft</translation>
    </message>
    <message>
        <source>A game asks for the whole computer</source>
        <translation>Ein Spiel verlangt den ganzen Computer</translation>
    </message>
    <message>
        <source>A program fills the screen</source>
        <translation>Ein Programm füllt den Bildschirm</translation>
    </message>
    <message>
        <source>Another program uses the GPU</source>
        <translation>Ein anderes Programm nutzt die GPU</translation>
    </message>
    <message>
        <source>GPU memory is short</source>
        <translation>Der GPU-Speicher ist knapp</translation>
    </message>
    <message>
        <source>The computer is hot</source>
        <translation>Der Computer ist heiß</translation>
    </message>
    <message>
        <source>The computer runs on battery</source>
        <translation>Der Computer läuft mit Akku</translation>
    </message>
    <message>
        <source>Power is to be saved</source>
        <translation>Es soll Strom gespart werden</translation>
    </message>
    <message>
        <source>The connection is metered</source>
        <translation>Die Verbindung ist getaktet</translation>
    </message>
    <message>
        <source>Other programs use the processor</source>
        <translation>Andere Programme nutzen den Prozessor</translation>
    </message>
    <message>
        <source>You use the computer</source>
        <translation>Du benutzt den Computer</translation>
    </message>
    <message>
        <source>Your hours say so</source>
        <translation>Deine Zeiten sagen es so</translation>
    </message>
    <message>
        <source>Paused by you for %1.</source>
        <translation>Von dir angehalten: %1.</translation>
    </message>
    <message>
        <source>A program of your list ran for %1; nothing was trained.</source>
        <translation>Ein Programm deiner Liste lief: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>You played for %1; nothing was trained.</source>
        <translation>Du hast gespielt: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>A program filled the screen for %1; nothing was trained.</source>
        <translation>Ein Programm füllte den Bildschirm: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>Another program used the GPU for %1; nothing was trained.</source>
        <translation>Ein anderes Programm nutzte die GPU: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>GPU memory was short for %1; nothing was trained.</source>
        <translation>Der GPU-Speicher war knapp: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>The computer was hot for %1; nothing was trained.</source>
        <translation>Der Computer war heiß: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>The computer ran on battery for %1; nothing was trained.</source>
        <translation>Der Computer lief mit Akku: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>Power was saved for %1; nothing was trained.</source>
        <translation>Strom wurde gespart: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>The connection was metered for %1; nothing was trained.</source>
        <translation>Die Verbindung war getaktet: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>Other programs used the processor for %1; nothing was trained.</source>
        <translation>Andere Programme nutzten den Prozessor: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>You used the computer for %1; nothing was trained.</source>
        <translation>Du hast den Computer benutzt: %1; so lange wurde nichts trainiert.</translation>
    </message>
    <message>
        <source>Your hours paused training for %1.</source>
        <translation>Nach deinen Zeiten angehalten: %1.</translation>
    </message>
    <message>
        <source>A program of my list runs</source>
        <translation>Ein Programm meiner Liste läuft</translation>
    </message>
    <message>
        <source>Steam runs a game</source>
        <translation>Steam lässt ein Spiel laufen</translation>
    </message>
    <message>
        <source>A game uses GameMode</source>
        <translation>Ein Spiel nutzt GameMode</translation>
    </message>
    <message>
        <source>The system saves power</source>
        <translation>Das System spart Strom</translation>
    </message>
    <message>
        <source>Other programs use half of the processor</source>
        <translation>Andere Programme nutzen den halben Prozessor</translation>
    </message>
    <message>
        <source>I use the computer (then at half speed)</source>
        <translation>Ich benutze den Computer (dann mit halber Kraft)</translation>
    </message>
    <message>
        <source>Outside my hours</source>
        <translation>Außerhalb meiner Zeiten</translation>
    </message>
    <message>
        <source>Only of programs that use X11: Wayland does not tell.</source>
        <translation>Nur bei Programmen, die X11 nutzen: Wayland sagt es nicht.</translation>
    </message>
    <message>
        <source>Cannot be detected on this system.</source>
        <translation>Auf diesem System nicht zu erkennen.</translation>
    </message>
    <message>
        <source>Cannot be detected here: there is no X11 display.</source>
        <translation>Hier nicht zu erkennen: Es gibt keine X11-Anzeige.</translation>
    </message>
    <message>
        <source>Cannot be detected here: the service that knows does not run.</source>
        <translation>Hier nicht zu erkennen: Der Dienst, der es weiß, läuft nicht.</translation>
    </message>
    <message>
        <source>Cannot be detected here: there is no such device.</source>
        <translation>Hier nicht zu erkennen: Ein solches Gerät gibt es nicht.</translation>
    </message>
    <message>
        <source>Cannot be detected now: it does not answer.</source>
        <translation>Gerade nicht zu erkennen: Es kommt keine Antwort.</translation>
    </message>
    <message>
        <source>less than a minute</source>
        <translation>weniger als eine Minute</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
    <message>
        <source>%1 For %2 so far.</source>
        <translation>%1 Bisher: %2.</translation>
    </message>
    <message>
        <source>Trained at half speed for %1.</source>
        <translation>Mit halber Kraft trainiert: %1.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::CardSearch</name>
    <message>
        <source>Search the settings</source>
        <translation>Einstellungen durchsuchen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::AfterRunCard</name>
    <message>
        <source>Runs that you could help next</source>
        <translation>Läufe, denen du als nächstes helfen könntest</translation>
    </message>
    <message>
        <source>When this run ends, &amp;help any run of the lists that I follow</source>
        <translation>Wenn dieser Lauf endet, irgendeinem Lauf meiner Listen &amp;helfen</translation>
    </message>
    <message>
        <source>Off: Potluck waits for you. On: it joins a run that one of your lists names and this computer can train.</source>
        <translation>Aus: Potluck wartet auf dich. An: Es macht bei einem Lauf mit, den eine deiner Listen nennt und den dieser Computer trainieren kann.</translation>
    </message>
    <message>
        <source>Preview one, or join it: that leaves the finished run.</source>
        <translation>Sieh dir einen an, oder mach mit: Damit verlässt du den fertigen Lauf.</translation>
    </message>
    <message>
        <source>Looking for runs that want company…</source>
        <translation>Suche Läufe, die Gesellschaft wollen…</translation>
    </message>
    <message>
        <source>No run that this computer can train is announced now.</source>
        <translation>Zurzeit wird kein Lauf angekündigt, den dieser Computer trainieren kann.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ComputerCard</name>
    <message>
        <source>Program and LibTorch</source>
        <translation>Programm und LibTorch</translation>
    </message>
    <message>
        <source>CUDA and LibTorch</source>
        <translation>CUDA und LibTorch</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>Copy for matrix products</source>
        <translation>Kopie für Matrixprodukte</translation>
    </message>
    <message>
        <source>Gradient</source>
        <translation>Gradient</translation>
    </message>
    <message>
        <source>Gradient of a block</source>
        <translation>Gradient eines Blocks</translation>
    </message>
    <message>
        <source>Moments of the optimizer</source>
        <translation>Momente des Optimierers</translation>
    </message>
    <message>
        <source>Anchor: the model of the round</source>
        <translation>Anker: das Modell der Runde</translation>
    </message>
    <message>
        <source>Moments while paused</source>
        <translation>Momente während einer Pause</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>Momentum at work</source>
        <translation>Impuls in Arbeit</translation>
    </message>
    <message>
        <source>Work space</source>
        <translation>Arbeitsspeicher für Zwischenwerte</translation>
    </message>
    <message>
        <source>%1 on the GPU</source>
        <translation>%1 auf der GPU</translation>
    </message>
    <message>
        <source>%1 in memory</source>
        <translation>%1 im Arbeitsspeicher</translation>
    </message>
    <message>
        <source>%1 on disk</source>
        <translation>%1 auf der Festplatte</translation>
    </message>
    <message>
        <source>%1, the whole processor with all programs</source>
        <translation>%1, der ganze Prozessor mit allen Programmen</translation>
    </message>
    <message>
        <source>not measured yet</source>
        <translation>noch nicht gemessen</translation>
    </message>
    <message>
        <source>not known: no sensor of it can be read here</source>
        <translation>nicht bekannt: keiner seiner Fühler lässt sich hier lesen</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>Trains on</source>
        <translation>Trainiert auf</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Leistung</translation>
    </message>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>Memory in use</source>
        <translation>Benutzter Arbeitsspeicher</translation>
    </message>
    <message>
        <source>What the plan sets aside</source>
        <translation>Was der Plan dafür vorsieht</translation>
    </message>
    <message>
        <source>%1 tokens per second</source>
        <translation>%1 Token pro Sekunde</translation>
    </message>
    <message>
        <source>Gradients of further devices</source>
        <translation>Gradienten weiterer Geräte</translation>
    </message>
    <message>
        <source>unknown: this processor does not report its power</source>
        <translation>unbekannt: Dieser Prozessor meldet seine Leistung nicht</translation>
    </message>
    <message>
        <source>unknown: this device does not report its power</source>
        <translation>unbekannt: Dieses Gerät meldet seine Leistung nicht</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program does not run.</source>
        <translation>Das Hintergrundprogramm von Potluck läuft nicht.</translation>
    </message>
    <message>
        <source>Training is starting.</source>
        <translation>Das Training startet.</translation>
    </message>
    <message>
        <source>Training is ending.</source>
        <translation>Das Training endet.</translation>
    </message>
    <message>
        <source>Nothing is trained now, and the memory for it is free.</source>
        <translation>Jetzt wird nichts trainiert, und der Arbeitsspeicher dafür ist frei.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ConnectionCard</name>
    <message>
        <source>Others open connections to this computer.</source>
        <translation>Andere öffnen Verbindungen zu diesem Computer.</translation>
    </message>
    <message>
        <source>Your router has opened a port for this computer (%1).</source>
        <translation>Dein Router hat für diesen Computer einen Port geöffnet (%1).</translation>
    </message>
    <message>
        <source>Nobody has come from outside yet: this computer goes to the others, or members introduce it.</source>
        <translation>Von außen kam noch niemand: Dieser Computer geht auf die anderen zu, oder Mitglieder machen ihn bekannt.</translation>
    </message>
    <message>
        <source>It takes a minute on the internet until this is known.</source>
        <translation>Im Internet dauert es eine Minute, bis das bekannt ist.</translation>
    </message>
    <message>
        <source>Can others reach this computer?</source>
        <translation>Ist dieser Computer erreichbar?</translation>
    </message>
    <message>
        <source>Training works. It is easier for all if you switch UPnP or NAT-PMP on in your router, or let it pass port %1 (TCP and UDP) on to this computer.</source>
        <translation>Das Training geht. Leichter wird es für alle, wenn du in deinem Router UPnP oder NAT-PMP einschaltest oder ihn Port %1 (TCP und UDP) an diesen Computer weiterleiten lässt.</translation>
    </message>
    <message>
        <source>P&amp;ort on this computer</source>
        <translation>P&amp;ort dieses Computers</translation>
    </message>
    <message>
        <source>It stays the same, so that a router can be told of it. A change closes every connection, and the round begins anew.</source>
        <translation>Er bleibt derselbe, damit man ihn im Router eintragen kann. Eine Änderung schließt alle Verbindungen, und die Runde beginnt von vorn.</translation>
    </message>
    <message>
        <source>C&amp;hange port</source>
        <translation>Port ä&amp;ndern</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program does not run.</source>
        <translation>Das Hintergrundprogramm von Potluck läuft nicht.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ContributionPage</name>
    <message>
        <source>Your contribution</source>
        <translation>Dein Beitrag</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Accepted and credited to you since midnight, in all runs</source>
        <translation>Seit Mitternacht angenommen und dir gutgeschrieben, in allen Läufen</translation>
    </message>
    <message>
        <source>Last 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>Today and the six days before it, in all runs</source>
        <translation>Heute und die sechs Tage davor, in allen Läufen</translation>
    </message>
    <message>
        <source>In total</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>Everything that was ever credited to you in the runs below</source>
        <translation>Alles, was dir in den Läufen unten je gutgeschrieben wurde</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
    <message>
        <source>Runs that this computer was in</source>
        <translation>Läufe, in denen dieser Computer war</translation>
    </message>
    <message>
        <source>By day</source>
        <translation>Nach Tagen</translation>
    </message>
    <message>
        <source>Daily bars: this computer. Totals: all your computers.</source>
        <translation>Tageswerte: nur dieser Computer. Summen: alle deine Computer.</translation>
    </message>
    <message>
        <source>By run</source>
        <translation>Nach Läufen</translation>
    </message>
    <message>
        <source>&amp;Join again</source>
        <translation>Wieder &amp;teilnehmen</translation>
    </message>
    <message>
        <source>Joins the selected run again.</source>
        <translation>Nimmt am ausgewählten Lauf wieder teil.</translation>
    </message>
    <message>
        <source>Switch to the other run?</source>
        <translation>Zum anderen Lauf wechseln?</translation>
    </message>
    <message>
        <source>Joining “%1” leaves the run that this computer is in. Training there since the last round is lost; your credit stays.</source>
        <translation>Wer an „%1“ teilnimmt, verlässt den Lauf, in dem dieser Computer ist. Was dort seit der letzten Runde trainiert wurde, geht verloren; deine Gutschrift bleibt.</translation>
    </message>
    <message>
        <source>S&amp;witch</source>
        <translation>&amp;Wechseln</translation>
    </message>
    <message>
        <source>&amp;Stay</source>
        <translation>&amp;Bleiben</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>%1 in the 7 days before</source>
        <translation>%1 in den 7 Tagen davor</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n Runde</numerusform>
            <numerusform>%n Runden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>credited in %n</source>
        <translation>
            <numerusform>Gutschrift in %n</numerusform>
            <numerusform>Gutschrift in %n</numerusform>
        </translation>
    </message>
    <message>
        <source>nothing trained</source>
        <translation>nichts trainiert</translation>
    </message>
    <message>
        <source>not measurable here; %1 of training</source>
        <translation>hier nicht messbar; %1 Training</translation>
    </message>
    <message>
        <source>about %1 in %2 of training</source>
        <translation>etwa %1 in %2 Training</translation>
    </message>
    <message>
        <source>Energy is the power of what trains, times the time. It could be read in %1 of that time; the rest is taken to be alike. A processor&apos;s power is that of all programs.</source>
        <translation>Energie ist die Leistung dessen, was trainiert, mal die Zeit. In %1 dieser Zeit ließ sie sich lesen; der Rest gilt als gleich. Die Leistung eines Prozessors ist die aller Programme.</translation>
    </message>
    <message>
        <source>Time and energy on this computer</source>
        <translation>Zeit und Energie auf diesem Computer</translation>
    </message>
    <message>
        <source>This month</source>
        <translation>Diesen Monat</translation>
    </message>
    <message>
        <source>Energy is the power of what trains, times the time. This computer does not report the power of what trains.</source>
        <translation>Energie ist die Leistung dessen, was trainiert, mal die Zeit. Dieser Computer meldet die Leistung dessen, was trainiert, nicht.</translation>
    </message>
    <message>
        <source>I gave %1 tokens to “%2”</source>
        <translation>Ich habe %1 Tokens zu „%2“ beigetragen</translation>
    </message>
    <message numerus="yes">
        <source>trained in %n round(s), together with others</source>
        <translation>
            <numerusform>trainiert in %n Runde, zusammen mit anderen</numerusform>
            <numerusform>trainiert in %n Runden, zusammen mit anderen</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::DayChart</name>
    <message>
        <source>Tokens by day</source>
        <translation>Token nach Tagen</translation>
    </message>
    <message>
        <source>%1: %2 tokens</source>
        <translation>%1: %2 Token</translation>
    </message>
    <message numerus="yes">
        <source>%1 tokens in %n day(s).</source>
        <translation>
            <numerusform>%1 Token an %n Tag.</numerusform>
            <numerusform>%1 Token in %n Tagen.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::DeviceCard</name>
    <message>
        <source>Processor: %1</source>
        <translation>Prozessor: %1</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>%1 TFLOP/s in %2</source>
        <translation>%1 TFLOP/s in %2</translation>
    </message>
    <message>
        <source>Cannot be used. %1</source>
        <translation>Nicht nutzbar. %1</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 Arbeitsspeicher</translation>
    </message>
    <message>
        <source>trains now</source>
        <translation>trainiert gerade</translation>
    </message>
    <message>
        <source>Another device trains meanwhile. %1</source>
        <translation>Solange trainiert ein anderes Gerät. %1</translation>
    </message>
    <message>
        <source>It was not found.</source>
        <translation>Es wurde nicht gefunden.</translation>
    </message>
    <message>
        <source>Looking for devices; this takes some seconds.</source>
        <translation>Geräte werden gesucht; das dauert ein paar Sekunden.</translation>
    </message>
    <message>
        <source>No device could be looked for. %1</source>
        <translation>Es konnte kein Gerät gesucht werden. %1</translation>
    </message>
    <message>
        <source>Devices are looked for on request while training is paused.</source>
        <translation>Solange das Training pausiert, werden Geräte nur auf Wunsch gesucht.</translation>
    </message>
    <message>
        <source>What trains</source>
        <translation>Was trainiert</translation>
    </message>
    <message>
        <source>Look for devices</source>
        <translation>Geräte suchen</translation>
    </message>
    <message>
        <source>The processor</source>
        <translation>Der Prozessor</translation>
    </message>
    <message>
        <source>Does not train now. %1</source>
        <translation>Trainiert gerade nicht. %1</translation>
    </message>
    <message>
        <source>All GPUs that are switched on train at once. A change holds at once: what was trained is kept, and the devices chosen go on with it.</source>
        <translation>Alle eingeschalteten Grafikkarten trainieren gleichzeitig. Eine Änderung gilt sofort: Was trainiert wurde, bleibt erhalten, und die gewählten Geräte machen damit weiter.</translation>
    </message>
    <message>
        <source>Automatic: all GPUs at once, else the processor</source>
        <translation>Automatisch: alle Grafikkarten gleichzeitig, sonst der Prozessor</translation>
    </message>
    <message>
        <source>One device has to train: choose the processor, or switch another GPU on first.</source>
        <translation>Ein Gerät muss trainieren: Wähle den Prozessor, oder schalte zuerst eine andere Grafikkarte ein.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::EndCard</name>
    <message>
        <source>The model is finished</source>
        <translation>Das Modell ist fertig</translation>
    </message>
    <message>
        <source>&amp;Try it</source>
        <translation>A&amp;usprobieren</translation>
    </message>
    <message>
        <source>&amp;Save the model…</source>
        <translation>Modell &amp;sichern …</translation>
    </message>
    <message>
        <source>%1 tokens of everybody together made it.</source>
        <translation>%1 Token von allen zusammen haben es gemacht.</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n Runde</numerusform>
            <numerusform>%n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>You gave %1 of it: %2 tokens in %3.</source>
        <translation>Du hast %1 davon gegeben: %2 Token in %3.</translation>
    </message>
    <message>
        <source>&amp;Next run…</source>
        <translation>&amp;Nächster Lauf …</translation>
    </message>
    <message>
        <source>&amp;Invite to the next run</source>
        <translation>&amp;Einladung zum nächsten Lauf</translation>
    </message>
    <message>
        <source>&amp;Join a run</source>
        <translation>Einem Lauf &amp;beitreten</translation>
    </message>
    <message>
        <source>One of &amp;my runs</source>
        <translation>Einer &amp;meiner Läufe</translation>
    </message>
    <message>
        <source>Shows the runs that you were in; one that goes on is joined again there.</source>
        <translation>Zeigt die Läufe, in denen du warst; einem, der weitergeht, trittst du dort wieder bei.</translation>
    </message>
    <message>
        <source>%1, trained in %2.</source>
        <translation>%1, trainiert in %2.</translation>
    </message>
    <message>
        <source>Loss on new text: %1.</source>
        <translation>Fehlermaß auf neuem Text: %1.</translation>
    </message>
    <message>
        <source>Loss in training: %1.</source>
        <translation>Fehlermaß beim Training: %1.</translation>
    </message>
    <message>
        <source>The baseline has %1; lower is better.</source>
        <translation>Der Vergleichswert ist %1; niedriger ist besser.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::FindCard</name>
    <message>
        <source>Find a run</source>
        <translation>Lauf finden</translation>
    </message>
    <message>
        <source>Vouched for by somebody you follow</source>
        <translation>Dafür bürgt jemand, dem du folgst</translation>
    </message>
    <message>
        <source>In your network</source>
        <translation>In deinem Netzwerk</translation>
    </message>
    <message>
        <source>Kind of model</source>
        <translation>Art des Modells</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>&amp;Fits this computer</source>
        <translation>&amp;Passt auf diesen Computer</translation>
    </message>
    <message>
        <source>Not vouched for by anybody you follow</source>
        <translation>Dafür bürgt niemand, dem du folgst</translation>
    </message>
    <message>
        <source>Anybody can announce a run. Of these Potluck knows only what their hosts say: names, purposes and losses may be made up. Joining one runs none of its host&apos;s code here, but your computer&apos;s work goes to it, and its members see your internet address.</source>
        <translation>Jeder kann einen Lauf ankündigen. Von diesen weiß Potluck nur, was ihre Gastgeber sagen: Namen, Zwecke und Fehlermaße können erfunden sein. Wer mitmacht, führt hier keinen fremden Code aus, aber die Arbeit deines Computers geht dorthin, und die Mitglieder sehen deine Internetadresse.</translation>
    </message>
    <message>
        <source>Show more of them</source>
        <translation>Mehr davon zeigen</translation>
    </message>
    <message>
        <source>Fold these away</source>
        <translation>Einklappen</translation>
    </message>
    <message>
        <source>Shows runs of which Potluck knows only what their hosts say.</source>
        <translation>Zeigt Läufe, von denen Potluck nur weiß, was ihre Gastgeber sagen.</translation>
    </message>
    <message>
        <source>Every kind of model</source>
        <translation>Jede Art von Modell</translation>
    </message>
    <message>
        <source>Every language</source>
        <translation>Jede Sprache</translation>
    </message>
    <message>
        <source>These runs are looking for company. Preview one first: that joins nothing.</source>
        <translation>Diese Läufe suchen Mitstreiter. Sieh dir erst die Vorschau an; damit trittst du noch nicht bei.</translation>
    </message>
    <message>
        <source>Everything that was found is hidden.</source>
        <translation>Alles Gefundene ist ausgeblendet.</translation>
    </message>
    <message>
        <source>No run that was found is of this kind.</source>
        <translation>Kein gefundener Lauf ist von dieser Art.</translation>
    </message>
    <message>
        <source>Looking for runs that want company…</source>
        <translation>Läufe, die Mitstreiter suchen, werden gesucht …</translation>
    </message>
    <message>
        <source>Nobody is announcing a run right now. Potluck keeps looking; meanwhile you can start your own.</source>
        <translation>Gerade kündigt niemand einen Lauf an. Die Suche geht weiter; inzwischen kannst du selbst einen starten.</translation>
    </message>
    <message>
        <source>Nobody who knows of runs has answered yet. Potluck keeps looking; you can also paste an invite.</source>
        <translation>Noch hat niemand geantwortet, der Läufe kennt. Die Suche geht weiter; du kannst auch eine Einladung einfügen.</translation>
    </message>
    <message>
        <source>Not vouched for by anybody you follow (%1)</source>
        <translation>Dafür bürgt niemand, dem du folgst (%1)</translation>
    </message>
    <message>
        <source>%1 hidden: show again</source>
        <translation>%1 ausgeblendet: wieder zeigen</translation>
    </message>
    <message>
        <source>&amp;Start a run…</source>
        <translation>Lauf &amp;starten …</translation>
    </message>
    <message>
        <source>Start a run that trains on your text.</source>
        <translation>Startet einen Lauf, der auf deinem Text trainiert.</translation>
    </message>
    <message>
        <source>Join a run and your computer helps to train a model together with other volunteers. Choose one, or paste the invite that a host gave you.</source>
        <translation>Mach bei einem Lauf mit, und dein Computer hilft, zusammen mit anderen Freiwilligen ein Modell zu trainieren. Wähle einen aus, oder füge die Einladung eines Gastgebers ein.</translation>
    </message>
    <message>
        <source>&amp;Try it here now</source>
        <translation>Hier gleich &amp;ausprobieren</translation>
    </message>
    <message>
        <source>Trains a small model on Potluck&apos;s own documents, on this computer alone, for a minute or two; then you can write with it.</source>
        <translation>Trainiert ein, zwei Minuten lang ein kleines Modell auf Potlucks eigenen (englischen) Dokumenten, nur auf diesem Computer; danach kannst du damit schreiben.</translation>
    </message>
    <message>
        <source>Try it here</source>
        <translation>Ausprobieren</translation>
    </message>
    <message>
        <source>To see what training is like; this computer is alone in it.</source>
        <translation>Um zu sehen, wie Training ist; dieser Computer ist darin allein.</translation>
    </message>
    <message>
        <source>Preparing…</source>
        <translation>Wird vorbereitet …</translation>
    </message>
</context>
<context>
    <name>potluck::ui::FirstName</name>
    <message>
        <source>Your na&amp;me in the run</source>
        <translation>Dein Na&amp;me im Lauf</translation>
    </message>
    <message>
        <source>Leave it empty to go by the name that this run knows you by.</source>
        <translation>Bleibt es leer, trägst du den Namen, unter dem dich der Lauf kennt.</translation>
    </message>
    <message>
        <source>Everybody in the run sees it. It need not be your real one; you can change it in Settings.</source>
        <translation>Alle im Lauf sehen ihn. Es muss nicht dein richtiger sein; in den Einstellungen lässt er sich ändern.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::FoundRunCard</name>
    <message>
        <source>Preview</source>
        <translation>Vorschau</translation>
    </message>
    <message>
        <source>Join</source>
        <translation>Beitreten</translation>
    </message>
    <message>
        <source>Hide…</source>
        <translation>Ausblenden …</translation>
    </message>
    <message>
        <source>Hide this &amp;run for good</source>
        <translation>Diesen &amp;Lauf für immer ausblenden</translation>
    </message>
    <message>
        <source>Hide all runs of this &amp;host for good</source>
        <translation>Alle Läufe dieses &amp;Gastgebers für immer ausblenden</translation>
    </message>
    <message>
        <source>Preview of %1</source>
        <translation>Vorschau von %1</translation>
    </message>
    <message>
        <source>Fetches the description of this run and joins nothing.</source>
        <translation>Holt die Beschreibung dieses Laufs und tritt nicht bei.</translation>
    </message>
    <message>
        <source>Join %1</source>
        <translation>Beitreten: %1</translation>
    </message>
    <message>
        <source>Hide %1</source>
        <translation>%1 ausblenden</translation>
    </message>
    <message>
        <source>On a list that you follow.</source>
        <translation>Auf einer Liste, der du folgst.</translation>
    </message>
    <message>
        <source>A list that you follow says: %1</source>
        <translation>Eine Liste, der du folgst, sagt: %1</translation>
    </message>
    <message>
        <source>no licence named</source>
        <translation>ohne Angabe einer Lizenz</translation>
    </message>
    <message>
        <source>%1 to download</source>
        <translation>%1 herunterzuladen</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>You have trained in a run of this host before.</source>
        <translation>Du hast schon in einem Lauf dieses Gastgebers trainiert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::FoundWords</name>
    <message>
        <source>This computer cannot help yet: the part of Potluck that trains is not installed.</source>
        <translation>Dieser Computer kann noch nicht helfen: Der Teil von Potluck, der trainiert, ist nicht installiert.</translation>
    </message>
    <message>
        <source>Whether this computer can help is not known: %1</source>
        <translation>Ob dieser Computer helfen kann, ist nicht bekannt: %1</translation>
    </message>
    <message>
        <source>Looking at what this computer can train on…</source>
        <translation>Es wird nachgesehen, worauf dieser Computer trainieren kann …</translation>
    </message>
    <message>
        <source>This computer cannot help: it has no device that can train.</source>
        <translation>Dieser Computer kann nicht helfen: Er hat kein Gerät, das trainieren kann.</translation>
    </message>
    <message>
        <source>This computer can help: it takes %1 of the %2 of %3, and what a batch takes.</source>
        <translation>Dieser Computer kann helfen: Der Lauf braucht %1 der %2 von %3, und was ein Batch braucht.</translation>
    </message>
    <message>
        <source>This computer can perhaps help: it takes %1, more than the %2 of %3; the preview says exactly.</source>
        <translation>Dieser Computer kann vielleicht helfen: Der Lauf braucht %1, mehr als die %2 von %3; die Vorschau sagt es genau.</translation>
    </message>
    <message>
        <source>Too large for this computer: it takes %1, and %3 has %2.</source>
        <translation>Zu groß für diesen Computer: Der Lauf braucht %1, und %3 hat %2.</translation>
    </message>
    <message>
        <source>Its host does not say how much memory it takes; the preview does.</source>
        <translation>Wie viel Arbeitsspeicher er braucht, sagt sein Gastgeber nicht; die Vorschau sagt es.</translation>
    </message>
    <message>
        <source>Round %1 of %2</source>
        <translation>Runde %1 von %2</translation>
    </message>
    <message>
        <source>loss %1 (baseline %2)</source>
        <translation>Fehlermaß %1 (Vergleichswert %2)</translation>
    </message>
    <message>
        <source>loss %1</source>
        <translation>Fehlermaß %1</translation>
    </message>
    <message>
        <source>about %1 left at today&apos;s speed</source>
        <translation>noch etwa %1 beim heutigen Tempo</translation>
    </message>
    <message numerus="yes">
        <source>%n volunteer(s) now</source>
        <translation>
            <numerusform>gerade %n Freiwilliger</numerusform>
            <numerusform>gerade %n Freiwillige</numerusform>
        </translation>
    </message>
    <message>
        <source>hosted by %1</source>
        <translation>Gastgeber: %1</translation>
    </message>
    <message>
        <source>hosted by %1 (%2)</source>
        <translation>Gastgeber: %1 (%2)</translation>
    </message>
    <message>
        <source>Your %1: about %2 tokens per second, and %3 of its %4 and what a batch takes.</source>
        <translation>%1: etwa %2 Tokens pro Sekunde, und %3 von %4 sowie was ein Batch braucht.</translation>
    </message>
    <message>
        <source>as its host said %1 ago</source>
        <translation>so der Gastgeber vor %1</translation>
    </message>
</context>
<context>
    <name>potluck::ui::HomePage</name>
    <message>
        <source>&amp;Dismiss</source>
        <translation>&amp;Schließen</translation>
    </message>
    <message>
        <source>&amp;Switch to it</source>
        <translation>&amp;Zu ihm wechseln</translation>
    </message>
    <message>
        <source>You are in this run already.</source>
        <translation>Du bist schon in diesem Lauf.</translation>
    </message>
    <message>
        <source>This link is an invite to another run; switching leaves this one.</source>
        <translation>Dieser Link lädt zu einem anderen Lauf ein; ein Wechsel verlässt diesen.</translation>
    </message>
    <message>
        <source>This link is an invite to “%1” (the run&apos;s own name for itself). Switching leaves the run that you are in.</source>
        <translation>Dieser Link lädt zu „%1“ ein (so nennt sich der Lauf selbst). Ein Wechsel verlässt deinen jetzigen Lauf.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::HostPage</name>
    <message>
        <source>Host</source>
        <translation>Gastgeber</translation>
    </message>
    <message>
        <source>Signed. It is in force with the next round&apos;s list; a new committee is at once.</source>
        <translation>Unterschrieben. Es gilt mit der Liste der nächsten Runde; ein neues Komitee gilt sofort.</translation>
    </message>
    <message>
        <source>If you leave</source>
        <translation>Wenn du gehst</translation>
    </message>
    <message>
        <source>Leaving ends nothing for the others: a run ends by itself with its last round. You can come back with the invite and are its host again.</source>
        <translation>Dein Gehen beendet für die anderen nichts: Ein Lauf endet von selbst mit seiner letzten Runde. Mit der Einladung kannst du wiederkommen und bist wieder sein Gastgeber.</translation>
    </message>
    <message>
        <source>Committee and members</source>
        <translation>Komitee und Mitglieder</translation>
    </message>
    <message>
        <source>Member&apos;s key (64 digits)</source>
        <translation>Schlüssel des Mitglieds (64 Zeichen)</translation>
    </message>
    <message>
        <source>Key of another computer</source>
        <translation>Schlüssel eines anderen Computers</translation>
    </message>
    <message>
        <source>&amp;Admit…</source>
        <translation>&amp;Zulassen…</translation>
    </message>
    <message>
        <source>&amp;Ban…</source>
        <translation>&amp;Ausschließen…</translation>
    </message>
    <message>
        <source>&amp;Readmit…</source>
        <translation>&amp;Wieder zulassen…</translation>
    </message>
    <message>
        <source>Make those &amp;ticked the committee…</source>
        <translation>Die A&amp;ngekreuzten zum Komitee machen…</translation>
    </message>
    <message>
        <source>&amp;Close the run to strangers…</source>
        <translation>Lauf für Fremde s&amp;chließen…</translation>
    </message>
    <message>
        <source>Open the run?</source>
        <translation>Den Lauf öffnen?</translation>
    </message>
    <message>
        <source>From the next list on everybody who is not banned may join again.</source>
        <translation>Ab der nächsten Liste darf wieder jeder beitreten, der nicht gesperrt ist.</translation>
    </message>
    <message>
        <source>&amp;Open</source>
        <translation>Ö&amp;ffnen</translation>
    </message>
    <message>
        <source>Close the run?</source>
        <translation>Den Lauf schließen?</translation>
    </message>
    <message>
        <source>From the next list on only computers that you vouch for take part, and those that the run named at its start. Others keep their credit. You can open the run again at any time.</source>
        <translation>Ab der nächsten Liste nehmen nur Computer teil, für die du bürgst, und die, die der Lauf am Anfang genannt hat. Was anderen gutgeschrieben wurde, bleibt. Du kannst den Lauf jederzeit wieder öffnen.</translation>
    </message>
    <message>
        <source>C&amp;lose</source>
        <translation>S&amp;chließen</translation>
    </message>
    <message>
        <source>&amp;Open the run to everybody…</source>
        <translation>Lauf für alle ö&amp;ffnen…</translation>
    </message>
    <message>
        <source>Go back</source>
        <translation>Zurückgehen</translation>
    </message>
    <message>
        <source>If training went wrong, the next round can begin with an earlier checkpoint.</source>
        <translation>Wenn das Training missraten ist, kann die nächste Runde mit einem früheren Stand beginnen.</translation>
    </message>
    <message>
        <source>Checkpoint to go back to</source>
        <translation>Stand, zu dem zurückgegangen wird</translation>
    </message>
    <message>
        <source>&amp;Go back to it…</source>
        <translation>Dahin &amp;zurückgehen…</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>Ban %1?</source>
        <translation>%1 ausschließen?</translation>
    </message>
    <message>
        <source>From the next list on %1 neither contributes nor has a seat. Its credit stays. You can readmit it later; with a new key it is a newcomer.</source>
        <translation>Von der nächsten Liste an trägt %1 weder bei noch hat es einen Sitz. Was gutgeschrieben wurde, bleibt. Du kannst es später wieder zulassen; mit einem neuen Schlüssel ist es ein Neuling.</translation>
    </message>
    <message>
        <source>&amp;Ban</source>
        <translation>&amp;Ausschließen</translation>
    </message>
    <message>
        <source>Readmit %1?</source>
        <translation>%1 wieder zulassen?</translation>
    </message>
    <message>
        <source>From the next list on %1 may contribute again.</source>
        <translation>Von der nächsten Liste an darf %1 wieder beitragen.</translation>
    </message>
    <message>
        <source>&amp;Readmit</source>
        <translation>&amp;Wieder zulassen</translation>
    </message>
    <message>
        <source>Let this key in?</source>
        <translation>Diesen Schlüssel zulassen?</translation>
    </message>
    <message>
        <source>From the next list on the computer with the key %1 may join, counts in full at once, and may have a seat in the committee. Let in only computers of people whom you trust.</source>
        <translation>Von der nächsten Liste an darf der Computer mit dem Schlüssel %1 beitreten, zählt sofort voll und darf einen Sitz im Komitee haben. Lass nur Computer von Menschen zu, denen du vertraust.</translation>
    </message>
    <message>
        <source>&amp;Let in</source>
        <translation>&amp;Zulassen</translation>
    </message>
    <message>
        <source>Go back to round %1?</source>
        <translation>Zur Runde %1 zurückgehen?</translation>
    </message>
    <message>
        <source>The next round begins with the model as it was after round %1. Training since then is lost; everybody&apos;s credit stays.</source>
        <translation>Die nächste Runde beginnt mit dem Modell, wie es nach Runde %1 war. Was seitdem trainiert wurde, ist verloren; alle Gutschriften bleiben.</translation>
    </message>
    <message>
        <source>&amp;Go back</source>
        <translation>&amp;Zurückgehen</translation>
    </message>
    <message>
        <source>Replace the committee?</source>
        <translation>Das Komitee ersetzen?</translation>
    </message>
    <message numerus="yes">
        <source>From now on %n computer(s) that you ticked decide(s) about the run, at once. This is for a committee that cannot decide any more; members who went further go back to where this computer is.</source>
        <translation>
            <numerusform>Von jetzt an entscheidet sofort %n Computer, den du angekreuzt hast, über den Lauf. Das ist für ein Komitee, das nicht mehr entscheiden kann; Mitglieder, die weiter waren, gehen dorthin zurück, wo dieser Computer steht.</numerusform>
            <numerusform>Von jetzt an entscheiden sofort %n Computer, die du angekreuzt hast, über den Lauf. Das ist für ein Komitee, das nicht mehr entscheiden kann; Mitglieder, die weiter waren, gehen dorthin zurück, wo dieser Computer steht.</numerusform>
        </translation>
    </message>
    <message>
        <source>&amp;Replace</source>
        <translation>&amp;Ersetzen</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n seat(s) are needed for each round.</source>
        <translation>
            <numerusform>%1 von %n Sitz wird für jede Runde gebraucht.</numerusform>
            <numerusform>%1 von %n Sitzen werden für jede Runde gebraucht.</numerusform>
        </translation>
    </message>
    <message>
        <source>Waits for the next list: %1</source>
        <translation>Wartet auf die nächste Liste: %1</translation>
    </message>
    <message>
        <source>After round %1</source>
        <translation>Nach Runde %1</translation>
    </message>
    <message>
        <source>&amp;Trust as deputy…</source>
        <translation>&amp;Vertretung…</translation>
    </message>
    <message>
        <source>Trust %1 as your deputy?</source>
        <translation>%1 als Vertretung einsetzen?</translation>
    </message>
    <message>
        <source>From the next list on %1 may join, counts in full at once, and may have a seat in the committee. Trust only computers of people whom you know well.</source>
        <translation>Ab der nächsten Liste darf %1 beitreten, zählt sofort voll und darf einen Sitz im Komitee haben. Vertraue nur Computern von Menschen, die du gut kennst.</translation>
    </message>
    <message>
        <source>&amp;Trust</source>
        <translation>&amp;Vertrauen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::IdentityCard</name>
    <message>
        <source>Identity</source>
        <translation>Identität</translation>
    </message>
    <message>
        <source>Your credit belongs to this key. Keep a copy: import it on another computer, and both train for you.</source>
        <translation>Deine Gutschriften gehören diesem Schlüssel. Bewahre eine Kopie auf: Importiere sie auf einem anderen Computer, und beide trainieren für dich.</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>Copy the id</source>
        <translation>Die Kennung kopieren</translation>
    </message>
    <message>
        <source>Write them down on paper. Anybody who has them can act as you.</source>
        <translation>Schreib sie auf Papier. Wer sie hat, ist du.</translation>
    </message>
    <message>
        <source>Hide recovery &amp;words</source>
        <translation>&amp;Wörter verbergen</translation>
    </message>
    <message>
        <source>This computer now uses the identity of the file.</source>
        <translation>Dieser Computer verwendet jetzt die Identität aus der Datei.</translation>
    </message>
    <message>
        <source>Recovery words</source>
        <translation>Wörter zur Wiederherstellung</translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation>&amp;Exportieren …</translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation>&amp;Importieren …</translation>
    </message>
    <message>
        <source>Show recovery &amp;words</source>
        <translation>&amp;Wörter zur Wiederherstellung zeigen</translation>
    </message>
    <message>
        <source>Export the identity</source>
        <translation>Identität exportieren</translation>
    </message>
    <message>
        <source>Import an identity</source>
        <translation>Identität importieren</translation>
    </message>
    <message>
        <source>Replace the identity?</source>
        <translation>Identität ersetzen?</translation>
    </message>
    <message>
        <source>The identity on this computer is replaced by the one in the file.</source>
        <translation>Die Identität auf diesem Computer wird durch die in der Datei ersetzt.</translation>
    </message>
    <message>
        <source>The identity on this computer is replaced by the one of the words.</source>
        <translation>Die Identität auf diesem Computer wird durch die der Wörter ersetzt.</translation>
    </message>
    <message>
        <source>Export it first if you want to keep its credit.</source>
        <translation>Exportiere sie vorher, wenn du ihre Gutschriften behalten willst.</translation>
    </message>
    <message>
        <source>&amp;From words…</source>
        <translation>&amp;Aus Wörtern …</translation>
    </message>
    <message>
        <source>Import from recovery words</source>
        <translation>Aus Wörtern zur Wiederherstellung importieren</translation>
    </message>
    <message>
        <source>This computer now uses the identity of the words.</source>
        <translation>Dieser Computer verwendet jetzt die Identität der Wörter.</translation>
    </message>
    <message>
        <source>&amp;Replace</source>
        <translation>&amp;Ersetzen</translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation>&amp;Behalten</translation>
    </message>
    <message>
        <source>The identity is in %1; keep it where only you can read it.</source>
        <translation>Die Identität liegt in %1; bewahre sie dort auf, wo nur du sie lesen kannst.</translation>
    </message>
    <message>
        <source>It has a key of its own, so that your other computers may train beside it. The identity it had is kept in the data folder.</source>
        <translation>Er hat einen eigenen Schlüssel, damit deine anderen Computer neben ihm trainieren können. Die bisherige Identität bleibt im Datenordner.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::InviteLine</name>
    <message>
        <source>potluck:?xt=…  or  magnet:?xt=…</source>
        <translation>potluck:?xt=…  oder  magnet:?xt=…</translation>
    </message>
    <message>
        <source>An invite begins with potluck: or magnet: – paste the whole link.</source>
        <translation>Eine Einladung beginnt mit potluck: oder magnet: – füge den ganzen Link ein.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::InvitePage</name>
    <message>
        <source>Anybody who has this line can join. Send it in a message, as a file, or let a phone read the code.</source>
        <translation>Wer diese Zeile hat, kann beitreten: Schick sie als Nachricht oder als Datei, oder lass ein Telefon den Code lesen.</translation>
    </message>
    <message>
        <source>Invite link</source>
        <translation>Einladungslink</translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation>&amp;Kopieren</translation>
    </message>
    <message>
        <source>&amp;Save as file…</source>
        <translation>Als Datei &amp;sichern…</translation>
    </message>
    <message>
        <source>To the &amp;run</source>
        <translation>Zum &amp;Lauf</translation>
    </message>
    <message>
        <source>The invite is on the clipboard. Send it to the people who should join.</source>
        <translation>Die Einladung ist in der Zwischenablage: Schick sie denen, die beitreten sollen.</translation>
    </message>
    <message>
        <source>Save the invite</source>
        <translation>Einladung sichern</translation>
    </message>
    <message>
        <source>invite</source>
        <translation>einladung</translation>
    </message>
    <message>
        <source>The invite is in %1.</source>
        <translation>Die Einladung ist in %1.</translation>
    </message>
    <message>
        <source>Invite others to “%1”</source>
        <translation>Andere zu „%1“ einladen</translation>
    </message>
    <message>
        <source>It names addresses of this computer, so that others find the run at once.</source>
        <translation>Sie nennt Adressen dieses Computers, sodass andere den Lauf sofort finden.</translation>
    </message>
    <message>
        <source>It names no address of this computer, because none is known yet; others look for the run in a public directory, which takes longer.</source>
        <translation>Sie nennt keine Adresse dieses Computers, weil noch keine bekannt ist; andere suchen den Lauf in einem öffentlichen Verzeichnis, was länger dauert.</translation>
    </message>
    <message>
        <source>It names this computer&apos;s address in your network: computers there find the run at once. Others look for it in a public directory, which takes longer.</source>
        <translation>Sie nennt die Adresse dieses Computers in deinem Netz: Computer dort finden den Lauf sofort. Andere suchen ihn in einem öffentlichen Verzeichnis, was länger dauert.</translation>
    </message>
    <message>
        <source>Round %1 of %2</source>
        <translation>Runde %1 von %2</translation>
    </message>
    <message>
        <source>Everybody can help. Licence: %1</source>
        <translation>Alle können helfen. Lizenz: %1</translation>
    </message>
    <message>
        <source>To show it around, as a picture with this code or as a text:</source>
        <translation>Zum Herumzeigen, als Bild mit diesem Code oder als Text:</translation>
    </message>
</context>
<context>
    <name>potluck::ui::JoinCard</name>
    <message>
        <source>&amp;Invite</source>
        <translation>&amp;Einladung</translation>
    </message>
    <message>
        <source>Invite link</source>
        <translation>Einladungslink</translation>
    </message>
    <message>
        <source>P&amp;aste</source>
        <translation>Ein&amp;fügen</translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation>Ö&amp;ffnen …</translation>
    </message>
    <message>
        <source>Opens a text file that holds an invite.</source>
        <translation>Öffnet eine Textdatei mit einer Einladung.</translation>
    </message>
    <message>
        <source>&amp;Join</source>
        <translation>&amp;Beitreten</translation>
    </message>
    <message>
        <source>What will happen</source>
        <translation>Was geschieht</translation>
    </message>
    <message>
        <source>The model and a piece of its text are fetched, then your computer trains in the background until you pause.</source>
        <translation>Das Modell und ein Stück seines Textes werden geholt, dann trainiert dein Computer im Hintergrund, bis du anhältst.</translation>
    </message>
    <message>
        <source>You come first</source>
        <translation>Du hast Vorrang</translation>
    </message>
    <message>
        <source>What is sent</source>
        <translation>Was gesendet wird</translation>
    </message>
    <message>
        <source>A small, signed contribution per round, your display name, your public key and your internet address, as with any torrent.</source>
        <translation>Ein kleiner, unterschriebener Beitrag je Runde, dein Anzeigename, dein öffentlicher Schlüssel und deine Internetadresse, wie bei jedem Torrent.</translation>
    </message>
    <message>
        <source>What is not</source>
        <translation>Was nicht</translation>
    </message>
    <message>
        <source>None of your files. And nobody can run code here: only data crosses the network.</source>
        <translation>Keine deiner Dateien. Und niemand kann hier Code ausführen: Über das Netz gehen nur Daten.</translation>
    </message>
    <message>
        <source>This link came from outside Potluck. Preview it first; nothing happens before you press Join.</source>
        <translation>Dieser Link kam von außerhalb. Sieh dir zuerst die Vorschau an; es geschieht nichts, bevor du auf Beitreten drückst.</translation>
    </message>
    <message>
        <source>Open an invite</source>
        <translation>Einladung öffnen</translation>
    </message>
    <message>
        <source>Joining…</source>
        <translation>Tritt bei …</translation>
    </message>
    <message>
        <source>The host of a run sends you one, a single line of text.</source>
        <translation>Du bekommst sie vom Gastgeber eines Laufs; sie ist eine einzige Zeile Text.</translation>
    </message>
    <message>
        <source>The link says that the run is called “%1”.</source>
        <translation>Laut dem Link heißt der Lauf „%1“.</translation>
    </message>
    <message>
        <source>&amp;Preview</source>
        <translation>&amp;Vorschau</translation>
    </message>
    <message>
        <source>Fetches the description of this run and joins nothing.</source>
        <translation>Holt die Beschreibung dieses Laufs und tritt nicht bei.</translation>
    </message>
    <message>
        <source>Pause at any time: training ends and its memory is free within two seconds.</source>
        <translation>Pausiere jederzeit: Das Training endet, und sein Arbeitsspeicher ist binnen zwei Sekunden frei.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::JuryCard</name>
    <message numerus="yes">
        <source>%1 – accused by %n juror(s).</source>
        <translation>
            <numerusform>%1 – von %n Prüfer beschuldigt.</numerusform>
            <numerusform>%1 – von %n Prüfern beschuldigt.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 – shut out until you lift it.</source>
        <translation>%1 – ausgeschlossen, bis du es aufhebst.</translation>
    </message>
    <message>
        <source>%1 – shut out until round %2.</source>
        <translation>%1 – ausgeschlossen bis Runde %2.</translation>
    </message>
    <message>
        <source>Its contributions lower the loss by %1, the median member&apos;s by %2.</source>
        <translation>Seine Beiträge senken das Fehlermaß um %1, die des mittleren Mitglieds um %2.</translation>
    </message>
    <message>
        <source>Work that does not help</source>
        <translation>Arbeit, die nicht hilft</translation>
    </message>
    <message>
        <source>The committee&apos;s computers measure whether contributions lower the loss. Noise shuts its sender out for 50 rounds, then for 500, then until you lift it.</source>
        <translation>Die Computer des Komitees messen, ob Beiträge das Fehlermaß senken. Wer Rauschen schickt, ist für 50 Runden ausgeschlossen, dann für 500, dann bis du es aufhebst.</translation>
    </message>
    <message>
        <source>People whom the jury shuts out or accuses</source>
        <translation>Wen die Prüfer ausschließen oder beschuldigen</translation>
    </message>
    <message>
        <source>Lift the &amp;suspension</source>
        <translation>Au&amp;sschluss aufheben</translation>
    </message>
</context>
<context>
    <name>potluck::ui::LeaderboardModel</name>
    <message>
        <source>%1 (you)</source>
        <translation>%1 (du)</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>Anteil</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>A team without a visible name</source>
        <translation>Ein Team ohne sichtbaren Namen</translation>
    </message>
    <message>
        <source>%1 (yours)</source>
        <translation>%1 (deins)</translation>
    </message>
    <message>
        <source>Team</source>
        <translation>Team</translation>
    </message>
    <message>
        <source>Members</source>
        <translation>Mitglieder</translation>
    </message>
</context>
<context>
    <name>potluck::ui::LeaderboardPage</name>
    <message>
        <source>Leaderboard</source>
        <translation>Bestenliste</translation>
    </message>
    <message>
        <source>Nobody has been credited yet. The first names appear when the first round of a run that you joined ends.</source>
        <translation>Noch hat niemand eine Gutschrift. Die ersten Namen erscheinen, wenn die erste Runde eines Laufs endet, dem du beigetreten bist.</translation>
    </message>
    <message>
        <source>Leaderboard of the run</source>
        <translation>Bestenliste des Laufs</translation>
    </message>
    <message>
        <source>Tokens that were trained, accepted and credited in this run.</source>
        <translation>Token, die in diesem Lauf trainiert, angenommen und gutgeschrieben wurden.</translation>
    </message>
    <message>
        <source>You are number %1 of %2 and gave %3 of all tokens of this run.</source>
        <translation>Du bist Nummer %1 von %2 und hast %3 aller Token dieses Laufs beigetragen.</translation>
    </message>
    <message>
        <source>Find a name, a team or a key</source>
        <translation>Name, Team oder Schlüssel suchen</translation>
    </message>
    <message>
        <source>Nobody in this run is called so.</source>
        <translation>In diesem Lauf heißt niemand so.</translation>
    </message>
    <message>
        <source>By &amp;team</source>
        <translation>Nach &amp;Teams</translation>
    </message>
    <message>
        <source>Anybody may name any team: nobody is asked, and two spellings are two teams.</source>
        <translation>Jeder darf jedes Team nennen: Niemand wird gefragt, und zwei Schreibweisen sind zwei Teams.</translation>
    </message>
    <message>
        <source>Nobody who was credited in this run has named a team. You can name one in the settings.</source>
        <translation>Niemand mit einer Gutschrift in diesem Lauf hat ein Team genannt. In den Einstellungen kannst du eines nennen.</translation>
    </message>
    <message>
        <source>No team in this run is called so.</source>
        <translation>In diesem Lauf heißt kein Team so.</translation>
    </message>
    <message>
        <source>Anybody may name any team.</source>
        <translation>Jeder darf jedes Team nennen.</translation>
    </message>
    <message>
        <source>Your team is number %1 and gave %2 of all tokens of this run.</source>
        <translation>Dein Team ist Nummer %1 und hat %2 aller Token dieses Laufs beigetragen.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::LeftCard</name>
    <message>
        <source>&amp;Delete its files…</source>
        <translation>&amp;Dateien löschen …</translation>
    </message>
    <message>
        <source>&amp;Keep them</source>
        <translation>&amp;Behalten</translation>
    </message>
    <message>
        <source>You left “%1”. Its files take %2 here; your credit stays without them.</source>
        <translation>Du hast „%1“ verlassen. Die Dateien belegen hier %2; dein Guthaben bleibt auch ohne sie.</translation>
    </message>
    <message>
        <source>Joining “%1” again fetches what is needed.</source>
        <translation>Wer „%1“ wieder beitritt, holt neu, was gebraucht wird.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ListsCard</name>
    <message>
        <source>“%1”</source>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>a list without a title</source>
        <translation>eine Liste ohne Titel</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n Lauf</numerusform>
            <numerusform>%n Läufe</numerusform>
        </translation>
    </message>
    <message>
        <source>expired on %1</source>
        <translation>abgelaufen am %1</translation>
    </message>
    <message>
        <source>holds until %1</source>
        <translation>gültig bis %1</translation>
    </message>
    <message>
        <source>not renewed: %1</source>
        <translation>nicht erneuert: %1</translation>
    </message>
    <message>
        <source>Lists of runs by people whom you trust.</source>
        <translation>Listen von Läufen, für die jemand bürgt, dem du folgst.</translation>
    </message>
    <message>
        <source>A list names runs for which its maker vouches. Anybody makes one, with potluck-node list; follow those of people you believe. Potluck fetches newer versions by itself.</source>
        <translation>Eine Liste nennt Läufe, für die ihr Verfasser bürgt. Alle können eine machen, mit potluck-node list; folge denen von Leuten, denen du glaubst. Neuere Fassungen holt Potluck von selbst.</translation>
    </message>
    <message>
        <source>Link of a list</source>
        <translation>Link einer Liste</translation>
    </message>
    <message>
        <source>Foll&amp;ow</source>
        <translation>F&amp;olgen</translation>
    </message>
    <message>
        <source>Pass on</source>
        <translation>Weitergeben</translation>
    </message>
    <message>
        <source>Pass on %1</source>
        <translation>%1 weitergeben</translation>
    </message>
    <message>
        <source>Unfollow</source>
        <translation>Nicht mehr folgen</translation>
    </message>
    <message>
        <source>Unfollow %1</source>
        <translation>%1 nicht mehr folgen</translation>
    </message>
    <message>
        <source>Lists that you follow (%1)…</source>
        <translation>Listen, denen du folgst (%1)…</translation>
    </message>
    <message>
        <source>Expired, so it vouches for nothing until its maker renews it: %1.</source>
        <translation>Abgelaufen, bürgt also für nichts, bis der Verfasser sie erneuert: %1.</translation>
    </message>
    <message>
        <source>This link came from outside Potluck; nothing is followed before you press Follow.</source>
        <translation>Dieser Link kam von außerhalb; du folgst erst, wenn du Folgen drückst.</translation>
    </message>
    <message>
        <source>You follow “%1”.</source>
        <translation>Du folgst „%1“.</translation>
    </message>
    <message>
        <source>QR code of the list&apos;s link</source>
        <translation>QR-Code des Links der Liste</translation>
    </message>
    <message>
        <source>The link to “%1” is on the clipboard.</source>
        <translation>Der Link zu „%1“ ist in der Zwischenablage.</translation>
    </message>
    <message>
        <source>Fetching…</source>
        <translation>Wird geholt…</translation>
    </message>
</context>
<context>
    <name>potluck::ui::LogPage</name>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Lines of the log, oldest first</source>
        <translation>Zeilen des Protokolls, die ältesten zuerst</translation>
    </message>
    <message>
        <source>Which lines</source>
        <translation>Welche Zeilen</translation>
    </message>
    <message>
        <source>All lines</source>
        <translation>Alle Zeilen</translation>
    </message>
    <message>
        <source>Warnings and errors</source>
        <translation>Warnungen und Fehler</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Only lines with this text</source>
        <translation>Nur Zeilen mit diesem Text</translation>
    </message>
    <message>
        <source>Only lines with…</source>
        <translation>Nur Zeilen mit …</translation>
    </message>
    <message>
        <source>&amp;Copy diagnostics</source>
        <translation>&amp;Diagnose kopieren</translation>
    </message>
    <message>
        <source>Copies state and log without keys, addresses, invites and names of folders.</source>
        <translation>Kopiert Zustand und Protokoll ohne Schlüssel, Adressen, Einladungen und Namen von Ordnern.</translation>
    </message>
    <message>
        <source>&amp;Read again</source>
        <translation>&amp;Neu lesen</translation>
    </message>
    <message>
        <source>Open data &amp;folder</source>
        <translation>Daten&amp;ordner öffnen</translation>
    </message>
    <message>
        <source>%1 of %2 lines</source>
        <translation>%1 von %2 Zeilen</translation>
    </message>
    <message>
        <source>Copied, without keys, addresses and invites. Look through it before you send it.</source>
        <translation>Kopiert, ohne Schlüssel, Adressen und Einladungen. Sieh es durch, bevor du es verschickst.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::LossChart</name>
    <message>
        <source>The curve begins when the first round ends.</source>
        <translation>Die Kurve beginnt, wenn die erste Runde endet.</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>, %1 tokens</source>
        <translation>, %1 Token</translation>
    </message>
    <message>
        <source>Tokens of all members</source>
        <translation>Token aller Mitglieder</translation>
    </message>
    <message>
        <source>What the model has learned by round</source>
        <translation>Was das Modell Runde um Runde gelernt hat</translation>
    </message>
    <message>
        <source>A table of which token follows which reaches %1.</source>
        <translation>Eine Tabelle, welches Token auf welches folgt, erreicht %1.</translation>
    </message>
    <message>
        <source>A table of how frequent each token is reaches %1.</source>
        <translation>Eine Tabelle, wie häufig jedes Token ist, erreicht %1.</translation>
    </message>
    <message>
        <source>A model that finds all pictures alike reaches %1.</source>
        <translation>Ein Modell, das alle Bilder gleich findet, erreicht %1.</translation>
    </message>
    <message>
        <source>A picture of one mean colour reaches %1.</source>
        <translation>Ein Bild aus einer mittleren Farbe erreicht %1.</translation>
    </message>
    <message>
        <source>Mere table of pairs: %1</source>
        <translation>Bloße Tabelle von Paaren: %1</translation>
    </message>
    <message>
        <source>Mere table of frequencies: %1</source>
        <translation>Bloße Tabelle von Häufigkeiten: %1</translation>
    </message>
    <message>
        <source>All pictures alike: %1</source>
        <translation>Alle Bilder gleich: %1</translation>
    </message>
    <message>
        <source>One mean colour: %1</source>
        <translation>Eine mittlere Farbe: %1</translation>
    </message>
    <message>
        <source>Round %1: %2 on new text</source>
        <translation>Runde %1: %2 bei neuem Text</translation>
    </message>
    <message>
        <source>Round %1: %2 in training</source>
        <translation>Runde %1: %2 im Training</translation>
    </message>
    <message>
        <source>The members&apos; own value in training went from %1 in round %2 to %3 in round %4.</source>
        <translation>Der Wert der Mitglieder im Training ging von %1 in Runde %2 auf %3 in Runde %4.</translation>
    </message>
    <message>
        <source>The model&apos;s value on new text went from %1 in round %2 to %3 in round %4.</source>
        <translation>Der Wert des Modells bei neuem Text ging von %1 in Runde %2 auf %3 in Runde %4.</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Surprise</source>
        <translation>Überraschung</translation>
    </message>
    <message>
        <source>The members in training, on what they train on</source>
        <translation>Die Mitglieder im Training, bei dem, womit sie trainieren</translation>
    </message>
    <message>
        <source>The model, on pictures that nobody trains on</source>
        <translation>Das Modell, bei Bildern, mit denen niemand trainiert</translation>
    </message>
    <message>
        <source>The model, on text that nobody trains on</source>
        <translation>Das Modell, bei Text, mit dem niemand trainiert</translation>
    </message>
</context>
<context>
    <name>potluck::ui::MainWindow</name>
    <message>
        <source>Home</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Leaderboard</source>
        <translation>Bestenliste</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Potluck is still here</source>
        <translation>Potluck ist noch da</translation>
    </message>
    <message>
        <source>It goes on in the tray; quit it from the icon&apos;s menu.</source>
        <translation>Es läuft im Infobereich weiter; beende es über das Menü des Symbols.</translation>
    </message>
    <message>
        <source>Keep training?</source>
        <translation>Weiter trainieren?</translation>
    </message>
    <message>
        <source>Potluck can go on in the background as a minimised window, or stop and quit.</source>
        <translation>Potluck kann im Hintergrund als minimiertes Fenster weiterlaufen oder anhalten und sich beenden.</translation>
    </message>
    <message>
        <source>&amp;Minimise</source>
        <translation>&amp;Minimieren</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>Start a run</source>
        <translation>Lauf starten</translation>
    </message>
    <message>
        <source>Invite</source>
        <translation>Einladen</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>Gastgeber</translation>
    </message>
    <message>
        <source>Contribution</source>
        <translation>Beitrag</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message numerus="yes">
        <source>%n other computer(s) train in this run, which nobody could carry on without this one: it waits until you are back.</source>
        <translation>
            <numerusform>%n anderer Computer trainiert in diesem Lauf, den niemand ohne diesen hier weiterführen könnte: Er wartet, bis du zurück bist.</numerusform>
            <numerusform>%n andere Computer trainieren in diesem Lauf, den niemand ohne diesen hier weiterführen könnte: Er wartet, bis du zurück bist.</numerusform>
        </translation>
    </message>
    <message>
        <source>Quit although others train?</source>
        <translation>Beenden, obwohl andere trainieren?</translation>
    </message>
    <message>
        <source>&amp;Keep running in the tray</source>
        <translation>Im &amp;Infobereich weiterlaufen</translation>
    </message>
    <message>
        <source>&amp;Hand it over…</source>
        <translation>&amp;Übergeben …</translation>
    </message>
    <message>
        <source>To hand it over, trust on the page Host a computer that is often here as your deputy, or let a backbone run on one that stays on; it needs no graphics card.</source>
        <translation>Um ihn zu übergeben, setze auf der Seite Gastgeber einen Computer als Vertretung ein, der oft da ist, oder lass ein Relais auf einem laufen, der an bleibt; es braucht keine Grafikkarte.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::MeasureWords</name>
    <message>
        <source>gap loss</source>
        <translation>Lückenverlust</translation>
    </message>
    <message>
        <source>order loss</source>
        <translation>Reihenfolgeverlust</translation>
    </message>
    <message>
        <source>orders predicted</source>
        <translation>Reihenfolgen erkannt</translation>
    </message>
    <message>
        <source>PSNR</source>
        <translation>PSNR</translation>
    </message>
    <message>
        <source>codes used</source>
        <translation>Kodes in Gebrauch</translation>
    </message>
    <message>
        <source>caption loss</source>
        <translation>Bildtextverlust</translation>
    </message>
    <message>
        <source>code loss</source>
        <translation>Kodeverlust</translation>
    </message>
    <message>
        <source>clusters in use</source>
        <translation>Gruppen in Gebrauch</translation>
    </message>
    <message>
        <source>classes told by neighbours</source>
        <translation>Klassen durch Nachbarn erkannt</translation>
    </message>
    <message>
        <source>Collapsed: all pictures look alike to the model. If that stays so for some rounds, the host had better begin a new run with more pictures, fewer prototypes or a lower learning rate.</source>
        <translation>Zusammengefallen: Für das Modell sehen alle Bilder gleich aus. Bleibt das einige Runden so, beginnt der Gastgeber besser einen neuen Lauf mit mehr Bildern, weniger Prototypen oder einer kleineren Lernrate.</translation>
    </message>
    <message>
        <source>%1 (baseline %2)</source>
        <translation>%1 (Vergleichswert %2)</translation>
    </message>
    <message numerus="yes">
        <source>%n minute(s)</source>
        <translation>
            <numerusform>%n Minute</numerusform>
            <numerusform>%n Minuten</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n Stunde</numerusform>
            <numerusform>%n Stunden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n day(s)</source>
        <translation>
            <numerusform>%n Tag</numerusform>
            <numerusform>%n Tage</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 M parameters</source>
        <translation>%1 Mio. Parameter</translation>
    </message>
    <message>
        <source>%1 k parameters</source>
        <translation>%1 Tsd. Parameter</translation>
    </message>
    <message>
        <source>%1 shape, %2, width %3: %4</source>
        <translation>%1-Form, %2, Breite %3: %4</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n Schicht</numerusform>
            <numerusform>%n Schichten</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::MemberModel</name>
    <message>
        <source>%1, through others</source>
        <translation>%1, über andere</translation>
    </message>
</context>
<context>
    <name>potluck::ui::MemberWords</name>
    <message>
        <source>joining</source>
        <translation>tritt bei</translation>
    </message>
    <message>
        <source>training</source>
        <translation>trainiert</translation>
    </message>
    <message>
        <source>relaying</source>
        <translation>leitet weiter</translation>
    </message>
    <message>
        <source>collecting</source>
        <translation>sammelt</translation>
    </message>
    <message>
        <source>applying</source>
        <translation>wendet an</translation>
    </message>
    <message>
        <source>repairing</source>
        <translation>repariert</translation>
    </message>
    <message>
        <source>paused</source>
        <translation>pausiert</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>leaving</source>
        <translation>geht</translation>
    </message>
    <message>
        <source>%1 (you)</source>
        <translation>%1 (du)</translation>
    </message>
    <message>
        <source>%1, your other computer</source>
        <translation>%1, dein anderer Computer</translation>
    </message>
    <message>
        <source>%1, a computer of %2</source>
        <translation>%1, ein Computer von %2</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 Token/s</translation>
    </message>
    <message>
        <source>%1/s to it, %2/s from it</source>
        <translation>%1/s dorthin, %2/s von dort</translation>
    </message>
    <message>
        <source>direct, %1</source>
        <translation>direkt, %1</translation>
    </message>
    <message>
        <source>through others</source>
        <translation>über andere</translation>
    </message>
    <message>
        <source>through %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <source>relay, %1</source>
        <translation>Relais, %1</translation>
    </message>
    <message>
        <source>confirms rounds</source>
        <translation>bestätigt Runden</translation>
    </message>
</context>
<context>
    <name>potluck::ui::MembersCard</name>
    <message>
        <source>Members</source>
        <translation>Mitglieder</translation>
    </message>
    <message>
        <source>P&amp;icture</source>
        <translation>B&amp;ild</translation>
    </message>
    <message>
        <source>Draws who is here and what goes to whom, instead of a list.</source>
        <translation>Zeichnet, wer da ist und was an wen geht, statt einer Liste.</translation>
    </message>
    <message>
        <source>Members of the run</source>
        <translation>Mitglieder des Laufs</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ModelPage</name>
    <message>
        <source>The model</source>
        <translation>Das Modell</translation>
    </message>
    <message>
        <source>What it writes</source>
        <translation>Was es schreibt</translation>
    </message>
    <message>
        <source>&amp;Beginning</source>
        <translation>&amp;Anfang</translation>
    </message>
    <message>
        <source>Beginning of a text</source>
        <translation>Anfang eines Textes</translation>
    </message>
    <message>
        <source>for example: Once upon a time</source>
        <translation>zum Beispiel: Es war einmal</translation>
    </message>
    <message>
        <source>&amp;Again after every %1 rounds, while this page is open</source>
        <translation>Nach je %1 Runden &amp;wieder, solange diese Seite offen ist</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>&amp;Save the model…</source>
        <translation>Modell &amp;sichern …</translation>
    </message>
    <message>
        <source>Writing…</source>
        <translation>Schreibt…</translation>
    </message>
    <message>
        <source>&amp;Write</source>
        <translation>S&amp;chreiben</translation>
    </message>
    <message>
        <source>Saving…</source>
        <translation>Wird gesichert …</translation>
    </message>
    <message>
        <source>Picture of: %1</source>
        <translation>Bild von: %1</translation>
    </message>
    <message>
        <source>The picture cannot be shown.</source>
        <translation>Das Bild lässt sich nicht anzeigen.</translation>
    </message>
    <message>
        <source>After %1 rounds</source>
        <translation>Nach %1 Runden</translation>
    </message>
    <message>
        <source>An empty folder for the model</source>
        <translation>Ein leerer Ordner für das Modell</translation>
    </message>
    <message>
        <source>Saved after %1 rounds in %2, with a proof that the run agreed on it.</source>
        <translation>Nach %1 Runden in %2 gesichert, mit einem Beweis, dass der Lauf sich darauf geeinigt hat.</translation>
    </message>
    <message>
        <source>Saved after %1 rounds in %2. The run has not agreed on this state yet.</source>
        <translation>Nach %1 Runden in %2 gesichert. Der Lauf hat sich auf diesen Stand noch nicht geeinigt.</translation>
    </message>
    <message>
        <source>In each row a picture that was held out, then the %1 that are nearest to it by what the model has learnt, nearest first.</source>
        <translation>In jeder Reihe ein zurückgehaltenes Bild, dann die %1, die ihm nach dem, was das Modell gelernt hat, am nächsten liegen, das nächste zuerst.</translation>
    </message>
    <message>
        <source>Held-out pictures, each with those nearest to it</source>
        <translation>Zurückgehaltene Bilder, jedes mit denen, die ihm am nächsten liegen</translation>
    </message>
    <message>
        <source>What it thinks alike</source>
        <translation>Was es für ähnlich hält</translation>
    </message>
    <message>
        <source>Some of the pictures that were held out, and beside each those that the model as it is now takes for the most alike, though nobody told it what they show. Early rounds go by colour; look again later.</source>
        <translation>Einige der zurückgehaltenen Bilder und neben jedem die, die das Modell in seinem jetzigen Stand für die ähnlichsten hält, obwohl ihm niemand gesagt hat, was sie zeigen. Frühe Runden gehen nach der Farbe; schau später wieder.</translation>
    </message>
    <message>
        <source>It compares…</source>
        <translation>Es vergleicht …</translation>
    </message>
    <message>
        <source>Sho&amp;w</source>
        <translation>An&amp;zeigen</translation>
    </message>
    <message>
        <source>Writes the model into a folder, in the format that other programs read.</source>
        <translation>Schreibt das Modell in einen Ordner, in dem Format, das andere Programme lesen.</translation>
    </message>
    <message>
        <source>Begin a text, and the model as it is now goes on with it, or draws what you say if that is what it learns. Early on the model writes nonsense; look again later.</source>
        <translation>Beginne einen Text, und das Modell, wie es jetzt ist, setzt ihn fort oder zeichnet, was du sagst, wenn es das lernt. Anfangs schreibt das Modell Unsinn; sieh später wieder nach.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::NodeClient</name>
    <message>
        <source>The program potluck-node could not be started (%1): install Potluck again, or name it with --node.</source>
        <translation>Das Programm potluck-node ließ sich nicht starten (%1): Installiere Potluck neu oder nenne es mit --node.</translation>
    </message>
    <message numerus="yes">
        <source>Potluck starts it again in %n second(s).</source>
        <translation>
            <numerusform>Potluck startet ihn in %n Sekunde neu.</numerusform>
            <numerusform>Potluck startet ihn in %n Sekunden neu.</numerusform>
        </translation>
    </message>
    <message>
        <source>This window and Potluck&apos;s background program are of different versions: install both from the same package, then start Potluck again.</source>
        <translation>Dieses Fenster und das Hintergrundprogramm von Potluck haben verschiedene Versionen: Installiere beide aus demselben Paket und starte Potluck dann neu.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program has not answered for a while; if this lasts, quit Potluck and start it again.</source>
        <translation>Das Hintergrundprogramm von Potluck antwortet seit einer Weile nicht; wenn das so bleibt, beende Potluck und starte es neu.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program stopped.</source>
        <translation>Das Hintergrundprogramm von Potluck hat aufgehört.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program stopped (%1).</source>
        <translation>Das Hintergrundprogramm von Potluck hat aufgehört (%1).</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program stopped before it answered; try again when it is back.</source>
        <translation>Das Hintergrundprogramm von Potluck hörte auf, bevor es antwortete; versuche es noch einmal, wenn es wieder läuft.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program cannot be reached; try again when it is back.</source>
        <translation>Das Hintergrundprogramm von Potluck ist nicht zu erreichen; versuche es noch einmal, wenn es wieder läuft.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::OfferCard</name>
    <message>
        <source>%1 of GPU memory</source>
        <translation>%1 GPU-Speicher</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 Arbeitsspeicher</translation>
    </message>
    <message>
        <source>It fits: %1 takes %2.</source>
        <translation>Es passt: %1 braucht %2.</translation>
    </message>
    <message>
        <source>About %1 tokens per second (%2), with %3.</source>
        <translation>Etwa %1 Token je Sekunde (%2), mit %3.</translation>
    </message>
    <message>
        <source>Looking at this run…</source>
        <translation>Dieser Lauf wird angesehen …</translation>
    </message>
    <message>
        <source>Its description is fetched from its members; nothing is joined by that.</source>
        <translation>Seine Beschreibung wird von den Mitgliedern geholt; beigetreten wird dadurch nicht.</translation>
    </message>
    <message>
        <source>This run could not be looked at</source>
        <translation>Dieser Lauf ließ sich nicht ansehen</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>Host</source>
        <translation>Gastgeber</translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n member(s) answered</source>
        <translation>
            <numerusform>%1 · %n Mitglied hat geantwortet</numerusform>
            <numerusform>%1 · %n Mitglieder haben geantwortet</numerusform>
        </translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>%1, of %2 seconds each</source>
        <translation>%1, jede %2 Sekunden lang</translation>
    </message>
    <message>
        <source>To download</source>
        <translation>Herunterzuladen</translation>
    </message>
    <message>
        <source>On your disk</source>
        <translation>Auf der Festplatte</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>etwa %1</translation>
    </message>
    <message>
        <source>about %1; %2 are free</source>
        <translation>etwa %1; %2 sind frei</translation>
    </message>
    <message>
        <source>This computer</source>
        <translation>Dieser Computer</translation>
    </message>
    <message>
        <source>Your name there</source>
        <translation>Dein Name dort</translation>
    </message>
    <message>
        <source>Admission</source>
        <translation>Zulassung</translation>
    </message>
    <message>
        <source>Its host admits listed people only, and you are not among them. Send your id to the host: %1</source>
        <translation>Der Gastgeber lässt nur Leute von seiner Liste zu, und du stehst nicht darauf. Schicke ihm deine Kennung: %1</translation>
    </message>
    <message>
        <source>About %1, as while it trained before; %2 at most.</source>
        <translation>Etwa %1, wie bisher beim Trainieren; höchstens %2.</translation>
    </message>
    <message>
        <source>About %1, as while it trained before.</source>
        <translation>Etwa %1, wie bisher beim Trainieren.</translation>
    </message>
    <message>
        <source>%1 at most, by the limit of what trains.</source>
        <translation>Höchstens %1, nach der Grenze dessen, was trainiert.</translation>
    </message>
    <message>
        <source>Unknown: this device does not report its power.</source>
        <translation>Unbekannt: Dieses Gerät meldet seine Leistung nicht.</translation>
    </message>
    <message>
        <source>Power</source>
        <translation>Leistung</translation>
    </message>
    <message>
        <source>Traffic</source>
        <translation>Verkehr</translation>
    </message>
    <message>
        <source>About %1 a day each way per other volunteer, later more if all connections are fast; within your limits.</source>
        <translation>Etwa %1 am Tag in jede Richtung je anderem Teilnehmer, später mehr, wenn alle Leitungen schnell sind; in deinen Grenzen.</translation>
    </message>
    <message>
        <source>About %1 a day each way per other volunteer; where your line is too slow for that, about %2 in all, however many there are. Later more if all connections are fast; within your limits.</source>
        <translation>Etwa %1 am Tag in jede Richtung je anderem Teilnehmer; ist deine Leitung dafür zu langsam, etwa %2 insgesamt, wie viele es auch sind. Später mehr, wenn alle Leitungen schnell sind; in deinen Grenzen.</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1, about %2 left</source>
        <translation>%1, noch etwa %2</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Online</source>
        <translation>Gerade da</translation>
    </message>
    <message numerus="yes">
        <source>%n volunteer(s) now</source>
        <translation>
            <numerusform>jetzt %n Freiwilliger</numerusform>
            <numerusform>jetzt %n Freiwillige</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::PathField</name>
    <message>
        <source>File…</source>
        <translation>Datei…</translation>
    </message>
    <message>
        <source>%1: choose a file</source>
        <translation>%1: Datei wählen</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>Ordner…</translation>
    </message>
    <message>
        <source>%1: choose a folder</source>
        <translation>%1: Ordner wählen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PauseButton</name>
    <message>
        <source>&amp;Resume</source>
        <translation>&amp;Fortsetzen</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Anhalten</translation>
    </message>
    <message>
        <source>Training starts again.</source>
        <translation>Das Training beginnt wieder.</translation>
    </message>
    <message>
        <source>Stops training and frees its memory.</source>
        <translation>Hält das Training an und gibt seinen Arbeitsspeicher frei.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PauseMenu</name>
    <message>
        <source>For &amp;1 hour</source>
        <translation>Für &amp;1 Stunde</translation>
    </message>
    <message>
        <source>&amp;Until I resume</source>
        <translation>&amp;Bis ich fortsetze</translation>
    </message>
    <message>
        <source>For 3&amp;0 minutes</source>
        <translation>Für 3&amp;0 Minuten</translation>
    </message>
    <message>
        <source>For &amp;3 hours</source>
        <translation>Für &amp;3 Stunden</translation>
    </message>
    <message>
        <source>Until &amp;tomorrow</source>
        <translation>Bis &amp;morgen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PausesCard</name>
    <message>
        <source>Pauses</source>
        <translation>Pausen</translation>
    </message>
    <message>
        <source>None so far.</source>
        <translation>Bisher keine.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PeopleList</name>
    <message>
        <source>Members, seats and keys</source>
        <translation>Mitglieder, Sitze und Schlüssel</translation>
    </message>
    <message>
        <source>The space bar ticks whom a new committee is to have.</source>
        <translation>Die Leertaste kreuzt an, wen ein neues Komitee haben soll.</translation>
    </message>
    <message>
        <source>here</source>
        <translation>da</translation>
    </message>
    <message>
        <source>away</source>
        <translation>weg</translation>
    </message>
    <message>
        <source>has a seat</source>
        <translation>hat einen Sitz</translation>
    </message>
    <message>
        <source>banned</source>
        <translation>ausgeschlossen</translation>
    </message>
    <message>
        <source>%1 (you)</source>
        <translation>%1 (du)</translation>
    </message>
    <message>
        <source>your deputy</source>
        <translation>deine Vertretung</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PlainText</name>
    <message>
        <source>Volunteer %1</source>
        <translation>Freiwillig %1</translation>
    </message>
</context>
<context>
    <name>potluck::ui::PlanCard</name>
    <message>
        <source>The plan</source>
        <translation>Der Plan</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>To train on</source>
        <translation>Zu trainieren</translation>
    </message>
    <message>
        <source>Everybody together</source>
        <translation>Alle zusammen</translation>
    </message>
    <message>
        <source>This computer alone</source>
        <translation>Dieser Computer allein</translation>
    </message>
    <message>
        <source>Electricity of all GPUs</source>
        <translation>Strom aller GPUs</translation>
    </message>
    <message>
        <source>Disk here</source>
        <translation>Platz auf der Platte</translation>
    </message>
    <message>
        <source>Training here</source>
        <translation>Training hier</translation>
    </message>
    <message>
        <source>It appears once you have chosen what to train on.</source>
        <translation>Er erscheint, sobald du gewählt hast, worauf trainiert wird.</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>Planning…</source>
        <translation>Wird geplant…</translation>
    </message>
    <message numerus="yes">
        <source>%1 in %n file(s), about %2 tokens</source>
        <translation>
            <numerusform>%1 in %n Datei, etwa %2 Token</numerusform>
            <numerusform>%1 in %n Dateien, etwa %2 Token</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of GPU memory, %2 of memory</source>
        <translation>%1 GPU-Speicher, %2 Arbeitsspeicher</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 Arbeitsspeicher</translation>
    </message>
    <message>
        <source>on %1: %2</source>
        <translation>auf %1: %2</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>%1, the data %2 times</source>
        <translation>%1, die Daten %2-mal</translation>
    </message>
    <message>
        <source>%1 kWh, %2 in your currency</source>
        <translation>%1 kWh, %2 in deiner Währung</translation>
    </message>
    <message>
        <source>about %1 of %2 that are free</source>
        <translation>etwa %1 von %2, die frei sind</translation>
    </message>
    <message>
        <source>Worth of everybody together</source>
        <translation>Alle zusammen wiegen so viel wie</translation>
    </message>
    <message>
        <source>Several computers that train together learn less than one that does all their work, because they put their results together only now and then. Shorter rounds are worth more. Measured with 4 and 16.</source>
        <translation>Mehrere Computer, die gemeinsam trainieren, lernen weniger als einer, der ihre ganze Arbeit tut, weil sie ihre Ergebnisse nur hin und wieder zusammenlegen. Kürzere Runden bringen mehr. Gemessen mit 4 und mit 16.</translation>
    </message>
    <message>
        <source>Tr&amp;y again</source>
        <translation>&amp;Erneut versuchen</translation>
    </message>
    <message>
        <source>%1 to %2 computers that train alone</source>
        <translation>%1 bis %2 Computer, die allein trainieren</translation>
    </message>
    <message>
        <source>There is little text: the model reads it %1 times, and beyond four times it learns less and less from it. Add text, or choose a smaller model or fewer rounds.</source>
        <translation>Der Text ist knapp: Das Modell liest ihn %1-mal, und nach dem vierten Mal lernt es immer weniger daraus. Nimm mehr Text, ein kleineres Modell oder weniger Runden.</translation>
    </message>
    <message>
        <source>The run would take %1, which is too long for most groups. Choose a smaller model or fewer rounds, or find more volunteers.</source>
        <translation>Der Lauf würde %1 dauern, für die meisten Gruppen zu lang. Nimm ein kleineres Modell oder weniger Runden, oder finde mehr Freiwillige.</translation>
    </message>
    <message>
        <source>about %1 in %2 rounds</source>
        <translation>etwa %1 in %2 Runden</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ProgramsCard</name>
    <message>
        <source>not running</source>
        <translation>läuft nicht</translation>
    </message>
    <message>
        <source>version %1</source>
        <translation>Version %1</translation>
    </message>
    <message>
        <source>process %1</source>
        <translation>Prozess %1</translation>
    </message>
    <message>
        <source>%1 of memory</source>
        <translation>%1 Arbeitsspeicher</translation>
    </message>
    <message>
        <source>Programs that run</source>
        <translation>Programme, die laufen</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Nothing else is running.</source>
        <translation>Sonst läuft nichts.</translation>
    </message>
    <message>
        <source>Background program: the network, the rounds and the files</source>
        <translation>Hintergrundprogramm: das Netz, die Runden und die Dateien</translation>
    </message>
    <message>
        <source>Training program: it computes</source>
        <translation>Trainingsprogramm: Es rechnet</translation>
    </message>
    <message>
        <source>Training program that answers a question and ends</source>
        <translation>Trainingsprogramm, das eine Frage beantwortet und endet</translation>
    </message>
    <message>
        <source>Another program that Potluck has started</source>
        <translation>Ein anderes Programm, das Potluck gestartet hat</translation>
    </message>
    <message>
        <source>Nothing that arrives from a run is executed: it is data, models and messages. The part that trains is the one program that Potluck may download, when you ask it to, and only with its makers&apos; signature.</source>
        <translation>Nichts, was aus einem Lauf kommt, wird ausgeführt: Es sind Daten, Modelle und Nachrichten. Der Teil, der trainiert, ist das einzige Programm, das Potluck herunterladen darf, wenn du es verlangst, und nur mit der Unterschrift seiner Hersteller.</translation>
    </message>
    <message>
        <source>These are the programs that Potluck knows of; this system does not tell what they have started.</source>
        <translation>Das sind die Programme, von denen Potluck weiß; dieses System sagt nicht, was sie gestartet haben.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ProxyCard</name>
    <message>
        <source>The proxy answers; everything goes through it.</source>
        <translation>Der Proxy antwortet; alles geht über ihn.</translation>
    </message>
    <message>
        <source>Nothing answers there. Start the proxy, or correct its address; nothing goes around it meanwhile.</source>
        <translation>Dort antwortet nichts. Starte den Proxy oder berichtige seine Adresse; an ihm vorbei geht solange nichts.</translation>
    </message>
    <message>
        <source>The proxy refuses this name and password; correct them.</source>
        <translation>Der Proxy weist diesen Namen und dieses Passwort ab; berichtige sie.</translation>
    </message>
    <message>
        <source>The program there is no proxy of this kind; choose the other, or correct the port.</source>
        <translation>Was dort antwortet, ist kein Proxy dieser Art; wähle die andere oder berichtige den Port.</translation>
    </message>
    <message>
        <source>The proxy is asked whether it answers.</source>
        <translation>Der Proxy wird gefragt, ob er antwortet.</translation>
    </message>
    <message>
        <source>Proxy</source>
        <translation>Proxy</translation>
    </message>
    <message>
        <source>With one, this computer connects to others, and looks for new versions, through it alone; nobody can connect to this computer, and routers are not asked. A change closes every connection, and the round begins anew.</source>
        <translation>Mit einem verbindet sich dieser Computer nur über ihn mit anderen und sucht nur über ihn nach neuen Versionen; niemand kann sich mit diesem Computer verbinden, und Router werden nicht gefragt. Eine Änderung schließt alle Verbindungen, und die Runde beginnt von vorn.</translation>
    </message>
    <message>
        <source>No proxy</source>
        <translation>Kein Proxy</translation>
    </message>
    <message>
        <source>SOCKS5 (Tor, SSH and most others)</source>
        <translation>SOCKS5 (Tor, SSH und die meisten anderen)</translation>
    </message>
    <message>
        <source>HTTP</source>
        <translation>HTTP</translation>
    </message>
    <message>
        <source>&amp;Kind of proxy</source>
        <translation>&amp;Art des Proxys</translation>
    </message>
    <message>
        <source>&amp;Apply</source>
        <translation>&amp;Anwenden</translation>
    </message>
    <message>
        <source>Its &amp;address</source>
        <translation>Seine A&amp;dresse</translation>
    </message>
    <message>
        <source>Its p&amp;ort</source>
        <translation>Sein P&amp;ort</translation>
    </message>
    <message>
        <source>Na&amp;me, if it asks for one</source>
        <translation>Na&amp;me, falls er einen verlangt</translation>
    </message>
    <message>
        <source>Pass&amp;word</source>
        <translation>Pass&amp;wort</translation>
    </message>
    <message>
        <source>As it is</source>
        <translation>Wie bisher</translation>
    </message>
</context>
<context>
    <name>potluck::ui::QrCode</name>
    <message>
        <source>QR code of the invite</source>
        <translation>QR-Code der Einladung</translation>
    </message>
    <message>
        <source>A phone&apos;s camera reads the same text as stands in the field.</source>
        <translation>Die Kamera eines Telefons liest denselben Text, der im Feld steht.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ReasonWords</name>
    <message>
        <source>this run</source>
        <translation>diesem Lauf</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>Ready</source>
        <translation>Bereit</translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation>Verbindet</translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation>Lädt herunter</translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation>Bereitet vor</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Trainiert</translation>
    </message>
    <message>
        <source>Sharing</source>
        <translation>Teilt</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Alone</source>
        <translation>Allein</translation>
    </message>
    <message>
        <source>Offline</source>
        <translation>Ohne Netz</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Finished</source>
        <translation>Fertig</translation>
    </message>
    <message>
        <source>Needs attention</source>
        <translation>Braucht dich</translation>
    </message>
    <message>
        <source>Connecting to the network, to look for %1.</source>
        <translation>Verbindet sich mit dem Netz, um nach %1 zu suchen.</translation>
    </message>
    <message>
        <source>Looking for members of %1 since %2.</source>
        <translation>Sucht seit %2 nach Mitgliedern von %1.</translation>
    </message>
    <message>
        <source>A member of %1 is asked for the run&apos;s description.</source>
        <translation>Ein Mitglied von %1 wird nach der Beschreibung des Laufs gefragt.</translation>
    </message>
    <message>
        <source>The description of %1 is on its way.</source>
        <translation>Die Beschreibung von %1 ist unterwegs.</translation>
    </message>
    <message>
        <source>Nobody in %1 has been reachable since %2; the search goes on. Its members may be away, or the invite is too old: ask for a new one.</source>
        <translation>In %1 war seit %2 niemand zu erreichen; die Suche geht weiter. Vielleicht sind alle fort, oder die Einladung ist zu alt: Bitte um eine neue.</translation>
    </message>
    <message>
        <source>The network has been out of reach since %2, and so has everybody in %1; check this computer&apos;s connection. The search goes on.</source>
        <translation>Seit %2 war vom Netz nichts zu erreichen und in %1 niemand; sieh nach der Verbindung dieses Computers. Die Suche geht weiter.</translation>
    </message>
    <message>
        <source>This run cannot be joined: %1</source>
        <translation>Diesem Lauf kannst du nicht beitreten: %1</translation>
    </message>
    <message>
        <source>The model on disk is checked.</source>
        <translation>Das Modell auf der Platte wird geprüft.</translation>
    </message>
    <message>
        <source>Looking for other members of the run.</source>
        <translation>Sucht nach anderen Mitgliedern des Laufs.</translation>
    </message>
    <message>
        <source>Nobody else in the run has been reachable since %1, and the model comes from them; training begins when they are back.</source>
        <translation>Seit %1 ist im Lauf sonst niemand zu erreichen, und das Modell kommt von den anderen; das Training beginnt, wenn sie zurück sind.</translation>
    </message>
    <message>
        <source>The model comes from other members.</source>
        <translation>Das Modell kommt von anderen Mitgliedern.</translation>
    </message>
    <message>
        <source>The history of the run comes from other members.</source>
        <translation>Die Geschichte des Laufs kommt von anderen Mitgliedern.</translation>
    </message>
    <message>
        <source>Catching up with the others.</source>
        <translation>Holt die anderen ein.</translation>
    </message>
    <message>
        <source>The text to train on comes from other members.</source>
        <translation>Der Text zum Trainieren kommt von anderen Mitgliedern.</translation>
    </message>
    <message>
        <source>A damaged copy of the model is repaired.</source>
        <translation>Eine beschädigte Kopie des Modells wird repariert.</translation>
    </message>
    <message>
        <source>This run admits only people its host has listed; send the host your id %1.</source>
        <translation>In diesen Lauf kommen nur Leute, die der Gastgeber eingetragen hat; schicke ihm deine Kennung %1.</translation>
    </message>
    <message numerus="yes">
        <source>Round %1 is open for %n more second(s).</source>
        <translation>
            <numerusform>Runde %1 ist noch %n Sekunde offen.</numerusform>
            <numerusform>Runde %1 ist noch %n Sekunden offen.</numerusform>
        </translation>
    </message>
    <message>
        <source>This computer trains at %1 tokens per second.</source>
        <translation>Dieser Computer trainiert mit %1 Token pro Sekunde.</translation>
    </message>
    <message>
        <source>This round&apos;s contributions are exchanged; training goes on meanwhile.</source>
        <translation>Die Beiträge dieser Runde werden ausgetauscht; das Training geht derweil weiter.</translation>
    </message>
    <message>
        <source>This round&apos;s contributions are collected.</source>
        <translation>Die Beiträge dieser Runde werden gesammelt.</translation>
    </message>
    <message>
        <source>The rounds are kept, and others get what they need.</source>
        <translation>Die Runden werden aufbewahrt, und andere bekommen, was sie brauchen.</translation>
    </message>
    <message>
        <source>Nobody contributed to this round yet; it stays open.</source>
        <translation>Zu dieser Runde hat noch niemand beigetragen; sie bleibt offen.</translation>
    </message>
    <message>
        <source>Of the computers that confirm rounds, %1 of the %2 needed are online. Training goes on, and nothing is lost.</source>
        <translation>Von den Computern, die Runden bestätigen, sind %1 der %2 nötigen online. Das Training geht weiter, und nichts geht verloren.</translation>
    </message>
    <message>
        <source>Nobody else has been here since %1; this computer decides the rounds by itself, and what it trains counts.</source>
        <translation>Seit %1 ist sonst niemand da; dieser Computer entscheidet die Runden allein, und was er trainiert, zählt.</translation>
    </message>
    <message>
        <source>Nobody else has been reachable since %1, and of the computers that confirm rounds, %2 of the %3 needed are online. This computer&apos;s training is kept, and counts when they are back.</source>
        <translation>Seit %1 ist sonst niemand zu erreichen, und von den Computern, die Runden bestätigen, sind %2 der %3 nötigen online. Was dieser Computer trainiert, bleibt erhalten und zählt, wenn sie zurück sind.</translation>
    </message>
    <message>
        <source>The network has been out of reach since %1; check this computer&apos;s connection. Its training is kept, and counts when it is back.</source>
        <translation>Seit %1 ist vom Netz nichts zu erreichen; sieh nach der Verbindung dieses Computers. Was er trainiert, bleibt erhalten und zählt, wenn sie zurück ist.</translation>
    </message>
    <message>
        <source>Something went wrong, and training goes on: %1</source>
        <translation>Etwas ging schief, und das Training geht weiter: %1</translation>
    </message>
    <message>
        <source>Nothing can be trained: %1</source>
        <translation>Es kann nichts trainiert werden: %1</translation>
    </message>
    <message>
        <source>Another process uses this computer&apos;s key; only what one of them does counts. Stop Potluck on one of them, or import your identity there, which makes it a key of its own.</source>
        <translation>Ein anderer Prozess benutzt den Schlüssel dieses Computers; nur was einer von beiden tut, zählt. Beende Potluck auf einem, oder importiere deine Identität dort: Das gibt ihm einen eigenen Schlüssel.</translation>
    </message>
    <message>
        <source>This computer calculates differently; its memory may be faulty. It contributes nothing more until Potluck is started again; test its memory first.</source>
        <translation>Dieser Computer rechnet anders; vielleicht ist sein Arbeitsspeicher defekt. Er trägt nichts mehr bei, bis Potluck neu gestartet wird; prüfe erst seinen Arbeitsspeicher.</translation>
    </message>
    <message>
        <source>The contributions of your computers do not help the model; the run takes none until its host lifts that. Test memory and GPU first.</source>
        <translation>Die Beiträge deiner Computer helfen dem Modell nicht; der Lauf nimmt keine an, bis sein Gastgeber das aufhebt. Prüfe erst Arbeitsspeicher und GPU.</translation>
    </message>
    <message>
        <source>The contributions of your computers do not help the model; the run takes none until round %1. Test memory and GPU first.</source>
        <translation>Die Beiträge deiner Computer helfen dem Modell nicht; der Lauf nimmt bis Runde %1 keine an. Prüfe erst Arbeitsspeicher und GPU.</translation>
    </message>
    <message>
        <source>Yours lower the model&apos;s error by %1, others&apos; by %2.</source>
        <translation>Deine senken das Fehlermaß des Modells um %1, die der anderen um %2.</translation>
    </message>
    <message>
        <source>Until you resume.</source>
        <translation>Bis du fortsetzt.</translation>
    </message>
    <message>
        <source>Until %1; then training goes on.</source>
        <translation>Bis %1; dann geht das Training weiter.</translation>
    </message>
    <message>
        <source>Training resumes automatically.</source>
        <translation>Das Training geht von selbst weiter.</translation>
    </message>
    <message>
        <source>Training resumes in %1 s.</source>
        <translation>Das Training geht in %1 s weiter.</translation>
    </message>
    <message>
        <source>This computer trains to the end of this round, and then no more.</source>
        <translation>Dieser Computer trainiert bis zum Ende dieser Runde und dann nicht mehr.</translation>
    </message>
    <message>
        <source>This computer trains to the end of this round and leaves when its contribution is accepted.</source>
        <translation>Dieser Computer trainiert bis zum Ende dieser Runde und geht, wenn sein Beitrag angenommen ist.</translation>
    </message>
    <message>
        <source>This computer trains no more; it stays a member and relays.</source>
        <translation>Dieser Computer trainiert nicht mehr; er bleibt Mitglied und gibt weiter.</translation>
    </message>
    <message>
        <source>The run is complete; the finished model is being shared.</source>
        <translation>Der Lauf ist zu Ende; das fertige Modell wird geteilt.</translation>
    </message>
    <message>
        <source>Not admitted</source>
        <translation>Nicht zugelassen</translation>
    </message>
    <message>
        <source>Paused automatically</source>
        <translation>Automatisch pausiert</translation>
    </message>
    <message>
        <source>Finishing the round</source>
        <translation>Beendet die Runde</translation>
    </message>
    <message>
        <source>Run complete</source>
        <translation>Lauf zu Ende</translation>
    </message>
    <message>
        <source>Leaving</source>
        <translation>Verlässt den Lauf</translation>
    </message>
    <message>
        <source>Starting again</source>
        <translation>Startet neu</translation>
    </message>
    <message>
        <source>Starting</source>
        <translation>Startet</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Hält an</translation>
    </message>
    <message>
        <source>ddd d MMM</source>
        <translation>ddd, d. MMM</translation>
    </message>
    <message>
        <source>Joining</source>
        <translation>Tritt bei</translation>
    </message>
    <message>
        <source>The model gets worse: its best was round %1. Go back to an earlier round; if it happens again, start the run anew and let it learn more slowly.</source>
        <translation>Das Modell wird schlechter: am besten war es in Runde %1. Geh zu einer früheren Runde zurück; geschieht es wieder, beginne den Lauf neu und lass ihn langsamer lernen.</translation>
    </message>
    <message>
        <source>The disk limit is too small for this run: about %1 needed, %2 allowed.</source>
        <translation>Die Grenze für die Festplatte ist zu klein für diesen Lauf: etwa %1 werden gebraucht, %2 sind erlaubt.</translation>
    </message>
    <message>
        <source>The proxy %1 lets nothing through, and nothing goes around it. The search goes on.</source>
        <translation>Der Proxy %1 lässt nichts durch, und an ihm vorbei geht nichts. Die Suche geht weiter.</translation>
    </message>
    <message>
        <source>The proxy %1 lets nothing through, and nothing goes around it. This computer&apos;s training is kept, and counts when it is back.</source>
        <translation>Der Proxy %1 lässt nichts durch, und an ihm vorbei geht nichts. Was dieser Computer trainiert, wird aufgehoben und zählt, wenn er wieder da ist.</translation>
    </message>
    <message>
        <source>Not running</source>
        <translation>Läuft nicht</translation>
    </message>
    <message>
        <source>Training is starting.</source>
        <translation>Das Training startet.</translation>
    </message>
    <message>
        <source>Training ended (%1) and is started again.</source>
        <translation>Das Training endete (%1) und wird neu gestartet.</translation>
    </message>
    <message>
        <source>The plan of training has changed: %1</source>
        <translation>Der Plan des Trainings hat sich geändert: %1</translation>
    </message>
    <message>
        <source>Training failed three times (%1); the log says more.</source>
        <translation>Das Training ist dreimal gescheitert (%1); das Protokoll sagt mehr.</translation>
    </message>
    <message>
        <source>This computer cannot train yet: the part of Potluck that trains is missing.</source>
        <translation>Dieser Computer kann noch nicht trainieren: Der Teil von Potluck, der trainiert, fehlt.</translation>
    </message>
    <message>
        <source>Another member takes over from this computer in confirming rounds.</source>
        <translation>Ein anderes Mitglied bestätigt an Stelle dieses Computers die Runden.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program is starting; this takes a few seconds.</source>
        <translation>Das Hintergrundprogramm von Potluck startet; das dauert einige Sekunden.</translation>
    </message>
    <message>
        <source>Potluck writes its state to disk, then ends.</source>
        <translation>Potluck schreibt seinen Stand auf die Platte und endet dann.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program has not answered for a while; if this lasts, quit Potluck and start it again.</source>
        <translation>Das Hintergrundprogramm von Potluck antwortet seit einer Weile nicht; wenn das so bleibt, beende Potluck und starte es neu.</translation>
    </message>
    <message>
        <source>Potluck&apos;s background program stopped.</source>
        <translation>Das Hintergrundprogramm von Potluck hat aufgehört.</translation>
    </message>
    <message>
        <source>Potluck does not run for this data folder.</source>
        <translation>Für diesen Datenordner läuft kein Potluck.</translation>
    </message>
    <message>
        <source>Not in a run; choose one of those that were found, or paste an invite.</source>
        <translation>In keinem Lauf; wähle einen der gefundenen, oder füge eine Einladung ein.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::Remedies</name>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal versuchen</translation>
    </message>
    <message>
        <source>&amp;Train again</source>
        <translation>&amp;Weiter trainieren</translation>
    </message>
    <message>
        <source>&amp;Try now</source>
        <translation>&amp;Jetzt versuchen</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>Show &amp;log</source>
        <translation>&amp;Protokoll zeigen</translation>
    </message>
    <message>
        <source>&amp;Leave the run</source>
        <translation>Lauf &amp;verlassen</translation>
    </message>
    <message>
        <source>Allow more &amp;disk</source>
        <translation>Mehr &amp;Platz erlauben</translation>
    </message>
    <message>
        <source>Pro&amp;xy…</source>
        <translation>Pro&amp;xy …</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ResourcesCard</name>
    <message>
        <source>What this computer gives</source>
        <translation>Was dieser Computer gibt</translation>
    </message>
    <message>
        <source>Changes take effect at once and cost no round.</source>
        <translation>Änderungen gelten sofort und kosten keine Runde.</translation>
    </message>
    <message>
        <source>Q&amp;uiet: it trains half of the time, and stays cool</source>
        <translation>&amp;Leise: er trainiert die Hälfte der Zeit und bleibt kühl</translation>
    </message>
    <message>
        <source>&amp;Balanced: it trains three quarters of the time</source>
        <translation>Ausge&amp;wogen: er trainiert drei Viertel der Zeit</translation>
    </message>
    <message>
        <source>F&amp;ull: it trains all the time</source>
        <translation>&amp;Voll: er trainiert die ganze Zeit</translation>
    </message>
    <message>
        <source>U&amp;pload at most</source>
        <translation>Höchstens &amp;senden</translation>
    </message>
    <message>
        <source>Its contributions, and pieces of the data for others.</source>
        <translation>Was er trainiert hat, und Teile der Daten für andere.</translation>
    </message>
    <message>
        <source> KB/s</source>
        <translation> KB/s</translation>
    </message>
    <message>
        <source>&amp;Download at most</source>
        <translation>Höchstens &amp;empfangen</translation>
    </message>
    <message>
        <source>Data, and what the others have trained.</source>
        <translation>Daten, und was die anderen trainiert haben.</translation>
    </message>
    <message>
        <source>Dis&amp;k at most</source>
        <translation>Höchstens auf der &amp;Festplatte</translation>
    </message>
    <message>
        <source>The model, the data and copies of both for others.</source>
        <translation>Das Modell, die Daten und Kopien von beidem für andere.</translation>
    </message>
    <message>
        <source> GB</source>
        <translation> GB</translation>
    </message>
    <message>
        <source>20 GiB (default)</source>
        <translation>20 GiB (Standard)</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Keine Grenze</translation>
    </message>
    <message>
        <source> MB</source>
        <translation> MB</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunCrowdCard</name>
    <message>
        <source>Who takes part, and for how long</source>
        <translation>Wer mitmacht, und wie lange</translation>
    </message>
    <message>
        <source>Train on this computer, &amp;too</source>
        <translation>Auch auf &amp;diesem Computer trainieren</translation>
    </message>
    <message>
        <source>Otherwise it only decides and relays.</source>
        <translation>Sonst entscheidet er nur und leitet weiter.</translation>
    </message>
    <message>
        <source>Volunteers you expect</source>
        <translation>Freiwillige, die du erwartest</translation>
    </message>
    <message>
        <source>&amp;Volunteers you expect</source>
        <translation>Freiwillige, die du er&amp;wartest</translation>
    </message>
    <message>
        <source>Their computers</source>
        <translation>Ihre Computer</translation>
    </message>
    <message>
        <source>like this computer</source>
        <translation>wie dieser Computer</translation>
    </message>
    <message>
        <source>Their comp&amp;uters</source>
        <translation>Ihre Comp&amp;uter</translation>
    </message>
    <message>
        <source>as planned</source>
        <translation>wie geplant</translation>
    </message>
    <message>
        <source>Rounds until the run is complete</source>
        <translation>Runden, bis der Lauf vollendet ist</translation>
    </message>
    <message>
        <source>&amp;Rounds</source>
        <translation>&amp;Runden</translation>
    </message>
    <message>
        <source>Price of a kilowatt-hour</source>
        <translation>Preis einer Kilowattstunde</translation>
    </message>
    <message>
        <source>&amp;Price of a kilowatt-hour</source>
        <translation>&amp;Preis einer Kilowattstunde</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunModel</name>
    <message>
        <source>Run %1</source>
        <translation>Lauf %1</translation>
    </message>
    <message>
        <source>%1 (now)</source>
        <translation>%1 (jetzt)</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation>Runden</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>Rang</translation>
    </message>
    <message>
        <source>Last</source>
        <translation>Zuletzt</translation>
    </message>
    <message>
        <source>On disk</source>
        <translation>Belegt</translation>
    </message>
    <message>
        <source>Delete the files?</source>
        <translation>Dateien löschen?</translation>
    </message>
    <message>
        <source>You host this run: if nobody else has its model and its text, they are lost for good.</source>
        <translation>Du leitest diesen Lauf: Hat niemand sonst Modell und Text, sind sie endgültig verloren.</translation>
    </message>
    <message>
        <source>&amp;Delete</source>
        <translation>&amp;Löschen</translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation>&amp;Behalten</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunSourceCard</name>
    <message>
        <source>What to train on</source>
        <translation>Worauf trainiert wird</translation>
    </message>
    <message>
        <source>&amp;Text</source>
        <translation>&amp;Text</translation>
    </message>
    <message>
        <source>T&amp;oken files</source>
        <translation>T&amp;oken-Dateien</translation>
    </message>
    <message>
        <source>P&amp;ictures</source>
        <translation>B&amp;ilder</translation>
    </message>
    <message>
        <source>File or folder to train on</source>
        <translation>Datei oder Ordner, worauf trainiert wird</translation>
    </message>
    <message>
        <source>&amp;File or folder</source>
        <translation>&amp;Datei oder Ordner</translation>
    </message>
    <message>
        <source>The model</source>
        <translation>Das Modell</translation>
    </message>
    <message>
        <source>A &amp;new one</source>
        <translation>Ein &amp;neues</translation>
    </message>
    <message>
        <source>&amp;Go on from a trained one</source>
        <translation>Ein trainiertes &amp;weiterführen</translation>
    </message>
    <message>
        <source>Shape and size of the model</source>
        <translation>Form und Größe des Modells</translation>
    </message>
    <message>
        <source>S&amp;hape and size</source>
        <translation>F&amp;orm und Größe</translation>
    </message>
    <message>
        <source>Folder of the trained model</source>
        <translation>Ordner des trainierten Modells</translation>
    </message>
    <message>
        <source>Its &amp;folder</source>
        <translation>Sein O&amp;rdner</translation>
    </message>
    <message>
        <source>A GPT-2, OPT, Llama, Qwen2 or Qwen3 as Hugging Face transformers saves it.</source>
        <translation>Ein GPT-2, OPT, Llama, Qwen2 oder Qwen3, wie Hugging Face transformers es speichert.</translation>
    </message>
    <message>
        <source>Tokenizer</source>
        <translation>Tokenizer</translation>
    </message>
    <message>
        <source>To&amp;kenizer, if you have one</source>
        <translation>To&amp;kenizer, falls du einen hast</translation>
    </message>
    <message>
        <source>default</source>
        <translation>Standard</translation>
    </message>
    <message>
        <source>Context in tokens</source>
        <translation>Kontext in Token</translation>
    </message>
    <message>
        <source>&amp;Context in tokens</source>
        <translation>&amp;Kontext in Token</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Opti&amp;mizer</source>
        <translation>Opti&amp;mierer</translation>
    </message>
    <message>
        <source>%1 – %2 parameters, context %3</source>
        <translation>%1 – %2 Parameter, Kontext %3</translation>
    </message>
    <message>
        <source>%1 – %2 parameters</source>
        <translation>%1 – %2 Parameter</translation>
    </message>
    <message>
        <source>Files of nanoGPT or llm.c, which end in .bin; those called val… are for validation.</source>
        <translation>Dateien von nanoGPT oder llm.c, die auf .bin enden; die namens val… sind zum Prüfen.</translation>
    </message>
    <message>
        <source>Plain text, from 100 kB to gigabytes; of a folder, all text files in it.</source>
        <translation>Reiner Text, von 100 kB bis zu Gigabytes; von einem Ordner alle Textdateien darin.</translation>
    </message>
    <message>
        <source>A folder of PNG or PPM pictures, at least 128; each becomes a small square.</source>
        <translation>Ein Ordner mit PNG- oder PPM-Bildern, mindestens 128; jedes wird zu einem kleinen Quadrat.</translation>
    </message>
    <message>
        <source>A picture coder as Potluck exports it.</source>
        <translation>Ein Bildkodierer, wie Potluck ihn exportiert.</translation>
    </message>
    <message>
        <source>Without one, that of the trained model.</source>
        <translation>Ohne einen gilt der des trainierten Modells.</translation>
    </message>
    <message>
        <source>Without one, every byte is a token.</source>
        <translation>Ohne einen ist jedes Byte ein Token.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunTable</name>
    <message>
        <source>Runs</source>
        <translation>Läufe</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunTermsCard</name>
    <message>
        <source>What everybody sees</source>
        <translation>Was alle sehen</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>Name des Laufs</translation>
    </message>
    <message>
        <source>&amp;Name of the run</source>
        <translation>&amp;Name des Laufs</translation>
    </message>
    <message>
        <source>What the model is for</source>
        <translation>Wofür das Modell ist</translation>
    </message>
    <message>
        <source>What the model is fo&amp;r</source>
        <translation>Wofü&amp;r das Modell ist</translation>
    </message>
    <message>
        <source>Licence of the model</source>
        <translation>Lizenz des Modells</translation>
    </message>
    <message>
        <source>&amp;Licence of the model</source>
        <translation>&amp;Lizenz des Modells</translation>
    </message>
    <message>
        <source>Who may join</source>
        <translation>Wer beitreten darf</translation>
    </message>
    <message>
        <source>&amp;Anybody with the invite</source>
        <translation>&amp;Alle mit der Einladung</translation>
    </message>
    <message>
        <source>Onl&amp;y these keys</source>
        <translation>Nur diese Schlüsse&amp;l</translation>
    </message>
    <message>
        <source>Keys that may join, one a line</source>
        <translation>Schlüssel, die beitreten dürfen, einer je Zeile</translation>
    </message>
    <message>
        <source>&amp;Keys, one a line</source>
        <translation>S&amp;chlüssel, einer je Zeile</translation>
    </message>
    <message>
        <source>Settings shows everybody their own. You can let in more later.</source>
        <translation>Die Einstellungen zeigen allen ihren eigenen. Du kannst später weitere zulassen.</translation>
    </message>
    <message>
        <source>Let anybody &amp;find this run</source>
        <translation>Alle diesen Lauf &amp;finden lassen</translation>
    </message>
    <message>
        <source>Language of the text</source>
        <translation>Sprache des Textes</translation>
    </message>
    <message>
        <source>not said</source>
        <translation>nicht gesagt</translation>
    </message>
    <message>
        <source>Lan&amp;guage of the text</source>
        <translation>Sp&amp;rache des Textes</translation>
    </message>
    <message>
        <source>Page of the run on the web</source>
        <translation>Seite des Laufs im Web</translation>
    </message>
    <message>
        <source>Page of the run on the &amp;web, if it has one</source>
        <translation>Seite des Laufs im &amp;Web, wenn er eine hat</translation>
    </message>
    <message>
        <source>Invites then begin with it, so that a chat makes them a link.</source>
        <translation>Einladungen beginnen dann mit ihr, so dass ein Chat sie zum Link macht.</translation>
    </message>
    <message>
        <source>A run for listed keys is not announced.</source>
        <translation>Ein Lauf für genannte Schlüssel wird nicht angekündigt.</translation>
    </message>
    <message>
        <source>People without an invite see the run, its progress and this computer&apos;s address, all over the world.</source>
        <translation>Leute ohne Einladung sehen den Lauf, seinen Fortschritt und die Adresse dieses Computers, in aller Welt.</translation>
    </message>
    <message>
        <source>Otherwise only those whom you invite know of it.</source>
        <translation>Sonst wissen nur die davon, die du einlädst.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunView</name>
    <message>
        <source>&amp;Copy invite</source>
        <translation>Einladung &amp;kopieren</translation>
    </message>
    <message>
        <source>Leave the run</source>
        <translation>Den Lauf verlassen</translation>
    </message>
    <message>
        <source>&amp;Finish this round, then leave</source>
        <translation>Diese &amp;Runde beenden, dann verlassen</translation>
    </message>
    <message>
        <source>&amp;Leave now…</source>
        <translation>&amp;Jetzt verlassen …</translation>
    </message>
    <message>
        <source>Leave the run?</source>
        <translation>Den Lauf verlassen?</translation>
    </message>
    <message>
        <source>Training since the last round is lost. Your credit and your identity stay.</source>
        <translation>Was seit der letzten Runde trainiert wurde, geht verloren. Gutschriften und Identität bleiben.</translation>
    </message>
    <message>
        <source>&amp;Leave</source>
        <translation>&amp;Verlassen</translation>
    </message>
    <message>
        <source>&amp;Stay</source>
        <translation>&amp;Bleiben</translation>
    </message>
    <message>
        <source>My tokens today</source>
        <translation>Meine Token heute</translation>
    </message>
    <message>
        <source>Accepted and credited to you since midnight</source>
        <translation>Seit Mitternacht angenommen und dir gutgeschrieben</translation>
    </message>
    <message>
        <source>My tokens in total</source>
        <translation>Meine Token insgesamt</translation>
    </message>
    <message>
        <source>Accepted and credited to you in this run</source>
        <translation>In diesem Lauf angenommen und dir gutgeschrieben</translation>
    </message>
    <message>
        <source>Volunteers online</source>
        <translation>Freiwillige online</translation>
    </message>
    <message>
        <source>Members of the run that this computer hears of</source>
        <translation>Mitglieder des Laufs, von denen dieser Computer hört</translation>
    </message>
    <message>
        <source>Swarm speed</source>
        <translation>Tempo des Schwarms</translation>
    </message>
    <message>
        <source>Tokens per second of all volunteers together</source>
        <translation>Token je Sekunde aller Freiwilligen zusammen</translation>
    </message>
    <message>
        <source>Round</source>
        <translation>Runde</translation>
    </message>
    <message>
        <source>Rounds that ended, of those planned</source>
        <translation>Beendete Runden, von den geplanten</translation>
    </message>
    <message>
        <source>The invite is on the clipboard. Send it to the people who should join.</source>
        <translation>Die Einladung ist in der Zwischenablage: Schick sie denen, die beitreten sollen.</translation>
    </message>
    <message>
        <source>credited</source>
        <translation>gutgeschrieben</translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n Runde</numerusform>
            <numerusform>%n Runden</numerusform>
        </translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Token je Sekunde</translation>
    </message>
    <message>
        <source>of %1</source>
        <translation>von %1</translation>
    </message>
    <message>
        <source>Your credit and your identity stay, and the invite brings you back.</source>
        <translation>Dein Guthaben und deine Identität bleiben, und die Einladung bringt dich zurück.</translation>
    </message>
    <message>
        <source>S&amp;mooth</source>
        <translation>&amp;Geglättet</translation>
    </message>
    <message>
        <source>By to&amp;kens</source>
        <translation>Nach To&amp;ken</translation>
    </message>
    <message>
        <source>What it has learned</source>
        <translation>Was es gelernt hat</translation>
    </message>
    <message>
        <source>Draws the members&apos; curve averaged over a few rounds.</source>
        <translation>Zeichnet die Kurve der Mitglieder über einige Runden gemittelt.</translation>
    </message>
    <message>
        <source>In trainin&amp;g</source>
        <translation>Im Trainin&amp;g</translation>
    </message>
    <message>
        <source>Shows how the members do on the text that they train on, instead of the model on text that nobody trains on. The two cannot be compared.</source>
        <translation>Zeigt, wie gut die Mitglieder bei dem Text sind, mit dem sie trainieren, statt des Modells bei Text, mit dem niemand trainiert. Beides ist nicht vergleichbar.</translation>
    </message>
    <message>
        <source>Draws the curve over the tokens that the run was trained on, instead of its rounds.</source>
        <translation>Zeichnet die Kurve über den Token, mit denen der Lauf trainiert wurde, statt über seinen Runden.</translation>
    </message>
    <message>
        <source>This computer has seen no round of this run.</source>
        <translation>Dieser Computer hat keine Runde dieses Laufs gesehen.</translation>
    </message>
    <message>
        <source>The curve begins when the first round ends.</source>
        <translation>Die Kurve beginnt, wenn die erste Runde endet.</translation>
    </message>
    <message>
        <source>now %1</source>
        <translation>jetzt %1</translation>
    </message>
    <message>
        <source>in training %1</source>
        <translation>im Training %1</translation>
    </message>
    <message>
        <source>How far off it is on new pictures; lower is better.</source>
        <translation>Wie weit es bei neuen Bildern danebenliegt; weniger ist besser.</translation>
    </message>
    <message>
        <source>How surprised it is by new text; lower is better.</source>
        <translation>Wie sehr neuer Text es überrascht; weniger ist besser.</translation>
    </message>
    <message>
        <source>The loss of a picture, on pictures of the validation data.</source>
        <translation>Das Fehlermaß eines Bildes, auf Bildern der Validierungsdaten.</translation>
    </message>
    <message>
        <source>The loss in nats per token, on the validation data: the mean of -ln p, where p is the probability that the model gave to the token that came.</source>
        <translation>Das Fehlermaß in Nat je Token, auf den Validierungsdaten: das Mittel von -ln p, wobei p die Wahrscheinlichkeit ist, die das Modell dem Token gab, das kam.</translation>
    </message>
    <message numerus="yes">
        <source>%n relay(s)</source>
        <translation>
            <numerusform>%n Relais</numerusform>
            <numerusform>%n Relais</numerusform>
        </translation>
    </message>
    <message>
        <source>of %1, %2 left</source>
        <translation>von %1, noch %2</translation>
    </message>
</context>
<context>
    <name>potluck::ui::SettingsPage</name>
    <message>
        <source>No setting has these words.</source>
        <translation>Keine Einstellung enthält diese Wörter.</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation>&amp;Name</translation>
    </message>
    <message>
        <source>Your name on the leaderboard</source>
        <translation>Dein Name in der Bestenliste</translation>
    </message>
    <message>
        <source>Name on the leaderboard</source>
        <translation>Name in der Bestenliste</translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation>&amp;Speichern</translation>
    </message>
    <message>
        <source>Everybody in the run sees it. It need not be your real one.</source>
        <translation>Alle im Lauf sehen ihn. Es muss nicht dein echter sein.</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>Gespeichert.</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Pause</translation>
    </message>
    <message>
        <source>Look</source>
        <translation>Aussehen</translation>
    </message>
    <message>
        <source>Follow s&amp;ystem</source>
        <translation>Wie das S&amp;ystem</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>&amp;Hell</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>&amp;Dunkel</translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation>Auf diesem Computer</translation>
    </message>
    <message>
        <source>Open data &amp;folder</source>
        <translation>Daten&amp;ordner öffnen</translation>
    </message>
    <message>
        <source>&amp;Quit Potluck</source>
        <translation>Potluck &amp;beenden</translation>
    </message>
    <message>
        <source>Trains on: %1</source>
        <translation>Trainiert auf: %1</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>Start &amp;with the session, in the tray</source>
        <translation>&amp;Beim Anmelden starten, im Infobereich</translation>
    </message>
    <message>
        <source>Show &amp;log</source>
        <translation>Pro&amp;tokoll zeigen</translation>
    </message>
    <message>
        <source>You</source>
        <translation>Du</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Training</translation>
    </message>
    <message>
        <source>Network</source>
        <translation>Netz</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Scrolls to this part of the settings.</source>
        <translation>Springt zu diesem Teil der Einstellungen.</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Like the system&apos;s</source>
        <translation>Wie die des Systems</translation>
    </message>
    <message>
        <source>Lan&amp;guage</source>
        <translation>&amp;Sprache</translation>
    </message>
    <message>
        <source>It is spoken when Potluck is started again.</source>
        <translation>Sie gilt, sobald Potluck neu gestartet ist.</translation>
    </message>
    <message>
        <source>Ends training and frees its memory at once.</source>
        <translation>Beendet das Training und gibt seinen Arbeitsspeicher sofort frei.</translation>
    </message>
    <message>
        <source>Nothing is trained at the moment.</source>
        <translation>Im Moment wird nichts trainiert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::ShareRow</name>
    <message>
        <source>Copy as text</source>
        <translation>Als Text kopieren</translation>
    </message>
    <message>
        <source>Copy as picture</source>
        <translation>Als Bild kopieren</translation>
    </message>
    <message>
        <source>Save as picture…</source>
        <translation>Als Bild speichern…</translation>
    </message>
    <message>
        <source>The picture is on the clipboard.</source>
        <translation>Das Bild ist in der Zwischenablage.</translation>
    </message>
    <message>
        <source>The text is on the clipboard.</source>
        <translation>Der Text ist in der Zwischenablage.</translation>
    </message>
    <message>
        <source>Save the picture</source>
        <translation>Das Bild speichern</translation>
    </message>
    <message>
        <source>The picture is in %1.</source>
        <translation>Das Bild ist in %1.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::StartPage</name>
    <message>
        <source>Making the model that everybody begins with</source>
        <translation>Das Modell, mit dem alle beginnen, entsteht</translation>
    </message>
    <message>
        <source>Reading what to train on</source>
        <translation>Was trainiert wird, wird gelesen</translation>
    </message>
    <message>
        <source>Turning it into tokens</source>
        <translation>Es wird in Token verwandelt</translation>
    </message>
    <message>
        <source>Shuffling it</source>
        <translation>Es wird gemischt</translation>
    </message>
    <message>
        <source>Hashing what will be shared</source>
        <translation>Was geteilt wird, wird gehasht</translation>
    </message>
    <message>
        <source>Start a run</source>
        <translation>Lauf starten</translation>
    </message>
    <message>
        <source>&amp;Start the run</source>
        <translation>Lauf &amp;starten</translation>
    </message>
    <message>
        <source>Progress of making the run</source>
        <translation>Wie weit der Lauf entstanden ist</translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation>&amp;Abbrechen</translation>
    </message>
    <message>
        <source>You may go on using Potluck meanwhile.</source>
        <translation>Du kannst Potluck solange weiter benutzen.</translation>
    </message>
    <message>
        <source>Choose what to train on.</source>
        <translation>Wähle, worauf trainiert wird.</translation>
    </message>
    <message>
        <source>Give the run a name.</source>
        <translation>Gib dem Lauf einen Namen.</translation>
    </message>
    <message>
        <source>Choose a licence.</source>
        <translation>Wähle eine Lizenz.</translation>
    </message>
    <message>
        <source>List at least one key, or let anybody join.</source>
        <translation>Nenne mindestens einen Schlüssel, oder lass alle beitreten.</translation>
    </message>
    <message>
        <source>Choose the tokenizer that made these tokens.</source>
        <translation>Wähle den Tokenizer, der diese Token gemacht hat.</translation>
    </message>
    <message>
        <source>Please fix the fields marked in red.</source>
        <translation>Bitte die rot markierten Felder berichtigen.</translation>
    </message>
    <message>
        <source>“%1” is being made</source>
        <translation>„%1“ entsteht</translation>
    </message>
</context>
<context>
    <name>potluck::ui::StatusCard</name>
    <message>
        <source>Progress</source>
        <translation>Fortschritt</translation>
    </message>
</context>
<context>
    <name>potluck::ui::StatusSummary</name>
    <message>
        <source>Your contributions do not seem to help the model: test this computer&apos;s memory and GPU, and undo any overclocking.</source>
        <translation>Deine Beiträge scheinen dem Modell nicht zu helfen: Prüfe Arbeitsspeicher und Grafikkarte dieses Computers, und nimm jede Übertaktung zurück.</translation>
    </message>
    <message>
        <source>Training goes on at half speed.</source>
        <translation>Trainiert wird mit halber Kraft.</translation>
    </message>
    <message>
        <source>Training has ended and its memory is free.</source>
        <translation>Training beendet, Arbeitsspeicher frei.</translation>
    </message>
    <message>
        <source>Training is ending; its memory is free in a moment.</source>
        <translation>Training endet; Arbeitsspeicher gleich frei.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::StayCard</name>
    <message>
        <source>Start Potluck whenever you log in? It waits in the tray and trains while you do not need the computer.</source>
        <translation>Potluck bei jeder Anmeldung starten? Es wartet im Infobereich und trainiert, während du den Computer nicht brauchst.</translation>
    </message>
    <message>
        <source>Yes, &amp;start it</source>
        <translation>Ja, &amp;starten</translation>
    </message>
    <message>
        <source>&amp;No</source>
        <translation>&amp;Nein</translation>
    </message>
    <message>
        <source>Settings can change it later.</source>
        <translation>Die Einstellungen können das später ändern.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::StoragePage</name>
    <message>
        <source>Runs: models, text and what is shared</source>
        <translation>Läufe: Modelle, Text und was geteilt wird</translation>
    </message>
    <message>
        <source>Ledger: everybody&apos;s credit</source>
        <translation>Hauptbuch: die Gutschriften aller</translation>
    </message>
    <message>
        <source>Logs</source>
        <translation>Protokolle</translation>
    </message>
    <message>
        <source>Keys, settings and the rest</source>
        <translation>Schlüssel, Einstellungen und der Rest</translation>
    </message>
    <message>
        <source>Storage</source>
        <translation>Speicherplatz</translation>
    </message>
    <message>
        <source>On this disk</source>
        <translation>Auf dieser Festplatte</translation>
    </message>
    <message>
        <source>Open data &amp;folder</source>
        <translation>Daten&amp;ordner öffnen</translation>
    </message>
    <message>
        <source>Files of runs</source>
        <translation>Dateien der Läufe</translation>
    </message>
    <message>
        <source>&amp;Delete files…</source>
        <translation>Dateien &amp;löschen …</translation>
    </message>
    <message>
        <source>Deletes the files of the selected run, after a question.</source>
        <translation>Löscht die Dateien des ausgewählten Laufs, nach einer Rückfrage.</translation>
    </message>
    <message>
        <source>A run that you left keeps its files, so that coming back is quick. Your credit stays without them.</source>
        <translation>Ein Lauf, den du verlassen hast, behält seine Dateien, damit die Rückkehr schnell geht. Deine Gutschrift bleibt auch ohne sie.</translation>
    </message>
    <message>
        <source>The files of “%1” take %2. Your credit stays, and joining again fetches what is needed.</source>
        <translation>Die Dateien von „%1“ belegen %2. Deine Gutschrift bleibt, und wer wieder teilnimmt, holt sich, was nötig ist.</translation>
    </message>
    <message>
        <source>Deleted: “%1”, %2.</source>
        <translation>Gelöscht: „%1“, %2.</translation>
    </message>
    <message>
        <source>%1 in all, %2 free</source>
        <translation>zusammen %1, %2 frei</translation>
    </message>
    <message>
        <source>Leave this run before you delete its files.</source>
        <translation>Verlass diesen Lauf, bevor du seine Dateien löschst.</translation>
    </message>
    <message>
        <source>Programs that train</source>
        <translation>Programme, die trainieren</translation>
    </message>
    <message>
        <source>&amp;Move to another disk…</source>
        <translation>Auf einen anderen &amp;Datenträger …</translation>
    </message>
    <message>
        <source>Moves all of Potluck&apos;s data into a folder that you choose, after a question.</source>
        <translation>Verschiebt nach einer Rückfrage alle Daten von Potluck in einen Ordner deiner Wahl.</translation>
    </message>
    <message>
        <source>A folder on another disk</source>
        <translation>Ein Ordner auf einem anderen Datenträger</translation>
    </message>
    <message>
        <source>Moving: %1 %</source>
        <translation>Verschiebe: %1 %</translation>
    </message>
    <message>
        <source>Moved. Keep that disk attached.</source>
        <translation>Verschoben. Lass diesen Datenträger angeschlossen.</translation>
    </message>
    <message>
        <source>Move Potluck&apos;s data?</source>
        <translation>Daten von Potluck verschieben?</translation>
    </message>
    <message>
        <source>Potluck stops, moves everything that stands here to %1, and goes on. It needs that disk from then on.</source>
        <translation>Potluck hält an, verschiebt alles, was hier steht, nach %1 und macht weiter. Von da an braucht es diesen Datenträger.</translation>
    </message>
    <message>
        <source>&amp;Move</source>
        <translation>&amp;Verschieben</translation>
    </message>
    <message>
        <source>&amp;Leave it here</source>
        <translation>Hier &amp;lassen</translation>
    </message>
    <message>
        <source>Waiting for training to end…</source>
        <translation>Warte auf das Ende des Trainings …</translation>
    </message>
</context>
<context>
    <name>potluck::ui::SuccessionWords</name>
    <message>
        <source>You may leave. The run is carried on by %1.</source>
        <translation>Du darfst gehen. Den Lauf führt weiter: %1.</translation>
    </message>
    <message>
        <source>Nobody else has the data yet. Stay until another computer does.</source>
        <translation>Sonst hat noch niemand die Daten. Bleib, bis jemand sie hat.</translation>
    </message>
    <message>
        <source>Stay until there are more, or some may be lost.</source>
        <translation>Bleib, bis es mehr sind, sonst kann etwas verloren gehen.</translation>
    </message>
    <message>
        <source>Nobody could carry the run on now: it waits until you are back. Trust a computer that is often here as your deputy.</source>
        <translation>Niemand könnte den Lauf jetzt weiterführen: Er wartet, bis du zurück bist. Setze einen Computer als Vertretung ein, der oft da ist.</translation>
    </message>
    <message>
        <source>Other computers keep %1 copies of the data and %2 of the model.</source>
        <translation>Andere Computer halten %1 Kopien der Daten und %2 des Modells.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::SwarmPicture</name>
    <message>
        <source>Picture of the members</source>
        <translation>Bild der Mitglieder</translation>
    </message>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>und %n weiteres</numerusform>
            <numerusform>und %n weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>Nobody else is here.</source>
        <translation>Sonst ist niemand da.</translation>
    </message>
    <message>
        <source>training: %1, passing on: %2, silent: %3</source>
        <translation>es trainieren %1, leiten weiter %2, sind still %3</translation>
    </message>
    <message>
        <source>with a direct connection: %1, heard of through others: %2</source>
        <translation>direkt verbunden %1, über andere bekannt %2</translation>
    </message>
    <message numerus="yes">
        <source>This computer and %n other(s); %1; %2.</source>
        <translation>
            <numerusform>Dieser Computer und %n anderer; %1; %2.</numerusform>
            <numerusform>Dieser Computer und %n andere; %1; %2.</numerusform>
        </translation>
    </message>
    <message>
        <source>this computer</source>
        <translation>dieser Computer</translation>
    </message>
    <message>
        <source>trains</source>
        <translation>trainiert</translation>
    </message>
    <message>
        <source>passes on</source>
        <translation>leitet weiter</translation>
    </message>
    <message>
        <source>silent</source>
        <translation>still</translation>
    </message>
    <message>
        <source>direct: the wide end gives</source>
        <translation>direkt: das breite Ende gibt</translation>
    </message>
    <message>
        <source>through others</source>
        <translation>über andere</translation>
    </message>
    <message>
        <source>relay</source>
        <translation>Relais</translation>
    </message>
    <message>
        <source>confirms rounds</source>
        <translation>bestätigt Runden</translation>
    </message>
</context>
<context>
    <name>potluck::ui::TeamCard</name>
    <message>
        <source>Sa&amp;ve</source>
        <translation>S&amp;peichern</translation>
    </message>
    <message>
        <source>&amp;Team</source>
        <translation>&amp;Team</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keines</translation>
    </message>
    <message>
        <source>Team on the leaderboard</source>
        <translation>Team in der Bestenliste</translation>
    </message>
    <message>
        <source>Save the team</source>
        <translation>Team speichern</translation>
    </message>
    <message>
        <source>You may be counted with a team, such as a class or a club. Everybody in the run sees it. Anybody may name any team: nobody is asked, and who spells it as you do is in it.</source>
        <translation>Du kannst mit einem Team gezählt werden, etwa einer Klasse oder einem Verein. Alle im Lauf sehen es. Jeder darf jedes Team nennen: Niemand wird gefragt, und wer es schreibt wie du, gehört dazu.</translation>
    </message>
    <message>
        <source>You are in no team.</source>
        <translation>Du bist in keinem Team.</translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation>Gespeichert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::TrafficCard</name>
    <message>
        <source>no limit</source>
        <translation>ohne Grenze</translation>
    </message>
    <message>
        <source>%1 a second</source>
        <translation>%1 in der Sekunde</translation>
    </message>
    <message>
        <source>Data and traffic</source>
        <translation>Daten und Verkehr</translation>
    </message>
    <message>
        <source>To the members of your run</source>
        <translation>An die Mitglieder deines Laufs</translation>
    </message>
    <message>
        <source>A signed contribution in each round, and pieces of the model and of its data that others lack. Also your name and team, your public key, which rounds you took part in, how fast you train, and your internet address or your proxy&apos;s.</source>
        <translation>Was dieser Computer in jeder Runde gelernt hat, unterschrieben; Stücke des Modells und seiner Daten, die anderen fehlen; dein Name und dein Team, dein öffentlicher Schlüssel, an welchen Runden du teilgenommen hast, wie schnell du trainierst, und deine Internetadresse oder die deines Proxys.</translation>
    </message>
    <message>
        <source>To others on the internet</source>
        <translation>An andere im Internet</translation>
    </message>
    <message>
        <source>To nobody</source>
        <translation>An niemanden</translation>
    </message>
    <message>
        <source>Your files: none is read but text that you choose yourself to host a run. Your use of the computer is noticed here, to make way, and not sent; others only see that training is paused.</source>
        <translation>Deine Dateien: Keine wird gelesen außer Text, den du selbst auswählst, um einen Lauf zu starten. Was du am Computer tust, wird hier bemerkt, um Platz zu machen, und nicht gesendet; andere sehen nur, dass das Training pausiert.</translation>
    </message>
    <message>
        <source>Sent</source>
        <translation>Gesendet</translation>
    </message>
    <message>
        <source>Received</source>
        <translation>Empfangen</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>This month</source>
        <translation>Diesen Monat</translation>
    </message>
    <message>
        <source>In total</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>At most</source>
        <translation>Höchstens</translation>
    </message>
    <message>
        <source>Open &amp;storage</source>
        <translation>Be&amp;legung öffnen</translation>
    </message>
    <message>
        <source>This computer&apos;s contributions to this run came to %1, each round once; it passed the rest on for others.</source>
        <translation>Was dieser Computer in diesem Lauf trainiert hat, kam auf %1, jede Runde einmal gezählt; der Rest des Gesendeten ist Weitergeben, für andere.</translation>
    </message>
    <message>
        <source>Everything of Potluck&apos;s lies in %1.</source>
        <translation>Alles von Potluck liegt in %1.</translation>
    </message>
    <message>
        <source>Your address and port beside the run&apos;s number, in the public directory that all torrents use. There is no account and no telemetry; a web server is asked only where you let Potluck look for versions or fetch the part that trains.</source>
        <translation>Deine Adresse und dein Port neben der Nummer des Laufs, in dem öffentlichen Verzeichnis, das alle Torrents benutzen. Es gibt kein Konto und keine Telemetrie; ein Webserver wird nur gefragt, wo du Potluck nach Versionen sehen oder den Teil holen lässt, der trainiert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::TrainerCard</name>
    <message>
        <source>for NVIDIA</source>
        <translation>für NVIDIA</translation>
    </message>
    <message>
        <source>for AMD</source>
        <translation>für AMD</translation>
    </message>
    <message>
        <source>for the processor</source>
        <translation>für den Prozessor</translation>
    </message>
    <message>
        <source>Progress of the download</source>
        <translation>Fortschritt des Herunterladens</translation>
    </message>
    <message>
        <source>Look for downloads</source>
        <translation>Nach Downloads suchen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Pass it on to other volunteers</source>
        <translation>An andere Freiwillige weitergeben</translation>
    </message>
    <message>
        <source>Within the limits of upload and disk.</source>
        <translation>Im Rahmen der Grenzen für Upload und Speicherplatz.</translation>
    </message>
    <message>
        <source>Download %1 (%2)</source>
        <translation>Herunterladen %1 (%2)</translation>
    </message>
    <message>
        <source>Takes %1 on the disk.</source>
        <translation>Belegt %1 auf der Festplatte.</translation>
    </message>
    <message>
        <source>Asking which downloads there are.</source>
        <translation>Fragt, welche Downloads es gibt.</translation>
    </message>
    <message>
        <source>The part that trains is being downloaded; it goes on after a break.</source>
        <translation>Der Teil, der trainiert, wird heruntergeladen; nach einer Unterbrechung geht es weiter.</translation>
    </message>
    <message>
        <source>The part that trains is being checked and unpacked.</source>
        <translation>Der Teil, der trainiert, wird geprüft und ausgepackt.</translation>
    </message>
    <message>
        <source>The part that trains was downloaded and is ready.</source>
        <translation>Der Teil, der trainiert, ist heruntergeladen und bereit.</translation>
    </message>
    <message>
        <source>The part that trains is installed on this computer.</source>
        <translation>Der Teil, der trainiert, ist auf diesem Computer installiert.</translation>
    </message>
    <message>
        <source>The part that trains</source>
        <translation>Der Teil, der trainiert</translation>
    </message>
    <message>
        <source>Remove it</source>
        <translation>Entfernen</translation>
    </message>
</context>
<context>
    <name>potluck::ui::TrainerWords</name>
    <message>
        <source>This computer cannot train yet: the part of Potluck that trains is a download of its own, which is checked against its makers&apos; signature. Once it is here, training begins by itself.</source>
        <translation>Dieser Computer kann noch nicht trainieren: Der Teil von Potluck, der trainiert, ist ein eigener Download, der gegen die Unterschrift seiner Hersteller geprüft wird. Sobald er da ist, beginnt das Training von selbst.</translation>
    </message>
    <message>
        <source>This computer cannot train yet: the part of Potluck that trains is not installed, and this build cannot download it. Install the package potluck-trainer, then try again.</source>
        <translation>Dieser Computer kann noch nicht trainieren: Der Teil von Potluck, der trainiert, ist nicht installiert, und diese Fassung kann ihn nicht herunterladen. Installiere das Paket potluck-trainer und versuche es noch einmal.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::Tray</name>
    <message>
        <source>&amp;Open Potluck</source>
        <translation>Potluck &amp;öffnen</translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation>&amp;Anhalten</translation>
    </message>
    <message>
        <source>&amp;Resume</source>
        <translation>&amp;Fortsetzen</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>&amp;Beenden</translation>
    </message>
    <message>
        <source>%1 tokens today</source>
        <translation>%1 Token heute</translation>
    </message>
    <message>
        <source>&amp;Try again</source>
        <translation>&amp;Noch einmal versuchen</translation>
    </message>
    <message>
        <source>&amp;Train again</source>
        <translation>&amp;Weiter trainieren</translation>
    </message>
    <message>
        <source>&amp;Finish this round, then leave</source>
        <translation>Diese Runde &amp;beenden, dann gehen</translation>
    </message>
    <message>
        <source>&amp;How much</source>
        <translation>&amp;Wie viel</translation>
    </message>
    <message>
        <source>&amp;Quiet: half of the time</source>
        <translation>&amp;Leise: die halbe Zeit</translation>
    </message>
    <message>
        <source>&amp;Balanced: three quarters of the time</source>
        <translation>&amp;Ausgewogen: drei Viertel der Zeit</translation>
    </message>
    <message>
        <source>&amp;Full: all the time</source>
        <translation>&amp;Voll: die ganze Zeit</translation>
    </message>
</context>
<context>
    <name>potluck::ui::UpdateCard</name>
    <message>
        <source>This build cannot check for updates (no release key).</source>
        <translation>Diese Fassung kann nicht nach Updates suchen (kein Schlüssel für Veröffentlichungen).</translation>
    </message>
    <message>
        <source>No newer version is known.</source>
        <translation>Es ist keine neuere Version bekannt.</translation>
    </message>
    <message>
        <source>Potluck %1 is out (%2): %3</source>
        <translation>Potluck %1 ist da (%2): %3</translation>
    </message>
    <message>
        <source>New versions</source>
        <translation>Neue Versionen</translation>
    </message>
    <message>
        <source>Open its page</source>
        <translation>Seite öffnen</translation>
    </message>
    <message>
        <source>Check now</source>
        <translation>Jetzt prüfen</translation>
    </message>
    <message>
        <source>Check daily</source>
        <translation>Täglich prüfen</translation>
    </message>
    <message>
        <source>Potluck then fetches one small signed file. The web server that has it sees this computer&apos;s address, and nothing else. Nothing is ever installed by itself.</source>
        <translation>Potluck holt dann eine kleine, unterschriebene Datei. Der Webserver, auf dem sie liegt, sieht die Adresse dieses Computers und sonst nichts. Nie wird etwas von selbst installiert.</translation>
    </message>
</context>
<context>
    <name>potluck::ui::WeekGrid</name>
    <message>
        <source>Hours of the week</source>
        <translation>Stunden der Woche</translation>
    </message>
    <message>
        <source>training</source>
        <translation>Training</translation>
    </message>
    <message>
        <source>half speed</source>
        <translation>halbe Kraft</translation>
    </message>
    <message>
        <source>pause</source>
        <translation>Pause</translation>
    </message>
</context>
<context>
    <name>potluck::ui::WordsDialog</name>
    <message>
        <source>Word %1, “%2”, is none of the list: they have the letters a to z only.</source>
        <translation>Wort %1, „%2“, steht nicht in der Liste: Ihre Wörter haben nur die Buchstaben a bis z.</translation>
    </message>
    <message numerus="yes">
        <source>These are %n word(s); an identity has 24.</source>
        <translation>
            <numerusform>Das ist %n Wort; eine Identität hat 24.</numerusform>
            <numerusform>Das sind %n Wörter; eine Identität hat 24.</numerusform>
        </translation>
    </message>
    <message>
        <source>Import from recovery words</source>
        <translation>Aus Wörtern zur Wiederherstellung importieren</translation>
    </message>
    <message>
        <source>Type or paste the 24 &amp;words, in their order.</source>
        <translation>Gib die 24 &amp;Wörter in ihrer Reihenfolge ein oder füge sie ein.</translation>
    </message>
    <message>
        <source>Recovery words</source>
        <translation>Wörter zur Wiederherstellung</translation>
    </message>
    <message>
        <source>&amp;Import</source>
        <translation>&amp;Importieren</translation>
    </message>
</context>
</TS>
