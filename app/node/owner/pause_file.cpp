#include "app/node/owner/pause_file.h"

#include "core/base/files.h"
#include "core/base/json.h"

namespace potluck::node {

namespace {

constexpr std::size_t pauses_bytes_max = 1U << 20U;

std::filesystem::path pauses_in(const std::filesystem::path& folder) { return folder / "pauses.json"; }

}  // namespace

control::PauseHistory pause_rows(const activity::History& history) {
    control::PauseHistory rows;
    for (const activity::Episode& one : history.episodes())
        rows.rows.push_back({one.level, one.signal, one.detail, one.began, one.ended});
    return rows;
}

Status save_pauses(const std::filesystem::path& data_folder, const activity::History& history) {
    const std::string text = to_json(pause_rows(history)).dump() + "\n";
    return write_file_atomically(pauses_in(data_folder), as_bytes(text), FileAccess::private_to_owner);
}

activity::History load_pauses(const std::filesystem::path& data_folder) {
    activity::History history;
    const auto bytes = read_file(pauses_in(data_folder), pauses_bytes_max);
    if (!bytes) return history;
    const auto json = parse_json(as_text(*bytes), pauses_bytes_max);
    if (!json) return history;
    const auto rows = control::read_as<control::PauseHistory>(*json);
    if (!rows) return history;
    std::vector<activity::Episode> episodes;
    for (const control::EpisodeRow& row : rows->rows)
        episodes.push_back({row.level, row.signal, row.detail, row.began, row.ended});
    history.restore(std::move(episodes));
    return history;
}

}  // namespace potluck::node
