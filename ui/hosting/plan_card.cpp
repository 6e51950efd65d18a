// One row for each figure, found by its enumerator; put() is the only way into one, so that what is shown and what a
// screen reader says never differ.
//
// The card has four states: waiting for a first choice, planning (all figures are dashes), planned, and failed. clear()
// leads to planning at once, before the node is even asked: a figure of the last choice beside a new one would be read
// as its own. Warnings are no problems: the node names those, and a run with a warning may be started.
#include "ui/hosting/plan_card.h"

#include <QLocale>
#include <QPushButton>
#include <QVBoxLayout>

#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::RunEstimate;

namespace {

const QString dash = QStringLiteral("–");

double repeatsOf(const RunEstimate& estimate) {
    return static_cast<double>(estimate.tokens) / static_cast<double>(estimate.data_tokens);
}

}  // namespace

PlanCard::PlanCard(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    auto* column = static_cast<QVBoxLayout*>(cardLayout(this));
    column->addWidget(makeLabel(tr("The plan"), "heading", this));
    m_state = makeWrappedLabel({}, "small", this);
    m_state->setObjectName(QStringLiteral("planState"));
    column->addWidget(m_state);
    addRow(*column, Row::model, tr("Model"), "planModel");
    addRow(*column, Row::data, tr("Data"), "planData");
    addRow(*column, Row::tokens, tr("To train on"), "planTokens");
    addRow(*column, Row::time, tr("Everybody together"), "planTime");
    addRow(*column, Row::worth, tr("Worth of everybody together"), "planWorth");
    QLabel* worth = m_rows[Row::worth];
    worth->setToolTip(
        literalText(tr("Several computers that train together learn less than one that does all their "
                       "work, because they put their results together only now and then. Shorter rounds "
                       "are worth more. Measured with 4 and 16.")));
    addRow(*column, Row::alone, tr("This computer alone"), "planAlone");
    addRow(*column, Row::money, tr("Electricity of all GPUs"), "planMoney");
    addRow(*column, Row::disk, tr("Disk here"), "planDisk");
    addRow(*column, Row::memory, tr("Training here"), "planMemory");
    m_warning = makeWrappedLabel({}, "problem", this);
    m_warning->setObjectName(QStringLiteral("planWarning"));
    m_warning->hide();
    column->addWidget(m_warning);
    m_retry = makeButton(tr("Tr&y again"), {}, Emphasis::normal, this);
    m_retry->setObjectName(QStringLiteral("planAgain"));
    m_retry->hide();
    connect(m_retry, &QPushButton::clicked, this, &PlanCard::retryAsked);
    column->addWidget(m_retry, 0, Qt::AlignLeft);
    m_doubts = makeWrappedLabel({}, "strong", this);
    m_doubts->setObjectName(QStringLiteral("planDoubts"));
    m_doubts->hide();
    column->addWidget(m_doubts);
    column->addStretch(1);
    showOrHide(m_state, tr("It appears once you have chosen what to train on."));
}

void PlanCard::addRow(QVBoxLayout& column, Row row, const QString& title, const char* name) {
    auto* words = makeLabel(title, "small", this);
    auto* value = makeWrappedLabel(dash, "strong", this);
    value->setObjectName(QLatin1String(name));
    value->setAccessibleDescription(title);
    auto* pair = new QVBoxLayout;
    pair->setSpacing(0);
    pair->addWidget(words);
    pair->addWidget(value);
    column.addLayout(pair);
    m_rows[row] = value;
}

void PlanCard::put(Row row, const QString& text) {
    QLabel* value = m_rows[row];
    value->setText(text.isEmpty() ? dash : text);
    const QString said = text.isEmpty() ? tr("not known") : text;
    value->setAccessibleName(value->accessibleDescription() + QStringLiteral(": ") + said);
}

void PlanCard::showWaiting() {
    m_retry->hide();
    showOrHide(m_state, tr("Planning…"));
}

void PlanCard::clear() {
    for (auto row = m_rows.keyBegin(); row != m_rows.keyEnd(); ++row) put(*row, {});
    showOrHide(m_warning, {});
    showOrHide(m_doubts, {});
    showWaiting();
}

void PlanCard::showFailure(const QString& sentence) {
    clear();
    showOrHide(m_state, {});
    showOrHide(m_warning, sentence);
    m_retry->show();
}

QString PlanCard::dataText(const RunEstimate& estimate) {
    if (estimate.data_bytes == 0) return {};
    return tr("%1 in %n file(s), about %2 tokens", nullptr, static_cast<int>(estimate.data_files))
        .arg(sizeText(estimate.data_bytes), shortCount(estimate.data_tokens));
}

QString PlanCard::memoryText(const RunEstimate& estimate) {
    if (estimate.device.empty()) return {};
    const QString memory =
        estimate.gpu_peak > 0
            ? tr("%1 of GPU memory, %2 of memory").arg(sizeText(estimate.gpu_peak), sizeText(estimate.ram_peak))
            : tr("%1 of memory").arg(sizeText(estimate.ram_peak));
    return tr("on %1: %2").arg(plainText(estimate.device, 40), memory);
}

QString PlanCard::worthText(const RunEstimate& estimate) {
    if (estimate.worth_high <= 1) return {};
    const auto count = [](double computers) { return QLocale().toString(computers, 'f', computers < 10 ? 1 : 0); };
    return tr("%1 to %2 computers that train alone").arg(count(estimate.worth_low), count(estimate.worth_high));
}

QString PlanCard::warningsText(const RunEstimate& estimate) {
    QStringList sentences;
    for (const control::PlanWarning warning : estimate.warnings) {
        if (warning == control::PlanWarning::repeats && estimate.data_tokens > 0) {
            sentences << tr("There is little text: the model reads it %1 times, and beyond four times it learns less "
                            "and less from it. Add text, or choose a smaller model or fewer rounds.")
                             .arg(QLocale().toString(repeatsOf(estimate), 'f', 0));
        }
        if (warning == control::PlanWarning::length) {
            sentences << tr("The run would take %1, which is too long for most groups. Choose a smaller model or "
                            "fewer rounds, or find more volunteers.")
                             .arg(spanText(estimate.days));
        }
    }
    return sentences.join(QStringLiteral("\n\n"));
}

void PlanCard::show(const RunEstimate& estimate, const QString& noTrainer) {
    showOrHide(m_state, {});
    put(Row::model, modelText(estimate.model));
    put(Row::data, dataText(estimate));
    const bool often = estimate.data_tokens > 0 && estimate.tokens > estimate.data_tokens;
    const QString tokens = tr("%1 tokens").arg(shortCount(estimate.tokens));
    put(Row::tokens, estimate.tokens == 0 ? QString()
                     : often ? tr("%1, the data %2 times").arg(tokens, QLocale().toString(repeatsOf(estimate), 'f', 1))
                             : tokens);
    put(Row::time, estimate.rounds == 0
                       ? QString()
                       : tr("about %1 in %2 rounds").arg(spanText(estimate.days), fullCount(estimate.rounds)));
    put(Row::worth, worthText(estimate));
    put(Row::alone, spanText(estimate.days_here));
    put(Row::money, estimate.kilowatt_hours <= 0 ? QString()
                                                 : tr("%1 kWh, %2 in your currency")
                                                       .arg(QLocale().toString(estimate.kilowatt_hours, 'f', 1),
                                                            QLocale().toString(estimate.price, 'f', 2)));
    put(Row::disk, estimate.disk == 0
                       ? QString()
                       : tr("about %1 of %2 that are free").arg(sizeText(estimate.disk), sizeText(estimate.disk_free)));
    put(Row::memory, memoryText(estimate));
    QString warning;
    bool retry = false;
    for (const control::ChoiceProblem& problem : estimate.problems) {
        const bool ours = problem.place == control::ChoiceField::disk || problem.place == control::ChoiceField::trainer;
        const bool missing = problem.place == control::ChoiceField::trainer && !noTrainer.isEmpty();
        if (ours && warning.isEmpty()) warning = missing ? noTrainer : plainText(problem.sentence, 400);
        retry = retry || problem.place == control::ChoiceField::trainer;
    }
    showOrHide(m_warning, warning);
    m_retry->setVisible(retry);
    showOrHide(m_doubts, warningsText(estimate));
}

}  // namespace potluck::ui
