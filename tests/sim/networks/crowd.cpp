#include "tests/sim/networks/crowd.h"

#include <memory>
#include <utility>

#include "core/numerics/codec/sparse_codec.h"
#include "core/peer/payloads/payloads.h"
#include "tests/sim/stranger.h"

namespace potluck::sim {

namespace {

constexpr Duration act_every{200};
constexpr std::size_t acts_per_status = 15;  // three seconds; members forget who is silent for four

identity::Identity crowd_key(std::uint64_t number) {
    std::array<std::byte, 32> seed{};
    seed.fill(std::byte{0xcc});
    for (std::size_t i = 0; i < 8; ++i) seed[i] = static_cast<std::byte>(number >> (8 * i));
    return identity::Identity::from_seed(seed);
}

}  // namespace

Crowd::Crowd(World& world, Plan plan)
    : m_world(world),
      m_plan(plan),
      m_post(hostile_key(0)),
      m_disk("crowd", model::state_layout(world.manifest().model)),
      m_port(world.network(), m_post.id(), m_disk, m_folder) {
    world.network().attach(m_post.id(), &m_port);
    for (std::size_t i = 0; i < plan.keys; ++i) m_strangers.push_back(arrive());
    m_port.later(act_every, [this] { act(); });
}

Crowd::Stranger Crowd::arrive() {
    Stranger stranger{crowd_key(m_ever.size()), {}};
    m_ever.insert(stranger.key.id());
    std::vector<float> movement(m_world.initial_state().size(), 0.01F);
    Rng direction(m_plan.direction == Plan::Noise::of_all ? 1 : m_ever.size());
    for (float& one : movement) {
        if (m_plan.noise > 0) one = direction.below(2) == 0 ? m_plan.noise : -m_plan.noise;
    }
    const Bytes encoded = numerics::encode(movement, m_world.manifest().recipe.k, 1);
    stranger.payload = m_port.publish(peer::payload_blob(stranger.key.id(), encoded)).value();
    for (std::size_t i = 0; i < m_world.size(); ++i) {
        if (m_world.home(i).alive()) m_world.peer(i).on_neighbour(stranger.key.id());
    }
    return stranger;
}

void Crowd::act() {
    const ledger::Ledger& ledger = m_world.home(0).ledger;
    const auto head = ledger.head(m_world.run());
    const RoundId round = head ? head->round.next() : RoundId{0};
    const std::size_t some = m_plan.keys / acts_per_status + 1;
    for (std::size_t i = 0; i < some; ++i) say_status(m_strangers[m_next_status++ % m_strangers.size()]);
    if (head && round != m_round) {
        m_round = round;
        m_base = *ledger.digest_after(m_world.run(), head->round);
        m_list = head->hash();
        for (std::size_t i = 0; i < m_plan.contributors; ++i) {
            contribute(m_strangers[m_next_contributor++ % m_strangers.size()]);
        }
    }
    m_port.later(act_every, [this] { act(); });
}

void Crowd::say_status(Stranger& stranger) {
    run::StatusMessage status;
    status.sequence = ++stranger.sequence;
    status.role = run::Role::backbone;  // so that nobody waits for them
    status.phase = run::Phase::training;
    status.round = m_round;
    status.digest = m_base;
    status.list = m_list;
    send(stranger, status);
}

void Crowd::contribute(Stranger& stranger) {
    if (m_plan.contributions_max > 0 && stranger.contributions >= m_plan.contributions_max) {
        for (std::size_t i = 0; i < m_world.size(); ++i) {
            if (m_world.home(i).alive()) m_world.peer(i).on_neighbour_lost(stranger.key.id());
        }
        stranger = arrive();
    }
    ++stranger.contributions;
    send(stranger, run::ContributionMessage{m_round, m_base, stranger.payload, {run::tokens_max}});
}

void Crowd::send(const Stranger& stranger, const run::Message& message) {
    const auto envelope = std::make_shared<const run::Envelope>(sealed(stranger.key, m_world.run(), message));
    for (std::size_t i = 0; i < m_world.size(); ++i) {
        m_port.later(m_world.network().between(Duration{5}, Duration{60}), [this, i, envelope] {
            if (m_world.home(i).alive()) m_world.home(i).process->port->receive(envelope->sender, *envelope);
        });
    }
}

}  // namespace potluck::sim
