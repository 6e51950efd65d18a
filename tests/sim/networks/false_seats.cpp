#include "tests/sim/networks/false_seats.h"

#include <algorithm>
#include <utility>

#include "core/base/merkle.h"
#include "core/model/state_layout.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/outer/step_code.h"
#include "core/peer/states/steps.h"
#include "tests/sim/stranger.h"

namespace potluck::sim {

namespace {

/// A step that moves the coordinates of each chunk's head by about a tenth.
Bytes pull(std::size_t parameters, const run::Recipe& recipe) {
    std::vector<float> error(parameters);
    for (std::size_t i = 0; i < parameters; ++i) error[i] = i % numerics::chunk_size < 400 ? 0.1F : 0.0F;
    const std::vector<std::byte> payload = numerics::encode(error, recipe.k, 1);
    numerics::PayloadView view;
    POTLUCK_CHECK(numerics::PayloadView::parse(payload, parameters, recipe.k, view) == numerics::PayloadFault::none);
    const numerics::WeightedPayload one[] = {{.payload = &view, .weight = 1}};
    return numerics::encode_step(one, parameters, recipe.outer, 1);
}

}  // namespace

FalseSeats::FalseSeats(World& world, std::set<std::size_t> members, RoundId first, Falsified what)
    : m_world(world),
      m_members(std::move(members)),
      m_first(first),
      m_what(what),
      m_step(pull(world.initial_state().size(), world.manifest().recipe)) {
    for (const std::size_t member : m_members) {
        m_keys.emplace(world.home(member).id(), member);
        if (m_what == Falsified::steps) continue;
        world.home(member).disk.falsifies = [this](RoundId round, std::span<const float> before,
                                                   std::span<float> state) {
            if (round.value > 0 && lies_about(RoundId{round.value - 1})) move(before, state);
        };
    }
    world.network().rewrites = [this](const PeerId& from, const PeerId& to, const run::Envelope& envelope) {
        return rewritten(from, to, envelope);
    };
}

FalseSeats::~FalseSeats() {
    m_world.network().rewrites = nullptr;
    for (const std::size_t member : m_members) m_world.home(member).disk.falsifies = nullptr;
}

void FalseSeats::move(std::span<const float> before, std::span<float> state) const {
    numerics::StepView view;
    POTLUCK_CHECK(numerics::StepView::parse(m_step, before.size(), view) == numerics::PayloadFault::none);
    numerics::apply_step(before, state, view, m_world.manifest().recipe.outer.alpha, 1);
}

run::StepMessage FalseSeats::falsified(std::size_t member, run::StepMessage message) {
    Home& home = m_world.home(member);
    message.step = home.process->port->publish(peer::step_blob(message.list, m_step)).value();
    const std::vector<peer::StateStore::Held> held = home.disk.held();
    const bool has_state = std::ranges::any_of(held, [&](const auto& one) { return one.round == message.round; });
    if (m_what == Falsified::states || !has_state) return message;
    const peer::State before = home.disk.state(message.round);
    std::vector<float> next(before.parameters.size());
    move(before.parameters, next);
    Bytes file = model::state_layout(m_world.manifest().model).header;
    const ByteSpan parameters = std::as_bytes(std::span<const float>(next));
    file.insert(file.end(), parameters.begin(), parameters.end());
    message.result = merkle_root(file);
    return message;
}

std::optional<run::Envelope> FalseSeats::rewritten(const PeerId& from, const PeerId& to,
                                                   const run::Envelope& envelope) {
    if (envelope.kind != run::MessageKind::step) return envelope;
    if (m_keys.contains(to)) return std::nullopt;
    const auto author = m_keys.find(envelope.sender);
    if (author == m_keys.end() || from != envelope.sender) return envelope;
    const auto body = run::decode_body(envelope.kind, envelope.body);
    POTLUCK_CHECK(body.ok());
    const auto& message = std::get<run::StepMessage>(*body);
    const auto key = std::pair(author->first, message.list);
    if (const auto said = m_said.find(key); said != m_said.end()) return said->second;
    if (!lies_about(message.round)) return envelope;
    if (!m_first_lie) m_first_lie = message.round;
    const run::Envelope lie =
        sealed(m_world.home(author->second).identity, m_world.run(), falsified(author->second, message));
    m_said.emplace(key, lie);
    return lie;
}

}  // namespace potluck::sim
