#include "app/node/find/followed_lists.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view format_name = "potluck-list 1";
constexpr std::size_t key_bytes_max = 100;
constexpr std::size_t kept_bytes_max =
    find::list_bytes_max + identity::minisign_bytes_max + list_source_bytes_max + key_bytes_max + 100;

fs::path folder_in(const fs::path& data_folder) { return data_folder / "lists"; }

fs::path file_of(const fs::path& data_folder, const identity::MinisignKey& key) {
    return folder_in(data_folder) / (to_hex(ByteSpan(key.key).first(8)) + ".kept");
}

std::optional<std::string_view> take_line(std::string_view& text) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
}

/// Nothing if the file is damaged or its list is not signed by its key.
std::optional<FollowedList> read(const fs::path& file) {
    const auto bytes = read_file(file, kept_bytes_max);
    if (!bytes) return std::nullopt;
    std::string_view rest = as_text(*bytes);
    const auto format = take_line(rest), key_line = take_line(rest), source = take_line(rest), size = take_line(rest);
    if (!size || *format != format_name) return std::nullopt;
    std::size_t signature_bytes = 0;
    for (const char digit : *size) {
        if (digit < '0' || digit > '9' || signature_bytes > identity::minisign_bytes_max) return std::nullopt;
        signature_bytes = 10 * signature_bytes + static_cast<std::size_t>(digit - '0');
    }
    const auto key = identity::MinisignKey::parse(*key_line);
    if (!key || signature_bytes > rest.size()) return std::nullopt;
    const std::string_view text = rest.substr(signature_bytes);
    // What was seen stays seen, so that nothing older takes its place: age is asked by those who use it.
    auto list = find::accept_list(*key, as_bytes(text), rest.substr(0, signature_bytes), {});
    if (!list) return std::nullopt;
    return FollowedList{std::string(*key_line), std::string(*source), *std::move(list)};
}

fs::path left_file_of(const fs::path& data_folder, const identity::MinisignKey& key) {
    return file_of(data_folder, key).replace_extension(".left");
}

Status has_room(const fs::path& data_folder, const identity::MinisignKey& key) {
    std::error_code failed;
    if (fs::exists(file_of(data_folder, key), failed)) return {};
    if (followed_lists(data_folder).size() < followed_max) return {};
    return Error{ErrorCode::invalid_argument, "You follow 16 lists, which is as many as may be; unfollow one first."};
}

}  // namespace

std::vector<FollowedList> followed_lists(const fs::path& data_folder) {
    std::vector<fs::path> files;
    std::error_code failed;
    for (fs::directory_iterator at(folder_in(data_folder), failed), end; !failed && at != end; at.increment(failed)) {
        if (at->path().extension() == ".kept") files.push_back(at->path());
    }
    std::ranges::sort(files);
    std::vector<FollowedList> lists;
    for (const fs::path& file : files) {
        if (auto one = read(file)) {
            lists.push_back(*std::move(one));
        } else {
            log::of("find").warn("{} is no list of runs, or was changed: it is not used", file.string());
        }
    }
    return lists;
}

Result<find::RunList> follow_list(const fs::path& data_folder, const FollowedList& wanted, ByteSpan text,
                                  std::string_view signature, std::int64_t now) {
    const auto key = identity::MinisignKey::parse(wanted.key);
    if (!key) return key.error();
    if (wanted.source.size() > list_source_bytes_max || wanted.source.find('\n') != std::string::npos)
        return Error{ErrorCode::invalid_argument, "The place of a list has at most 500 letters in one line."};
    const auto kept = read(file_of(data_folder, *key));
    auto list = find::accept_list(*key, text, signature, {.serial = kept ? kept->list.serial : 0, .now = now});
    if (!list) return list;
    if (const Status room = has_room(data_folder, *key); !room) return room.error();
    std::error_code failed;
    fs::create_directories(folder_in(data_folder), failed);
    std::string whole = std::string(format_name) + "\n" + wanted.key + "\n" + wanted.source + "\n" +
                        std::to_string(signature.size()) + "\n";
    whole.append(signature).append(as_text(text));
    if (Status written = write_file_atomically(file_of(data_folder, *key), as_bytes(whole)); !written.ok())
        return written.error();
    fs::remove(left_file_of(data_folder, *key), failed);
    return list;
}

Status renew_list(const fs::path& data_folder, const FollowedList& kept, ByteSpan text, std::string_view signature,
                  std::int64_t now) {
    const auto key = identity::MinisignKey::parse(kept.key);
    if (!key) return key.error();
    const auto list = find::accept_list(*key, text, signature, {.serial = kept.list.serial, .now = now});
    if (!list) return list.error();
    if (list->serial == kept.list.serial) return {};
    const auto followed = follow_list(data_folder, kept, text, signature, now);
    return followed ? Status() : Status(followed.error());
}

Status unfollow_list(const fs::path& data_folder, const identity::MinisignKey& key) {
    std::error_code failed;
    if (fs::exists(file_of(data_folder, key), failed)) {
        // Before the list goes, so that a power cut between leaves no list that comes back by itself.
        if (const Status left = write_file_atomically(left_file_of(data_folder, key), {}); !left) return left;
        if (fs::remove(file_of(data_folder, key), failed)) return {};
    }
    return Error{ErrorCode::not_found, "No list of that key is followed; list show names those that are."};
}

bool has_followed(const fs::path& data_folder, const identity::MinisignKey& key) {
    std::error_code failed;
    return fs::exists(file_of(data_folder, key), failed) || fs::exists(left_file_of(data_folder, key), failed);
}

find::Trust trust_of(const fs::path& data_folder, std::int64_t now) {
    find::Trust trust;
    for (const FollowedList& one : followed_lists(data_folder)) {
        if (one.list.expires > now) find::add_to(trust, one.list);
    }
    return trust;
}

}  // namespace potluck::node
