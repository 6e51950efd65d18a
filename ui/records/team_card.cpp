// What is typed is not overwritten by the snapshot that arrives every second; the team counts as saved when the node
// says so. An empty line is no team.
#include "ui/records/team_card.h"

#include <QHBoxLayout>
#include <QLineEdit>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int team_characters_max = 40;

}  // namespace

TeamCard::TeamCard(NodeClient& client, QWidget* parent)
    : QFrame(parent),
      m_client(client),
      m_team(new QLineEdit(this)),
      m_save(makeButton(tr("Sa&ve"), {}, Emphasis::normal, this)),
      m_outcome(makeWrappedLabel({}, "good", this)) {
    setObjectName(QStringLiteral("card"));
    auto* label = makeLabel(tr("&Team"), "heading", this);
    label->setBuddy(m_team);
    m_team->setObjectName(QStringLiteral("team"));
    m_team->setMaxLength(team_characters_max);
    m_team->setPlaceholderText(tr("None"));
    m_team->setAccessibleName(tr("Team on the leaderboard"));
    m_save->setObjectName(QStringLiteral("saveTeam"));
    m_save->setAccessibleName(tr("Save the team"));
    m_outcome->setObjectName(QStringLiteral("teamOutcome"));
    m_outcome->hide();
    QBoxLayout* column = cardLayout(this);
    column->addWidget(label);
    column->addWidget(makeWrappedLabel(tr("You may be counted with a team, such as a class or a club. Everybody in the "
                                          "run sees it. Anybody may name any team: nobody is asked, and who spells it "
                                          "as you do is in it."),
                                       "muted", this));
    auto* row = new QHBoxLayout;
    row->addWidget(m_team, 1);
    row->addWidget(m_save);
    column->addLayout(row);
    column->addWidget(m_outcome);
    connect(m_save, &QPushButton::clicked, this, &TeamCard::save);
    connect(m_team, &QLineEdit::returnPressed, this, &TeamCard::save);
    connect(m_team, &QLineEdit::textEdited, this, [this] { showOrHide(m_outcome, {}); });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<SetTeam>) return;
        m_team->setModified(false);
        setRole(m_outcome, "good");
        showOrHide(m_outcome, m_team->text().simplified().isEmpty() ? tr("You are in no team.") : tr("Saved."));
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetTeam>) return;
        setRole(m_outcome, "problem");
        showOrHide(m_outcome, sentence);
    });
    connect(&client, &NodeClient::changed, this, &TeamCard::refresh);
    refresh();
}

void TeamCard::save() {
    if (m_save->isEnabled()) m_client.setTeam(m_team->text().simplified());
}

void TeamCard::refresh() {
    const NodeView& view = m_client.view();
    if (!m_team->isModified() && !m_team->hasFocus())
        m_team->setText(plainText(view.snapshot.team, team_characters_max));
    m_save->setEnabled(view.link.state == Link::State::up && !m_client.waitsFor(method_of<SetTeam>));
}

}  // namespace potluck::ui
