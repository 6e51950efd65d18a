#include "ui/hosting/run_crowd_card.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>

#include "ui/client/plain_text.h"
#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

namespace {

constexpr int usual_volunteers = 10;
constexpr double usual_price = 0.30;
constexpr double price_max = 1000;

}  // namespace

RunCrowdCard::RunCrowdCard(QWidget* parent) : QFrame(parent) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("Who takes part, and for how long"), "heading", this));
    addPeople(*column);
    addTime(*column);
    m_trains = new QCheckBox(tr("Train on this computer, &too"), this);
    m_trains->setObjectName(QStringLiteral("trainsHere"));
    m_trains->setChecked(true);
    m_trains->setAccessibleDescription(tr("Otherwise it only decides and relays."));
    column->addWidget(m_trains, 0, Qt::AlignLeft);
    connect(m_trains, &QCheckBox::toggled, this, &RunCrowdCard::edited);
}

void RunCrowdCard::addPeople(QBoxLayout& column) {
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    m_volunteers = new QSpinBox(this);
    m_volunteers->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_volunteers->setObjectName(QStringLiteral("volunteers"));
    m_volunteers->setRange(1, static_cast<int>(control::volunteers_max));
    m_volunteers->setValue(usual_volunteers);
    m_volunteers->setAccessibleName(tr("Volunteers you expect"));
    row->addWidget(new FormField(tr("&Volunteers you expect"), m_volunteers, this), 1);
    m_gpu = new QComboBox(this);
    m_gpu->setObjectName(QStringLiteral("gpu"));
    m_gpu->setAccessibleName(tr("Their computers"));
    m_gpu->addItem(tr("like this computer"));
    m_gpuField = new FormField(tr("Their comp&uters"), m_gpu, this);
    row->addWidget(m_gpuField, 1);
    column.addLayout(row);
    connect(m_volunteers, &QSpinBox::valueChanged, this, &RunCrowdCard::edited);
    connect(m_gpu, &QComboBox::currentIndexChanged, this, &RunCrowdCard::edited);
}

void RunCrowdCard::addTime(QBoxLayout& column) {
    auto* row = new QHBoxLayout;
    row->setSpacing(2 * grid);
    m_rounds = new QSpinBox(this);
    m_rounds->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_rounds->setObjectName(QStringLiteral("rounds"));
    m_rounds->setRange(0, static_cast<int>(control::rounds_max));
    m_rounds->setSpecialValueText(tr("as planned"));
    m_rounds->setAccessibleName(tr("Rounds until the run is complete"));
    row->addWidget(new FormField(tr("&Rounds"), m_rounds, this), 1);
    m_price = new QDoubleSpinBox(this);
    m_price->setButtonSymbols(QAbstractSpinBox::NoButtons);
    m_price->setObjectName(QStringLiteral("price"));
    m_price->setRange(0, price_max);
    m_price->setValue(usual_price);
    m_price->setSingleStep(usual_price / 10);
    m_price->setAccessibleName(tr("Price of a kilowatt-hour"));
    row->addWidget(new FormField(tr("&Price of a kilowatt-hour"), m_price, this), 1);
    column.addLayout(row);
    connect(m_rounds, &QSpinBox::valueChanged, this, &RunCrowdCard::edited);
    connect(m_price, &QDoubleSpinBox::valueChanged, this, &RunCrowdCard::edited);
}

void RunCrowdCard::offer(const control::RunOptions& options) {
    if (m_gpu->count() > 1) return;
    for (const std::string& gpu : options.gpus) m_gpu->addItem(plainText(gpu, 60), plainText(gpu, 60));
}

void RunCrowdCard::fill(control::EstimateRun& question) const {
    question.volunteers = static_cast<std::uint32_t>(m_volunteers->value());
    question.gpu = m_gpu->currentData().toString().toStdString();
    question.price_per_kilowatt_hour = m_price->value();
    question.choices.rounds = static_cast<std::uint64_t>(m_rounds->value());
    question.choices.role = m_trains->isChecked() ? run::Role::volunteer : run::Role::backbone;
}

FormField* RunCrowdCard::fieldOf(control::ChoiceField place) const {
    return place == control::ChoiceField::gpu ? m_gpuField : nullptr;
}

}  // namespace potluck::ui
