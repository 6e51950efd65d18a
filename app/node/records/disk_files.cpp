// Sizes are those that the files tell, symbolic links not followed. A file that goes while the folder is read counts
// nothing: the node writes and deletes meanwhile.
//
// Deleting has two steps. What goes is renamed into a folder beside the runs, which is done before the answer; the disk
// gets its room back when a worker deletes that folder, and what a crash leaves of it goes at the next start.
#include "app/node/records/disk_files.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <system_error>

#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/model/state_layout.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> staying = {"manifest", "votes", "evidence"};
constexpr std::size_t trash_folders_max = 10'000;  // names tried for one more

bool stays(const fs::path& path) { return std::ranges::find(staying, path.filename().string()) != staying.end(); }

std::uint64_t size_of(const fs::directory_entry& entry) {
    std::error_code gone;
    if (entry.is_symlink(gone) || !entry.is_regular_file(gone)) return 0;
    const std::uintmax_t size = entry.file_size(gone);
    return gone ? 0 : size;
}

/// Size of a file, or of everything below a folder.
std::uint64_t bytes_of(const fs::path& path, const std::stop_token& stop) {
    std::error_code failed;
    const fs::directory_entry entry(path, failed);
    if (failed) return 0;
    if (!entry.is_directory(failed) || entry.is_symlink(failed)) return size_of(entry);
    std::uint64_t bytes = 0;
    const auto reads = fs::directory_options::skip_permission_denied;
    for (auto at = fs::recursive_directory_iterator(path, reads, failed); !failed && at != fs::end(at);
         at.increment(failed)) {
        if (stop.stop_requested()) break;
        bytes += size_of(*at);
    }
    return bytes;
}

std::optional<RunFiles> run_in(const fs::path& folder, const std::stop_token& stop) {
    const auto id = RunId::parse(folder.filename().string());
    if (!id) return std::nullopt;
    const auto file = read_file(folder / "manifest", manifest_file_bytes_max);
    if (!file) return std::nullopt;
    const auto manifest = check_manifest(*file);
    if (!manifest) return std::nullopt;
    const run::Manifest& run = manifest->manifest;
    RunFiles found{*id, run.name, describe(run.model), run.host, run.recipe.total_rounds, 0};
    std::error_code failed;
    for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::end(at); at.increment(failed)) {
        if (!stays(at->path())) found.bytes += bytes_of(at->path(), stop);
    }
    return found;
}

control::DiskKind kind_of(const std::string& name) {
    using control::DiskKind;
    if (name == "runs" || name == "network") return DiskKind::runs;
    if (name == "packs") return DiskKind::trainers;
    if (name.starts_with("ledger.db")) return DiskKind::ledger;
    return name.ends_with(".log") ? DiskKind::log : DiskKind::other;
}

}  // namespace

std::vector<RunFiles> run_files(const fs::path& data_folder, const std::stop_token& stop) {
    std::vector<RunFiles> found;
    std::error_code failed;
    for (auto at = fs::directory_iterator(data_folder / "runs", failed); !failed && at != fs::end(at);
         at.increment(failed)) {
        if (stop.stop_requested() || found.size() >= known_runs_max) break;
        if (auto run = run_in(at->path(), stop)) found.push_back(std::move(*run));
    }
    return found;
}

std::vector<control::DiskPart> disk_parts(const fs::path& data_folder, const std::stop_token& stop) {
    std::vector<control::DiskPart> parts;
    for (std::size_t kind = 0; kind < control::names<control::DiskKind>.size(); ++kind)
        parts.push_back({static_cast<control::DiskKind>(kind), 0});
    std::error_code failed;
    for (auto at = fs::directory_iterator(data_folder, failed); !failed && at != fs::end(at); at.increment(failed)) {
        const auto kind = static_cast<std::size_t>(kind_of(at->path().filename().string()));
        parts[kind].bytes += bytes_of(at->path(), stop);
    }
    return parts;
}

fs::path trash_in(const fs::path& data_folder) { return data_folder / "deleting"; }

Status set_aside(const fs::path& data_folder, const RunId& run) {
    const fs::path folder = run_folder(data_folder, run), trash = trash_in(data_folder);
    std::error_code failed;
    fs::create_directories(trash, failed);
    fs::path target;
    bool made = false;
    for (std::size_t i = 0; !made && !failed && i < trash_folders_max; ++i) {
        target = trash / (run.hex() + "-" + std::to_string(i));
        made = fs::create_directory(target, failed);
    }
    std::vector<fs::path> going;
    for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::end(at); at.increment(failed)) {
        if (!stays(at->path())) going.push_back(at->path());
    }
    for (const fs::path& one : going) {
        if (!failed) fs::rename(one, target / one.filename(), failed);
    }
    if (failed && failed != std::errc::no_such_file_or_directory) {
        return Error{ErrorCode::io, "The files in " + folder.string() + " could not be moved (" + failed.message() +
                                        "); check who owns that folder, then try again."};
    }
    return {};
}

Status empty_trash(const fs::path& data_folder) {
    std::error_code failed;
    fs::remove_all(trash_in(data_folder), failed);
    if (!failed) return {};
    return Error{ErrorCode::io, "Deleted files still lie in " + trash_in(data_folder).string() + " (" +
                                    failed.message() + "); remove that folder by hand."};
}

}  // namespace potluck::node
