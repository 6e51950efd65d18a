// Detection happens in a trainer process of its own, since a driver may crash or hang in it. That trainer writes
// "trying <name>" to standard error before it touches a driver, so its log says which one it was at when it ended
// (last_tried). It is then asked once more with POTLUCK_NO_GPU set, so that the processor is reported at least.
//
// From there on everything is a pure function of Findings: verdict first, then what failed, then a paragraph per
// device. Text that comes from drivers is cut and cleaned.
#include "app/node/cli/verbs/computer/doctor.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "app/node/cli/byte_size.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/exactness.h"
#include "app/node/cli/news_text.h"
#include "app/node/cli/verbs/computer/verbs.h"
#include "app/node/release/known_release.h"
#include "app/node/trainer/one_answer.h"
#include "core/base/text.h"
#include "core/confinement/confinement.h"

namespace potluck::node {

namespace {

using control::DeviceRow;
using nlohmann::json;

constexpr std::size_t margin = 9;  // of what is said about a device

std::string speed_line(const DeviceRow& row) {
    std::string line;
    char text[64];
    for (const control::PrecisionSpeed& speed : row.speeds) {
        std::snprintf(text, sizeof text, "%s%s %.3g", line.empty() ? "" : ", ", clean(speed.precision).c_str(),
                      speed.teraflops);
        line += text;
    }
    if (!line.empty()) line += " TFLOP/s";
    if (row.gigabytes_per_second > 0) {
        std::snprintf(text, sizeof text, "%smemory %.0f GB/s", line.empty() ? "" : "; ", row.gigabytes_per_second);
        line += text;
    }
    return line;
}

std::string busy_line(const DeviceRow& row) {
    if (row.busy <= 0) return {};
    return formatted("busy: other programs use %.0f %% of the processor; this figure may be low", 100 * row.busy);
}

std::string device_text(const DeviceRow& row) {
    std::string text = clean(row.id);
    text.append(text.size() < margin ? margin - text.size() : 1, ' ');
    text += clean(row.name);
    if (!row.features.empty()) text.append(" (").append(clean(row.features)).append(")");
    text += "\n";
    const auto add = [&](const std::string& line) {
        if (!line.empty()) text.append(margin, ' ').append(line).append("\n");
    };
    if (row.memory_total > 0) {
        std::string memory = bytes_text(row.memory_total) + " of memory";
        if (row.memory_free > 0) memory.append(", ").append(bytes_text(row.memory_free)).append(" free");
        add(memory);
    }
    add(speed_line(row));
    add(busy_line(row));
    add((row.usable ? "" : "Cannot be used. ") + clean(row.reason));
    return text;
}

std::string failure_text(const Findings& findings) {
    std::string text = clean(findings.failure);
    if (!findings.last_tried.empty()) {
        text += "\nIt was trying " + clean(findings.last_tried) +
                " when it ended; update or reinstall that, or train on the processor with --device cpu and "
                "POTLUCK_NO_GPU=1 "
                "in the environment.";
    }
    return text;
}

/// Asks a trainer what there is.
void detect(const std::filesystem::path& program, Findings& findings) {
    TrainerQuestion question;
    question.program = program;
    question.patience = detect_patience;
    auto answer = ask_once(std::move(question), control::DetectRequest{});
    if (answer.result) {
        findings.devices = *std::move(answer.result);
        return;
    }
    findings.failure = answer.result.error().message;
    findings.last_tried = last_tried(answer.log);
}

/// For trainers that this process starts from here on.
void leave_gpus_alone() {
#ifdef _WIN32
    (void)_putenv_s("POTLUCK_NO_GPU", "1");
#else
    (void)setenv("POTLUCK_NO_GPU", "1", 1);
#endif
}

const DeviceRow* row_of(const Findings& findings, const std::string& id) {
    const std::vector<DeviceRow>& rows = findings.devices->devices;
    const auto found = std::ranges::find(rows, id, &DeviceRow::id);
    return found == rows.end() ? nullptr : &*found;
}

bool is_usable(const DeviceRow* row) { return row != nullptr && row->usable; }

std::vector<std::string> chosen_devices(const Findings& findings) {
    const auto devices = control::devices_of_choice(findings.device);
    return devices ? *devices : std::vector<std::string>{};
}

/// One sentence for each chosen device that cannot train.
std::string obstacles(const Findings& findings) {
    std::string text;
    for (const std::string& id : chosen_devices(findings)) {
        const DeviceRow* row = row_of(findings, id);
        if (is_usable(row)) continue;
        text += (text.empty() ? "" : " ");
        text += "The chosen device, " + clean(id) + (row == nullptr ? ", is not there" : ", cannot be used") +
                "; choose another with --device, or --device any.";
    }
    return text;
}

std::string verdict(const Findings& findings) {
    const std::string missing = findings.devices ? obstacles(findings) : std::string();
    if (can_train(findings))
        return missing.empty() ? "This computer can train." : "This computer can train. " + missing;
    if (!findings.exact) return exactness_text();
    return missing.empty() ? "Nothing here can train." : missing;
}

}  // namespace

bool can_train(const Findings& findings) {
    if (!findings.devices || !findings.exact) return false;
    if (findings.device.empty()) return std::ranges::any_of(findings.devices->devices, &DeviceRow::usable);
    return std::ranges::any_of(chosen_devices(findings),
                               [&](const std::string& id) { return is_usable(row_of(findings, id)); });
}

std::string doctor_text(const Findings& findings) {
    std::string text = verdict(findings) + "\n";
    if (findings.newer) text += news_text(*findings.newer);
    if (!findings.gap.empty()) text += findings.gap + "\n";
    if (!findings.failure.empty()) text.append(failure_text(findings)).append("\n");
    if (!findings.devices) return text;
    for (const DeviceRow& row : findings.devices->devices) text.append("\n").append(device_text(row));
    if (!findings.devices->notes.empty()) text += "\n";
    for (const std::string& note : findings.devices->notes) text += clean(note) + "\n";
    return text;
}

json doctor_json(const Findings& findings) {
    json object{{"can_train", can_train(findings)}, {"exact", findings.exact}, {"verdict", verdict(findings)}};
    if (!findings.gap.empty()) object["gap"] = findings.gap;
    if (findings.newer) object["newer"] = to_json(*findings.newer);
    if (findings.devices) object["found"] = to_json(*findings.devices);
    if (!findings.failure.empty()) object["failure"] = failure_text(findings);
    return object;
}

std::string last_tried(const std::string& log) {
    const std::string word = "trying ";
    for (std::size_t at = log.rfind(word); at != std::string::npos; at = log.rfind(word, at - 1)) {
        const bool begins_a_line = at == 0 || log[at - 1] == '\n';
        if (begins_a_line) return log.substr(at + word.size(), log.find('\n', at) - at - word.size());
        if (at == 0) break;
    }
    return {};
}

namespace {

class DoctorVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }

    /// `ok` if something can train, `failed` if not. A trainer that a driver takes along is asked again, about the
    /// processor only.
    ExitCode run(const ThisNode& node) override {
        Findings findings;
        findings.exact = check_exactness().ok();
        findings.gap = confinement::gap(confinement::support());
        findings.device = node.options.limits.device.value_or("");
        findings.newer = known_newer(node.options.data_folder, node.options.release_source.key);
        const std::filesystem::path trainer = trainer_of(node.options);
        detect(trainer, findings);
        if (!findings.last_tried.empty()) {
            leave_gpus_alone();
            Findings again = findings;
            detect(trainer, again);
            if (again.devices) findings.devices = std::move(again.devices);
            if (findings.devices) findings.devices->notes.clear();  // the failure says more about GPUs
        }
        if (output() == Output::json) {
            print_json(doctor_json(findings));
        } else {
            std::cout << doctor_text(findings) << std::flush;
        }
        return can_train(findings) ? ExitCode::ok : ExitCode::failed;
    }
};

}  // namespace

std::unique_ptr<Verb> doctor_verb() {
    return std::make_unique<DoctorVerb>("doctor", "What this computer can train on, and what keeps it from more");
}

}  // namespace potluck::node
