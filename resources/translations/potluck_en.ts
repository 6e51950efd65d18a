<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>potluck::ui::ContributionPage</name>
    <message numerus="yes">
        <source>trained in %n round(s), together with others</source>
        <translation>
            <numerusform>trained in %n round, together with others</numerusform>
            <numerusform>trained in %n rounds, together with others</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n round</numerusform>
            <numerusform>%n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>credited in %n</source>
        <translation>
            <numerusform>credited in %n</numerusform>
            <numerusform>credited in %n</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::DayChart</name>
    <message numerus="yes">
        <source>%1 tokens in %n day(s).</source>
        <translation>
            <numerusform>%1 tokens in %n day.</numerusform>
            <numerusform>%1 tokens in %n days.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::EndCard</name>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n round</numerusform>
            <numerusform>%n rounds</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::FoundWords</name>
    <message numerus="yes">
        <source>%n volunteer(s) now</source>
        <translation>
            <numerusform>%n volunteer now</numerusform>
            <numerusform>%n volunteers now</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::HostPage</name>
    <message numerus="yes">
        <source>From now on %n computer(s) that you ticked decide(s) about the run, at once. This is for a committee that cannot decide any more; members who went further go back to where this computer is.</source>
        <translation>
            <numerusform>From now on %n computer that you ticked decides about the run, at once. This is for a committee that cannot decide any more; members who went further go back to where this computer is.</numerusform>
            <numerusform>From now on the %n computers that you ticked decide about the run, at once. This is for a committee that cannot decide any more; members who went further go back to where this computer is.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %n seat(s) are needed for each round.</source>
        <translation>
            <numerusform>%1 of %n seat is needed for each round.</numerusform>
            <numerusform>%1 of %n seats are needed for each round.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::JuryCard</name>
    <message numerus="yes">
        <source>%1 – accused by %n juror(s).</source>
        <translation>
            <numerusform>%1 – accused by %n juror.</numerusform>
            <numerusform>%1 – accused by %n jurors.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::MainWindow</name>
    <message numerus="yes">
        <source>%n other computer(s) train in this run, which nobody could carry on without this one: it waits until you are back.</source>
        <translation>
            <numerusform>%n other computer trains in this run, which nobody could carry on without this one: it waits until you are back.</numerusform>
            <numerusform>%n other computers train in this run, which nobody could carry on without this one: it waits until you are back.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::MeasureWords</name>
    <message numerus="yes">
        <source>%n minute(s)</source>
        <translation>
            <numerusform>%n minute</numerusform>
            <numerusform>%n minutes</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n hour(s)</source>
        <translation>
            <numerusform>%n hour</numerusform>
            <numerusform>%n hours</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n day(s)</source>
        <translation>
            <numerusform>%n day</numerusform>
            <numerusform>%n days</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s)</source>
        <translation>
            <numerusform>%n layer</numerusform>
            <numerusform>%n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::NodeClient</name>
    <message numerus="yes">
        <source>Potluck starts it again in %n second(s).</source>
        <translation>
            <numerusform>Potluck starts it again in %n second.</numerusform>
            <numerusform>Potluck starts it again in %n seconds.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::OfferCard</name>
    <message numerus="yes">
        <source>%n volunteer(s) now</source>
        <translation>
            <numerusform>%n volunteer now</numerusform>
            <numerusform>%n volunteers now</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 · %n member(s) answered</source>
        <translation>
            <numerusform>%1 · %n member answered</numerusform>
            <numerusform>%1 · %n members answered</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::PlanCard</name>
    <message numerus="yes">
        <source>%1 in %n file(s), about %2 tokens</source>
        <translation>
            <numerusform>%1 in %n file, about %2 tokens</numerusform>
            <numerusform>%1 in %n files, about %2 tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::ReasonWords</name>
    <message numerus="yes">
        <source>Round %1 is open for %n more second(s).</source>
        <translation>
            <numerusform>Round %1 is open for %n more second.</numerusform>
            <numerusform>Round %1 is open for %n more seconds.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::RunView</name>
    <message numerus="yes">
        <source>%n round(s)</source>
        <translation>
            <numerusform>%n round</numerusform>
            <numerusform>%n rounds</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n relay(s)</source>
        <translation>
            <numerusform>%n relay</numerusform>
            <numerusform>%n relays</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::SwarmPicture</name>
    <message numerus="yes">
        <source>and %n more</source>
        <translation>
            <numerusform>and %n more</numerusform>
            <numerusform>and %n more</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>This computer and %n other(s); %1; %2.</source>
        <translation>
            <numerusform>This computer and %n other; %1; %2.</numerusform>
            <numerusform>This computer and %n others; %1; %2.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::WordsDialog</name>
    <message numerus="yes">
        <source>These are %n word(s); an identity has 24.</source>
        <translation>
            <numerusform>This is %n word; an identity has 24.</numerusform>
            <numerusform>These are %n words; an identity has 24.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>potluck::ui::ListsCard</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
</TS>
