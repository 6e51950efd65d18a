// A device is judged by its whole memory, not by what is free now: who looks for a run closes other programs for it.
// GPUs lend from the computer's memory what does not fit theirs (core/training/memory); whether that is enough, the
// plan of the preview says.
#include "ui/find/found_words.h"

#include <algorithm>

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include "ui/client/activity_words.h"
#include "ui/client/measure_words.h"
#include "ui/client/plain_text.h"
#include "ui/client/trainer_words.h"

namespace potluck::ui {

using namespace control;

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::FoundWords)
};

constexpr int key_digits = 16;
constexpr double seconds_per_day = 86'400;
/// As core/model/cost_model.h assumes: training reaches so much of what a matrix multiplication does.
constexpr double utilisation = 0.40;
/// Hosts repeat their announcement every quarter of an hour; who missed two is away.
constexpr std::int64_t silent_after = 40 * 60;

/// The usable device with most memory of those that are not the processor, else the processor; null if none is usable.
const DeviceRow* bestOf(const FoundDevices& devices) {
    const DeviceRow* best = nullptr;
    const auto rank = [](const DeviceRow& row) { return std::pair(row.id != "cpu", row.memory_total); };
    for (const DeviceRow& row : devices.found.devices) {
        if (row.usable && (best == nullptr || rank(row) > rank(*best))) best = &row;
    }
    return best;
}

/// What a plan may spread the model over: the largest GPU and the computer.
std::uint64_t allMemory(const FoundDevices& devices) {
    std::uint64_t most = 0, computer = 0;
    for (const DeviceRow& row : devices.found.devices) {
        if (row.id == "cpu") computer = row.memory_total;
        if (row.usable && row.id != "cpu") most = std::max(most, row.memory_total);
    }
    return most + computer;
}

/// Tokens a second of `device` by what was measured of it; 0 if that or the model's cost is unknown.
double tokensPerSecond(const FoundRun& run, const DeviceRow& device) {
    double teraflops = 0;
    for (const PrecisionSpeed& speed : device.speeds) teraflops = std::max(teraflops, speed.teraflops);
    return run.flops > 0 ? utilisation * teraflops * 1e12 / run.flops : 0;
}

}  // namespace

Fit fitOf(const FoundRun& run, const FoundDevices& devices) {
    if (devices.state != FoundDevices::State::here || run.memory == 0) return Fit::unknown;
    const DeviceRow* best = bestOf(devices);
    if (best == nullptr) return Fit::no;
    if (run.memory < best->memory_total) return Fit::yes;
    return best->id != "cpu" && run.memory < allMemory(devices) ? Fit::perhaps : Fit::no;
}

QString helpText(const FoundRun& run, const NodeView& view) {
    if (!noTrainerText(view.snapshot).isEmpty())
        return Tr::tr("This computer cannot help yet: the part of Potluck that trains is not installed.");
    const FoundDevices& devices = view.devices;
    if (devices.state == FoundDevices::State::failed)
        return Tr::tr("Whether this computer can help is not known: %1").arg(plainText(devices.problem, 200));
    if (devices.state != FoundDevices::State::here) return Tr::tr("Looking at what this computer can train on…");
    const DeviceRow* best = bestOf(devices);
    if (best == nullptr) return Tr::tr("This computer cannot help: it has no device that can train.");
    const QString needs = sizeText(run.memory), has = sizeText(best->memory_total);
    const QString device = plainText(best->name.empty() ? best->id : best->name, 60);
    switch (fitOf(run, devices)) {
        case Fit::yes:
            if (const double speed = tokensPerSecond(run, *best); speed >= 1) {
                return Tr::tr("Your %1: about %2 tokens per second, and %3 of its %4 and what a batch takes.")
                    .arg(device, shortCount(static_cast<std::uint64_t>(speed)), needs, has);
            }
            return Tr::tr("This computer can help: it takes %1 of the %2 of %3, and what a batch takes.")
                .arg(needs, has, device);
        case Fit::perhaps:
            return Tr::tr(
                       "This computer can perhaps help: it takes %1, more than the %2 of %3; the preview says exactly.")
                .arg(needs, has, device);
        case Fit::no: return Tr::tr("Too large for this computer: it takes %1, and %3 has %2.").arg(needs, has, device);
        case Fit::unknown: break;
    }
    return Tr::tr("Its host does not say how much memory it takes; the preview does.");
}

QString progressText(const FoundRun& run, std::int64_t now) {
    const QLocale locale;
    QStringList parts;
    parts << Tr::tr("Round %1 of %2").arg(fullCount(run.round), fullCount(run.total_rounds));
    if (run.loss > 0) {
        const QString loss = locale.toString(run.loss, 'f', 2);
        parts << (run.baseline_loss > 0
                      ? Tr::tr("loss %1 (baseline %2)").arg(loss, locale.toString(run.baseline_loss, 'f', 2))
                      : Tr::tr("loss %1").arg(loss));
    }
    if (run.total_rounds > run.round) {
        const auto rounds = static_cast<double>(run.total_rounds - run.round);
        const QString left = spanText(rounds * run.round_seconds / seconds_per_day);
        if (!left.isEmpty()) parts << Tr::tr("about %1 left at today's speed").arg(left);
    }
    const auto volunteers = static_cast<int>(std::min<std::uint64_t>(run.volunteers, 1'000'000));
    parts << Tr::tr("%n volunteer(s) now", nullptr, volunteers);
    const std::int64_t ago = now - run.made;
    if (ago >= silent_after) parts << Tr::tr("as its host said %1 ago").arg(lastedText(ago));
    return parts.join(QStringLiteral(" · "));
}

QString hostText(const FoundRun& run) {
    const QString key = plainText(run.host, key_digits), name = plainText(run.host_name, own_name_characters_max);
    return name.isEmpty() ? Tr::tr("hosted by %1").arg(key) : Tr::tr("hosted by %1 (%2)").arg(name, key);
}

QString languageText(const std::string& tag) {
    if (tag.empty()) return {};
    const QString text = plainText(tag, 35);
    const QLocale locale(text);
    // Qt answers with C for what it does not know.
    if (locale.language() == QLocale::C) return text;
    // "en" alone is everybody's English, and not that of one country.
    const bool isOfCountry = text.contains(QLatin1Char('-'));
    return (isOfCountry ? locale : QLocale(locale.language(), QLocale::World)).nativeLanguageName();
}

}  // namespace potluck::ui
