// One dispute at a time. A status whose digest differs from ours at the same round and list opens it; a vote among the
// members there, ourselves included, decides. Outvoted, we repair. In a tie nobody can tell from the votes whose disk
// is damaged, so each side hashes its own state again, and the state before it, and the one that finds damage repairs.
//
// A repair asks one member at a time for the piece layer of the wanted state, checks it against the digest, and fetches
// only the pieces in which our file differs; the swarm may serve them from anyone. Asking is retried with another
// member, two heartbeats apart, repair_tries_max times. The content is adopted only if its root is the digest that won,
// so a liar can delay a repair but not choose its outcome.
//
// Source: the piece layers of BEP 52.
#include "core/peer/repairer.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/merkle.h"

namespace potluck::peer {

using run::Verdict;

namespace {

/// Whether `layer` (hashes of `piece` bytes each) is the layer of a file of `size` bytes with this root.
bool layer_fits(const StateDigest& root, const std::vector<Digest>& layer, std::uint64_t size, std::size_t piece) {
    if (layer.empty()) return size <= piece;
    return merkle_root_of_layer(layer, size, piece) == root;
}

}  // namespace

VoteResult count_votes(const StateDigest& own, const Votes& votes) {
    const auto mine = votes.find(own);
    const std::size_t for_us = mine == votes.end() ? 0 : mine->second.size();
    const auto best = std::max_element(votes.begin(), votes.end(),
                                       [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    if (best != votes.end() && best->second.size() > for_us) {
        return {VoteResult::Kind::outvoted, best->first, best->second};
    }
    for (const auto& [other, voters] : votes) {
        if (other != own && voters.size() >= for_us) return {VoteResult::Kind::tied, other, voters};
    }
    return {};
}

bool Repairer::fetches(const BlobId& id) const {
    return m_repair && m_repair->fetching && m_repair->target.digest == id;
}

std::optional<double> Repairer::progress() const {
    if (!m_repair) return std::nullopt;
    return m.context.swarm.progress(m_repair->target.digest);
}

void Repairer::compare(const PeerId& peer) {
    Member* member = m.members.find(peer);
    if (member == nullptr || !m.keeper.round() || m_repair) return;
    const run::StatusMessage& status = member->status;
    const RoundId newest = *m.keeper.round();
    if (status.round > newest || status.round > m.chain.height() || status.round.value == 0) return;
    if (member->compared && *member->compared >= status.round) return;
    if (status.phase == run::Phase::joining || status.list != m.chain.hash_before(status.round)) return;
    const std::optional<StateDigest> ours =
        status.round == newest ? m.keeper.digest() : m.chain.digest_at(status.round);
    if (!ours) return;
    member->compared = status.round;
    ++m_digests_compared;
    if (*ours == status.digest) {
        ++m_digests_equal;
    } else if (status.round == newest) {
        m_disputed = newest;
        vote();
    }
}

void Repairer::compare_all() {
    for (const PeerId& peer : m.members.ids()) compare(peer);
}

/// A dispute stays open until it is decided: more members may have come to the round since.
void Repairer::update_votes() {
    if (!m_disputed || !m.keeper.round() || *m_disputed != *m.keeper.round()) return;
    if (m.context.now() >= m_voted_at + run::heartbeats_to_repeat * m.context.settings.heartbeat) vote();
}

/// Digests differ at our round: the majority of those with our list is right; in a tie, the member with a damaged disk
/// is wrong.
void Repairer::vote() {
    if (m_repair || m_verifying || !m.mediator.in_step()) return;
    m_voted_at = m.context.now();
    const RoundId round = *m.keeper.round();
    const Digest list = m.chain.hash_before(round);
    Votes votes;
    votes[m.keeper.digest()] = {m.context.self()};
    for (const auto& [peer, member] : m.members.all()) {
        const run::StatusMessage& status = member.status;
        if (status.round == round && status.list == list && status.phase != run::Phase::repairing) {
            votes[status.digest].push_back(peer);
        }
    }
    VoteResult result = count_votes(m.keeper.digest(), votes);
    if (result.kind == VoteResult::Kind::outvoted) begin({round, result.digest}, std::move(result.voters));
    if (result.kind == VoteResult::Kind::tied && m_verified != round) verify_own(result.digest, result.voters);
}

/// The state our digest was computed from may have been damaged: the one before it is checked too.
void Repairer::verify_own(const StateDigest& other, const std::vector<PeerId>& voters) {
    const RoundId round = *m.keeper.round();
    m_verifying = true;
    m_verified = round;
    std::vector<StateStore::Held> checked;
    for (const StateStore::Held& one : m.store.held()) {
        const bool near = one.round == round || one.round.next() == round;
        const std::optional<StateDigest> recorded =
            one.round == round ? m.keeper.digest() : m.chain.digest_at(one.round);
        if (near && recorded) checked.push_back({one.round, *recorded});
    }
    m.keeper.verify(checked, [this, target = StateStore::Held{round, other},
                              sources = voters](const std::vector<RoundId>& damaged) {
        m_verifying = false;
        if (!damaged.empty() && m.keeper.round() == target.round) begin(target, sources);
    });
}

void Repairer::begin(const StateStore::Held& target, std::vector<PeerId> sources) {
    if (m_repair || !m.keeper.round()) return;
    std::erase(sources, m.context.self());
    m_repair = Repair{};
    m_repair->target = target;
    m_repair->sources = std::move(sources);
    m_repair->asked_at = m.context.now() - run::heartbeats_to_repeat * m.context.settings.heartbeat;
    m.mediator.on_repair_begun();
    update_repair();
}

void Repairer::update_repair() {
    if (!m_repair || m_repair->adopting || m.keeper.applying()) return;
    if (m.context.now() < m_repair->asked_at + run::heartbeats_to_repeat * m.context.settings.heartbeat) return;
    if (m_repair->tries >= repair_tries_max) {
        give_up();
        return;
    }
    ++m_repair->tries;
    m_repair->asked_at = m.context.now();
    if (m_repair->sources.empty()) m_repair->sources = m.members.ids();
    if (m_repair->sources.empty() || m_repair->fetching) return;
    const PeerId asked = m_repair->sources[m_repair->source++ % m_repair->sources.size()];
    m_repair->layer.clear();
    m.context.send(asked, run::LayerRequest{m_repair->target.digest, 0});
}

Verdict Repairer::on_layer_request(const PeerId& from, const run::LayerRequest& request) {
    const std::vector<StateStore::Held> held = m.store.held();
    const auto wanted = [&](const StateStore::Held& one) { return one.digest == request.state; };
    const auto found = std::find_if(held.begin(), held.end(), wanted);
    if (found == held.end() || (m_repair && m_repair->target.round == found->round)) return Verdict::stale;
    if (m.jobs.count() >= layer_jobs_max) return Verdict::stale;
    m.mediator.publish_for_repair(found->round, request.state);
    m.jobs.run(
        [state = m.store.state(found->round), threads = m.context.settings.threads] {
            return merkle_layer(state.file, piece_size_of(state.file.size()), threads);
        },
        [this, from, request](const std::vector<Digest>& layer) {
            run::LayerMessage answer{request.state, request.first, {}};
            if (request.first < layer.size()) {
                const auto first = layer.begin() + static_cast<std::ptrdiff_t>(request.first);
                const std::size_t count = std::min(layer.size() - request.first, run::layer_hashes_max);
                answer.hashes.assign(first, first + static_cast<std::ptrdiff_t>(count));
            }
            m.context.send(from, answer);
        });
    return Verdict::accepted;
}

Verdict Repairer::on_layer(const PeerId& from, const run::LayerMessage& message) {
    if (!m_repair || m_repair->fetching || m_repair->adopting) return Verdict::stale;
    Repair& repair = *m_repair;
    if (message.state != repair.target.digest) return Verdict::stale;
    const std::uint64_t size = m.context.layout.file_size();
    const std::size_t piece = piece_size_of(size);
    const std::size_t whole = size <= piece ? 0 : static_cast<std::size_t>((size + piece - 1) / piece);
    if (message.first != repair.layer.size() || repair.layer.size() + message.hashes.size() > whole) {
        return Verdict::malformed;
    }
    repair.layer.insert(repair.layer.end(), message.hashes.begin(), message.hashes.end());
    repair.asked_at = m.context.now();
    if (repair.layer.size() < whole) {
        if (!message.hashes.empty()) {
            m.context.send(from,
                           run::LayerRequest{repair.target.digest, static_cast<std::uint32_t>(repair.layer.size())});
        }
        return Verdict::accepted;
    }
    if (!layer_fits(repair.target.digest, repair.layer, size, piece)) {
        repair.layer.clear();
        return Verdict::malformed;
    }
    fetch();
    return Verdict::accepted;
}

void Repairer::fetch() {
    m_repair->fetching = true;
    FetchOptions options{.sources = m_repair->sources, .deadline = m.context.now(), .damaged_copy = {}, .layer = {}};
    if (m.keeper.holds(m_repair->target.round)) {
        options.damaged_copy = m.store.state_file(m_repair->target.round);
        options.layer = m_repair->layer;
    }
    m.context.swarm.fetch({m_repair->target.digest, m.context.layout.file_size(), run::BlobKind::plain, {}},
                          std::move(options));
}

void Repairer::on_fetch_failed(const BlobId& id) {
    if (m_repair && m_repair->target.digest == id) m_repair->fetching = false;
}

void Repairer::on_content(BlobPointer content) {
    if (!m_repair || m_repair->adopting) return;
    m_repair->adopting = true;
    m.keeper.adopt(m_repair->target, std::move(content), [this](const Status& outcome) {
        if (!m_repair) return;
        const StateStore::Held target = m_repair->target;
        m.context.swarm.forget(target.digest);
        if (!outcome.ok()) {
            m.errors.report(outcome.error().message);
            give_up();
            return;
        }
        m_repair.reset();
        ++m_repairs;
        m_disputed.reset();
        m.mediator.on_repaired(target);
    });
}

void Repairer::give_up() {
    if (m_repair->fetching) m.context.swarm.forget(m_repair->target.digest);
    const RoundId broken = m_repair->target.round;
    m_repair.reset();
    m.mediator.on_unrepairable(broken);
}

void Repairer::check_invariants() const {
    POTLUCK_CHECK(m_digests_equal <= m_digests_compared);
    POTLUCK_CHECK(!m_repair || m_repair->tries <= repair_tries_max);
}

}  // namespace potluck::peer
