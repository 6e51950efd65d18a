// Committee and checkpoints change with rounds, so they are asked for when the page is opened and once a round after
// that; members and succession stand in every snapshot. The node decides who may do what: a refusal appears in its own
// words.
//
// A run has no early end, and this page does not pretend one: the agreement knows a last round, and members that go on
// without their host. What can be said is who would go on, and whether data and checkpoints lie elsewhere; both come
// from the node. Dialogs keep the harmless button as the default.
#include "ui/hosting/host_page.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QScrollArea>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/hosting/jury_card.h"
#include "ui/hosting/people_list.h"
#include "ui/hosting/succession_words.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/question.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

bool isClosed(const NodeView& view) { return view.committee && view.committee->closed; }
bool isCommitteeSize(std::size_t count) { return count == 1 || count == 4 || count == 7; }

}  // namespace

HostPage::HostPage(NodeClient& client, QWidget* parent) : QWidget(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("Host"), "title", this));
    const auto [scroll, scrolled, cards] = makeScrolledCards(this);
    m_outcome = makeWrappedLabel({}, "good", scrolled);
    m_outcome->setObjectName(QStringLiteral("hostOutcome"));
    m_outcome->hide();
    cards->addWidget(m_outcome);
    const std::initializer_list<QFrame*> all = {makeSuccessionCard(), makePeopleCard(), new JuryCard(client, scrolled),
                                                makeCheckpointCard()};
    for (QFrame* card : all) cards->addWidget(card);
    cards->addStretch(1);
    column->addWidget(scroll, 1);
    connect(&client, &NodeClient::changed, this, &HostPage::refresh);
    connect(&client, &NodeClient::committeeChanged, this, &HostPage::refresh);
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method != method_of<Moderate> && method != method_of<ReplaceCommittee>) return;
        m_people->forgetTicks();
        tell("good", tr("Signed. It is in force with the next round's list; a new committee is at once."));
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<Moderate> || method == method_of<ReplaceCommittee>) tell("problem", sentence);
    });
    refresh();
}

QFrame* HostPage::makeSuccessionCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("If you leave"), "heading", card));
    m_carriers = makeWrappedLabel({}, "strong", card);
    m_carriers->setObjectName(QStringLiteral("carriers"));
    m_data = makeWrappedLabel({}, "strong", card);
    m_data->setObjectName(QStringLiteral("dataHolders"));
    column->addWidget(m_carriers);
    column->addWidget(m_data);
    column->addWidget(
        makeWrappedLabel(tr("Leaving ends nothing for the others: a run ends by itself with its last round. "
                            "You can come back with the invite and are its host again."),
                         "muted", card));
    return card;
}

QFrame* HostPage::makePeopleCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("Committee and members"), "heading", card));
    m_needed = makeWrappedLabel({}, "muted", card);
    m_needed->setObjectName(QStringLiteral("seatsNeeded"));
    column->addWidget(m_needed);
    m_people = new PeopleList(card);
    m_people->setObjectName(QStringLiteral("people"));
    column->addWidget(m_people);
    addPeopleButtons(*column, card);
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    m_key = new QLineEdit(card);
    m_key->setObjectName(QStringLiteral("newKey"));
    m_key->setMaxLength(static_cast<int>(id_bytes_max));
    m_key->setPlaceholderText(tr("Member's key (64 digits)"));
    m_key->setAccessibleName(tr("Key of another computer"));
    m_letIn = makeButton(tr("&Admit…"), {}, Emphasis::normal, card);
    m_letIn->setObjectName(QStringLiteral("letIn"));
    row->addWidget(m_key, 1);
    row->addWidget(m_letIn);
    column->addLayout(row);
    m_waiting = makeWrappedLabel({}, "muted", card);
    m_waiting->setObjectName(QStringLiteral("waiting"));
    m_waiting->hide();
    column->addWidget(m_waiting);
    connect(m_people, &PeopleList::choiceChanged, this, &HostPage::refreshButtons);
    connect(m_key, &QLineEdit::textChanged, this, &HostPage::refreshButtons);
    connect(m_letIn, &QPushButton::clicked, this, &HostPage::askToLetIn);
    return card;
}

void HostPage::addPeopleButtons(QBoxLayout& column, QWidget* card) {
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    const auto add = [&](const QString& text, const char* name) {
        QPushButton* button = makeButton(text, {}, Emphasis::normal, card);
        button->setObjectName(QLatin1String(name));
        row->addWidget(button);
        return button;
    };
    m_ban = add(tr("&Ban…"), "ban");
    m_readmit = add(tr("&Readmit…"), "readmit");
    m_vouch = add(tr("&Trust as deputy…"), "vouch");
    row->addStretch(1);
    column.addLayout(row);
    m_replace = makeButton(tr("Make those &ticked the committee…"), {}, Emphasis::normal, card);
    m_replace->setObjectName(QStringLiteral("replaceCommittee"));
    m_close = makeButton(tr("&Close the run to strangers…"), {}, Emphasis::normal, card);
    m_close->setObjectName(QStringLiteral("closeRun"));
    column.addWidget(m_replace, 0, Qt::AlignLeft);
    column.addWidget(m_close, 0, Qt::AlignLeft);
    connect(m_ban, &QPushButton::clicked, this, [this] { askAboutSelected(ModerationKind::ban); });
    connect(m_readmit, &QPushButton::clicked, this, [this] { askAboutSelected(ModerationKind::readmit); });
    connect(m_vouch, &QPushButton::clicked, this, [this] { askAboutSelected(ModerationKind::allow); });
    connect(m_replace, &QPushButton::clicked, this, &HostPage::askForCommittee);
    connect(m_close, &QPushButton::clicked, this, &HostPage::askToCloseOrOpen);
}

QFrame* HostPage::makeCheckpointCard() {
    QFrame* card = makeCard(this);
    QBoxLayout* column = cardLayout(card);
    column->addWidget(makeLabel(tr("Go back"), "heading", card));
    column->addWidget(makeWrappedLabel(
        tr("If training went wrong, the next round can begin with an earlier checkpoint."), "muted", card));
    auto* row = new QHBoxLayout;
    row->setSpacing(grid);
    m_checkpoints = new QComboBox(card);
    m_checkpoints->setObjectName(QStringLiteral("checkpoints"));
    m_checkpoints->setAccessibleName(tr("Checkpoint to go back to"));
    m_back = makeButton(tr("&Go back to it…"), {}, Emphasis::normal, card);
    m_back->setObjectName(QStringLiteral("rollBack"));
    row->addWidget(m_checkpoints, 1);
    row->addWidget(m_back);
    column->addLayout(row);
    connect(m_back, &QPushButton::clicked, this, &HostPage::askToGoBack);
    return card;
}

void HostPage::askToChange(const QString& title, const QString& text, const QString& yes,
                           std::function<void()> agreed) {
    ask({.title = title, .text = text, .yes = yes, .no = tr("&Cancel")}, this, std::move(agreed));
}

void HostPage::askAboutSelected(ModerationKind kind) {
    const auto person = m_people->selected();
    if (!person) return;
    const auto agreed = [this, kind, id = person->id] { m_client.moderate(kind, id); };
    const QString& name = person->name;
    switch (kind) {
        case ModerationKind::ban:
            return askToChange(tr("Ban %1?").arg(name),
                               tr("From the next list on %1 neither contributes nor has a seat. Its credit stays. You "
                                  "can readmit it later; with a new key it is a newcomer.")
                                   .arg(name),
                               tr("&Ban"), agreed);
        case ModerationKind::readmit:
            return askToChange(tr("Readmit %1?").arg(name),
                               tr("From the next list on %1 may contribute again.").arg(name), tr("&Readmit"), agreed);
        default:
            return askToChange(
                tr("Trust %1 as your deputy?").arg(name),
                tr("From the next list on %1 may join, counts in full at once, and may have a seat in the "
                   "committee. Trust only computers of people whom you know well.")
                    .arg(name),
                tr("&Trust"), agreed);
    }
}

void HostPage::askToLetIn() {
    const QString key = m_key->text().trimmed();
    askToChange(
        tr("Let this key in?"),
        tr("From the next list on the computer with the key %1 may join, counts in full at once, and may have a seat "
           "in "
           "the committee. Let in only computers of people whom you trust.")
            .arg(plainText(key, 64)),
        tr("&Let in"), [this, key] { m_client.moderate(ModerationKind::allow, key.toStdString()); });
}

void HostPage::askToGoBack() {
    const std::uint64_t round = m_checkpoints->currentData().toULongLong();
    askToChange(tr("Go back to round %1?").arg(fullCount(round)),
                tr("The next round begins with the model as it was after round %1. Training since then is lost; "
                   "everybody's credit stays.")
                    .arg(fullCount(round)),
                tr("&Go back"), [this, round] { m_client.rollBack(round); });
}

void HostPage::askForCommittee() {
    const std::vector<std::string> keys(m_people->ticked().begin(), m_people->ticked().end());
    askToChange(
        tr("Replace the committee?"),
        tr("From now on %n computer(s) that you ticked decide(s) about the run, at once. This is for a committee that "
           "cannot decide any more; members who went further go back to where this computer is.",
           nullptr, static_cast<int>(keys.size())),
        tr("&Replace"), [this, keys] { m_client.replaceCommittee(keys); });
}

void HostPage::askToCloseOrOpen() {
    if (isClosed(m_client.view())) {
        return askToChange(tr("Open the run?"), tr("From the next list on everybody who is not banned may join again."),
                           tr("&Open"), [this] { m_client.moderate(ModerationKind::open, {}); });
    }
    askToChange(tr("Close the run?"),
                tr("From the next list on only computers that you vouch for take part, and those that the run named at "
                   "its start. Others keep their credit. You can open the run again at any time."),
                tr("C&lose"), [this] { m_client.moderate(ModerationKind::close, {}); });
}

void HostPage::tell(const char* role, const QString& sentence) {
    setRole(m_outcome, role);
    showOrHide(m_outcome, sentence);
}

void HostPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    showOrHide(m_outcome, {});
    if (isInRun(m_client.view())) m_client.requestCommittee();
}

void HostPage::refresh() {
    const NodeView& view = m_client.view();
    if (!isInRun(view) || !view.snapshot.run->succession) return;
    const RunSnapshot& run = *view.snapshot.run;
    if (isVisible() && run.round != std::exchange(m_askedIn, run.round)) m_client.requestCommittee();
    refreshSuccession(run);
    if (!view.committee) return refreshButtons();
    const Committee& committee = *view.committee;
    m_needed->setText(
        tr("%1 of %n seat(s) are needed for each round.", nullptr, static_cast<int>(committee.seats.size()))
            .arg(committee.needed));
    m_people->show(peopleOf(run, committee));
    QStringList waiting;
    for (const std::string& change : committee.waiting) waiting << plainText(change, 120);
    showOrHide(m_waiting, waiting.isEmpty()
                              ? QString()
                              : tr("Waits for the next list: %1").arg(waiting.join(QStringLiteral("; "))));
    if (static_cast<std::size_t>(m_checkpoints->count()) != view.checkpoints.size() ||
        (!view.checkpoints.empty() && m_checkpoints->itemData(0).toULongLong() != view.checkpoints.back().round)) {
        m_checkpoints->clear();
        for (auto row = view.checkpoints.rbegin(); row != view.checkpoints.rend(); ++row)
            m_checkpoints->addItem(tr("After round %1").arg(fullCount(row->round)), qulonglong{row->round});
    }
    refreshButtons();
}

void HostPage::refreshSuccession(const RunSnapshot& run) {
    const auto put = [](QLabel* label, const SuccessionText& words) {
        setRole(label, words.safe ? "good" : "problem");
        label->setText(words.text);
    };
    put(m_carriers, carriersText(*run.succession));
    put(m_data, holdersText(*run.succession));
}

void HostPage::refreshButtons() {
    const bool up = m_client.view().link.state == Link::State::up;
    const auto person = m_people->selected();
    const bool other = up && person && !person->self;
    m_ban->setEnabled(other && !person->banned);
    m_readmit->setEnabled(other && person->banned);
    m_vouch->setEnabled(other && !person->banned && !person->vouched);
    m_letIn->setEnabled(up && m_key->text().trimmed().size() == static_cast<qsizetype>(id_bytes_max));
    m_back->setEnabled(up && m_checkpoints->count() > 0);
    const auto& committee = m_client.view().committee;
    m_close->setEnabled(up && committee);
    m_close->setText(isClosed(m_client.view()) ? tr("&Open the run to everybody…")
                                               : tr("&Close the run to strangers…"));
    std::set<std::string> seats;
    if (committee) {
        for (const SeatRow& seat : committee->seats) seats.insert(seat.id);
    }
    m_replace->setEnabled(up && committee && isCommitteeSize(m_people->ticked().size()) && m_people->ticked() != seats);
}

}  // namespace potluck::ui
