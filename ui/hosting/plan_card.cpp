#include "ui/hosting/plan_card.h"

#include <QLocale>
#include <QVBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using control::RunEstimate;

namespace {

const QString dash = QStringLiteral("–");

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
    addRow(*column, Row::alone, tr("This computer alone"), "planAlone");
    addRow(*column, Row::money, tr("Electricity of all GPUs"), "planMoney");
    addRow(*column, Row::disk, tr("Disk here"), "planDisk");
    addRow(*column, Row::memory, tr("Training here"), "planMemory");
    m_warning = makeWrappedLabel({}, "problem", this);
    m_warning->setObjectName(QStringLiteral("planWarning"));
    m_warning->hide();
    column->addWidget(m_warning);
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

void PlanCard::showWaiting() { showOrHide(m_state, tr("Planning…")); }

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

void PlanCard::show(const RunEstimate& estimate) {
    showOrHide(m_state, {});
    const auto days = [](double count) {
        if (count <= 0) return QString();
        if (count * 24 < 2) return tr("%n minute(s)", nullptr, std::max(1, static_cast<int>(count * 24 * 60)));
        if (count < 2) return tr("%n hour(s)", nullptr, static_cast<int>(count * 24));
        return tr("%n day(s)", nullptr, static_cast<int>(std::min(count, 1e9)));
    };
    put(Row::model, plainText(estimate.model, 120));
    put(Row::data, dataText(estimate));
    const bool often = estimate.data_tokens > 0 && estimate.tokens > estimate.data_tokens;
    const QString tokens = tr("%1 tokens").arg(shortCount(estimate.tokens));
    put(Row::tokens, estimate.tokens == 0 ? QString()
                     : often              ? tr("%1, the data %2 times")
                                   .arg(tokens, QLocale().toString(static_cast<double>(estimate.tokens) /
                                                                       static_cast<double>(estimate.data_tokens),
                                                                   'f', 1))
                             : tokens);
    put(Row::time,
        estimate.rounds == 0 ? QString() : tr("%1 in %2 rounds").arg(days(estimate.days), fullCount(estimate.rounds)));
    put(Row::alone, days(estimate.days_here));
    put(Row::money, estimate.kilowatt_hours <= 0 ? QString()
                                                 : tr("%1 kWh, %2 in your currency")
                                                       .arg(QLocale().toString(estimate.kilowatt_hours, 'f', 1),
                                                            QLocale().toString(estimate.price, 'f', 2)));
    put(Row::disk, estimate.disk == 0
                       ? QString()
                       : tr("about %1 of %2 that are free").arg(sizeText(estimate.disk), sizeText(estimate.disk_free)));
    put(Row::memory, memoryText(estimate));
    QString warning;
    for (const control::ChoiceProblem& problem : estimate.problems) {
        const bool ours = problem.place == control::ChoiceField::disk || problem.place == control::ChoiceField::trainer;
        if (ours && warning.isEmpty()) warning = plainText(problem.sentence, 400);
    }
    showOrHide(m_warning, warning);
}

}  // namespace potluck::ui
