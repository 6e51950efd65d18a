#include "ui/resources/resources_card.h"

#include <array>

#include <QBoxLayout>
#include <QButtonGroup>
#include <QRadioButton>
#include <QSignalBlocker>
#include <QSpinBox>

#include "ui/widgets/form_field.h"
#include "ui/widgets/parts.h"

namespace potluck::ui {

using namespace control;

namespace {

// A spin box counts in what people say; a rate that is not a whole number of these was given on the command line.
constexpr std::uint64_t rate_unit = 1'000, mega = 1'000'000, giga = 1'000'000'000;
constexpr int rate_shown_max = static_cast<int>(rate_max / rate_unit), disk_shown_max = 100'000;

constexpr std::array efforts = {Effort::quiet, Effort::balanced, Effort::full};

/// Rounded up, so that a small limit does not look like none.
int shown(std::uint64_t bytes, std::uint64_t unit, int most) {
    return static_cast<int>(std::min((bytes + unit - 1) / unit, static_cast<std::uint64_t>(most)));
}

/// A limit of a few megabytes, or one that was given to the megabyte, is told as that and not as the next gigabyte.
std::uint64_t disk_unit(std::uint64_t bytes) { return bytes % giga == 0 || bytes > 100 * giga ? giga : mega; }

}  // namespace

ResourcesCard::ResourcesCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    auto* column = new QVBoxLayout;
    cardLayout(this)->addLayout(column);
    column->addWidget(makeLabel(tr("What this computer gives"), "heading", this));
    column->addWidget(makeWrappedLabel(tr("Changes take effect at once and cost no round."), "muted", this));
    const std::array<QString, efforts.size()> sentences = {
        tr("Q&uiet: it trains half of the time, and stays cool"),
        tr("&Balanced: it trains three quarters of the time"),
        tr("F&ull: it trains all the time"),
    };
    m_efforts = new QButtonGroup(this);
    for (std::size_t i = 0; i < efforts.size(); ++i) {
        auto* button = new QRadioButton(sentences[i], this);
        button->setObjectName(QStringLiteral("effort-") + QString::fromUtf8(name_of(efforts[i])));
        m_efforts->addButton(button, static_cast<int>(i));
        column->addWidget(button);
    }
    m_upload = addLimit(*column, tr("U&pload at most"), tr("Its contributions, and pieces of the data for others."),
                        tr(" KB/s"));
    m_upload->setObjectName(QStringLiteral("uploadLimit"));
    m_download = addLimit(*column, tr("&Download at most"), tr("Data, and what the others have trained."), tr(" KB/s"));
    m_download->setObjectName(QStringLiteral("downloadLimit"));
    m_disk =
        addLimit(*column, tr("Dis&k at most"), tr("The model, the data and copies of both for others."), tr(" GB"));
    m_disk->setObjectName(QStringLiteral("diskLimit"));
    m_disk->setMaximum(disk_shown_max);
    m_disk->setSpecialValueText(tr("20 GiB (default)"));
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("resourcesProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    connect(m_efforts, &QButtonGroup::idClicked, this, &ResourcesCard::ask);
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<SetResources>) showOrHide(m_problem, {});
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetResources>) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &ResourcesCard::refresh);
    refresh();
}

QSpinBox* ResourcesCard::addLimit(QVBoxLayout& column, const QString& label, const QString& hint, const QString& unit) {
    auto* box = new QSpinBox(this);
    box->setMaximum(rate_shown_max);
    box->setSuffix(unit);
    box->setSpecialValueText(tr("No limit"));
    box->setKeyboardTracking(false);  // 1, 15, 150: only the last is meant
    box->setButtonSymbols(QAbstractSpinBox::NoButtons);
    auto* field = new FormField(label, box, this);
    field->setHint(hint);
    column.addWidget(field);
    connect(box, &QSpinBox::valueChanged, this, &ResourcesCard::ask);
    return box;
}

void ResourcesCard::editDisk() {
    m_disk->setFocus();
    m_disk->selectAll();
}

void ResourcesCard::refresh() {
    const NodeView& view = m_client.view();
    const auto& resources = view.snapshot.resources;
    const bool up = view.link.state == Link::State::up && resources.has_value();
    setEnabled(up);
    if (!up || m_client.waitsFor(method_of<SetResources>)) return;
    if (QAbstractButton* button = m_efforts->button(static_cast<int>(resources->effort))) button->setChecked(true);
    const auto show = [](QSpinBox& box, int value) {
        if (box.hasFocus()) return;
        const QSignalBlocker silent(box);
        box.setValue(value);
    };
    show(*m_upload, shown(resources->upload, rate_unit, rate_shown_max));
    show(*m_download, shown(resources->download, rate_unit, rate_shown_max));
    if (!m_disk->hasFocus()) {
        const QSignalBlocker silent(m_disk);
        m_diskUnit = disk_unit(resources->disk);
        m_disk->setSuffix(m_diskUnit == giga ? tr(" GB") : tr(" MB"));
    }
    show(*m_disk, shown(resources->disk, m_diskUnit, disk_shown_max));
}

/// What the fields say; a limit that was not touched stays as exact as the node has it.
void ResourcesCard::ask() {
    const Resources known = m_client.view().snapshot.resources.value_or(Resources{});
    const auto asked = [](const QSpinBox& box, std::uint64_t before, std::uint64_t unit, int most) {
        return box.value() == shown(before, unit, most) ? before : static_cast<std::uint64_t>(box.value()) * unit;
    };
    Resources wanted = known;
    wanted.effort = static_cast<Effort>(m_efforts->checkedId());
    wanted.upload = asked(*m_upload, known.upload, rate_unit, rate_shown_max);
    wanted.download = asked(*m_download, known.download, rate_unit, rate_shown_max);
    wanted.disk = asked(*m_disk, known.disk, m_diskUnit, disk_shown_max);
    if (wanted != known) m_client.setResources(wanted);
}

}  // namespace potluck::ui
