// What this member offers to others and for how long: checkpoints, the payloads since the checkpoint before last, and
// the newest states.

#include <algorithm>
#include <utility>

#include "core/peer/impl.h"

namespace potluck::peer {

namespace {

/// The run's name as part of a file name, the same on every computer.
std::string file_name_of(const std::string& name) {
    std::string safe;
    for (const char c : name) {
        const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
        safe.push_back(plain ? c : '_');
    }
    return safe;
}

}  // namespace

void Peer::Impl::publish_checkpoint(RoundId round) {
    if (round.value == 0 || checkpoints.contains(round)) return;
    const std::filesystem::path file = world.store.state_file(round);
    if (!publishing.try_emplace(file, round).second) return;
    world.swarm.publish_file(file, file_name_of(manifest.name) + "-r" + std::to_string(round.value) + ".safetensors",
                             run::BlobKind::open);
}

void Peer::Impl::published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    const auto found = publishing.find(file);
    if (!blob.ok()) {
        trouble(blob.error().message);
        if (found != publishing.end()) publishing.erase(found);
        lent.erase(file);
        return;
    }
    // A state lent for a repair is published as a plain blob and never advertised.
    if (found == publishing.end() || blob->kind != run::BlobKind::open) return;
    const RoundId round = found->second;
    publishing.erase(found);
    if (digest_at(round) != blob->root && !(state == round && digest == blob->root)) return;
    checkpoints[round] = {round, *blob, file};
    say_status_soon = true;
}

/// Payloads kept from former times are seeded again; what is missing is fetched.
void Peer::Impl::fetch_kept_payloads() {
    const std::uint64_t every = manifest.recipe.checkpoint_every;
    const std::uint64_t periods = chain.value / every;
    const RoundId from{periods > 0 ? (periods - 1) * every : 0};
    payloads_kept_from = from;
    for (RoundId round = from; round < chain; round = round.next()) {
        const auto list = list_at(round);
        if (!list) continue;
        for (const run::Accepted& entry : list->entries) payloads.want(entry.payload, round, {entry.peer}, now);
    }
}

/// Called while no job runs: nothing that is dropped here is being read.
void Peer::Impl::forget_old() {
    if (!state || repair || checking_start) return;
    const std::uint64_t every = manifest.recipe.checkpoint_every;
    std::erase_if(pinned, [&](const auto& item) { return now >= item.second; });
    const std::uint64_t newest_checkpoint = state->value / every;
    for (const StateStore::Held& one : world.store.held()) {
        const bool recent = one.round.value + states_kept > state->value;
        const bool checkpoint = one.round.value % every == 0 &&
                                one.round.value / every + checkpoints_kept > newest_checkpoint;
        const bool marked = training.mark.kind == Mark::Kind::state && training.mark.round == one.round;
        const bool measured = training.purpose != SnapshotPurpose::none && training.snapshot_mark.round == one.round;
        const bool in_use = training.running && (marked || measured);
        if (recent || checkpoint || in_use || pinned.contains(one.round)) continue;
        const std::filesystem::path file = world.store.state_file(one.round);
        if (checkpoints.erase(one.round) > 0 || lent.erase(file) > 0) world.swarm.forget(one.digest);
        publishing.erase(file);
        world.store.drop_state(one.round);
    }
    if (!payloads_kept_from || newest_checkpoint == 0 || *state < chain) return;
    const RoundId keep_from{(newest_checkpoint - 1) * every};
    for (; *payloads_kept_from < keep_from; payloads_kept_from = payloads_kept_from->next()) {
        const auto list = list_at(*payloads_kept_from);
        if (!list) continue;
        for (const run::Accepted& entry : list->entries) payloads.forget(entry.payload.root);
    }
}

}  // namespace potluck::peer
