// A committee in virtual time: real Agreement machines, a network that delays, loses, doubles, reorders and splits,
// disks that are written late or not at all, members that die between any write and any message, and liars. One seed,
// one story. Checked after every event: no two honest members decide differently.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>

#include "core/base/rng.h"
#include "tests/unit/run/agreement/agreement_fixture.h"

namespace potluck::run::testing {

/// What a liar does. Each also stays silent now and then.
enum class Lie { silent, equivocates, votes_for_everything, invalid_lists, withholds_lists, flips_a_coin };
inline constexpr int lies = 6;

struct Story {
    std::uint64_t seed = 1;
    std::size_t size = 4;
    std::vector<Lie> liars;           // of the first members in the order of proposers, or shuffled
    double loss = 0, doubled = 0;     // of messages, until the network heals
    Duration delay_max{50};           // after healing
    Duration troubled_delay_max{50};  // before
    Duration heals{0};
    Duration repeat{200};
    double crash = 0;        // at each write, before healing
    bool splits = false;     // into halves that change, before healing
    bool power_cut = false;  // all honest members lose power as the network heals
};

class World {
public:
    explicit World(const Story& story);
    ~World();

    /// Until `end`, or until every honest member has decided.
    void run_until(Duration end);

    [[nodiscard]] bool everybody_decided() const;
    [[nodiscard]] std::size_t decided() const;
    /// The first contradiction between honest members, as a sentence; empty: none.
    [[nodiscard]] const std::string& failure() const { return m_failure; }
    /// The highest view of an honest member.
    [[nodiscard]] std::uint32_t view() const;
    [[nodiscard]] std::uint32_t view_when_healed() const { return m_view_when_healed; }
    /// The view in which the list was committed.
    [[nodiscard]] std::optional<std::uint32_t> decided_view() const;
    [[nodiscard]] Duration now() const { return m_now.since_epoch; }
    [[nodiscard]] std::uint64_t crashes() const { return m_crashes; }
    [[nodiscard]] std::uint64_t messages() const { return m_messages; }
    [[nodiscard]] const std::set<PeerId>& convicted() const { return m_convicted; }
    [[nodiscard]] bool is_liar(const PeerId& key) const;
    /// From now until joined again these members hear each other only.
    void isolate(const std::set<std::size_t>& group) { m_island = group; }
    void join() { m_island.clear(); }

private:
    struct Node;
    struct Event {
        TimePoint at{};
        std::uint64_t order = 0;
        std::size_t node = 0;
        enum class What { message, written, tick, restart, list, heal, split } what = What::message;
        std::uint64_t number = 0;  // of the record written
        std::uint64_t life = 0;    // of the process that waits
        std::shared_ptr<const AgreementMessage> message{};
        Digest list{};
        bool operator>(const Event& other) const { return std::pair(at, order) > std::pair(other.at, other.order); }
    };

    void post(Event event, Duration delay);
    void handle(const Event& event);
    void act(std::size_t node, Actions actions);
    void save(std::size_t node, const Actions::Persist& persist);
    void crash(std::size_t node);
    void restart(std::size_t node);
    void heal();
    void broadcast(std::size_t node, const AgreementMessage& message);
    void send(std::size_t from, std::size_t to, const AgreementMessage& message);
    void send(std::size_t from, std::size_t to, const std::shared_ptr<const AgreementMessage>& message);
    void make_known(const Digest& list, Validity validity, std::size_t node, Duration within);
    [[nodiscard]] bool fetch(const Digest& list, std::size_t node);
    void check_decision(std::size_t node, const Certificate& certificate);
    void lie(std::size_t node, const AgreementMessage& heard);
    void lie_in_view(std::size_t node, std::uint32_t view);
    [[nodiscard]] bool reaches(std::size_t from, std::size_t to) const;
    [[nodiscard]] bool healed() const { return m_now.since_epoch >= m_story.heals; }
    [[nodiscard]] Duration delay();
    [[nodiscard]] Digest new_list(Validity validity, std::size_t author);
    [[nodiscard]] bool honest(std::size_t node) const;

    Story m_story;
    Rng m_rng;
    Members m_members;
    std::vector<std::unique_ptr<Node>> m_nodes;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    std::uint64_t m_order = 0, m_lists = 0, m_crashes = 0, m_messages = 0;
    std::map<Digest, Validity> m_truth;
    std::set<std::size_t> m_island;
    std::optional<Digest> m_decided;
    std::optional<std::uint32_t> m_decided_view;
    std::string m_failure;
    std::uint32_t m_view_when_healed = 0;
    std::set<PeerId> m_convicted;
    TimePoint m_now;
};

}  // namespace potluck::run::testing
