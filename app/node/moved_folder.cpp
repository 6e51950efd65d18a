// The order is what keeps the data whole: copy, sync, name the new place, delete. A crash before the name is written
// leaves a copy that nothing uses; one after it leaves old files that nothing uses. No file is renamed from one place
// to the other, since both may be on one disk as well as on two.
//
// What the window remembers of itself (window.ini) stays where the window looks for it. Links are not followed, so
// nobody's file becomes one of Potluck's.
#include "app/node/moved_folder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "app/node/paths.h"
#include "core/base/files.h"
#ifndef _WIN32
#include "core/base/system_handle.h"
#endif

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view moved_file = "moved", lock_file = "node.lock";
constexpr std::array<std::string_view, 4> staying = {moved_file, lock_file, "node.sock", "window.ini"};
constexpr std::uint64_t path_bytes_max = 4096;
constexpr std::uint64_t room_left_min = 64ULL << 20U;  // bytes, for what a node writes next

struct Entry {
    fs::path path;  // within the folder
    bool is_folder = false;
    std::uint64_t bytes = 0;
};

bool stays(const fs::path& name) { return std::ranges::find(staying, name.string()) != staying.end(); }

bool holds_data(const fs::path& folder) {
    std::error_code failed;
    for (auto at = fs::directory_iterator(folder, failed); !failed && at != fs::end(at); at.increment(failed)) {
        if (!stays(at->path().filename())) return true;
    }
    return false;
}

/// Folders come before what is in them. Links and sockets are left out.
Result<std::vector<Entry>> entries_of(const fs::path& folder) {
    std::vector<Entry> entries;
    std::error_code failed;
    for (auto at = fs::recursive_directory_iterator(folder, failed); !failed && at != fs::end(at);
         at.increment(failed)) {
        if (at.depth() == 0 && stays(at->path().filename())) {
            at.disable_recursion_pending();
            continue;
        }
        const fs::file_status status = at->symlink_status(failed);
        if (fs::is_directory(status)) entries.push_back({at->path().lexically_relative(folder), true, 0});
        if (fs::is_regular_file(status))
            entries.push_back({at->path().lexically_relative(folder), false, at->file_size(failed)});
        if (failed) break;
    }
    if (!failed) return entries;
    return Error{ErrorCode::io, "The data in " + folder.string() + " cannot be read: " + failed.message() + "."};
}

/// Where the data can go, of what the person has chosen.
Result<fs::path> place_for(const fs::path& from, const fs::path& chosen) {
    const fs::path place = holds_data(chosen) ? chosen / "potluck" : chosen;
    const auto [end, rest] = std::mismatch(from.begin(), from.end(), place.begin(), place.end());
    if (end == from.end())
        return Error{ErrorCode::invalid_argument, "Potluck's data is in " + from.string() +
                                                      " already; choose a folder that is neither this one nor in it."};
    std::error_code failed;
    if (holds_data(place) || (fs::exists(place, failed) && !fs::is_directory(place, failed)))
        return Error{ErrorCode::invalid_argument,
                     place.string() + " holds something already; choose an empty folder or a new one."};
    return place;
}

/// Names that were made or removed in `folder` last; Windows has no call for that.
Status sync_names([[maybe_unused]] const fs::path& folder) {
#ifndef _WIN32
    if (const int failed = sync_folder(folder); failed != 0) {
        return Error{ErrorCode::io,
                     folder.string() + " cannot be synced: " + std::generic_category().message(failed) + "."};
    }
#endif
    return {};
}

Status copy(const fs::path& from, const fs::path& to, const std::vector<Entry>& entries, std::uint64_t all,
            const MoveProgress& progress) {
    std::uint64_t done = 0;
    for (const Entry& entry : entries) {
        const fs::path copied = to / entry.path;
        std::error_code failed;
        if (entry.is_folder) {
            fs::create_directory(copied, from / entry.path, failed);
        } else {
            fs::copy_file(from / entry.path, copied, failed);
        }
        if (failed) return Error{ErrorCode::io, copied.string() + " cannot be written: " + failed.message() + "."};
        const Status synced = entry.is_folder ? sync_names(copied.parent_path()) : sync_file(copied);
        if (!synced) return synced;
        done += entry.bytes;
        progress(done, all);
    }
    return sync_names(to.parent_path());
}

/// Whatever cannot be deleted stays; nothing uses it.
void clear(const fs::path& folder, const std::vector<Entry>& entries) {
    std::error_code failed;
    for (const Entry& entry : entries) {
        if (!entry.path.has_parent_path()) fs::remove_all(folder / entry.path, failed);
    }
}

/// Says in `asked` where its data is.
Status point_to(const fs::path& asked, const fs::path& place) {
    if (asked != place) return write_file_atomically(asked / moved_file, as_bytes(place.string() + "\n"));
    std::error_code failed;
    fs::remove(asked / moved_file, failed);
    if (!failed) return sync_names(asked);
    return Error{ErrorCode::io, (asked / moved_file).string() + " cannot be deleted: " + failed.message() + "."};
}

}  // namespace

Result<fs::path> data_folder_at(const fs::path& asked) {
    std::error_code failed;
    if (!fs::exists(asked / moved_file, failed)) return asked;
    const auto bytes = read_file(asked / moved_file, path_bytes_max);
    if (!bytes) return bytes.error();
    const std::string text(as_text(*bytes));
    const fs::path place = text.substr(0, text.find('\n'));
    if (!place.is_absolute())
        return Error{ErrorCode::malformed,
                     (asked / moved_file).string() + " names no folder; write the path of Potluck's data into it."};
    if (fs::is_directory(place, failed)) return place;
    return Error{ErrorCode::unavailable, "Potluck's data was moved to " + place.string() +
                                             ", which is not there; attach its disk, or delete " +
                                             (asked / moved_file).string() + " to begin anew."};
}

Result<fs::path> move_data(const fs::path& asked, const fs::path& to, const MoveProgress& progress) {
    std::error_code failed;
    const fs::path old = fs::weakly_canonical(asked, failed);
    const auto from = data_folder_at(old);
    if (!from) return from.error();
    const auto place = place_for(*from, fs::weakly_canonical(fs::absolute(to, failed), failed));
    if (!place) return place.error();
    auto lock = std::optional(FileLock::acquire(*from / lock_file));
    if (!*lock) {
        if (lock->error().code != ErrorCode::already_exists) return lock->error();
        return Error{ErrorCode::already_exists, "Potluck is running; quit it before its data is moved."};
    }
    const auto entries = entries_of(*from);
    if (!entries) return entries.error();
    std::uint64_t all = 0;
    for (const Entry& entry : *entries) all += entry.bytes;
    const bool is_new = !fs::exists(*place, failed);
    if (const Status made = make_data_folder(*place); !made)
        return Error{ErrorCode::permission, place->string() + " cannot be made; choose a folder where you may write."};
    Status moved = free_disk_bytes(*place) >= all + room_left_min
                       ? copy(*from, *place, *entries, all, progress)
                       : Status(Error{ErrorCode::no_space, "Potluck's data takes " + std::to_string(all >> 20U) +
                                                               " MiB; that disk has no room for it, choose another."});
    if (moved) moved = point_to(old, *place);
    if (!moved) {
        clear(*place, *entries);
        if (is_new) fs::remove(*place, failed);
        return moved.error();
    }
    clear(*from, *entries);
    lock.reset();
    if (*from != old) {
        fs::remove(*from / lock_file, failed);
        fs::remove(*from, failed);  // if nothing else is in it
    }
    return *place;
}

}  // namespace potluck::node
