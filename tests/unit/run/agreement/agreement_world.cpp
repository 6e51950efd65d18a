// The story of one seed is a queue of events in virtual time. What an honest member says passes through its bytes and
// back. A member's disk takes its records one after the other, some milliseconds late; a member that dies leaves a
// prefix of the records that were on their way, and none of the messages that waited for the others. A restarted
// member wants to propose another list than before, so that only its record keeps it from proposing two.
//
// Liars have no machine: they answer what they hear, each in its way, and sign whatever they like with their own keys.
#include "tests/unit/run/agreement/agreement_world.h"

#include <deque>

#include "core/base/check.h"

namespace potluck::run::testing {

namespace {

std::uint32_t view_heard(const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message)) return proposal->statement.view;
    if (const auto* vote = std::get_if<SignedVote>(&message)) return vote->statement.view;
    return std::get<Certificate>(message).view;
}

std::optional<Digest> list_heard(const AgreementMessage& message) {
    if (const auto* proposal = std::get_if<SignedProposal>(&message)) return proposal->statement.list;
    if (const auto* vote = std::get_if<SignedVote>(&message)) return vote->statement.list;
    return std::get<Certificate>(message).list;
}

AgreementTimes quick_times(Duration repeat) {
    return {.propose = Duration{300},
            .prevote = Duration{100},
            .precommit = Duration{100},
            .growth = Duration{50},
            .repeat = repeat};
}

}  // namespace

struct World::Node final : ListSource {
    Node(World& in, std::size_t number) : world(in), index(number) {}

    Validity validity(const Digest& list) override {
        const auto found = known.find(list);
        if (found != known.end()) return found->second;
        if (!asked_for.contains(list) && world.fetch(list, index)) asked_for.insert(list);
        return Validity::unknown;
    }
    std::optional<Digest> list_to_propose() override {
        if (!own) own = world.new_list(Validity::valid, index);
        return own;
    }

    World& world;
    std::size_t index;
    std::optional<Lie> lie;
    std::unique_ptr<Agreement> machine;  // none: dead, or a liar
    std::optional<Bytes> disk;
    std::deque<std::pair<std::uint64_t, Bytes>> writing;
    TimePoint disk_free;
    std::uint64_t life = 0;
    bool dies_sending = false;
    std::optional<TimePoint> wakes;
    std::map<Digest, Validity> known;  // payloads are on disk, too
    std::set<Digest> asked_for;
    std::optional<Digest> own;
    bool has_decided = false;
    std::set<std::uint32_t> lied_in;  // views in which a liar has proposed
    std::vector<Digest> lists_seen;   // by a liar
    std::optional<Certificate> polka_seen;
    int half = 0;  // of a split network
};

World::World(const Story& story) : m_story(story), m_rng(story.seed * 7919), m_members(story.size) {
    for (std::size_t i = 0; i < story.size; ++i) m_nodes.push_back(std::make_unique<Node>(*this, i));
    // Any member may be a liar: the first in the order of proposers delay most, so half of the stories begin with them.
    const std::size_t first = m_rng.below(2) == 0 ? 0 : m_rng.below(story.size);
    for (std::size_t i = 0; i < story.liars.size(); ++i) {
        m_nodes[(first + i) % story.size]->lie = story.liars[i];
    }
    for (std::size_t i = 0; i < story.size; ++i) {
        if (honest(i)) restart(i);
    }
    if (story.splits) post({.what = Event::What::split}, Duration{0});
    post({.what = Event::What::heal}, story.heals);
}

World::~World() = default;

bool World::honest(std::size_t node) const { return !m_nodes[node]->lie; }

bool World::is_liar(const PeerId& key) const {
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (m_members.key(i) == key) return !honest(i);
    }
    return false;
}

Duration World::delay() {
    const Duration max = healed() ? m_story.delay_max : m_story.troubled_delay_max;
    return Duration{1 + static_cast<std::int64_t>(m_rng.below(static_cast<std::uint64_t>(max.count())))};
}

Digest World::new_list(Validity validity, std::size_t author) {
    const Digest list = digest_of("list " + std::to_string(m_story.seed) + ' ' + std::to_string(++m_lists));
    m_truth[list] = validity;
    m_nodes[author]->known[list] = validity;
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (i != author && honest(author) && reaches(author, i)) make_known(list, validity, i, delay());
    }
    return list;
}

void World::make_known(const Digest& list, Validity validity, std::size_t node, Duration within) {
    m_truth[list] = validity;
    Event event{.node = node, .what = Event::What::list};
    event.list = list;
    post(std::move(event), within);
}

/// An honest member that holds a list serves it to whoever asks.
bool World::fetch(const Digest& list, std::size_t node) {
    for (std::size_t from = 0; from < m_nodes.size(); ++from) {
        if (!honest(from) || !m_nodes[from]->known.contains(list) || !reaches(from, node)) continue;
        if (!healed() && m_rng.unit() < m_story.loss) continue;
        make_known(list, m_truth[list], node, 2 * delay());
        return true;
    }
    return false;
}

void World::post(Event event, Duration delay) {
    event.at = m_now + delay;
    event.order = ++m_order;
    m_events.push(std::move(event));
}

bool World::reaches(std::size_t from, std::size_t to) const {
    if (!m_island.empty() && m_island.contains(from) != m_island.contains(to)) return false;
    return healed() || m_nodes[from]->half == m_nodes[to]->half;
}

void World::send(std::size_t from, std::size_t to, const AgreementMessage& message) {
    send(from, to, std::make_shared<const AgreementMessage>(message));
}

void World::send(std::size_t from, std::size_t to, const std::shared_ptr<const AgreementMessage>& message) {
    ++m_messages;
    if (!reaches(from, to)) return;
    if (!healed() && m_rng.unit() < m_story.loss) return;
    const int copies = m_rng.unit() < m_story.doubled ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
        Event event{.node = to, .what = Event::What::message};
        event.message = message;
        post(std::move(event), delay());
    }
}

void World::broadcast(std::size_t node, const AgreementMessage& message) {
    const Result<AgreementMessage> read = decode_agreement_message(encode(message));
    POTLUCK_CHECK(read.ok() && *read == message);
    const auto shared = std::make_shared<const AgreementMessage>(*read);
    for (std::size_t to = 0; to < m_nodes.size(); ++to) {
        if (to != node) send(node, to, shared);
    }
}

void World::run_until(Duration end) {
    while (!m_events.empty() && m_failure.empty() && m_events.top().at.since_epoch <= end) {
        if (healed() && everybody_decided()) return;
        const Event event = m_events.top();
        m_events.pop();
        m_now = event.at;
        handle(event);
    }
}

void World::handle(const Event& event) {
    Node& node = *m_nodes[event.node];
    switch (event.what) {
        case Event::What::heal: heal(); return;
        case Event::What::split:
            for (const auto& one : m_nodes) one->half = static_cast<int>(m_rng.below(2));
            if (!healed())
                post({.what = Event::What::split}, Duration{50 + static_cast<std::int64_t>(m_rng.below(600))});
            return;
        case Event::What::restart:
            if (!node.machine && honest(event.node)) restart(event.node);
            return;
        case Event::What::list:
            node.known[event.list] = m_truth[event.list];
            if (node.machine) act(event.node, node.machine->reconsider(m_now));
            return;
        case Event::What::message:
            if (node.lie) lie(event.node, *event.message);
            if (node.machine) act(event.node, node.machine->receive(*event.message, m_now));
            return;
        case Event::What::written:
            if (!node.machine || event.life != node.life) return;
            POTLUCK_CHECK(node.writing.front().first == event.number);
            node.disk = std::move(node.writing.front().second);
            node.writing.pop_front();
            act(event.node, node.machine->persisted(event.number, m_now));
            return;
        case Event::What::tick:
            if (!node.machine || event.life != node.life) return;
            node.wakes.reset();
            act(event.node, event.number == 1 ? node.machine->start(m_now) : node.machine->tick(m_now));
            return;
    }
}

void World::act(std::size_t index, Actions actions) {
    Node& node = *m_nodes[index];
    for (const Evidence& evidence : actions.evidence) {
        const bool holds = verify(Evidence::decode(evidence.encode()).value(), m_members.keyrings[index]);
        if (!holds || !is_liar(evidence.author())) m_failure = "evidence against an honest member";
        m_convicted.insert(evidence.author());
    }
    if (actions.decided) check_decision(index, *actions.decided);
    std::size_t until = actions.send.size();
    const bool dies = node.dies_sending && !actions.send.empty();
    if (dies) until = m_rng.below(actions.send.size() + 1);
    for (std::size_t i = 0; i < until; ++i) broadcast(index, actions.send[i]);
    if (dies) return crash(index);
    if (actions.persist) save(index, *actions.persist);
    if (!node.machine) return;
    const std::optional<TimePoint> wake = node.machine->wake_at();
    if (!wake || (node.wakes && *node.wakes <= *wake)) return;
    node.wakes = wake;
    Event event{.node = index, .what = Event::What::tick};
    event.life = node.life;
    post(std::move(event), std::max(*wake - m_now, Duration{0}));
}

void World::save(std::size_t index, const Actions::Persist& persist) {
    Node& node = *m_nodes[index];
    node.writing.emplace_back(persist.number, persist.record.encode());
    if (!healed() && m_rng.unit() < m_story.crash) {
        if (m_rng.below(3) != 0) return crash(index);  // before, or after some of the records are on disk
        node.dies_sending = true;
    }
    node.disk_free = std::max(node.disk_free, m_now) + Duration{static_cast<std::int64_t>(m_rng.below(8))};
    Event event{.node = index, .what = Event::What::written};
    event.number = persist.number;
    event.life = node.life;
    post(std::move(event), node.disk_free - m_now);
}

void World::crash(std::size_t index) {
    Node& node = *m_nodes[index];
    ++m_crashes;
    const std::size_t reached_disk = m_rng.below(node.writing.size() + 1);
    for (std::size_t i = 0; i < reached_disk; ++i) node.disk = std::move(node.writing[i].second);
    node.writing.clear();
    node.machine.reset();
    node.dies_sending = false;
    node.wakes.reset();
    node.own.reset();
    node.disk_free = m_now;
    ++node.life;
    post({.node = index, .what = Event::What::restart}, Duration{static_cast<std::int64_t>(m_rng.below(600))});
}

void World::restart(std::size_t index) {
    Node& node = *m_nodes[index];
    std::optional<VoteRecord> saved;
    if (node.disk) saved = VoteRecord::decode(*node.disk).value();
    node.machine = std::make_unique<Agreement>(
        AgreementSettings{instance(), m_members.committee, m_members.previous, quick_times(m_story.repeat)},
        m_members.keyrings[index], node, std::move(saved));
    Event event{.node = index, .what = Event::What::tick, .number = 1};
    event.life = node.life;
    post(std::move(event), Duration{static_cast<std::int64_t>(m_rng.below(150))});
}

void World::heal() {
    m_view_when_healed = view();
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (!honest(i)) continue;
        if (m_story.power_cut && m_nodes[i]->machine) crash(i);
        if (!m_nodes[i]->machine) restart(i);
        for (std::size_t other = 0; other < m_nodes.size(); ++other) {
            for (const auto& [list, validity] : m_nodes[i]->known) make_known(list, m_truth[list], other, delay());
        }
    }
}

void World::check_decision(std::size_t index, const Certificate& certificate) {
    m_nodes[index]->has_decided = true;
    if (!certifies(certificate, m_members.committee, m_members.keyrings[index]) ||
        certificate.step != Step::precommit || certificate.instance != instance()) {
        m_failure = "a decision without a certificate";
    }
    if (m_decided && *m_decided != certificate.list) m_failure = "two honest members decided differently";
    if (m_truth.at(certificate.list) != Validity::valid) m_failure = "an invalid list was decided";
    m_decided = certificate.list;
    m_decided_view = certificate.view;
}

bool World::everybody_decided() const {
    for (std::size_t i = 0; i < m_nodes.size(); ++i) {
        if (honest(i) && !(m_nodes[i]->machine && m_nodes[i]->machine->decision())) return false;
    }
    return true;
}

std::size_t World::decided() const {
    std::size_t count = 0;
    for (const auto& node : m_nodes) count += node->has_decided ? 1 : 0;
    return count;
}

std::uint32_t World::view() const {
    std::uint32_t highest = 0;
    for (const auto& node : m_nodes) {
        if (node->machine) highest = std::max(highest, node->machine->view());
    }
    return highest;
}

std::optional<std::uint32_t> World::decided_view() const { return m_decided_view; }

// --- liars --------------------------------------------------------------------------------------------------------

/// A liar's turn to propose in a view that it heard of.
void World::lie_in_view(std::size_t index, std::uint32_t view) {
    Node& node = *m_nodes[index];
    if (view % m_nodes.size() != index || !node.lied_in.insert(view).second) return;
    const bool shows_proof = node.polka_seen && node.polka_seen->view < view && m_rng.below(2) == 0;
    const Validity validity = *node.lie == Lie::invalid_lists ? Validity::invalid : Validity::valid;
    const Digest lists[2] = {new_list(validity, index), new_list(validity, index)};
    const bool one_only = *node.lie == Lie::invalid_lists || *node.lie == Lie::withholds_lists;
    for (std::size_t to = 0; to < m_nodes.size(); ++to) {
        const Digest& list = lists[one_only ? 0 : m_rng.below(2)];
        node.lists_seen.push_back(list);
        const bool withheld = *node.lie == Lie::withholds_lists && m_rng.below(3) == 0;
        // What one honest member holds it passes on, later.
        if (honest(to)) make_known(list, validity, to, withheld ? delay() * 20 : delay());
        if (shows_proof && !one_only && m_rng.below(2) == 0) {
            send(index, to, m_members.proposal(view, node.polka_seen->list, *node.polka_seen));
        } else {
            send(index, to, m_members.proposal(view, list));
        }
        if (*node.lie == Lie::equivocates && m_rng.below(4) == 0) send(index, to, m_members.proposal(view, lists[0]));
    }
}

void World::lie(std::size_t index, const AgreementMessage& heard) {
    Node& node = *m_nodes[index];
    if (*node.lie == Lie::silent || m_rng.below(8) == 0) return;
    const std::uint32_t view = std::min(view_heard(heard), view_max - 4);  // what does not parse is no lie
    const std::optional<Digest> list = list_heard(heard);
    if (list) node.lists_seen.push_back(*list);
    const auto* certificate = std::get_if<Certificate>(&heard);
    if (certificate != nullptr && certificate->step == Step::prevote) node.polka_seen = *certificate;
    lie_in_view(index, view);
    if (m_rng.below(3) == 0) lie_in_view(index, view + 1);
    for (std::size_t to = 0; to < m_nodes.size(); ++to) {
        if (m_rng.below(4) != 0) continue;
        std::optional<Digest> choice = list;
        if (*node.lie != Lie::votes_for_everything && m_rng.below(3) == 0) choice.reset();
        if (*node.lie == Lie::flips_a_coin && !node.lists_seen.empty() && m_rng.below(2) == 0) {
            choice = node.lists_seen[m_rng.below(node.lists_seen.size())];
        }
        const auto ahead = static_cast<std::uint32_t>(*node.lie == Lie::flips_a_coin ? m_rng.below(4) : 0);
        const Step step = m_rng.below(2) == 0 ? Step::prevote : Step::precommit;
        send(index, to, m_members.vote(index, step, view + ahead, choice));
        if (*node.lie == Lie::votes_for_everything) send(index, to, m_members.precommit(index, view, choice));
        if (*node.lie == Lie::flips_a_coin && m_rng.below(50) == 0) {
            send(index, to, m_members.prevote(index, view_max - static_cast<std::uint32_t>(m_rng.below(9)), choice));
        }
    }
}

}  // namespace potluck::run::testing
