// A repair asks one member at a time for the piece layer of the wanted state, checks it against the digest, and fetches
// only the pieces in which our file differs; the swarm may serve them from anyone. Asking is retried with another
// member, two heartbeats apart, repair_tries_max times. A member that is alone asks as soon as another one is here, but
// does not wait for ever: it may have all that it takes to compute the state anew. The content is adopted only if its
// root is the certified digest, so a liar can delay a repair but not choose its outcome.
//
// Source: the piece layers of BEP 52.
#include "core/peer/states/repairer.h"

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
    } else if (status.round == newest && is_worth_a_check(m.members.person_of(peer), newest)) {
        check_own();
    }
}

/// Verifying two states takes a large model seconds of disk and processor, and anybody can make keys.
bool Repairer::is_worth_a_check(const PeerId& person, RoundId round) const {
    return !m.chain.is_newcomer(person) || !m_checked ||
           round.value >= m_checked->value + rounds_between_newcomers_checks;
}

void Repairer::compare_all() {
    for (const auto& [peer, member] : m.members.all()) compare(peer);
}

/// A member says another digest than ours. Whichever is wrong, only our own bytes are ours to judge: the newest state,
/// and the one before it, from which our digest was computed. Once a round, because anybody can say anything.
void Repairer::check_own() {
    const RoundId round = *m.keeper.round();
    if (m_checked == round) return;
    m_checked = round;
    m_checks_own = true;
    std::vector<StateStore::Held> checked;
    for (const StateStore::Held& one : m.store.held()) {
        const bool is_near = one.round == round || one.round.next() == round;
        const std::optional<StateDigest> recorded =
            one.round == round ? m.keeper.digest() : m.chain.digest_at(one.round);
        if (is_near && recorded) checked.push_back({one.round, *recorded});
    }
    m.keeper.verify(checked, [this, round](const std::vector<RoundId>& damaged) {
        m_checks_own = false;
        if (damaged.empty() || m_repair || m.keeper.round() != round) return;
        if (m.keeper.applying()) return m_checked.reset();  // asked again with the next status
        ++m_repairs;
        m.mediator.on_unrepairable(round);
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
    if (m_repair->sources.empty()) m_repair->sources = m.members.neighbours();
    if (m_repair->sources.empty() && !m_repair->fetching) {
        if (m.context.now() >= m_repair->asked_at + repair_alone_max) give_up();
        return;
    }
    ++m_repair->tries;
    m_repair->asked_at = m.context.now();
    if (m_repair->fetching) return;
    const PeerId asked = m_repair->sources[m_repair->source++ % m_repair->sources.size()];
    m_repair->layer.clear();
    m.context.send(asked, run::LayerRequest{m_repair->target.digest, 0});
}

Verdict Repairer::on_layer_request(const PeerId& from, const run::LayerRequest& request) {
    const std::vector<StateStore::Held> held = m.store.held();
    const auto wanted = [&](const StateStore::Held& one) { return one.digest == request.state; };
    const auto found = std::find_if(held.begin(), held.end(), wanted);
    if (found == held.end() || (m_repair && m_repair->target.round == found->round)) return Verdict::stale;
    m.mediator.publish_for_repair(found->round, request.state);
    if (const auto known = m_layers.find(request.state); known != m_layers.end()) {
        send_layer(request.state, known->second, {from, request.first});
        return Verdict::accepted;
    }
    std::vector<LayerAsked>& askers = m_layers_awaited[request.state];
    const auto is_same = [&](const LayerAsked& one) { return one.by == from; };
    if (std::any_of(askers.begin(), askers.end(), is_same)) return Verdict::repeated;
    if (askers.size() >= layer_askers_max) return Verdict::stale;
    askers.push_back({from, request.first});
    if (askers.size() > 1) return Verdict::accepted;
    m.jobs.run(
        [state = m.store.state(found->round), threads = m.context.settings.threads] {
            return merkle_layer(state.file, piece_size_of(state.file.size()), threads);
        },
        [this, state = request.state](std::vector<Digest> layer) { keep_layer(state, std::move(layer)); });
    return Verdict::accepted;
}

/// A state is hashed once, however many ask for its layer. One that is damaged on our disk has no layer to tell.
void Repairer::keep_layer(const StateDigest& state, std::vector<Digest> layer) {
    const std::vector<LayerAsked> askers = std::exchange(m_layers_awaited[state], {});
    m_layers_awaited.erase(state);
    const std::uint64_t size = m.context.layout.file_size();
    if (!layer_fits(state, layer, size, piece_size_of(size))) return;
    for (const LayerAsked& asked : askers) send_layer(state, layer, asked);
    const std::vector<StateStore::Held> held = m.store.held();
    std::erase_if(m_layers, [&](const auto& one) {
        return std::none_of(held.begin(), held.end(),
                            [&](const auto& state_held) { return state_held.digest == one.first; });
    });
    if (m_layers.size() >= layers_cached_max) m_layers.erase(m_layers.begin());
    m_layers[state] = std::move(layer);
}

void Repairer::send_layer(const StateDigest& state, const std::vector<Digest>& layer, const LayerAsked& asked) const {
    run::LayerMessage answer{state, asked.first, {}};
    if (asked.first < layer.size()) {
        const auto first = layer.begin() + static_cast<std::ptrdiff_t>(asked.first);
        const std::size_t count = std::min(layer.size() - asked.first, run::layer_hashes_max);
        answer.hashes.assign(first, first + static_cast<std::ptrdiff_t>(count));
    }
    m.context.send(asked.by, answer);
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
