#include "app/node/trainer/own_programs.h"

#include <system_error>

#include "app/node/paths.h"
#include "core/base/text.h"

namespace potluck::node {

namespace {

using control::ProgramKind;
using control::ProgramRow;

ProgramRow row_of(ProgramKind kind, const std::filesystem::path& file, std::int64_t process, std::uint64_t resident) {
    return {.kind = kind,
            .path = std::string(utf8_prefix(file.string(), control::program_path_bytes_max)),
            .process = process,
            .resident = resident};
}

/// A link to a program counts as the program.
bool is_same_file(const std::filesystem::path& one, const std::filesystem::path& other) {
    std::error_code failed;
    return one == other || std::filesystem::equivalent(one, other, failed);
}

ProgramRow trainer_row(const TrainerFacts& trainer, const ProcessView& system) {
    if (const auto runs = trainer.process > 0 ? system.running(trainer.process) : std::nullopt) {
        ProgramRow row = row_of(ProgramKind::trainer, runs->file, trainer.process, runs->resident);
        row.version = utf8_prefix(trainer.version, control::program_version_bytes_max);
        return row;
    }
    std::error_code failed;
    const bool there = std::filesystem::exists(trainer.program, failed);
    // A system that tells nothing of processes does not make a trainer one that does not run.
    return row_of(ProgramKind::trainer, there ? trainer.program : std::filesystem::path(),
                  system.children ? 0 : trainer.process, 0);
}

}  // namespace

ProcessView this_process() {
    const std::int64_t self = activity::own_process();
    return {self, [](std::int64_t process) { return activity::running(process); }, activity::children_of(self)};
}

control::ProgramList program_rows(const TrainerFacts& trainer, const ProcessView& system) {
    const auto self = system.running(system.self).value_or(activity::Running{own_program(), 0});
    control::ProgramList list{.rows = {row_of(ProgramKind::node, self.file, system.self, self.resident)},
                              .complete = system.children.has_value()};
    list.rows.front().version = POTLUCK_VERSION;
    list.rows.push_back(trainer_row(trainer, system));
    for (const std::int64_t child : system.children.value_or(std::vector<std::int64_t>())) {
        const auto runs = child == trainer.process ? std::nullopt : system.running(child);
        if (!runs) continue;  // it has ended meanwhile
        const bool asked = is_same_file(runs->file, trainer.program);
        list.rows.push_back(
            row_of(asked ? ProgramKind::question : ProgramKind::other, runs->file, child, runs->resident));
    }
    return list;
}

}  // namespace potluck::node
