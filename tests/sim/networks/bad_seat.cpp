#include "tests/sim/networks/bad_seat.h"

#include <algorithm>

#include "core/base/merkle.h"
#include "tests/sim/stranger.h"

namespace potluck::sim {

namespace {

constexpr std::size_t even = 0, odd = 1, all = 2;

Bytes noise(Rng& rng, std::size_t size) {
    Bytes bytes(size);
    for (std::byte& one : bytes) one = static_cast<std::byte>(rng.next());
    return bytes;
}

}  // namespace

const char* name_of(SeatLie lie) {
    switch (lie) {
        case SeatLie::silence: return "silence";
        case SeatLie::equivocation: return "equivocation";
        case SeatLie::false_entries: return "false entries";
        case SeatLie::votes_for_all: return "votes for all";
        case SeatLie::sparseness: return "sends half";
        case SeatLie::no_such_payload: return "no such payload";
    }
    return "";
}

BadSeat::BadSeat(World& world, std::size_t member, SeatLie lie)
    : m_world(world),
      m_home(world.home(member)),
      m_lie(lie),
      m_keyring(m_home.identity),
      m_disk("bad seat", model::state_layout(world.manifest().model)),
      m_port(world.network(), m_home.id(), m_disk, m_home.folder) {
    POTLUCK_CHECK(!m_home.alive());
    m_port.connect(*this);
    world.network().attach(id(), &m_port);
    for (const PeerId& peer : m_port.neighbours()) world.network().port(peer)->receiver()->on_neighbour(id());
    m_port.later(Duration{100}, [this] { act(); });
}

BadSeat::~BadSeat() { m_world.network().detach(id()); }

void BadSeat::on_envelope(const PeerId&, run::Envelope envelope) {
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok()) return;
    if (const auto* contribution = std::get_if<run::ContributionMessage>(&*message)) {
        if (contribution->round == m_instance.round) m_contributions.try_emplace(envelope.sender, envelope);
    } else if (const auto* ballot = std::get_if<run::BallotMessage>(&*message)) {
        hear(*ballot);
    }
}

void BadSeat::act() {
    follow_chain();
    if (m_acts++ % 10 == 0) say_status();
    if (m_lie == SeatLie::no_such_payload) contribute_nothing();
    const std::size_t volunteers = m_world.plan().volunteers;
    const auto order = run::proposer_order(run::Committee::from_keys(m_committee).value(), m_previous);
    for (const std::uint32_t view : {m_view, m_view + 1}) {
        const bool is_turn = order[view % order.size()] == id() && 2 * m_contributions.size() >= volunteers;
        if (is_turn && m_proposed.insert(view).second) propose(view);
    }
    m_port.later(Duration{100}, [this] { act(); });
}

/// Takes the longest chain of all who live.
void BadSeat::follow_chain() {
    std::optional<run::AcceptList> head;
    for (std::size_t i = 0; i < m_world.size(); ++i) {
        if (!m_world.home(i).alive()) continue;
        const auto one = m_world.home(i).ledger.head(m_world.run());
        if (!one || (head && one->round <= head->round)) continue;
        head = *one;
        m_base = *m_world.home(i).ledger.digest_after(m_world.run(), one->round);
    }
    const RoundId round = head ? head->round.next() : RoundId{0};
    if (!m_committee.empty() && round == m_instance.round) return;
    if (!head) m_base = m_world.manifest().initial_state.root;
    m_instance = {m_world.run(), 0, round};
    m_previous = head ? head->hash() : Digest{};
    m_committee = head ? head->committee : m_world.first_committee();
    m_contributions.clear();
    m_proposed.clear();
    m_voted.clear();
    m_view = 0;
}

void BadSeat::say_status() {
    run::StatusMessage status;
    status.sequence = ++m_sequence;
    status.role = m_lie == SeatLie::no_such_payload ? run::Role::volunteer : run::Role::backbone;
    status.phase = run::Phase::training;
    status.round = m_instance.round;
    status.digest = m_base;
    status.list = m_previous;
    status.name = "seat";
    send(members(all), status);
}

void BadSeat::contribute_nothing() {
    if (m_contributions.contains(id())) return;
    const run::ContributionMessage message{
        m_instance.round, m_base, {merkle_root(noise(m_world.rng(), 90)), 90, run::BlobKind::plain, {}}, {1'000}};
    m_contributions.emplace(id(), sealed(m_home.identity, m_world.run(), message));
    send(members(all), message);
}

run::Accepted BadSeat::entry_of(const run::Envelope& contribution) const {
    const auto message = run::decode_body(contribution.kind, contribution.body);
    const auto& own = std::get<run::ContributionMessage>(*message);
    return {contribution.sender, own.payload, own.tokens, false, contribution.signature};
}

run::AcceptList BadSeat::list_of(std::size_t first, std::size_t stride) const {
    run::AcceptList list{m_world.run(), 0, m_instance.round, m_previous, m_base, m_world.newest_k(), m_committee, {}};
    std::size_t place = 0;
    const std::size_t probation = m_world.manifest().recipe.probation_rounds;
    for (const auto& [peer, contribution] : m_contributions) {
        if (place++ % stride != first) continue;
        run::Accepted entry = entry_of(contribution);
        std::uint64_t rounds = 0;
        for (std::size_t i = 0; i < m_world.size(); ++i) {
            if (!m_world.home(i).alive()) continue;
            rounds = std::max(rounds, m_world.home(i).ledger.credit_of(m_world.run(), peer).rounds);
        }
        const auto& backbones = m_world.manifest().backbones;
        const bool is_trusted = std::find(backbones.begin(), backbones.end(), peer) != backbones.end();
        entry.newcomer = !is_trusted && rounds < probation;
        list.entries.push_back(entry);
    }
    return list;
}

void BadSeat::propose(std::uint32_t view) {
    switch (m_lie) {
        case SeatLie::silence: return;
        case SeatLie::equivocation: return propose_two(view);
        case SeatLie::votes_for_all:
        case SeatLie::no_such_payload: return send_proposal(view, list_of(0, 1), members(all));
        case SeatLie::sparseness: return propose_half(view);
        case SeatLie::false_entries: break;
    }
    run::AcceptList list = list_of(0, 1);
    run::Accepted& entry = list.entries[m_world.rng().below(list.entries.size())];
    switch (m_world.rng().below(3)) {
        case 0: entry.tokens = {2 * entry.tokens.value}; break;
        case 1: entry.newcomer = !entry.newcomer; break;
        default: {
            const Bytes bytes = noise(m_world.rng(), 90);
            const run::ContributionMessage own{m_instance.round, m_base, m_port.publish(bytes).value(), {1'000}};
            entry = entry_of(sealed(m_home.identity, m_world.run(), own));
            std::sort(list.entries.begin(), list.entries.end());
        }
    }
    send_proposal(view, list, members(all));
}

void BadSeat::propose_half(std::uint32_t view) {
    run::AcceptList list = list_of(0, 1);
    list.k = std::max(list.k / 2, m_world.manifest().recipe.k);
    send_proposal(view, list, members(all));
}

/// One list to each half of the honest, and all its votes with it.
void BadSeat::propose_two(std::uint32_t view) {
    for (const std::size_t side : {even, odd}) {
        const run::AcceptList list = list_of(side, 2);
        if (list.entries.empty()) continue;
        send_proposal(view, list, members(side));
        vote(view, list.hash(), members(side));
    }
}

void BadSeat::hear(const run::BallotMessage& ballot) {
    const auto statement = run::decode_agreement_message(ballot.statement);
    if (!statement.ok()) return;
    std::uint32_t view = 0;
    std::optional<Digest> list;
    if (const auto* proposal = std::get_if<run::SignedProposal>(&*statement)) {
        if (proposal->statement.instance != m_instance || proposal->author == id()) return;
        view = proposal->statement.view;
        list = proposal->statement.list;
    } else if (const auto* other = std::get_if<run::SignedVote>(&*statement)) {
        if (other->statement.instance != m_instance || other->author == id()) return;
        view = other->statement.view;
        list = other->statement.list;
    } else {
        return;
    }
    m_view = std::max(m_view, view);
    if (!list || !m_voted.emplace(view, *list).second) return;
    if (m_lie == SeatLie::votes_for_all) vote(view, list, members(all));
    if (m_lie != SeatLie::equivocation) return;
    vote(view, list, members(view % 2));
    vote(view, std::nullopt, members(1 - view % 2));
}

void BadSeat::vote(std::uint32_t view, const std::optional<Digest>& list, const std::vector<PeerId>& to) {
    ++m_lies;
    for (const run::Step step : {run::Step::prevote, run::Step::precommit}) {
        const run::AgreementMessage vote = run::sign(run::Vote{m_instance, view, step, list}, m_keyring);
        send(to, run::BallotMessage{run::encode(vote), {}});
    }
}

void BadSeat::send_proposal(std::uint32_t view, const run::AcceptList& list, const std::vector<PeerId>& to) {
    ++m_lies;
    const run::AgreementMessage proposal = run::sign(run::Proposal{m_instance, view, list.hash(), {}}, m_keyring);
    send(to, run::BallotMessage{run::encode(proposal), list.encode()});
    if (m_lie != SeatLie::equivocation) vote(view, list.hash(), to);
}

std::vector<PeerId> BadSeat::members(std::size_t side) const {
    std::vector<PeerId> chosen;
    std::size_t place = 0;
    for (const PeerId& peer : m_port.neighbours()) {
        if (side == all || place++ % 2 == side) chosen.push_back(peer);
    }
    return chosen;
}

void BadSeat::send(const std::vector<PeerId>& to, const run::Message& message) {
    const run::Envelope envelope = sealed(m_home.identity, m_world.run(), message);
    for (const PeerId& peer : to) m_port.send(peer, envelope);
}

}  // namespace potluck::sim
