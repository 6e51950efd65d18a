<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de_DE">
<context>
    <name>HomePage</name>
    <message>
        <source>&amp;Try now</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You opened an invite while in a run: leave this run first, then the invite waits for you here.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Dismiss</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>IdentityCard</name>
    <message>
        <source>Identity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your credit belongs to this key. Keep a copy: it is all you need on a new computer.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Copy</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the id</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write them down on paper. Whoever has them is you.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide recovery &amp;words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The identity is in the file; keep it where only you can read it.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This computer now uses the identity of the file.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recovery words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Export…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Import…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show recovery &amp;words</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export the identity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import an identity</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replace the identity?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The identity on this computer is replaced by the one in the file. Export it first if you want to keep its credit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Replace</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Keep</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>JoinCard</name>
    <message>
        <source>Bring what you have</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Join a run and your computer helps to train a model together with other volunteers. All you need is an invite.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Invite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>potluck:?xt=…  or  magnet:?xt=…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Invite link</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>P&amp;aste</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Open…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Opens a text file that holds an invite.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Join</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What will happen</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model and a piece of its text are fetched, then your computer trains in the background until you pause.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You come first</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause at any time: the trainer ends and its memory is free within two seconds.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is sent</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small, signed contribution per round, your display name, your public key and your internet address, as with any torrent.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What is not</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None of your files. And nobody can run code here: only data crosses the network.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This link came from outside Potluck. Look at it; nothing happens before you press Join.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open an invite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>An invite begins with potluck: or magnet: – paste the whole link.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Joining…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The host of a run gives you one; it is a single line of text.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The link says that the run is called “%1”.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LeaderboardModel</name>
    <message>
        <source>%1 (you)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rank</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Share</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LeaderboardPage</name>
    <message>
        <source>Leaderboard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nobody has been credited yet. The first names appear when the first round of a run that you joined ends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leaderboard of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that were trained, accepted and credited in this run.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You are number %1 of %2 and gave %3 of all tokens of this run.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>LossChart</name>
    <message>
        <source>Loss by round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round %1, loss %2</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No round has ended yet.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The loss went from %1 in round %2 to %3 in round %4.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The bigram baseline is %1.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The curve begins when the first round ends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss (nats per token)</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Bigram baseline %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MainWindow</name>
    <message>
        <source>Home</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leaderboard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Potluck is still here</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It goes on in the tray; quit it from the icon&apos;s menu.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep training?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Potluck can go on in the background as a minimised window, or stop and quit.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Minimise</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Cancel</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>MemberModel</name>
    <message>
        <source>backbone, %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 (you)</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>NodeClient</name>
    <message>
        <source>The node has not answered for a while; if this lasts, quit Potluck and start it again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The program potluck-node could not be started (%1): install Potluck again, or name it with --node.</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Potluck starts it again in %n second(s).</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The node stopped.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node stopped (%1).</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node stopped before it answered; try again when it is back.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node cannot be reached; try again when it is back.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>PauseButton</name>
    <message>
        <source>&amp;Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training starts again.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stops the trainer and frees its memory.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>RunView</name>
    <message>
        <source>&amp;Copy invite</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Finish this round, then leave</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Leave now…</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Leave the run?</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was trained since the last round is lost. Your credit and your identity stay.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Leave</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Stay</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My tokens today</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted and credited to you since midnight</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My tokens in total</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted and credited to you in this run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Volunteers online</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Members of the run that this computer hears of</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Swarm speed</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per second of all volunteers together</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds that ended, of those planned</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loss of the model</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Members</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Members of the run</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The invite is on the clipboard: send it to whoever should join.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>now %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>credited</source>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n backbone(s)</source>
        <translation type="unfinished">
            <numerusform></numerusform>
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Settings</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Name</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How the leaderboard calls you</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name on the leaderboard</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Save</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Everybody in the run sees it. It need not be your real one.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the s&amp;ystem</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this computer</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open data &amp;folder</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit Potluck</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ends the trainer and frees its memory at once; what was trained is kept.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The trainer is not running.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trains on: %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>StatusCard</name>
    <message>
        <source>Progress</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>Tray</name>
    <message>
        <source>&amp;Open Potluck</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Pause</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>%1 tokens today</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>potluck::ui::PauseMenu</name>
    <message>
        <source>For &amp;30 minutes</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For &amp;1 hour</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&amp;Until I resume</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>potluck::ui::PlainText</name>
    <message>
        <source>Volunteer %1</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>potluck::ui::Standing</name>
    <message>
        <source>Paused until you resume</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused until %1</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU and trainer memory is free.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The trainer is stopping; its memory is free in a moment.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Connecting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preparing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Training</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sharing</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finished</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Needs attention</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Node not running</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node writes its state to disk, then ends.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The node is starting; this takes a few seconds.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
