// The node judges everything: the page sends the whole form, 400 ms after the last edit and never while an answer is
// outstanding, and shows what comes back. Only what is missing is worded here, because a form that one has just opened
// is empty and not wrong. Start sends what stands in the form; what the node refuses then appears above the button.
//
// A run that is being made is the node's, as its snapshot tells: a window that comes back to a node which makes one
// shows its progress as well.
#include "ui/hosting/start_page.h"

#include <algorithm>

#include <QHBoxLayout>
#include <QPointer>
#include <QProgressBar>
#include <QScrollArea>
#include <QStackedWidget>

#include "ui/client/plain_text.h"
#include "ui/client/trainer_words.h"
#include "ui/hosting/plan_card.h"
#include "ui/hosting/run_crowd_card.h"
#include "ui/hosting/run_source_card.h"
#include "ui/hosting/run_terms_card.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr std::chrono::milliseconds typing_pause{400};
constexpr int side_width = 34 * grid;
constexpr int beside_from = 88 * grid;  // of the page's width: below it the plan goes under the form
constexpr int progress_steps = 1000;

QString stageText(MakingStage stage) {
    switch (stage) {
        case MakingStage::model: return StartPage::tr("Making the model that everybody begins with");
        case MakingStage::reading: return StartPage::tr("Reading what to train on");
        case MakingStage::tokenizing: return StartPage::tr("Turning it into tokens");
        case MakingStage::shuffling: return StartPage::tr("Shuffling it");
        case MakingStage::hashing: return StartPage::tr("Hashing what will be shared");
    }
    return {};
}

}  // namespace

StartPage::StartPage(NodeClient& client, QWidget* parent) : QWidget(parent), m_client(client) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    column->addWidget(makeLabel(tr("Start a run"), "title", this));
    m_stack = new QStackedWidget(this);
    m_formPage = makeForm();
    m_stack->addWidget(m_formPage);
    m_stack->addWidget(makeProgress());
    column->addWidget(m_stack, 1);
    m_pause.setSingleShot(true);
    m_pause.setInterval(typing_pause);
    connect(&m_pause, &QTimer::timeout, this, &StartPage::ask);
    connect(&client, &NodeClient::changed, this, &StartPage::refresh);
    connect(&client, &NodeClient::estimated, this, &StartPage::take);
    connect(&client, &NodeClient::runOptionsChanged, this, [this] {
        m_source->offer(*m_client.view().runOptions);
        m_crowd->offer(*m_client.view().runOptions);
    });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<HostRun> && std::exchange(m_asked, false)) emit started();
        if (method == method_of<EstimateRun> && m_stale) ask();
        refresh();
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method == method_of<HostRun> && std::exchange(m_asked, false)) showOrHide(m_problem, sentence);
        if (method == method_of<EstimateRun>) m_plan->showFailure(sentence);
        refresh();
    });
    refresh();
}

QWidget* StartPage::makeForm() {
    auto* form = new QWidget(this);
    auto* column = new QVBoxLayout(form);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2 * grid);
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    const ScrolledCards cards = makeScrolledCards(form);
    const ScrolledCards beside = makeScrolledCards(form);
    m_side = beside.area;
    m_side->setFixedWidth(side_width);
    m_form = cards.area;
    m_cards = cards.column;
    m_beside = beside.column;
    m_source = new RunSourceCard(form);
    // In the order in which they stand, which is the Tab key's.
    m_terms = new RunTermsCard(m_client, form);
    m_crowd = new RunCrowdCard(form);
    m_plan = new PlanCard(form);
    m_cards->addWidget(m_source);
    m_cards->addWidget(m_terms);
    m_cards->addWidget(m_crowd);
    m_beside->addWidget(m_plan);
    connect(m_terms, &RunTermsCard::edited, this, &StartPage::edited);
    const auto planChanges = [this] {
        m_plan->clear();
        edited();
    };
    connect(m_source, &RunSourceCard::edited, this, planChanges);
    connect(m_crowd, &RunCrowdCard::edited, this, planChanges);
    connect(m_plan, &PlanCard::retryAsked, this, &StartPage::ask);
    row->addWidget(cards.area, 1);
    row->addWidget(m_side);
    column->addLayout(row, 1);
    column->addWidget(makeFoot());
    return form;
}

QWidget* StartPage::makeFoot() {
    auto* foot = new QWidget(this);
    auto* row = new QHBoxLayout(foot);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2 * grid);
    m_problem = makeWrappedLabel({}, "problem", foot);
    m_problem->setObjectName(QStringLiteral("startProblem"));
    QSizePolicy keeps = m_problem->sizePolicy();
    keeps.setRetainSizeWhenHidden(true);  // or the button would take the whole row
    m_problem->setSizePolicy(keeps);
    m_start = makeButton(tr("&Start the run"), {}, Emphasis::primary, foot);
    m_start->setObjectName(QStringLiteral("startRun"));
    row->addWidget(m_problem, 1);
    row->addWidget(m_start);
    connect(m_start, &QPushButton::clicked, this, &StartPage::start);
    return foot;
}

QWidget* StartPage::makeProgress() {
    auto* page = new QWidget(this);
    auto* outer = new QVBoxLayout(page);
    outer->setContentsMargins(0, 0, 0, 0);
    QFrame* card = makeCard(page);
    QBoxLayout* column = cardLayout(card);
    m_making = makeWrappedLabel({}, "heading", card);
    m_making->setObjectName(QStringLiteral("making"));
    m_stage = makeWrappedLabel({}, "muted", card);
    m_stage->setObjectName(QStringLiteral("stage"));
    m_progress = new QProgressBar(card);
    m_progress->setRange(0, progress_steps);
    m_progress->setTextVisible(false);
    m_progress->setAccessibleName(tr("Progress of making the run"));
    auto* cancel = makeButton(tr("&Cancel"), {}, Emphasis::normal, card);
    cancel->setObjectName(QStringLiteral("cancelHosting"));
    for (QWidget* part : std::initializer_list<QWidget*>{m_making, m_stage, m_progress}) column->addWidget(part);
    column->addWidget(makeWrappedLabel(tr("You may go on using Potluck meanwhile."), "muted", card));
    column->addWidget(cancel, 0, Qt::AlignLeft);
    outer->addWidget(card);
    outer->addStretch(1);
    connect(cancel, &QPushButton::clicked, this, [this] { m_client.cancelHosting(); });
    return page;
}

void StartPage::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    place();
}

void StartPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    if (m_client.view().link.state == Link::State::up) m_client.requestRunOptions();
}

void StartPage::place() {
    const bool beside = width() >= beside_from;
    QBoxLayout* target = beside ? m_beside : m_cards;
    m_side->setVisible(beside);
    if (target->indexOf(m_plan) < 0) target->addWidget(m_plan);
}

EstimateRun StartPage::question() const {
    EstimateRun question;
    m_source->fill(question.choices);
    m_terms->fill(question.choices);
    m_crowd->fill(question);
    return question;
}

void StartPage::edited() {
    m_stale = true;
    showOrHide(m_problem, {});
    m_pause.start();
}

void StartPage::ask() {
    if (m_client.waitsFor(method_of<EstimateRun>) || m_client.view().link.state != Link::State::up) return;
    m_stale = false;
    m_plan->showWaiting();
    m_client.estimateRun(question());
}

void StartPage::take(const RunEstimate& estimate) {
    m_estimate = estimate;
    // Else it is of another choice, and the next one is asked for.
    if (!m_stale) m_plan->show(estimate, noTrainerText(m_client.view().snapshot));
    showProblems();
}

QString StartPage::missingIn(const RunChoices& choices, ChoiceField place) {
    if (place == ChoiceField::data && choices.data.empty()) return tr("Choose what to train on.");
    if (place == ChoiceField::name && choices.run_name.empty()) return tr("Give the run a name.");
    if (place == ChoiceField::licence && choices.licence.empty()) return tr("Choose a licence.");
    if (place == ChoiceField::allowed && choices.allowed.empty())
        return tr("List at least one key, or let anybody join.");
    if (place == ChoiceField::tokenizer && choices.tokenizer.empty())
        return tr("Choose the tokenizer that made these tokens.");
    return {};
}

FormField* StartPage::fieldOf(ChoiceField place) const {
    if (FormField* field = m_source->fieldOf(place)) return field;
    if (FormField* field = m_terms->fieldOf(place)) return field;
    return m_crowd->fieldOf(place);
}

int StartPage::showProblems() {
    const RunChoices choices = question().choices;
    for (std::size_t i = 0; i < names<ChoiceField>.size(); ++i) {
        if (FormField* field = fieldOf(static_cast<ChoiceField>(i))) field->showProblem({});
    }
    int shown = 0;
    for (const ChoiceProblem& problem : m_estimate.problems) {
        if (problem.place == ChoiceField::trainer) continue;  // the plan says it; who relays needs none
        ++shown;
        const QString missing = missingIn(choices, problem.place);
        FormField* field = fieldOf(problem.place);
        if (field == nullptr || field->hasProblem() || (!missing.isEmpty() && !m_insisted)) continue;
        field->showProblem(missing.isEmpty() ? plainText(problem.sentence, 400) : missing);
    }
    return shown;
}

void StartPage::goToFirstProblem() {
    const QList<FormField*> fields = m_form->findChildren<FormField*>();
    const auto first = std::find_if(fields.begin(), fields.end(), [](FormField* field) { return field->hasProblem(); });
    if (first == fields.end()) return;
    (*first)->takeFocus();
    // Its sentence has just been shown, so that it is higher once the layout has run.
    QMetaObject::invokeMethod(
        this,
        [this, field = QPointer(*first)] {
            if (field) m_form->ensureWidgetVisible(field);
        },
        Qt::QueuedConnection);
}

void StartPage::start() {
    RunChoices choices = question().choices;
    m_insisted = true;
    if (!m_stale && showProblems() > 0) {
        goToFirstProblem();
        return showOrHide(m_problem, tr("Please fix the fields marked in red."));
    }
    if (choices.rounds == 0) choices.rounds = m_estimate.rounds;
    m_asked = true;
    m_terms->saveOwnName();
    m_client.hostRun(choices);
    refresh();
}

bool StartPage::isMaking() const {
    return m_client.view().snapshot.preparation.has_value() || m_client.waitsFor(method_of<HostRun>);
}

void StartPage::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up;
    if (up && isVisible()) m_client.requestRunOptions();
    m_start->setEnabled(up && !isMaking());
    m_stack->setCurrentIndex(isMaking() ? 1 : 0);
    if (!view.snapshot.preparation) return;
    const Preparation& making = *view.snapshot.preparation;
    m_making->setText(tr("“%1” is being made").arg(plainText(making.run_name, 60)));
    m_stage->setText(stageText(making.stage));
    const auto stages = static_cast<double>(names<MakingStage>.size());
    const double whole = (static_cast<double>(making.stage) + making.fraction) / stages;
    m_progress->setValue(static_cast<int>(whole * progress_steps));
}

}  // namespace potluck::ui
