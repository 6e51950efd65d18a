// Rows are made anew only where other devices are there or others of them can be used, so that the news of every second
// take nobody's focus; what is said of each is set whenever the node tells anything.
//
// A chosen device that was not found has a row as well: the choice stays the owner's until it is changed, and the
// device may come back. While the trainer chooses, the switches show what that means, every GPU that can be used, and
// switching one off chooses the others; with all of them on again the trainer chooses. The buttons of the two choices
// exclude each other, and neither is pressed while GPUs were named. Reasons are the trainer's own sentences, in
// English.
#include "ui/resources/device_card.h"

#include <algorithm>
#include <utility>

#include <QBoxLayout>
#include <QButtonGroup>
#include <QCheckBox>
#include <QLocale>
#include <QRadioButton>
#include <QShowEvent>

#include "ui/client/plain_text.h"
#include "ui/widgets/parts.h"
#include "ui/widgets/theme.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr int name_characters_max = 60, reason_characters_max = 400, notes_shown_max = 4;
constexpr int speed_digits = 3;

/// A mnemonic is no part of a name from a driver.
QString buttonText(const QString& name) { return QString(name).replace(u'&', QStringLiteral("&&")); }

QString titleOf(const DeviceRow& device) {
    const QString name = plainText(device.name, name_characters_max);
    return device.id == "cpu" ? DeviceCard::tr("Processor: %1").arg(name)
                              : DeviceCard::tr("%1 (%2)").arg(name, plainText(device.id, name_characters_max));
}

QString speedOf(const DeviceRow& device) {
    const auto fastest = std::ranges::max_element(device.speeds, {}, &PrecisionSpeed::teraflops);
    if (fastest == device.speeds.end() || fastest->teraflops <= 0) return {};
    return DeviceCard::tr("%1 TFLOP/s in %2")
        .arg(QLocale().toString(fastest->teraflops, 'g', speed_digits),
             plainText(fastest->precision, name_characters_max));
}

bool contains(const std::vector<std::string>& ids, const std::string& id) {
    return std::ranges::find(ids, id) != ids.end();
}

bool trainsOn(const TrainerSnapshot& trainer, const std::string& id) {
    return trainer.device_id == id || contains(trainer.devices, id);
}

QString aboutOf(const DeviceRow& device, const TrainerSnapshot& trainer) {
    if (!device.usable)
        return DeviceCard::tr("Cannot be used. %1").arg(plainText(device.reason, reason_characters_max));
    const auto left = std::ranges::find(trainer.left_out, device.id, &DeviceLeftOut::id);
    if (left != trainer.left_out.end())
        return DeviceCard::tr("Does not train now. %1").arg(plainText(left->reason, reason_characters_max));
    QStringList facts;
    if (device.memory_total > 0) facts << DeviceCard::tr("%1 of memory").arg(sizeText(device.memory_total));
    if (const QString speed = speedOf(device); !speed.isEmpty()) facts << speed;
    if (trainsOn(trainer, device.id)) facts << DeviceCard::tr("trains now");
    return facts.join(QStringLiteral(", "));
}

/// What is said of a device that is not among those that were found, or while none were looked for.
QString aboutMissing(const NodeView& view, const std::string& id) {
    const auto& left_out = view.snapshot.trainer.left_out;
    const auto left = std::ranges::find(left_out, id, &DeviceLeftOut::id);
    if (left != left_out.end())
        return DeviceCard::tr("Does not train now. %1").arg(plainText(left->reason, reason_characters_max));
    const QString why = plainText(view.snapshot.device->obstacle, reason_characters_max);
    if (!why.isEmpty()) return DeviceCard::tr("Another device trains meanwhile. %1").arg(why);
    return view.devices.state == FoundDevices::State::here ? DeviceCard::tr("It was not found.") : QString();
}

QString stateText(const FoundDevices& devices) {
    switch (devices.state) {
        case FoundDevices::State::asked: return DeviceCard::tr("Looking for devices; this takes some seconds.");
        case FoundDevices::State::failed:
            return DeviceCard::tr("No device could be looked for. %1").arg(devices.problem);
        case FoundDevices::State::none:
            return DeviceCard::tr("Devices are looked for on request while training is paused.");
        case FoundDevices::State::here: break;
    }
    return {};
}

}  // namespace

DeviceCard::DeviceCard(NodeClient& client, QWidget* parent) : QFrame(parent), m_client(client) {
    setObjectName(QStringLiteral("card"));
    QBoxLayout* column = cardLayout(this);
    column->addWidget(makeLabel(tr("What trains"), "heading", this));
    column->addWidget(makeWrappedLabel(tr("All GPUs that are switched on train at once. A change holds at once: what "
                                          "was trained is kept, and the devices chosen go on with it."),
                                       "muted", this));
    m_choices = new QButtonGroup(this);
    m_list = new QWidget(this);
    m_list->setObjectName(QStringLiteral("deviceList"));
    m_lines = new QVBoxLayout(m_list);
    m_lines->setContentsMargins(0, 0, 0, 0);
    m_lines->setSpacing(grid / 2);
    column->addWidget(m_list);
    m_state = makeWrappedLabel({}, "muted", this);
    m_state->setObjectName(QStringLiteral("deviceState"));
    column->addWidget(m_state);
    m_notes = makeWrappedLabel({}, "muted", this);
    m_notes->setObjectName(QStringLiteral("deviceNotes"));
    column->addWidget(m_notes);
    m_problem = makeWrappedLabel({}, "problem", this);
    m_problem->setObjectName(QStringLiteral("deviceProblem"));
    m_problem->hide();
    column->addWidget(m_problem);
    m_again = makeButton(tr("Look for devices"), {}, Emphasis::normal, this);
    m_again->setObjectName(QStringLiteral("lookForDevices"));
    auto* row = new QHBoxLayout;
    row->addWidget(m_again);
    row->addStretch(1);
    column->addLayout(row);
    connect(m_again, &QPushButton::clicked, this, [this] { m_client.requestDevices(DeviceSearch::anew); });
    connect(&client, &NodeClient::done, this, [this](Method method) {
        if (method == method_of<SetDevice>) showOrHide(m_problem, {});
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<SetDevice>) return;
        showOrHide(m_problem, sentence);
        refresh();
    });
    connect(&client, &NodeClient::changed, this, &DeviceCard::refresh);
    connect(&client, &NodeClient::devicesChanged, this, &DeviceCard::refresh);
    refresh();
}

void DeviceCard::showEvent(QShowEvent* event) {
    QFrame::showEvent(event);
    askIfUnknown();
}

/// Who has paused training wants no trainer for a look either.
void DeviceCard::askIfUnknown() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up && view.snapshot.device.has_value();
    const bool paused = view.snapshot.activity == Activity::paused;
    if (up && isVisible() && !paused && view.devices.state == FoundDevices::State::none)
        m_client.requestDevices(DeviceSearch::known);
}

std::vector<DeviceCard::Row> DeviceCard::rowsOf(const NodeView& view) {
    const std::string& choice = view.snapshot.device->chosen;
    const auto listed = devices_of_choice(choice);
    const std::vector<std::string> chosen = listed ? *listed : std::vector<std::string>{choice};
    const TrainerSnapshot& trainer = view.snapshot.trainer;
    std::vector<Row> rows{{{}, tr("Automatic: all GPUs at once, else the processor"), {}, true, choice.empty()}};
    for (const DeviceRow& device : view.devices.found.devices) {
        const bool automatic = choice.empty() && device.id != "cpu" && device.usable;
        rows.push_back({device.id, titleOf(device), aboutOf(device, trainer), device.usable,
                        automatic || contains(chosen, device.id)});
    }
    if (rows.size() == 1) {
        const QString about = trainsOn(trainer, "cpu") ? tr("trains now") : QString();
        rows.push_back({"cpu", tr("The processor"), about, true, choice == "cpu"});
    }
    for (const std::string& id : chosen) {
        const auto found = std::ranges::find(rows, id, &Row::id);
        if (found == rows.end()) {
            rows.push_back({id, plainText(id, name_characters_max), aboutMissing(view, id), false, true});
        } else if (!view.snapshot.device->obstacle.empty()) {
            found->about = aboutMissing(view, id);
        }
    }
    return rows;
}

void DeviceCard::refresh() {
    const NodeView& view = m_client.view();
    const bool up = view.link.state == Link::State::up && view.snapshot.device.has_value();
    setEnabled(up);
    if (!up) return;
    askIfUnknown();
    showRows(rowsOf(view));
    const FoundDevices& devices = view.devices;
    showOrHide(m_state, stateText(devices));
    QStringList notes;
    for (const std::string& note : devices.found.notes) {
        if (notes.size() < notes_shown_max) notes << plainText(note, reason_characters_max);
    }
    showOrHide(m_notes, notes.join(u'\n'));
    m_again->setEnabled(devices.state != FoundDevices::State::asked);
    if (!m_client.waitsFor(method_of<SetDevice>)) showChoice();
}

void DeviceCard::showRows(std::vector<Row> rows) {
    const bool same = std::ranges::equal(rows, m_rows, [](const Row& a, const Row& b) {
        return a.id == b.id && a.title == b.title && a.usable == b.usable;
    });
    m_rows = std::move(rows);
    if (!same) {
        m_abouts.clear();
        m_buttons.clear();
        qDeleteAll(m_list->findChildren<QWidget*>(Qt::FindDirectChildrenOnly));
        for (const Row& row : m_rows) addRow(row);
    }
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        showOrHide(m_abouts[i], m_rows[i].about);
        m_buttons[i]->setAccessibleDescription(m_rows[i].about);
        m_buttons[i]->setEnabled(m_rows[i].usable || m_rows[i].on);
    }
}

/// A button of an exclusive group cannot be released while it excludes.
void DeviceCard::showChoice() {
    m_choices->setExclusive(false);
    for (std::size_t i = 0; i < m_rows.size(); ++i) m_buttons[i]->setChecked(m_rows[i].on);
    m_choices->setExclusive(true);
}

void DeviceCard::addRow(const Row& row) {
    const QString name = row.id.empty() ? QStringLiteral("any") : QString::fromStdString(row.id);
    const std::size_t place = m_buttons.size();
    QAbstractButton* button = nullptr;
    if (row.isSwitch()) {
        button = new QCheckBox(buttonText(row.title), m_list);
        connect(button, &QAbstractButton::clicked, this, [this, place] { switchGpu(place); });
    } else {
        button = new QRadioButton(buttonText(row.title), m_list);
        m_choices->addButton(button);
        connect(button, &QAbstractButton::clicked, this, [this, id = row.id] { choose(id.empty() ? "any" : id); });
    }
    button->setObjectName(QStringLiteral("device-") + name);
    m_buttons.push_back(button);
    m_lines->addWidget(button);
    QLabel* about = makeWrappedLabel({}, "muted", m_list);
    about->setObjectName(QStringLiteral("about-") + name);
    about->setIndent(3 * grid);
    m_lines->addWidget(about);
    m_abouts.push_back(about);
}

void DeviceCard::choose(const std::string& id) {
    showOrHide(m_problem, {});
    m_client.setDevice(id);
}

/// What is on after the click is what is wanted; a device that cannot be used is no part of "all".
void DeviceCard::switchGpu(std::size_t place) {
    std::vector<std::string> on;
    bool all = true;
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (!m_rows[i].isSwitch()) continue;
        if (m_buttons[i]->isChecked()) on.push_back(m_rows[i].id);
        all = all && m_buttons[i]->isChecked() == m_rows[i].usable;
    }
    if (on.empty()) {
        m_buttons[place]->setChecked(true);
        showOrHide(m_problem, tr("One device has to train: choose the processor, or switch another GPU on first."));
        return;
    }
    choose(all ? "any" : choice_of(on));
}

}  // namespace potluck::ui
