// A state becomes visible in a fixed order: written to <round>.partial through a map, synced, hashed, renamed, folder
// synced, mapped again for reading, then named in the index, which is replaced atomically. A kill between any two of
// these leaves either the old index or the new one, and files which the index does not name are removed at the next
// open. drop_state() goes the other way: index first, then the file.
//
// Maps are shared pointers, so a state that is dropped stays readable for those that still hold it. Two locks:
// m_index_mutex makes index writes follow each other, m_mutex guards the maps and is never held while a state is hashed
// or written, which takes seconds.
//
// A damaged index costs the states it named and nothing else: they are fetched again.
#include "app/node/member/state_files.h"

#include <algorithm>
#include <cstring>
#include <system_error>

#include "core/base/check.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/merkle.h"
#include "core/proof/false_step.h"
#include "core/proof/proof_file.h"
#include "core/run/jury/sequential_test.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t index_bytes_max = 1 << 20;
constexpr std::size_t states_max = 4096;
constexpr std::uint64_t record_bytes_max = 16 << 20;

const char* file_name(peer::Scratch which) {
    switch (which) {
        case peer::Scratch::error: return "error.f32";
        case peer::Scratch::snapshot: return "snapshot.f32";
        case peer::Scratch::look_ahead: return "look_ahead.f32";
    }
    POTLUCK_CHECK(false);
    return "";
}

/// What of `file` follows after `header` bytes.
peer::Vector vector_in(const std::shared_ptr<MappedFile>& file, std::size_t header) {
    const std::span<std::byte> bytes = file->writable().subspan(header);
    return {{reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)}, file};
}

Status make_folder(const fs::path& folder) {
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (!failed) return {};
    return Error{ErrorCode::permission, "The folder " + folder.string() + " cannot be made (" + failed.message() +
                                            "); check who owns the folder above it."};
}

Status rename_synced(const fs::path& from, const fs::path& to) {
    std::error_code failed;
    fs::rename(from, to, failed);
    if (failed) return Error{ErrorCode::io, to.string() + " cannot be written (" + failed.message() + ")."};
    return sync_file(to);
}

}  // namespace

fs::path state_file_in(const fs::path& run_folder, RoundId round) {
    return run_folder / "states" / (std::to_string(round.value) + ".safetensors");
}

fs::path evidence_file_in(const fs::path& run_folder, const PeerId& author) {
    return run_folder / "evidence" / (author.hex() + ".evidence");
}

fs::path false_step_file_in(const fs::path& run_folder, const Digest& list) {
    return run_folder / "evidence" / (list.hex() + ".false-step");
}

/// A damaged index costs the states it named, which the swarm has; it is no reason not to start.
Result<std::vector<peer::StateStore::Held>> stored_states(const fs::path& run_folder,
                                                          const model::StateLayout& layout) {
    std::vector<peer::StateStore::Held> held;
    const fs::path file = run_folder / "states" / "index.json";
    if (!fs::exists(file)) return held;
    const auto bytes = read_file(file, index_bytes_max);
    if (!bytes) return bytes.error();
    const auto json = parse_json(as_text(*bytes), index_bytes_max);
    if (!json) {
        log::of("states").warn("{} is damaged; the states are fetched again", file.string());
        return held;
    }
    Fields fields(*json, "index of states");
    for (const auto& row : fields.array("states", states_max)) {
        Fields entry(row, "state");
        const RoundId round{entry.integer("round", 0, UINT64_MAX >> 1U)};
        const auto digest = StateDigest::parse(entry.text("digest", 64));
        if (!entry.finish() || !digest) continue;
        std::error_code missing;
        const std::uintmax_t size = fs::file_size(state_file_in(run_folder, round), missing);
        if (missing || size != layout.file_size()) {
            log::of("states").warn("state {} is missing or has a wrong size", round.value);
            continue;
        }
        held.push_back({round, *digest});
    }
    std::ranges::sort(held, {}, &peer::StateStore::Held::round);
    return held;
}

StateFiles::StateFiles(fs::path folder, model::StateLayout layout, unsigned threads)
    : m_folder(std::move(folder)), m_layout(std::move(layout)), m_threads(std::max(threads, 1U)) {}

Result<std::unique_ptr<StateFiles>> StateFiles::open(const fs::path& folder, const model::ModelSpec& model,
                                                     unsigned threads) {
    for (const char* name : {"states", "scratch", "evidence"}) {
        if (const Status made = make_folder(folder / name); !made) return made.error();
    }
    std::unique_ptr<StateFiles> files(new StateFiles(folder, model::state_layout(model), threads));
    if (const Status read = files->read_index(); !read) return read.error();
    files->remove_strays();
    return files;
}

Status StateFiles::read_index() {
    const auto held = stored_states(m_folder, m_layout);
    if (!held) return held.error();
    for (const Held& one : *held) {
        auto map = MappedFile::open_read(state_file(one.round));
        if (!map) {
            log::of("states").warn("state {} cannot be read: {}", one.round.value, map.error().message);
            continue;
        }
        m_whole.insert_or_assign(one.round, Whole{one.digest, std::make_shared<const MappedFile>(std::move(*map))});
    }
    return {};
}

void StateFiles::remove_strays() const {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(m_folder / "states", ignored)) {
        const bool known = std::any_of(m_whole.begin(), m_whole.end(),
                                       [&](const auto& item) { return entry.path() == state_file(item.first); });
        if (!known && entry.path().filename() != "index.json") fs::remove(entry.path(), ignored);
    }
}

Status StateFiles::write_index() const {
    const std::lock_guard writing(m_index_mutex);
    nlohmann::json rows = nlohmann::json::array();
    {
        const std::lock_guard lock(m_mutex);
        for (const auto& [round, state] : m_whole)
            rows.push_back({{"round", round.value}, {"digest", state.digest.hex()}});
    }
    const std::string text = nlohmann::json{{"states", rows}}.dump();
    return write_file_atomically(m_folder / "states" / "index.json", as_bytes(text));
}

std::vector<peer::StateStore::Held> StateFiles::held() const {
    const std::lock_guard lock(m_mutex);
    std::vector<Held> all;
    for (const auto& [round, state] : m_whole) all.push_back({round, state.digest});
    return all;
}

peer::State StateFiles::state(RoundId round) const {
    std::shared_ptr<const MappedFile> map;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_whole.find(round);
        POTLUCK_CHECK(found != m_whole.end());
        map = found->second.map;
    }
    const ByteSpan parameters = map->bytes().subspan(m_layout.header.size());
    return {map->bytes(),
            {reinterpret_cast<const float*>(parameters.data()), static_cast<std::size_t>(m_layout.parameters)},
            map};
}

peer::VectorPlace StateFiles::state_place(RoundId round) const { return {state_file(round), m_layout.header.size()}; }

fs::path StateFiles::state_file(RoundId round) const { return state_file_in(m_folder, round); }

fs::path StateFiles::partial_file(RoundId round) const {
    return m_folder / "states" / (std::to_string(round.value) + ".partial");
}

Result<peer::Vector> StateFiles::begin_state(RoundId round) {
    auto created = MappedFile::create(partial_file(round), m_layout.file_size());
    if (!created) return created.error();
    const auto file = std::make_shared<MappedFile>(std::move(*created));
    std::memcpy(file->writable().data(), m_layout.header.data(), m_layout.header.size());
    const std::lock_guard lock(m_mutex);
    m_partial[round] = file;
    return vector_in(file, m_layout.header.size());
}

Result<StateDigest> StateFiles::commit_state(RoundId round) {
    std::shared_ptr<MappedFile> file;
    {
        const std::lock_guard lock(m_mutex);
        const auto found = m_partial.find(round);
        POTLUCK_CHECK(found != m_partial.end());
        file = std::move(found->second);
        m_partial.erase(found);
    }
    if (const Status synced = file->sync(); !synced) return synced.error();
    const StateDigest digest = merkle_root(file->bytes(), m_threads);
    if (const Status revealed = reveal(round, digest); !revealed) return revealed.error();
    log::of("states").debug("computed state {} {}", round.value, digest.hex());
    return digest;
}

/// Renames the partial file to its final name, maps it and adds it to the index.
Status StateFiles::reveal(RoundId round, const StateDigest& digest) {
    if (Status renamed = rename_synced(partial_file(round), state_file(round)); !renamed) return renamed;
    auto map = MappedFile::open_read(state_file(round));
    if (!map) return map.error();
    {
        const std::lock_guard lock(m_mutex);
        m_whole.insert_or_assign(round, Whole{digest, std::make_shared<const MappedFile>(std::move(*map))});
    }
    return write_index();
}

Status StateFiles::adopt_state(RoundId round, const StateDigest& digest, ByteSpan file) {
    const auto parameters = model::parameters_of(m_layout, file);
    if (!parameters) return parameters.error();
    if (merkle_root(file, m_threads) != digest) {
        return Error{ErrorCode::untrusted,
                     "The state of round " + std::to_string(round.value) + " does not match its digest."};
    }
    auto copy = MappedFile::create(partial_file(round), m_layout.file_size());
    if (!copy) return copy.error();
    std::memcpy(copy->writable().data(), file.data(), file.size());
    if (Status synced = copy->sync(); !synced) return synced;
    return reveal(round, digest);
}

void StateFiles::drop_state(RoundId round) {
    {
        const std::lock_guard lock(m_mutex);
        if (m_whole.erase(round) == 0) return;
    }
    if (const Status written = write_index(); !written) log::of("states").warn("{}", written.error().message);
    std::error_code ignored;
    fs::remove(state_file(round), ignored);
}

Result<peer::Vector> StateFiles::scratch(peer::Scratch which) {
    const std::lock_guard lock(m_mutex);
    auto found = m_scratch.find(which);
    if (found == m_scratch.end()) {
        const fs::path file = scratch_place(which).file;
        const std::uint64_t size = 4 * m_layout.parameters;
        std::error_code missing;
        const bool usable = fs::file_size(file, missing) == size && !missing;
        auto map = usable ? MappedFile::open_write(file) : MappedFile::create(file, size);
        if (!map) return map.error();
        found = m_scratch.emplace(which, std::make_shared<MappedFile>(std::move(*map))).first;
    }
    return vector_in(found->second, 0);
}

peer::VectorPlace StateFiles::scratch_place(peer::Scratch which) const {
    return {m_folder / "scratch" / file_name(which), 0};
}

Status StateFiles::save_record(ByteSpan record) { return write_file_atomically(m_folder / "record", record); }

std::optional<Bytes> StateFiles::load_record() const {
    auto bytes = read_file(m_folder / "record", record_bytes_max);
    if (!bytes) return std::nullopt;
    return std::move(*bytes);
}

Status StateFiles::save_votes(ByteSpan votes) { return write_file_atomically(m_folder / "votes", votes); }

/// A file that is there and cannot be read is not the same as none: who does not know its votes must not vote.
std::optional<Bytes> StateFiles::load_votes() const {
    auto bytes = read_file(m_folder / "votes", peer::votes_bytes_max);
    if (bytes) return std::move(*bytes);
    if (bytes.error().code == ErrorCode::not_found) return std::nullopt;
    return Bytes{};
}

Status StateFiles::save_judgements(ByteSpan judgements) {
    return write_file_atomically(m_folder / "judgements", judgements);
}

std::optional<Bytes> StateFiles::load_judgements() const {
    auto bytes = read_file(m_folder / "judgements", run::judgements_bytes_max);
    if (!bytes) return std::nullopt;
    return std::move(*bytes);
}

Status StateFiles::save_evidence(const PeerId& author, ByteSpan evidence) {
    return write_file_atomically(evidence_file_in(m_folder, author), evidence);
}

std::vector<Bytes> StateFiles::load_evidence() const {
    std::vector<Bytes> loaded;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(m_folder / "evidence", ignored)) {
        if (loaded.size() >= run::evidence_kept_max) break;
        if (entry.path().extension() != ".evidence") continue;
        if (auto bytes = read_file(entry.path(), run::evidence_bytes_max)) loaded.push_back(std::move(*bytes));
    }
    return loaded;
}

Status StateFiles::save_false_step(const Digest& list, ByteSpan evidence) {
    return write_file_atomically(false_step_file_in(m_folder, list), evidence);
}

std::vector<Digest> StateFiles::false_steps() const {
    std::vector<Digest> lists;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(m_folder / "evidence", ignored)) {
        if (lists.size() >= peer::false_steps_kept_max) break;
        if (entry.path().extension() != ".false-step") continue;
        if (const auto list = Digest::parse(entry.path().stem().string())) lists.push_back(*list);
    }
    return lists;
}

std::optional<Bytes> StateFiles::load_false_step(const Digest& list) const {
    auto bytes = read_file(false_step_file_in(m_folder, list), proof::false_step_bytes_max);
    if (!bytes) return std::nullopt;
    return std::move(*bytes);
}

Bytes StateFiles::manifest_file() const {
    auto bytes = read_file(m_folder / "manifest", proof::manifest_file_bytes_max);
    return bytes ? std::move(*bytes) : Bytes{};
}

}  // namespace potluck::node
