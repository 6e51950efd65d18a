// Each control asks for the whole of the rules with its own part changed, because the node keeps them as one. While an
// answer is awaited nothing is refreshed, so that a switch does not jump back between the click and the node's word; a
// refusal brings the node's rules back and says why.
//
// The list of programs is one line with commas, saved when the field is left or Enter is pressed; names are cut to what
// the protocol takes. The probes' blindness comes from the monitor through the client's view.
#include "ui/pages/activity_card.h"

#include <algorithm>

#include <QBoxLayout>
#include <QCheckBox>
#include <QLineEdit>
#include <QSpinBox>

#include "ui/client/activity_words.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/week_grid.h"

namespace potluck::ui {

using namespace control;

namespace {

QStringList listed(const QString& text) {
    QStringList names;
    for (const QString& part : text.split(QLatin1Char(','))) {
        const QString name = plainText(part, static_cast<int>(activity::program_bytes_max) / 4).trimmed();
        if (!name.isEmpty()) names << name;
    }
    return names.mid(0, static_cast<qsizetype>(activity::programs_max));
}

}  // namespace

ActivityCard::ActivityCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Your computer first"), "heading", this));
    column->addWidget(makeWrappedLabel(tr("Training pauses by itself, frees its memory and comes back later, while:"),
                                       "muted", this));
    addSwitches(column);
    addPrograms(column);
    addDelay(column);
    addHours(column);
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("rulesProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    connect(&client, &NodeClient::changed, this, &ActivityCard::refresh);
    connect(&client, &NodeClient::sightsChanged, this, &ActivityCard::refreshSights);
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<SetRules>) showOrHide(m_problem, {});
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetRules>) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    refresh();
    refreshSights();
}

void ActivityCard::addSwitches(QLayout* column) {
    for (const activity::Signal signal : activity::automatic_signals) {
        auto* box = new QCheckBox(ruleText(signal), this);
        box->setObjectName(QStringLiteral("signal-") + QLatin1String(name_of(signal)));
        QLabel* blind = makeWrappedLabel({}, "small", this);
        blind->setObjectName(QStringLiteral("blind-") + QLatin1String(name_of(signal)));
        auto* row = new QVBoxLayout;
        row->setSpacing(0);
        row->addWidget(box);
        row->addWidget(blind);
        static_cast<QBoxLayout*>(column)->addLayout(row);
        m_switches[signal] = {box, blind};
        connect(box, &QCheckBox::clicked, this, [this, signal](bool on) {
            ask([&](OwnerRules& rules) {
                std::erase(rules.off, signal);
                if (!on) rules.off.push_back(signal);
            });
        });
    }
}

void ActivityCard::addPrograms(QLayout* column) {
    auto* label = makeLabel(tr("My &list of programs, with commas"), "strong", this);
    m_programs = new QLineEdit(this);
    m_programs->setObjectName(QStringLiteral("programs"));
    m_programs->setPlaceholderText(tr("for example blender, obs"));
    m_programs->setAccessibleName(tr("Programs beside which nothing is trained"));
    label->setBuddy(m_programs);
    column->addWidget(label);
    column->addWidget(m_programs);
    connect(m_programs, &QLineEdit::editingFinished, this, &ActivityCard::savePrograms);
}

void ActivityCard::addDelay(QLayout* column) {
    auto* label = makeLabel(tr("Resume after this many quiet &seconds"), "strong", this);
    m_delay = new QSpinBox(this);
    m_delay->setObjectName(QStringLiteral("resumeDelay"));
    m_delay->setRange(static_cast<int>(activity::resume_delay_min.count() / 1000),
                      static_cast<int>(activity::resume_delay_max.count() / 1000));
    m_delay->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_delay->setKeyboardTracking(false);  // a number counts when it is finished, not digit by digit
    m_delay->setAccessibleName(tr("Seconds of quiet before training comes back"));
    m_delay->findChild<QLineEdit*>()->setAccessibleName(m_delay->accessibleName());  // which takes the focus
    label->setBuddy(m_delay);
    column->addWidget(label);
    column->addWidget(m_delay);
    connect(m_delay, &QSpinBox::valueChanged, this, [this](int seconds) {
        ask([&](OwnerRules& rules) { rules.resume_seconds = static_cast<std::uint64_t>(seconds); });
    });
}

void ActivityCard::addHours(QLayout* column) {
    column->addWidget(makeLabel(tr("My hours"), "strong", this));
    column->addWidget(makeWrappedLabel(
        tr("Empty: training; ½: half speed; –: pause. A click or the space bar changes an hour."), "small", this));
    m_hours = new WeekGrid(this);
    m_hours->setObjectName(QStringLiteral("hours"));
    column->addWidget(m_hours);
    connect(m_hours, &WeekGrid::edited, this,
            [this] { ask([&](OwnerRules& rules) { rules.hours = m_hours->schedule().text(); }); });
}

template <class Change>
void ActivityCard::ask(const Change& change) {
    const std::optional<OwnerRules>& present = m_client.view().snapshot.rules;
    if (!present) return;
    OwnerRules rules = *present;
    change(rules);
    m_client.setRules(rules);
}

void ActivityCard::savePrograms() {
    if (!m_programs->isModified()) return;
    m_programs->setModified(false);
    ask([&](OwnerRules& rules) {
        rules.programs.clear();
        for (const QString& name : listed(m_programs->text())) rules.programs.push_back(name.toStdString());
    });
}

void ActivityCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up && view.snapshot.rules;
    setEnabled(up);
    if (!up || m_client.waitsFor(method_of<SetRules>)) return;
    const OwnerRules& rules = *view.snapshot.rules;
    for (const auto& [signal, row] : m_switches)
        row.box->setChecked(std::ranges::find(rules.off, signal) == rules.off.end());
    if (!m_programs->isModified() && !m_programs->hasFocus()) {
        QStringList names;
        for (const std::string& name : rules.programs) names << QString::fromStdString(name);
        m_programs->setText(names.join(QStringLiteral(", ")));
    }
    if (!m_delay->hasFocus()) {
        const QSignalBlocker shown(m_delay);
        m_delay->setValue(static_cast<int>(rules.resume_seconds));
    }
    if (const auto schedule = activity::Schedule::parse(rules.hours)) m_hours->show(*schedule);
}

void ActivityCard::refreshSights() {
    const NodeView& view = m_client.view();
    for (const auto& [signal, row] : m_switches) {
        const bool own = signal == activity::Signal::schedule || !view.sights;
        QString text = own ? QString() : blindText((*view.sights)[activity::place_of(signal)].blindness);
        if (signal == activity::Signal::input && view.inputDrifts)
            text = tr("Input never stops; a game pad may drift. It does not count until it pauses.");
        showOrHide(row.blind, text);
    }
}

}  // namespace potluck::ui
