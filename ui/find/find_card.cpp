// Cards are kept by run and host and filled anew, so that an answer of the node moves no focus and closes no preview;
// only a run that goes takes its card along. Strangers' runs are folded, and unfolded some at a time: ten thousand of
// them cannot fill a window, since the node holds 512 and this page shows 20 more with each press.
//
// What is hidden is left out here and nowhere else (hidden_runs.h).
#include "ui/find/find_card.h"

#include <algorithm>
#include <utility>

#include <QCheckBox>
#include <QComboBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"
#include "ui/client/trainer_words.h"
#include "ui/find/found_run_card.h"
#include "ui/find/found_words.h"
#include "ui/find/hidden_runs.h"
#include "ui/find/lists_card.h"
#include "ui/find/run_search.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"
#include "ui/widgets/wrapping_row.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr std::size_t strangers_step = 20;
// A minute and more in many short rounds: a contribution says of each value little more than its sign, and what it
// leaves out comes with the next ones.
constexpr std::uint64_t try_rounds = 20, try_window_seconds = 3;
constexpr int title_width_min = 20 * grid, filter_width_min = 16 * grid;

/// The choices in `combo` become "all" and `texts` by their values; what was chosen stays chosen.
void offer(QComboBox& combo, const QString& all, const std::map<QString, QString>& texts) {
    if (combo.count() == static_cast<int>(texts.size()) + 1 &&
        std::ranges::all_of(texts, [&](const auto& one) { return combo.findData(one.first) >= 0; }))
        return;
    const QString chosen = combo.currentData().toString();
    combo.clear();
    combo.addItem(all, QString());
    for (const auto& [value, text] : texts) combo.addItem(text, value);
    combo.setCurrentIndex(std::max(0, combo.findData(chosen)));
}

/// The widget at `place` of `column` is `card`, whatever stood there.
void putAt(QVBoxLayout& column, int place, QWidget* card) {
    const QLayoutItem* there = column.itemAt(place);
    if (there == nullptr || there->widget() != card) column.insertWidget(place, card);
}

}  // namespace

FindCard::FindCard(NodeClient& client, const Desktop& desktop, QWidget* parent)
    : QFrame(parent), m_client(client), m_desktop(desktop), m_strangersShown(strangers_step) {
    m_search = new RunSearch(client, RunSearch::For::newcomers, this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(grid);
    addHead(*column);
    m_status = makeWrappedLabel({}, "muted", this);
    m_status->setObjectName(QStringLiteral("findStatus"));
    column->addWidget(m_status);
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("findProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    m_filters = makeFilters();
    column->addWidget(m_filters);
    m_listed = addGroup(*column, "foundListed", tr("Vouched for by somebody you follow"));
    m_near = addGroup(*column, "foundNear", tr("In your network"));
    addStrangers(*column);
    m_unhide = makeButton({}, {}, Emphasis::quiet, this);
    m_unhide->setObjectName(QStringLiteral("findUnhide"));
    column->addWidget(m_unhide, 0, Qt::AlignLeft);
    m_lists = new ListsCard(client, this);
    column->addWidget(m_lists);
    connect(m_lists, &ListsCard::listsChanged, m_search, &RunSearch::lookAgain);
    connect(m_unhide, &QPushButton::clicked, this, &FindCard::showHiddenAgain);
    connect(m_search, &RunSearch::changed, this, &FindCard::refresh);
    connect(&client, &NodeClient::devicesChanged, this, &FindCard::refresh);
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<HostRun>) m_tries = false;
        if (method == method_of<Join> || method == method_of<HostRun>) showOrHide(m_problem, {});
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<Join> || (method == method_of<HostRun> && std::exchange(m_tries, false)))
            showOrHide(m_problem, sentence);
        refreshTry();
    });
    connect(&client, &NodeClient::changed, this, &FindCard::refreshTry);
    refresh();
    refreshTry();
}

void FindCard::addHead(QBoxLayout& column) {
    auto* head = new WrappingRow;
    head->setSpacing(grid);
    head->addStretching(makeLabel(tr("Find a run"), "title", this), title_width_min);
    auto* start = makeButton(tr("&Start a run…"), {}, Emphasis::normal, this);
    start->setObjectName(QStringLiteral("startOwn"));
    start->setAccessibleDescription(tr("Start a run that trains on your text."));
    connect(start, &QPushButton::clicked, this, &FindCard::startAsked);
    m_try = makeButton(tr("&Try it here now"), {}, Emphasis::normal, this);
    m_try->setObjectName(QStringLiteral("tryAlone"));
    m_try->setAccessibleDescription(
        tr("Trains a small model on Potluck's own documents, on this computer alone, for a minute or two; then you "
           "can write with it."));
    m_try->setToolTip(literalText(m_try->accessibleDescription()));
    connect(m_try, &QPushButton::clicked, this, &FindCard::tryAlone);
    head->add(m_try);
    head->add(start);
    setTabOrder(m_try, start);
    column.addLayout(head);
    column.addWidget(makeWrappedLabel(tr("Join a run and your computer helps to train a model together with other "
                                         "volunteers. Choose one, or paste the invite that a host gave you."),
                                      "muted", this));
}

/// A closed run: nobody joins it, and nobody is told of it.
void FindCard::tryAlone() {
    const Result<QString> text = m_desktop.shipped_text();
    if (!text) return showOrHide(m_problem, plainText(text.error().message, 300));
    RunChoices choices;
    choices.data = text->toStdString();
    choices.model = "tiny";
    choices.rounds = try_rounds;
    choices.window_seconds = try_window_seconds;
    choices.run_name = tr("Try it here").toStdString();
    choices.purpose = tr("To see what training is like; this computer is alone in it.").toStdString();
    choices.licence = "Apache-2.0";
    choices.admission = Admission::listed;
    choices.allowed = {m_client.view().snapshot.peer_id};
    m_tries = true;
    showOrHide(m_problem, {});
    m_client.hostRun(choices);
    refreshTry();
}

void FindCard::refreshTry() {
    const NodeView& view = m_client.view();
    const bool makes = view.snapshot.preparation.has_value() || m_client.waitsFor(method_of<HostRun>);
    m_try->setVisible(static_cast<bool>(m_desktop.shipped_text));
    m_try->setEnabled(view.link.state == Link::State::up && !makes && !isInRun(view) &&
                      noTrainerText(view.snapshot).isEmpty());
    m_try->setText(makes && m_tries ? tr("Preparing…") : tr("&Try it here now"));
}

QWidget* FindCard::makeFilters() {
    auto* filters = new QWidget(this);
    auto* row = new WrappingRow(filters);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(grid);
    m_family = new QComboBox(filters);
    m_family->setObjectName(QStringLiteral("findFamily"));
    m_family->setAccessibleName(tr("Kind of model"));
    m_language = new QComboBox(filters);
    m_language->setObjectName(QStringLiteral("findLanguage"));
    m_language->setAccessibleName(tr("Language"));
    m_fits = new QCheckBox(tr("&Fits this computer"), filters);
    m_fits->setObjectName(QStringLiteral("findFits"));
    row->addStretching(m_family, filter_width_min);
    row->addStretching(m_language, filter_width_min);
    row->add(m_fits);
    connect(m_family, &QComboBox::activated, this, &FindCard::refresh);
    connect(m_language, &QComboBox::activated, this, &FindCard::refresh);
    connect(m_fits, &QCheckBox::toggled, this, &FindCard::refresh);
    return filters;
}

FindCard::Group FindCard::addGroup(QBoxLayout& column, const char* name, const QString& title) {
    Group group;
    group.box = new QWidget(this);
    group.box->setObjectName(QLatin1String(name));
    auto* inner = new QVBoxLayout(group.box);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(grid);
    group.title = makeWrappedLabel(title, "heading", group.box);
    inner->addWidget(group.title);
    group.cards = new QVBoxLayout;
    group.cards->setSpacing(grid);
    inner->addLayout(group.cards);
    column.addWidget(group.box);
    return group;
}

void FindCard::addStrangers(QBoxLayout& column) {
    m_unfold = makeButton({}, {}, Emphasis::normal, this);
    m_unfold->setObjectName(QStringLiteral("findUnfold"));
    m_unfold->setCheckable(true);
    column.addWidget(m_unfold, 0, Qt::AlignLeft);
    m_others = addGroup(column, "foundOthers", tr("Not vouched for by anybody you follow"));
    m_warning = makeWrappedLabel(
        tr("Anybody can announce a run. Of these Potluck knows only what their hosts say: names, purposes and losses "
           "may "
           "be made up. Joining one runs none of its host's code here, but your computer's work goes to it, and its "
           "members see your internet address."),
        "muted", m_others.box);
    m_warning->setObjectName(QStringLiteral("findWarning"));
    static_cast<QVBoxLayout*>(m_others.box->layout())->insertWidget(1, m_warning);
    m_more = makeButton(tr("Show more of them"), {}, Emphasis::normal, m_others.box);
    m_more->setObjectName(QStringLiteral("findMore"));
    m_others.box->layout()->addWidget(m_more);
    connect(m_unfold, &QPushButton::toggled, this, [this](bool on) {
        m_unfolded = on;
        refresh();
    });
    connect(m_more, &QPushButton::clicked, this, [this] {
        m_strangersShown += strangers_step;
        refresh();
    });
}

void FindCard::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    m_search->look();
}

void FindCard::hideEvent(QHideEvent* event) {
    m_search->rest();
    QFrame::hideEvent(event);
}

bool FindCard::isWanted(const FoundRun& run) const {
    const QString family = m_family->currentData().toString(), language = m_language->currentData().toString();
    if (!family.isEmpty() && plainText(run.family, 60) != family) return false;
    if (!language.isEmpty() && plainText(run.language, 35) != language) return false;
    if (!m_fits->isChecked()) return true;
    const Fit fit = fitOf(run, m_client.view().devices);
    return fit == Fit::yes || fit == Fit::perhaps;
}

void FindCard::focusAfterHiding() {
    refresh();
    m_unhide->setFocus();  // the button that had it is gone
}

void FindCard::showHiddenAgain() {
    for (const FoundRun& run : m_search->found().rows) {
        hideRun(m_desktop, plainText(run.id, 64), false);
        hideHost(m_desktop, plainText(run.host, 64), false);
    }
    refresh();
}

FoundRunCard* FindCard::cardOf(const FoundRun& run) {
    FoundRunCard*& card = m_cards[Key(run.id, run.host)];
    if (card == nullptr) {
        card = new FoundRunCard(m_client, this);
        connect(card, &FoundRunCard::joinAsked, this, &FindCard::joinAsked);
        connect(card, &FoundRunCard::hideRunAsked, this, [this](const QString& id) {
            hideRun(m_desktop, id);
            focusAfterHiding();
        });
        connect(card, &FoundRunCard::hideHostAsked, this, [this](const QString& id) {
            hideHost(m_desktop, id);
            focusAfterHiding();
        });
    }
    card->setRun(run);
    return card;
}

FindCard::Group& FindCard::groupOf(const FoundRun& run) {
    if (run.vouched_by == VouchedBy::nobody) return m_others;
    return run.vouched_by == VouchedBy::network ? m_near : m_listed;
}

void FindCard::refresh() {
    m_lists->setLists(m_search->found().lists);
    refreshFilters();
    std::vector<FoundRunCard*> shown;
    std::size_t hidden = 0, vouched = 0, strangers = 0;
    for (const FoundRun& run : m_search->found().rows) {
        if (isHiddenRun(m_desktop, run)) {
            ++hidden;
            continue;
        }
        if (!isWanted(run)) continue;
        const bool isStranger = run.vouched_by == VouchedBy::nobody;
        ++(isStranger ? strangers : vouched);
        if (isStranger && (!m_unfolded || strangers > m_strangersShown)) continue;
        FoundRunCard* card = cardOf(run);
        if (std::ranges::find(shown, card) == shown.end()) shown.push_back(card);
    }
    placeCards(shown);
    dropCards(shown);
    refreshStrangers(strangers);
    refreshStatus(vouched + strangers, hidden);
}

void FindCard::dropCards(const std::vector<FoundRunCard*>& kept) {
    std::erase_if(m_cards, [&kept](const auto& entry) {
        if (std::ranges::find(kept, entry.second) != kept.end()) return false;
        entry.second->hide();
        entry.second->deleteLater();
        return true;
    });
}

/// The Tab key goes through the cards as they stand.
void FindCard::placeCards(const std::vector<FoundRunCard*>& inOrder) {
    std::map<QVBoxLayout*, int> places;
    for (FoundRunCard* card : inOrder) {
        QVBoxLayout* column = groupOf(card->run()).cards;
        putAt(*column, places[column]++, card);
        card->show();
    }
    m_listed.box->setVisible(places[m_listed.cards] > 0);
    m_near.box->setVisible(places[m_near.cards] > 0);
    if (inOrder == m_order) return;
    m_order = inOrder;
    QWidget* last = m_fits;
    bool unfolded = false;
    const auto tabTo = [&last](QWidget* next) {
        setTabOrder(last, next);
        last = next;
    };
    for (const FoundRunCard* card : inOrder) {
        if (card->run().vouched_by == VouchedBy::nobody && !std::exchange(unfolded, true)) tabTo(m_unfold);
        last = card->tabAfter(last);
    }
    if (!unfolded) tabTo(m_unfold);
    tabTo(m_more);
    tabTo(m_unhide);
    m_lists->tabAfter(last);
}

void FindCard::offerList(const QString& link) { m_lists->offer(link); }

void FindCard::refreshStrangers(std::size_t count) {
    m_unfold->setVisible(count > 0);
    const QString text = tr("Not vouched for by anybody you follow (%1)").arg(count);
    m_unfold->setText(m_unfolded ? tr("Fold these away") : text);
    m_unfold->setAccessibleDescription(tr("Shows runs of which Potluck knows only what their hosts say."));
    m_others.box->setVisible(count > 0 && m_unfolded);
    m_more->setVisible(count > m_strangersShown);
}

void FindCard::refreshFilters() {
    std::map<QString, QString> families, languages;
    for (const FoundRun& run : m_search->found().rows) {
        if (isHiddenRun(m_desktop, run)) continue;
        if (const QString family = plainText(run.family, 60); !family.isEmpty()) families.emplace(family, family);
        if (const QString tag = plainText(run.language, 35); !tag.isEmpty())
            languages.emplace(tag, languageText(run.language));
    }
    offer(*m_family, tr("Every kind of model"), families);
    offer(*m_language, tr("Every language"), languages);
    m_filters->setVisible(!m_search->found().rows.empty());
}

void FindCard::refreshStatus(std::size_t shown, std::size_t hidden) {
    const FoundRuns& found = m_search->found();
    QString text;
    if (!m_search->problem().isEmpty()) {
        text = m_search->problem();
    } else if (shown > 0) {
        text = tr("These runs are looking for company. Preview one first: that joins nothing.");
    } else if (!found.rows.empty()) {
        text = hidden == found.rows.size() ? tr("Everything that was found is hidden.")
                                           : tr("No run that was found is of this kind.");
    } else if (!m_search->hasLooked()) {
        text = tr("Looking for runs that want company…");
    } else if (found.neighbours > 0) {
        text = tr("Nobody is announcing a run right now. Potluck keeps looking; meanwhile you can start your own.");
    } else {
        text = tr("Nobody who knows of runs has answered yet. Potluck keeps looking; you can also paste an invite.");
    }
    m_status->setText(text);
    m_unhide->setVisible(hidden > 0);
    m_unhide->setText(tr("%1 hidden: show again").arg(hidden));
}

}  // namespace potluck::ui
