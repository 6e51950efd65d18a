#include "core/peer/peer.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

run::RunRules rules_of(const RunId& run, const run::Manifest& manifest) {
    run::RunRules rules{run, manifest.host, manifest.backbones, manifest.allowed};
    std::sort(rules.allowed.begin(), rules.allowed.end());
    return rules;
}

run::RoundSettings round_settings(const run::RunRules& rules, const run::Manifest& manifest,
                                  const PeerSettings& settings, const Peer::World& world) {
    return {.rules = rules,
            .self = world.identity.id(),
            .role = world.trainer == nullptr ? run::Role::backbone : settings.role,
            .window = manifest.recipe.window,
            .collect = manifest.recipe.collect,
            .grace = manifest.recipe.grace,
            .heartbeat = settings.heartbeat};
}

}  // namespace

Peer::Impl::Impl(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, World peer_world)
    : run(run_id),
      manifest(std::move(run_manifest)),
      settings(std::move(peer_settings)),
      world(std::move(peer_world)),
      rules(rules_of(run, manifest)),
      layout(model::state_layout(manifest.model)),
      payloads(world.swarm, layout.parameters, manifest.recipe.k),
      machine(round_settings(rules, manifest, settings, world)) {}

void Peer::Impl::start() {
    started = true;
    started_at = now;
    for (const PeerId& peer : world.swarm.neighbours()) members.joined(peer);
    pick_up();
    say_status();
    advance();
}

void Peer::Impl::tick() {
    if (!started || gone) return;
    payloads.retry(now);
    members.expire(now, run::heartbeats_to_live * settings.heartbeat);
    ask_history();
    tend_repair();
    vote_again();
    act(machine.tick(now));
    advance();
    tend_shards();
    tend_trainer();
    if (jobs == 0) forget_old();
    if (say_status_soon || now >= said_status_at + settings.heartbeat) say_status();
}

void Peer::Impl::act(const run::RoundActions& actions) {
    if (actions.announce_close) broadcast(*actions.announce_close);
    if (actions.close_window) {
        close_window();
    }
    if (machine.closed() && !window_closed_at) {
        window_closed_at = now;
        say_status_soon = true;
    }
    if (actions.repeat_contribution) {
        for (const run::ContributionMessage& own : record.pending) {
            if (own.round == machine.round()) broadcast(own);
        }
    }
    if (!actions.send_list_to.empty() && chain.value > 0) {
        if (const auto list = world.ledger.list(run, RoundId{chain.value - 1})) {
            for (const PeerId& peer : actions.send_list_to) send(peer, run::ListMessage{*list});
        }
    }
    if (actions.sign) sign_list(*actions.sign);
}

run::Envelope Peer::Impl::envelope_of(const run::Message& message) const {
    run::Envelope envelope{run, world.identity.id(), run::kind_of(message), run::encode_body(message), {}};
    envelope.signature = world.identity.sign(run::domain_of(envelope.kind), run::signed_bytes(envelope));
    return envelope;
}

void Peer::Impl::send(const PeerId& to, const run::Message& message) { world.swarm.send(to, envelope_of(message)); }

void Peer::Impl::broadcast(const run::Message& message) { world.swarm.broadcast(envelope_of(message)); }

void Peer::Impl::say_status() {
    say_status_soon = false;
    said_status_at = now;
    ++sequence;
    broadcast(own_status());
}

void Peer::Impl::offload(std::function<void()> work, std::function<void()> done) {
    ++jobs;
    std::weak_ptr<int> alive = token;
    world.offload(std::move(work), [this, alive, finished = std::move(done)] {
        if (alive.expired()) return;
        --jobs;
        if (!gone) finished();
    });
}

void Peer::Impl::trouble(const std::string& sentence) {
    if (sentence != last_trouble) log::of("peer").warn("{}", log::printable(sentence, 300));
    last_trouble = sentence;
    trouble_at = now;
}

void Peer::Impl::receive(const PeerId& from, const run::Envelope& envelope) {
    if (!started || gone) return;
    const Verdict verdict = members.admit_message(from, now) ? judge(from, envelope) : Verdict::flood;
    if (members.count(from, verdict)) world.swarm.drop(from, offender_refused_for);
    if (verdict == Verdict::accepted) advance();
}

Verdict Peer::Impl::judge(const PeerId& from, const run::Envelope& envelope) {
    if (envelope.run != run) return Verdict::wrong_run;
    if (envelope.body.size() > run::message_bytes_max) return Verdict::too_large;
    if (envelope.sender == world.identity.id()) return Verdict::repeated;
    if (!rules.admits(envelope.sender)) return Verdict::not_allowed;
    if (envelope.sender != from && envelope.kind != run::MessageKind::contribution) return Verdict::not_allowed;
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok()) return Verdict::malformed;
    const std::string_view domain = run::domain_of(envelope.kind);
    if (!world.verify(envelope.sender, domain, run::signed_bytes(envelope), envelope.signature)) {
        return Verdict::bad_signature;
    }
    struct Dispatch {
        Impl& impl;
        const PeerId& sender;
        Verdict operator()(const run::StatusMessage& m) const { return impl.on_status(sender, m); }
        Verdict operator()(const run::CloseMessage& m) const { return impl.machine.close_heard(sender, m, impl.now); }
        Verdict operator()(const run::ContributionMessage& m) const { return impl.on_contribution(sender, m); }
        Verdict operator()(const run::ListMessage& m) const { return impl.on_list(sender, m); }
        Verdict operator()(const run::HistoryRequest& m) const { return impl.on_history_request(sender, m); }
        Verdict operator()(const run::HistoryMessage& m) const { return impl.on_history(sender, m); }
        Verdict operator()(const run::LayerRequest& m) const { return impl.on_layer_request(sender, m); }
        Verdict operator()(const run::LayerMessage& m) const { return impl.on_layer(sender, m); }
        Verdict operator()(const run::GoodbyeMessage&) const { return impl.on_goodbye(sender); }
    };
    return std::visit(Dispatch{*this, envelope.sender}, *message);
}

Verdict Peer::Impl::on_status(const PeerId& from, const run::StatusMessage& status) {
    const Member* before = members.find(from);
    const bool new_name = !status.name.empty() && (before == nullptr || before->status.name != status.name);
    const Verdict verdict = members.take(from, status, now);
    if (verdict != Verdict::accepted) return verdict;
    if (new_name) world.ledger.remember_name(from, status.name);
    machine.heard(from, {status.role, status.phase, status.round, status.list, status.window_tokens}, now);
    if (Member* member = members.find(from)) compare(from, *member);
    return Verdict::accepted;
}

Verdict Peer::Impl::on_contribution(const PeerId& sender, const run::ContributionMessage& message) {
    if (!payloads.plausible(message.payload)) return Verdict::too_large;
    const Verdict verdict = machine.contribution(sender, message);
    if (verdict != Verdict::accepted) return verdict;
    payloads.want(message.payload, message.round, {sender}, now);
    if (payloads.find(message.payload.root)) machine.payload_held(message.payload.root);
    if (payloads.bad(message.payload.root)) (void)machine.payload_bad(message.payload.root);
    return Verdict::accepted;
}

Verdict Peer::Impl::on_goodbye(const PeerId& from) {
    members.remove(from);
    machine.lost(from);
    return Verdict::accepted;
}

void Peer::Impl::blob_here(const run::BlobRef& ref, BlobPointer content) {
    if (!started || gone || content == nullptr) return;
    const auto owed = movement_owed.find(ref.root);
    switch (payloads.arrived(ref, content)) {
        case Payloads::Outcome::held: machine.payload_held(ref.root); break;
        case Payloads::Outcome::bad:
            if (const auto liar = machine.payload_bad(ref.root)) (void)members.count(*liar, Verdict::bad_payload);
            break;
        case Payloads::Outcome::not_wanted: break;
    }
    if (owed != movement_owed.end()) move_error(ref.root, movement_owed.extract(owed).mapped());
    for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
        const bool wanted = manifest.shards[i].blob.root == ref.root && training.shards_wanted.contains(i);
        if (wanted) training.shards[i] = content;
    }
    if (repair && repair->fetching && repair->digest == ref.root) {
        repaired_content(std::move(content));
    } else if (checkpoint_fetch && checkpoint_fetch->ref.root == ref.root) {
        checkpoint_here(std::move(content));
    }
    advance();
}

void Peer::Impl::blob_failed(const BlobId& id, const Error& error) {
    if (!started || gone) return;
    payloads.failed(id, now);
    if (repair && repair->digest == id) repair->fetching = false;
    if (checkpoint_fetch && checkpoint_fetch->ref.root == id && !checkpoint_fetch->adopting) checkpoint_fetch.reset();
    for (std::size_t i = 0; i < manifest.shards.size(); ++i) {
        if (manifest.shards[i].blob.root == id) training.shards_wanted.erase(i);
    }
    if (error.code != ErrorCode::cancelled) trouble(error.message);
}

run::Phase Peer::Impl::phase() const {
    if (!state || repair) return state ? run::Phase::repairing : run::Phase::joining;
    if (over()) return run::Phase::finished;
    if (*state < chain) return run::Phase::joining;
    if (applying) return run::Phase::applying;
    if (volunteer() && (training.paused || training.stopping)) return run::Phase::paused;
    if (volunteer() && training.finished) return run::Phase::finished;
    if (machine.closed()) return run::Phase::collecting;
    if (volunteer() && !training.loaded) return run::Phase::joining;
    return run::Phase::training;
}

// The public face: each call sets the time it happened at and hands over.

Peer::Peer(const RunId& run, run::Manifest manifest, PeerSettings settings, World world)
    : m_impl(std::make_unique<Impl>(run, std::move(manifest), std::move(settings), std::move(world))) {}

Peer::~Peer() = default;

void Peer::start(TimePoint now) {
    m_impl->now = now;
    m_impl->start();
}

void Peer::tick(TimePoint now) {
    m_impl->now = now;
    m_impl->tick();
}

void Peer::leave() {
    if (m_impl->started && !m_impl->gone) m_impl->broadcast(run::GoodbyeMessage{});
    m_impl->gone = true;
}

PeerView Peer::view() const { return m_impl->view(); }
const run::Manifest& Peer::manifest() const { return m_impl->manifest; }
std::vector<std::pair<Verdict, std::uint64_t>> Peer::verdicts() const { return m_impl->members.verdicts(); }

void Peer::on_neighbour(const PeerId& peer) {
    m_impl->members.joined(peer);
    if (!m_impl->started || m_impl->gone) return;
    ++m_impl->sequence;
    m_impl->send(peer, m_impl->own_status());
}

void Peer::on_neighbour_lost(const PeerId& peer) {
    m_impl->members.left(peer);
    m_impl->members.remove(peer);
    m_impl->machine.lost(peer);
}

void Peer::on_envelope(const PeerId& from, run::Envelope envelope) { m_impl->receive(from, envelope); }
void Peer::on_blob(const run::BlobRef& blob, BlobPointer content) { m_impl->blob_here(blob, std::move(content)); }
void Peer::on_blob_failed(const BlobId& blob, Error error) { m_impl->blob_failed(blob, error); }

void Peer::on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    if (!m_impl->gone) m_impl->published(file, std::move(blob));
}

void Peer::on_trainer_lost(const Error& error) { m_impl->trainer_lost(error); }

void Peer::on_snapshot(const SnapshotResult& result) {
    if (!m_impl->gone) m_impl->snapshot_here(result);
}

}  // namespace potluck::peer
