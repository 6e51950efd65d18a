<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
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
        <source>%n backbone(s)</source>
        <translation>
            <numerusform>%n backbone</numerusform>
            <numerusform>%n backbones</numerusform>
        </translation>
    </message>
</context>
</TS>
