// Rank decides where there is no room: seats first, then the lowest lots, drawn from the list that led to the state, so
// that nobody can make a key that comes first. Keys past a probation are many in a large run, and the bound on what is
// held keeps their flood small.
//
// A loss is judged twice: on arrival, before its signature is checked, and when a list is proposed, since a person may
// be banned or suspended in between. A member that is away when a state is due measures nothing, and nobody waits for
// it longer than two rounds. Threads: the peer's.
#include "core/peer/jury/losses.h"

#include <algorithm>
#include <set>
#include <utility>

namespace potluck::peer {

using run::Verdict;

bool Losses::has_seat(const PeerId& member) const { return run::has_seat(m.chain.committee(), member); }

run::DeviceCertificate Losses::certificate_of(const PeerId& member) const {
    if (member == m.context.self()) return m.context.certificate;
    const run::Owners seated = m.chain.committee_owners();
    return seated.contains(member) ? seated.at(member) : m.members.certificate_of(member);
}

bool Losses::may_measure(const PeerId& member) const {
    const PeerId person = certificate_of(member).person_of(member);
    if (!m.chain.rules().may_contribute(person, m.chain.height())) return false;
    return has_seat(member) || !m.chain.is_newcomer(person);
}

/// In L[height] or one of the next.
bool Losses::can_be_listed(RoundId round) const {
    return !m.chain.closed() && m.chain.rules().is_measured(round) &&
           m.chain.height().value <= round.value + run::measured_within;
}

/// Seats first, then by lot.
std::vector<PeerId> Losses::by_rank(RoundId round, const OfState& of_state) const {
    const std::vector<PeerId> seats = m.chain.committee();
    const Digest list = m.chain.hash_before(round);
    std::vector<std::pair<std::pair<bool, Digest>, PeerId>> ranked;
    for (const auto& [member, loss] : of_state) {
        ranked.push_back({{!run::has_seat(seats, member), run::lot_of(list, member)}, member});
    }
    std::sort(ranked.begin(), ranked.end());
    std::vector<PeerId> members;
    for (const auto& [rank, member] : ranked) members.push_back(member);
    return members;
}

Verdict Losses::judge(const PeerId& sender, const run::MeasuredLoss& loss) const {
    if (m.chain.rules().measure_every == 0) return Verdict::not_allowed;
    if (loss.tokens != m.context.manifest.tokens_measured()) return Verdict::malformed;
    const bool is_ahead = loss.round.value > m.chain.height().value + loss_rounds_ahead;
    if (is_ahead || !can_be_listed(loss.round)) return Verdict::stale;
    const auto state = m_losses.find(loss.round);
    if (state != m_losses.end() && state->second.contains(sender)) return Verdict::repeated;
    if (!may_measure(sender)) return Verdict::wrong_author;
    if (state == m_losses.end() || state->second.size() < losses_of_state_max) return Verdict::accepted;
    OfState with = state->second;
    with.try_emplace(sender);
    return by_rank(loss.round, with).back() == sender ? Verdict::no_room : Verdict::accepted;
}

void Losses::keep(RoundId round, const run::SignedLoss& loss) {
    OfState& of_state = m_losses[round];
    of_state.insert_or_assign(loss.member, loss);
    if (of_state.size() > losses_of_state_max) of_state.erase(by_rank(round, of_state).back());
}

void Losses::take(const run::Envelope& envelope, const run::MeasuredLoss& loss) {
    keep(loss.round, {envelope.sender, loss.loss, envelope.signature});
}

/// By lot among those that are here and train, of whom newcomers do not count.
bool Losses::is_drawn(RoundId round) const {
    const Digest list = m.chain.hash_before(round);
    const Digest own = run::lot_of(list, m.context.self());
    std::size_t lower = 0;
    for (const auto& [peer, member] : m.members.all()) {
        const bool comes_first = member.status.role == run::Role::volunteer && run::lot_of(list, peer) < own;
        if (comes_first && may_measure(peer) && !has_seat(peer) && ++lower == measurers_by_lot) return false;
    }
    return true;
}

/// How many computers that train may measure, this one included; counted up to losses_per_list_max.
std::size_t Losses::measurers() const {
    std::size_t count = m.context.settings.role == run::Role::volunteer && may_measure(m.context.self()) ? 1 : 0;
    for (const auto& [peer, member] : m.members.all()) {
        if (count >= run::losses_per_list_max) break;
        if (member.status.role == run::Role::volunteer && may_measure(peer)) ++count;
    }
    return count;
}

std::optional<RoundId> Losses::due() {
    if (m.chain.rules().measure_every == 0 || m.context.manifest.records_measured() == 0) return std::nullopt;
    std::optional<RoundId> newest;
    for (const StateStore::Held& one : m.store.held()) {
        const bool is_agreed = one.round <= m.chain.height() && m.chain.digest_at(one.round) == one.digest;
        if (is_agreed && can_be_listed(one.round) && (!newest || *newest < one.round)) newest = one.round;
    }
    if (!newest) return std::nullopt;
    const auto state = m_losses.find(*newest);
    if (state != m_losses.end() && state->second.contains(m.context.self())) return std::nullopt;
    if (!may_measure(m.context.self())) return std::nullopt;
    if (has_seat(m.context.self())) return newest;
    if (!m_drawn || m_drawn->first != *newest) m_drawn = {*newest, is_drawn(*newest)};
    return m_drawn->second ? newest : std::nullopt;
}

void Losses::sign(RoundId round, double nats) {
    const run::MeasuredLoss loss{round, run::measured_loss_of(nats), m.context.manifest.tokens_measured()};
    if (loss.loss == 0 || judge(m.context.self(), loss) != Verdict::accepted) return;
    keep(round, {m.context.self(), loss.loss, m.context.signature_of(loss)});
    m.context.broadcast(loss);
}

void Losses::settle() {
    std::erase_if(m_losses, [&](const auto& one) { return !can_be_listed(one.first); });
}

void Losses::repeat() const {
    for (const auto& [round, of_state] : m_losses) {
        const auto own = of_state.find(m.context.self());
        if (own == of_state.end()) continue;
        m.context.broadcast(run::MeasuredLoss{round, own->second.loss, m.context.manifest.tokens_measured()});
    }
}

void Losses::tell(const std::vector<PeerId>& to) const {
    for (const auto& [round, of_state] : m_losses) {
        for (const auto& [member, one] : of_state) {
            const run::MeasuredLoss loss{round, one.loss, m.context.manifest.tokens_measured()};
            const run::Envelope envelope = m.context.envelope_signed_by(member, loss, one.signature);
            for (const PeerId& peer : to) m.context.swarm.send(peer, envelope);
        }
    }
}

bool Losses::measures_last() const {
    const Duration patience = m.context.manifest.recipe.window / 4 + Duration{1'000 * run::last_losses_seconds};
    return m_last_since && m.context.now() < *m_last_since + patience && !are_complete();
}

/// Whether all who may measure the last state have.
bool Losses::are_complete() const {
    const RoundId last{m.context.manifest.recipe.total_rounds};
    if (m.context.manifest.records_measured() == 0 || !can_be_listed(last)) return true;
    return held(last) >= measurers();
}

std::optional<run::Measured> Losses::to_propose() const {
    const RoundId height = m.chain.height();
    const bool is_closing = m.context.is_last(height);
    for (const auto& [round, of_state] : m_losses) {
        const bool is_its = is_closing ? round == height : round < height;
        if (!is_its || !can_be_listed(round)) continue;
        run::Measured chosen{round, m.context.manifest.tokens_measured(), {}};
        std::set<PeerId> persons;
        for (const PeerId& member : by_rank(round, of_state)) {
            const run::DeviceCertificate certificate = certificate_of(member);
            const bool is_full = chosen.losses.size() == run::losses_per_list_max;
            if (is_full || !may_measure(member) || !persons.insert(certificate.person_of(member)).second) continue;
            chosen.losses.push_back(of_state.at(member));
            chosen.losses.back().certificate = certificate;
        }
        std::ranges::sort(chosen.losses, {}, &run::SignedLoss::member);
        const bool may_be_more =
            !is_closing && height.value <= round.value + rounds_to_gather && chosen.losses.size() < measurers();
        if (!chosen.losses.empty() && !may_be_more) return chosen;
    }
    return std::nullopt;
}

bool Losses::are_established(const run::AcceptList& list) const {
    if (!list.measured) return true;
    const std::vector<run::SignedLoss>& losses = list.measured->losses;
    return std::all_of(losses.begin(), losses.end(), [&](const run::SignedLoss& one) {
        return has_seat(one.member) || !m.chain.is_newcomer(one.person());
    });
}

std::size_t Losses::held(RoundId round) const {
    const auto state = m_losses.find(round);
    return state == m_losses.end() ? 0 : state->second.size();
}

}  // namespace potluck::peer
