#include "tests/sim/crash.h"

namespace potluck::sim {

namespace {

/// What a status announces: where its sender stands.
std::string gist_of(const run::StatusMessage& status) {
    return std::to_string(status.round.value) + status.digest.hex() + status.list.hex() + status.checkpoint.root.hex() +
           std::to_string(static_cast<int>(status.phase));
}

}  // namespace

Crash::Crash(World& world, Plan plan) : m_world(world), m_plan(plan) {
    world.home(plan.member).disk.effects.watchers.push_back([this](Effect effect, const run::Envelope* envelope) {
        look(effect, envelope);
    });
}

void Crash::look(Effect effect, const run::Envelope* envelope) {
    if (m_happened) return;
    if (effect == Effect::send && envelope->kind == run::MessageKind::status) {
        const auto message = run::decode_body(envelope->kind, envelope->body);
        const std::string gist = gist_of(std::get<run::StatusMessage>(*message));
        if (gist == m_said) return;
        m_said = gist;
    }
    if (m_effects++ == m_plan.before) cut();
}

void Crash::cut() {
    m_happened = true;
    Home& home = m_world.home(m_plan.member);
    home.disk.effects.muted = true;
    home.disk.freeze(m_plan.loss);
    m_chain = chain();
    m_blobs = home.folder.blobs;
    m_saved = home.saved;
    m_world.events().after(Duration{0}, [this] { end(); });
}

void Crash::end() {
    Home& home = m_world.home(m_plan.member);
    home.saved = m_saved;
    m_world.kill(m_plan.member, Death::silent);
    home.folder.blobs = m_blobs;
    restore_chain();
    home.disk.effects.muted = false;
    m_world.events().after(m_plan.away, [this] { m_world.start(m_plan.member); });
}

std::vector<Crash::Entry> Crash::chain() const {
    const ledger::Ledger& ledger = m_world.home(m_plan.member).ledger;
    const std::uint64_t length = ledger.totals(m_world.run()).rounds.value;
    std::vector<Entry> entries;
    for (RoundId round{0}; round.value < length; round = round.next()) {
        entries.push_back({*ledger.list(m_world.run(), round), *ledger.digest_after(m_world.run(), round)});
    }
    return entries;
}

void Crash::restore_chain() {
    ledger::Ledger& ledger = m_world.home(m_plan.member).ledger;
    if (chain().size() == m_chain.size()) return;
    ledger = ledger::Ledger::open(":memory:").value();
    for (const Entry& entry : m_chain) POTLUCK_CHECK(ledger.append(entry.list, entry.digest, 0).ok());
}

}  // namespace potluck::sim
