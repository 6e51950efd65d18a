// The parts of a plan change when a trainer is loaded or falls back to a smaller plan, and the figures every second, so
// the rows of the parts are made anew only where their words or sizes differ from those that stand there.
//
// A plan's parts are named by the trainer, in English; those that it is known to name are said in the person's language
// and any other as it is.
#include "ui/resources/computer_card.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <QBoxLayout>
#include <QGridLayout>
#include <QLabel>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int part_characters_max = 60, device_characters_max = 200;
constexpr int part_columns = 2;

using PartName = std::pair<std::string_view, const char*>;
// Those of core/training/memory/price.cpp.
constexpr std::array part_names = {
    PartName{"program and LibTorch", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Program and LibTorch")},
    PartName{"CUDA and LibTorch", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "CUDA and LibTorch")},
    PartName{"weights", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Weights")},
    PartName{"copy for the products", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Copy for matrix products")},
    PartName{"gradient", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Gradient")},
    PartName{"gradients of further devices",
             QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Gradients of further devices")},
    PartName{"gradient of a block", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Gradient of a block")},
    PartName{"optimizer state", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Moments of the optimizer")},
    PartName{"anchor", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Anchor: the model of the round")},
    PartName{"moments while paused", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Moments while paused")},
    PartName{"activations", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Activations")},
    PartName{"momentum at work", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Momentum at work")},
    PartName{"work space", QT_TRANSLATE_NOOP("potluck::ui::ComputerCard", "Work space")},
};

QString partText(const std::string& what) {
    for (const auto& [name, words] : part_names) {
        if (name == what) return ComputerCard::tr(words);
    }
    return plainText(what, part_characters_max);
}

/// "2.9 GB on the GPU, 5.8 GB on disk"
QString placesText(const PlanPart& part) {
    QStringList places;
    if (part.gpu > 0) places << ComputerCard::tr("%1 on the GPU").arg(sizeText(part.gpu));
    if (part.ram > 0) places << ComputerCard::tr("%1 in memory").arg(sizeText(part.ram));
    if (part.disk > 0) places << ComputerCard::tr("%1 on disk").arg(sizeText(part.disk));
    return places.join(QStringLiteral(", "));
}

bool isProcessor(const TrainerSnapshot& trainer) { return trainer.device_id == "cpu"; }
/// Whether the trainer has told of its work yet.
bool hasBegun(const TrainerSnapshot& trainer) { return trainer.tokens_per_second > 0; }

QString powerText(const TrainerSnapshot& trainer) {
    if (trainer.watts && isProcessor(trainer))
        return ComputerCard::tr("%1, the whole processor with all programs").arg(wattText(*trainer.watts));
    if (trainer.watts) return wattText(*trainer.watts);
    if (!hasBegun(trainer)) return ComputerCard::tr("not measured yet");
    return isProcessor(trainer) ? ComputerCard::tr("unknown: this processor does not report its power")
                                : ComputerCard::tr("unknown: this device does not report its power");
}

QString heatOf(const TrainerSnapshot& trainer) {
    if (trainer.celsius) return heatText(*trainer.celsius);
    return hasBegun(trainer) ? ComputerCard::tr("not known: no sensor of it can be read here")
                             : ComputerCard::tr("not measured yet");
}

/// Why there are no figures.
QString stateText(const NodeView& view) {
    if (view.link.state != Link::State::up) return ComputerCard::tr("Potluck's background program does not run.");
    switch (view.snapshot.trainer.state) {
        case TrainerState::starting: return ComputerCard::tr("Training is starting.");
        case TrainerState::stopping: return ComputerCard::tr("Training is ending.");
        case TrainerState::training: return {};
        case TrainerState::absent:
        case TrainerState::failed: break;
    }
    return ComputerCard::tr("Nothing is trained now, and the memory for it is free.");
}

}  // namespace

ComputerCard::ComputerCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("This computer"), "heading", this));
    m_state = makeWrappedLabel({}, "muted", this);
    m_state->setObjectName(QStringLiteral("computerState"));
    column->addWidget(m_state);
    m_figures = new FigureTable(this);
    m_device = m_figures->add(tr("Trains on"), "computerDevice");
    m_speed = m_figures->add(tr("Speed"), "computerSpeed");
    m_power = m_figures->add(tr("Power"), "computerPower");
    m_heat = m_figures->add(tr("Temperature"), "computerHeat");
    m_memory = m_figures->add(tr("Memory in use"), "computerMemory");
    column->addWidget(m_figures);
    m_partsTitle = makeLabel(tr("What the plan sets aside"), "strong", this);
    column->addWidget(m_partsTitle);
    m_parts = new QWidget(this);
    m_parts->setObjectName(QStringLiteral("computerParts"));
    m_partRows = new QGridLayout(m_parts);
    m_partRows->setContentsMargins(0, 0, 0, 0);
    m_partRows->setHorizontalSpacing(3 * grid);
    m_partRows->setColumnStretch(part_columns, 1);
    column->addWidget(m_parts);
    connect(&client, &NodeClient::changed, this, &ComputerCard::refresh);
    refresh();
}

void ComputerCard::refresh() {
    const NodeView& view = m_client.view();
    const TrainerSnapshot& trainer = view.snapshot.trainer;
    const QString state = stateText(view);
    showOrHide(m_state, state);
    const bool trains = state.isEmpty();
    m_figures->setVisible(trains);
    showParts(trains ? trainer.parts : std::vector<PlanPart>());
    if (!trains) return;
    m_device->setText(plainText(trainer.device, device_characters_max));
    m_speed->setText(
        hasBegun(trainer)
            ? tr("%1 tokens per second").arg(shortCount(static_cast<std::uint64_t>(trainer.tokens_per_second)))
            : tr("not measured yet"));
    m_power->setText(powerText(trainer));
    m_heat->setText(heatOf(trainer));
    m_memory->setText(trainer.resident > 0 ? sizeText(trainer.resident) : tr("not measured yet"));
}

void ComputerCard::showParts(const std::vector<PlanPart>& parts) {
    m_partsTitle->setVisible(!parts.empty());
    m_parts->setVisible(!parts.empty());
    QStringList cells;
    for (const PlanPart& part : parts) {
        cells << partText(part.what) << placesText(part);
    }
    const QList<QLabel*> before = m_parts->findChildren<QLabel*>(Qt::FindDirectChildrenOnly);
    const bool same = std::ranges::equal(before, cells, {}, [](const QLabel* label) { return label->text(); });
    if (same) return;
    for (QLabel* label : before) delete label;
    for (qsizetype i = 0; i < cells.size(); ++i) {
        const auto row = static_cast<int>(i / part_columns), place = static_cast<int>(i % part_columns);
        QLabel* label = makeLabel(cells[i], "muted", m_parts);
        m_partRows->addWidget(label, row, place);
    }
}

}  // namespace potluck::ui
