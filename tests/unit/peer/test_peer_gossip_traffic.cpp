// What passing on statuses costs, in a graph of nothing but Members and Gossip. POTLUCK_GOSSIP_MEMBERS=1000 prints the
// figures of docs/threat-model.md for as many.
#include <QTest>

#include <cstdlib>

#include "core/base/rng.h"
#include "core/peer/presence/gossip.h"
#include "tests/unit/peer/peer_fixture.h"

using namespace potluck;
using namespace potluck::peer;

namespace {

constexpr std::uint64_t wire_bytes = 330;    // of a status with a name and a checkpoint, sealed and framed
constexpr std::uint64_t round_seconds = 60;  // in which a member changes its phase four times
constexpr std::uint64_t seconds_settling = 3 * round_seconds;

PeerId id_of(std::size_t number) {
    PeerId id;
    const auto big = static_cast<std::uint32_t>(number + 1);
    std::memcpy(id.bytes.data(), &big, sizeof big);
    return id;
}

struct Message {
    std::size_t from = 0, to = 0;
    run::Envelope envelope;
};

struct Graph {
    explicit Graph(std::size_t members) : links(members) {}
    void link(std::size_t a, std::size_t b) {
        if (a == b || links[a].contains(b)) return;
        links[a].insert(b);
        links[b].insert(a);
    }
    std::vector<std::set<std::size_t>> links;
};

struct Node final : Fixture {
    Node(std::vector<Message>& post, std::size_t number, const std::set<std::size_t>& links)
        : m_post(post), m_number(number) {
        for (const std::size_t other : links) {
            members.joined(id_of(other));
            swarm.around.push_back(id_of(other));
        }
    }
    void hear(const Message& message) {
        const auto decoded = run::decode_body(run::MessageKind::status, message.envelope.body);
        const auto& status = std::get<run::StatusMessage>(*decoded);
        const PeerId author = message.envelope.sender;
        const Member* before = members.find(author);
        const bool changed = before == nullptr || before->status.round != status.round;
        const Source source = author == id_of(message.from) ? Source::itself : Source::others;
        if (gossip.take_repeated(id_of(message.from), message.envelope)) return;
        if (members.take(author, status, source, context.now()) == run::Verdict::accepted) {
            gossip.take(id_of(message.from), message.envelope, status.sequence,
                        changed ? Gossip::Urgency::urgent : Gossip::Urgency::waits);
        } else {
            gossip.take_old(id_of(message.from), message.envelope, status.sequence);
        }
    }
    void tick(TimePoint now) {
        context.set_now(now);
        members.expire(now, [this](const PeerId& member) { return gossip.patience(member); });
        gossip.tick();
    }
    /// What Gossip has sent since the last call.
    std::size_t post() {
        auto sent = std::exchange(swarm.sent_to, {});
        swarm.sent.clear();
        for (auto& [to, envelope] : sent) {
            std::uint32_t number = 0;
            std::memcpy(&number, to.bytes.data(), sizeof number);
            m_post.push_back({m_number, number - 1, std::move(envelope)});
        }
        return sent.size();
    }
    Members members;
    Gossip gossip{context, members};

private:
    std::vector<Message>& m_post;
    std::size_t m_number;
};

struct Traffic {
    double in_mean = 0, out_mean = 0, in_max = 0, out_max = 0;  // bytes per second of a member, passed on only
    double known_min = 0;                                       // share of the members that everybody knows at least
};

/// Seconds in which everybody says a status to its neighbours and passes on those of others.
Traffic traffic(const Graph& graph) {
    const std::size_t count = graph.links.size();
    std::vector<Message> post, arriving;
    std::vector<std::unique_ptr<Node>> nodes;
    for (std::size_t i = 0; i < count; ++i) nodes.push_back(std::make_unique<Node>(post, i, graph.links[i]));
    std::vector<std::uint64_t> in(count), out(count);
    Rng rng(1);
    std::vector<std::uint64_t> offset(count);
    for (auto& each : offset) each = rng.below(15);
    const std::uint64_t paces = static_cast<std::uint64_t>(static_cast<double>(count) / relayed_per_second);
    const std::uint64_t settled = seconds_settling + 2 * paces, end = settled + std::max(2 * round_seconds, paces);
    Traffic result{.known_min = 1};
    for (std::uint64_t second = 0; second < end; ++second) {
        const TimePoint now{Duration{1'000'000 + static_cast<std::int64_t>(second) * 1'000}};
        for (std::size_t i = 0; i < count; ++i) {
            nodes[i]->tick(now);
            run::StatusMessage status;
            status.sequence = second + 1;
            status.round = {(second + offset[i]) / (round_seconds / 4)};  // any change that is passed on at once
            run::Envelope envelope{
                nodes[i]->context.run, id_of(i), run::MessageKind::status, run::encode_body(status), {}};
            for (const std::size_t other : graph.links[i]) post.push_back({i, other, envelope});
        }
        for (int hop = 0; hop < 3; ++hop) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::size_t sent = nodes[i]->post();
                if (second >= settled) out[i] += sent;
            }
            arriving = std::exchange(post, {});
            for (const Message& message : arriving) {
                if (second >= settled && message.envelope.sender != id_of(message.from)) ++in[message.to];
                nodes[message.to]->hear(message);
            }
        }
        if (second < settled) continue;
        for (const auto& node : nodes) {
            const double known = static_cast<double>(node->members.all().size()) / static_cast<double>(count - 1);
            result.known_min = std::min(result.known_min, known);
        }
    }
    const double scale = static_cast<double>(wire_bytes) / static_cast<double>(end - settled);
    for (std::size_t i = 0; i < count; ++i) {
        result.in_mean += static_cast<double>(in[i]) * scale / static_cast<double>(count);
        result.out_mean += static_cast<double>(out[i]) * scale / static_cast<double>(count);
        result.in_max = std::max(result.in_max, static_cast<double>(in[i]) * scale);
        result.out_max = std::max(result.out_max, static_cast<double>(out[i]) * scale);
    }
    return result;
}

Graph star(std::size_t count) {
    Graph graph(count);
    for (std::size_t i = 1; i < count; ++i) graph.link(0, i);
    return graph;
}
Graph mesh(std::size_t count) {
    Graph graph(count);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t j = 0; j < i; ++j) graph.link(i, j);
    }
    return graph;
}
/// A ring, so that it is connected, and as many links more that each has six on average.
Graph random_graph(std::size_t count) {
    Graph graph(count);
    Rng rng(7);
    for (std::size_t i = 0; i < count; ++i) {
        graph.link(i, (i + 1) % count);
        for (int more = 0; more < 2; ++more) graph.link(i, rng.below(count));
    }
    return graph;
}

void print(const char* name, std::size_t count, const Traffic& traffic) {
    qInfo("%s of %zu: in %.0f (at most %.0f), out %.0f (at most %.0f) bytes/s; known %.3f", name, count,
          traffic.in_mean, traffic.in_max, traffic.out_mean, traffic.out_max, traffic.known_min);
}

}  // namespace

class PeerGossipTrafficTest : public QObject {
    Q_OBJECT
private slots:
    void a_mesh_falls_quiet() {
        const Traffic sixteen = traffic(mesh(16));
        print("mesh", 16, sixteen);
        QCOMPARE(sixteen.out_max, 0.0);
        QCOMPARE(sixteen.known_min, 1.0);
    }

    void at_the_end_of_a_link_everybody_else_costs_a_kilobyte_a_second() {
        for (const std::size_t count : {16U, 100U}) {
            const Traffic cost = traffic(star(count));
            print("star", count, cost);
            QCOMPARE(cost.known_min, 1.0);
            // The mean is that of the leaves: the hub hears everybody itself.
            QVERIFY2(cost.in_max <= 1'024, qPrintable(QString::number(cost.in_max)));
            QVERIFY2(cost.out_max <= relayed_in_all_per_second * wire_bytes, qPrintable(QString::number(cost.out_max)));
        }
    }

    void in_a_graph_of_few_links_all_are_known_for_a_kilobyte_a_second_and_link() {
        const Traffic cost = traffic(random_graph(16));
        print("random graph", 16, cost);
        QCOMPARE(cost.known_min, 1.0);
        QVERIFY2(cost.in_mean <= 1'024, qPrintable(QString::number(cost.in_mean)));
    }

    void figures_for_as_many_as_are_asked_for() {
        const char* asked = std::getenv("POTLUCK_GOSSIP_MEMBERS");
        if (asked == nullptr) return;
        const auto count = static_cast<std::size_t>(std::atoi(asked));
        print("random graph", count, traffic(random_graph(count)));
        if (count <= 100) print("mesh", count, traffic(mesh(count)));
        print("star", count, traffic(star(count)));
    }
};

QTEST_APPLESS_MAIN(PeerGossipTrafficTest)
#include "test_peer_gossip_traffic.moc"
