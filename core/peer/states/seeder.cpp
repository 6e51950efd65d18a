// What is published and for how long: states by the rules of states_kept and checkpoints_kept, payloads as long as
// those who join by one of the offered checkpoints may need them, or until the disk is full. Files that are lent for a
// repair are pinned for a while, and only so many of them. Nothing is dropped while a job may read it: forget_old() is
// called between jobs.
//
// A file is published under a name that says run and round, the same on every computer, so that all of them make one
// torrent of it. Threads: the peer's.
#include "core/peer/states/seeder.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/peer/states/weighted_list.h"

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

void Seeder::publish_checkpoint(RoundId round) {
    if (round.value == 0 || m_checkpoints.contains(round)) return;
    const std::filesystem::path file = m.store.state_file(round);
    if (!m_publishing.try_emplace(file, round).second) return;
    const std::string name =
        file_name_of(m.context.manifest.name) + "-r" + std::to_string(round.value) + ".safetensors";
    m.context.swarm.publish_file(file, name, run::BlobKind::open);
}

void Seeder::publish_for_repair(RoundId round, const StateDigest& digest) {
    m_pinned_until[round] = m.context.now() + state_pinned_for;
    const std::filesystem::path file = m.store.state_file(round);
    if (m_published_for_repair.insert(file).second) {
        m.context.swarm.publish_file(file, digest.hex() + ".safetensors", run::BlobKind::plain);
    }
}

void Seeder::on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    const auto found = m_publishing.find(file);
    if (!blob.ok()) {
        m.errors.report(blob.error().message);
        if (found != m_publishing.end()) m_publishing.erase(found);
        m_published_for_repair.erase(file);
        return;
    }
    // A state lent for a repair is published as a plain blob and never advertised.
    if (found == m_publishing.end() || blob->kind != run::BlobKind::open) return;
    const RoundId round = found->second;
    m_publishing.erase(found);
    const auto newest = m.mediator.newest_state();
    const bool is_newest = newest && newest->round == round && newest->digest == blob->root;
    if (m.chain.digest_at(round) != blob->root && !is_newest) return;
    m_checkpoints[round] = {round, *blob, file};
    m.mediator.status_changed();
}

void Seeder::seed_kept_payloads(Missing missing) {
    const std::uint64_t every = m.context.manifest.recipe.checkpoint_every;
    const std::uint64_t periods = m.chain.height().value / every;
    const RoundId from{periods > 0 ? (periods - 1) * every : 0};
    m_payloads_kept_from = from;
    if (missing == Missing::left) return;
    for (RoundId round = from; round < m.chain.height(); round = round.next()) {
        if (const auto list = m.chain.list_at(round)) m.payloads.want_accepted(*list, m.context.now());
    }
}

void Seeder::forget_old() {
    const auto newest = m.mediator.newest_state();
    if (!newest) return;
    std::erase_if(m_pinned_until, [&](const auto& item) { return m.context.now() >= item.second; });
    forget_states(newest->round);
    forget_payloads(newest->round);
    keep_room();
}

void Seeder::forget_states(RoundId newest) {
    const std::uint64_t every = m.context.manifest.recipe.checkpoint_every;
    std::size_t pinned = 0;
    std::vector<StateStore::Held> held = m.store.held();
    std::reverse(held.begin(), held.end());
    for (const StateStore::Held& one : held) {
        const bool recent = one.round.value + states_kept > newest.value;
        const bool checkpoint =
            one.round.value % every == 0 && one.round.value / every + checkpoints_kept > newest.value / every;
        if (recent || checkpoint || m.mediator.in_use(one.round)) continue;
        if (m_pinned_until.contains(one.round) && ++pinned <= states_pinned_max) continue;
        const std::filesystem::path file = m.store.state_file(one.round);
        if (m_checkpoints.erase(one.round) > 0 || m_published_for_repair.erase(file) > 0) {
            m.context.swarm.forget(one.digest);
        }
        m_publishing.erase(file);
        m.mediator.drop_state(one.round);
    }
}

void Seeder::forget_payloads(RoundId newest) {
    const std::uint64_t every = m.context.manifest.recipe.checkpoint_every;
    if (!m_payloads_kept_from || newest.value / every == 0 || newest < m.chain.height()) return;
    const RoundId keep_from{(newest.value / every - 1) * every};
    for (; *m_payloads_kept_from < keep_from; m_payloads_kept_from = m_payloads_kept_from->next()) {
        forget_payloads_of(*m_payloads_kept_from);
    }
}

/// A round is not to find the disk full when its payloads come.
void Seeder::keep_room() {
    if (m.chain.head() == nullptr) return;
    const std::uint64_t bytes = payload_bytes_of(*m.chain.head());
    while (m.context.swarm.room() < rounds_of_room * bytes && forget_oldest_payloads(states_kept)) {
    }
}

bool Seeder::forget_oldest_payloads(std::uint64_t rounds_spared) {
    const auto newest = m.mediator.newest_state();
    if (!m_payloads_kept_from || !newest || m_payloads_kept_from->value + rounds_spared >= newest->round.value) {
        return false;
    }
    forget_payloads_of(*m_payloads_kept_from);
    m_payloads_kept_from = m_payloads_kept_from->next();
    return true;
}

void Seeder::forget_payloads_of(RoundId round) {
    const auto list = m.chain.list_at(round);
    if (!list) return;
    for (const run::Accepted& entry : list->entries) m.payloads.forget(entry.payload.root);
}

std::vector<Checkpoint> Seeder::checkpoints() const {
    std::vector<Checkpoint> list;
    for (const auto& [round, checkpoint] : m_checkpoints) list.push_back(checkpoint);
    return list;
}

/// Who is behind takes a checkpoint only once a list says that it is right, and a list may need its vote.
std::optional<Checkpoint> Seeder::newest_checkpoint() const {
    if (m_checkpoints.empty()) return std::nullopt;
    const auto is_confirmed = [this](const auto& one) { return one.first < m.chain.height() || m.chain.closed(); };
    const auto confirmed = std::find_if(m_checkpoints.rbegin(), m_checkpoints.rend(), is_confirmed);
    return confirmed == m_checkpoints.rend() ? m_checkpoints.rbegin()->second : confirmed->second;
}

void Seeder::check_invariants() const {
    for (const auto& [round, checkpoint] : m_checkpoints) {
        POTLUCK_CHECK(checkpoint.round == round && round.value > 0);
        POTLUCK_CHECK(checkpoint.blob.kind == run::BlobKind::open);
    }
}

}  // namespace potluck::peer
