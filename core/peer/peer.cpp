// Wiring: the parts in the order in which they know each other, the passes of tick(), events, and the public face.
// Decisions are the parts' own.
//
// The order of the passes matters. Members fall silent before the machine counts who is alive; the machine acts before
// advance() applies what it allows; the contributor comes last, since a new state moves its anchor; and old states are
// only forgotten when no job reads one.
//
// A message is checked from cheap to dear: run, size, sender, admission, layout, then its signature, then its meaning.
// Statuses, contributions, actions of the host and the end of a window may come from another member than the one that
// signed them. Every verdict is counted against the member that delivered the message, which is dropped for a while
// after too many bad ones. Threads: the node's.
#include "core/peer/peer.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/log.h"
#include "core/base/merkle.h"
#include "core/peer/impl.h"

namespace potluck::peer {

using run::Verdict;

namespace {

run::RoundSettings round_settings(const Context& context, const Peer::World& world) {
    const run::Recipe& recipe = context.manifest.recipe;
    return {.self = context.self(),
            .role = world.trainer == nullptr ? run::Role::backbone : context.settings.role,
            .window = recipe.window,
            .collect = recipe.collect,
            .heartbeat = context.settings.heartbeat};
}

/// Their author is known by the signature, from any hand.
bool may_be_passed_on(run::MessageKind kind) {
    using run::MessageKind;
    return kind == MessageKind::status || kind == MessageKind::contribution || kind == MessageKind::close ||
           kind == MessageKind::host_action;
}

/// Whose computer a message says that its author is; null if it says nothing of it.
const run::DeviceCertificate* certificate_of(const run::Message& message) {
    if (const auto* status = std::get_if<run::StatusMessage>(&message)) return &status->certificate;
    const auto* contribution = std::get_if<run::ContributionMessage>(&message);
    return contribution == nullptr ? nullptr : &contribution->certificate;
}

}  // namespace

Peer::Impl::Impl(const RunId& run_id, run::Manifest run_manifest, PeerSettings peer_settings, World peer_world)
    : context(run_id, std::move(run_manifest), std::move(peer_settings), peer_world.swarm, peer_world.identity,
              peer_world.certificate, peer_world.person),
      world(std::move(peer_world)),
      keyring(world.identity, world.verify),
      jobs(world.offload),
      members(context.rules.trusted()),
      gossip(context, members),
      payloads(world.swarm, context.layout.parameters, manifest.recipe.k_max),
      machine(round_settings(context, world)),
      chain(context, world.ledger, keyring),
      payload_post({context, chain, machine, members, payloads}),
      own_status({context, chain, machine, members, keyring, world.unix_clock, *this}),
      keeper({context, chain, world.store, jobs, errors, *this}),
      shards({context, chain, members, errors}),
      contributor({context, chain, keeper, machine, shards, world.store, world.trainer, payloads, jobs, errors, *this}),
      seeder({context, chain, world.store, payloads, errors, *this}),
      repairer({context, chain, keeper, world.store, members, jobs, errors, *this}),
      seats(context, chain, members),
      moderation(context, chain, world.ledger, errors),
      ballots({context, chain, keeper, machine, payload_post.exchange(), keyring, world.store, payloads, seats,
               moderation, errors, *this}),
      catch_up({context, chain, keeper, members, payloads, seeder, moderation, ballots, errors, *this}),
      shortcut({context, chain, keyring, members, errors, *this}) {}

void Peer::Impl::start() {
    started = true;
    catch_up.start();
    own_status.start();
    for (const PeerId& peer : world.swarm.neighbours()) members.joined(peer);
    restore();
    own_status.broadcast();
    advance();
}

void Peer::Impl::tick() {
    if (!started || gone) return;
    own_status.tick();
    payloads.retry(now());
    payload_post.tick();
    if (const auto rules = std::pair(chain.term(), chain.rules().actions); rules != trusted_since) {
        trusted_since = rules;
        members.trust(chain.rules().trusted());
    }
    members.expire(now(), [this](const PeerId& member) { return gossip.patience(member); });
    gossip.tick();
    shortcut.tick();
    catch_up.ask_history();
    repairer.update_repair();
    act(machine.tick(now(), ballots.proposes()));
    const bool is_compared = now() >= entered_at + heartbeats_to_compare * settings.heartbeat;
    if (over() && in_step() && is_compared && !chain.closed()) ballots.decide();
    ballots.decide_early();
    ballots.tick();
    advance();
    contributor.update_error_feedback();
    contributor.update_start_over();
    shards.update(contributor.shards_needed());
    contributor.update_trainer();
    if (jobs.count() == 0 && keeper.round() && !repairer.active()) seeder.forget_old();
    if (own_status.due()) own_status.broadcast();
}

void Peer::Impl::act(const run::RoundActions& actions) {
    if (actions.announce_close) context.broadcast(*actions.announce_close);
    if (actions.close_window) {
        contributor.close_window();
    }
    if (machine.closed() && !window_closed_at) {
        window_closed_at = now();
        payload_post.window_closed();
        own_status.changed();
    }
    if (actions.repeat_contribution) contributor.repeat_contributions();
    if (!actions.send_list_to.empty() && chain.height().value > 0) {
        if (const auto last = chain.committed_at(RoundId{chain.height().value - 1})) {
            const run::BallotMessage ballot{last->certificate, last->list};
            for (const PeerId& peer : actions.send_list_to) context.send(peer, ballot);
        }
    }
    if (actions.decide) ballots.decide();
}

void Peer::Impl::receive(const PeerId& from, const run::Envelope& envelope) {
    if (!started || gone) return;
    own_status.notice_sleep();
    const bool admitted = members.admit_message(from, envelope.kind, now());
    const Verdict verdict = admitted ? handle_envelope(from, envelope) : Verdict::flood;
    const Source source = envelope.sender == from ? Source::itself : Source::others;
    if (members.count(from, envelope.kind, verdict, source)) world.swarm.drop(from, offender_refused_for);
    // The next list may let it in.
    const bool is_shut_out = verdict == Verdict::not_allowed && source == Source::itself;
    if (is_shut_out || !admits(members.person_of(from)))
        world.swarm.drop(from, std::min(manifest.recipe.window, unadmitted_refused_for));
    if (verdict == Verdict::accepted) advance();
}

/// Who is not in step does not know yet whom the host has let in since the manifest was written.
bool Peer::Impl::admits(const PeerId& person) const {
    return chain.rules().admits(person) || (!in_step() && !chain.rules().bans(person));
}

/// Whether the run admits who wrote and who sent this, and a certificate that is new is good.
Verdict Peer::Impl::judge_author(const PeerId& from, const run::Envelope& envelope, const run::Message& message) const {
    const PeerId& sender = envelope.sender;
    const run::DeviceCertificate known = members.certificate_of(sender);
    const run::DeviceCertificate* told = certificate_of(message);
    if (!admits((told == nullptr ? known : *told).person_of(sender))) return Verdict::not_allowed;
    if (sender != from && !admits(members.person_of(from))) return Verdict::not_allowed;
    const bool is_sound = told == nullptr || *told == known || run::is_certified(sender, *told, keyring);
    return is_sound ? Verdict::accepted : Verdict::bad_signature;
}

/// Messages that carry their author's signature reach everybody through anybody, once each.
void Peer::Impl::pass_on(const run::Envelope& envelope, const PeerId& from) const {
    // Most hear the author itself; who does not asks for the payload, which is longer than all else.
    run::Envelope bare;
    const bool is_bare = envelope.payload.empty();
    if (!is_bare) {
        bare = envelope;
        bare.payload.clear();
    }
    for (const PeerId& neighbour : world.swarm.neighbours()) {
        if (neighbour != from && neighbour != envelope.sender) world.swarm.send(neighbour, is_bare ? envelope : bare);
    }
}

Verdict Peer::Impl::handle_envelope(const PeerId& from, const run::Envelope& envelope) {
    if (envelope.run != context.run) return Verdict::wrong_run;
    if (envelope.body.size() > run::message_bytes_max) return Verdict::too_large;
    const bool is_status = envelope.kind == run::MessageKind::status;
    // A host's action is signed by its person, at any of that person's computers.
    const bool is_own = envelope.sender == context.self() && envelope.kind != run::MessageKind::host_action;
    if (is_own) return is_status ? own_status.on_own(envelope) : Verdict::repeated;
    if (is_status && envelope.sender != from && gossip.take_repeated(from, envelope)) return Verdict::repeated;
    if (envelope.sender != from && !may_be_passed_on(envelope.kind)) return Verdict::not_allowed;
    const Result<run::Message> message = run::decode_body(envelope.kind, envelope.body);
    if (!message.ok()) return Verdict::malformed;
    if (const Verdict author = judge_author(from, envelope, *message); author != Verdict::accepted) return author;
    const auto* contribution = std::get_if<run::ContributionMessage>(&*message);
    // Every neighbour passes it on; the copies cost no arithmetic, but one may bring the payload that another lacked.
    if (contribution != nullptr && machine.holds(envelope.sender, *contribution, envelope.signature)) {
        const Verdict verdict = payload_post.take(envelope, *contribution);
        return verdict == Verdict::accepted ? Verdict::repeated : verdict;
    }
    if (contribution != nullptr && !payload_post.has_place_for(from, envelope.sender, *contribution)) {
        return Verdict::no_room;
    }
    const std::string_view domain = run::domain_of(envelope.kind);
    if (!world.verify(envelope.sender, domain, run::signed_bytes(envelope), envelope.signature)) {
        return Verdict::bad_signature;
    }
    struct Dispatch {
        Impl& impl;
        const PeerId& from;
        const run::Envelope& envelope;
        const PeerId& sender = envelope.sender;
        Verdict operator()(const run::StatusMessage& m) const { return impl.on_status(from, envelope, m); }
        Verdict operator()(const run::CloseMessage& m) const { return impl.on_close(from, envelope, m); }
        Verdict operator()(const run::ContributionMessage& m) const { return impl.on_contribution(from, envelope, m); }
        Verdict operator()(const run::BallotMessage& m) const { return impl.ballots.receive(sender, m); }
        Verdict operator()(const run::HistoryRequest& m) const { return impl.catch_up.on_history_request(sender, m); }
        Verdict operator()(const run::HistoryMessage& m) const { return impl.catch_up.on_history(sender, m); }
        Verdict operator()(const run::LayerRequest& m) const { return impl.repairer.on_layer_request(sender, m); }
        Verdict operator()(const run::LayerMessage& m) const { return impl.repairer.on_layer(sender, m); }
        Verdict operator()(const run::GoodbyeMessage&) const { return impl.on_goodbye(sender); }
        Verdict operator()(const run::HostAction& m) const { return impl.on_host_action(from, envelope, m); }
        Verdict operator()(const run::PayloadRequest& m) const { return impl.payload_post.on_request(from, m); }
        Verdict operator()(const run::CommitteeRequest& m) const { return impl.shortcut.on_request(sender, m); }
        Verdict operator()(const run::CommitteeMessage& m) const { return impl.shortcut.on_answer(sender, m); }
    };
    return std::visit(Dispatch{*this, from, envelope}, *message);
}

/// Passed on once a round: who hears it later than the others contributes too late.
Verdict Peer::Impl::on_close(const PeerId& from, const run::Envelope& envelope, const run::CloseMessage& message) {
    const Verdict verdict = machine.on_close(envelope.sender, message, now());
    if (verdict != Verdict::accepted || close_passed_on == message.round) return verdict;
    close_passed_on = message.round;
    pass_on(envelope, from);
    return verdict;
}

Verdict Peer::Impl::on_contribution(const PeerId& from, const run::Envelope& envelope,
                                    const run::ContributionMessage& message) {
    const Verdict verdict = payload_post.on_contribution(from, envelope, message);
    if (verdict == Verdict::accepted) pass_on(envelope, from);
    return verdict;
}

Verdict Peer::Impl::on_host_action(const PeerId& from, const run::Envelope& envelope, const run::HostAction& action) {
    if (envelope.sender != manifest.host) return Verdict::wrong_author;
    const Verdict verdict = moderation.receive({action, envelope.signature});
    // Who is far behind may hear more of the host than waits here, which is no offence of the host's.
    if (verdict != Verdict::accepted) return verdict == Verdict::flood ? Verdict::stale : verdict;
    pass_on(envelope, from);
    if (action.kind == run::ActionKind::replace) replaced();
    return verdict;
}

/// If L[height] is another committee's to decide now, it is decided anew.
void Peer::Impl::replaced() {
    if (chain.replacement() == nullptr) return;
    ballots.enter();
    if (machine.playing()) enter_round();
}

Verdict Peer::Impl::on_goodbye(const PeerId& from) {
    members.remove(from);
    machine.lost(from);
    return Verdict::accepted;
}

void Peer::Impl::blob_here(const run::BlobRef& ref, BlobPointer content) {
    if (!started || gone || content == nullptr) return;
    switch (payloads.arrived(ref, content)) {
        case Payloads::Outcome::held:
            payload_post.here(ref.root);
            // It may be the last that a list waits for.
            act(machine.tick(now(), ballots.proposes()));
            break;
        case Payloads::Outcome::bad: payload_post.useless(ref.root); break;
        case Payloads::Outcome::not_wanted: break;
    }
    ballots.reconsider();
    contributor.update_error_feedback();
    shards.on_blob(ref.root);
    shortcut.blob_here(ref.root, content);
    if (repairer.fetches(ref.root)) {
        repairer.on_content(std::move(content));
    } else if (catch_up.fetches(ref.root)) {
        catch_up.on_content(std::move(content));
    }
    advance();
}

void Peer::Impl::blob_failed(const BlobId& id, const Error& error) {
    if (!started || gone) return;
    // On a full disk payloads that no list names just wait; for the rest room is made, and the fetch is tried again.
    const bool waits = error.code == ErrorCode::no_space && payloads.displaceable(id);
    if (error.code == ErrorCode::no_space && !waits) {
        if (!shards.evict_spare()) (void)seeder.forget_oldest_payloads(0);
    }
    payloads.failed(id, now());
    repairer.on_fetch_failed(id);
    catch_up.on_fetch_failed(id, error);
    shards.on_blob_failed(id);
    shortcut.blob_failed(id);
    const Remedy remedy = error.code == ErrorCode::no_space ? Remedy::disk_limit : Remedy::none;
    if (error.code != ErrorCode::cancelled && !waits) errors.report(error.message, remedy);
}

// The public face: each call sets the time it happened at and hands over.

Peer::Peer(const RunId& run, run::Manifest manifest, PeerSettings settings, World world)
    : m_impl(std::make_unique<Impl>(run, std::move(manifest), std::move(settings), std::move(world))) {}

Peer::~Peer() = default;

void Peer::start(TimePoint now) {
    m_impl->context.set_now(now);
    m_impl->start();
}

void Peer::tick(TimePoint now) {
    m_impl->context.set_now(now);
    m_impl->tick();
}

Status Peer::Impl::may_moderate() const {
    if (!context.is_host()) {
        return Error{ErrorCode::permission,
                     "Only the run's host can do this: it takes the key " + manifest.host.hex() + "."};
    }
    if (!started || gone || over()) {
        return Error{ErrorCode::unavailable, "This run is over, or this computer has left it."};
    }
    return {};
}

/// On disk here, and to everybody.
Result<std::uint32_t> Peer::Impl::sign(const run::HostAction& action) {
    const Verdict verdict = moderation.receive({action, context.signature_of(action)});
    if (verdict == Verdict::flood) {
        return Error{ErrorCode::unavailable, "Too many changes wait for the committee already; try again later."};
    }
    if (verdict != Verdict::accepted) return Error{ErrorCode::io, errors.last()};
    context.broadcast(action);
    return action.number;
}

Result<std::uint32_t> Peer::moderate(run::ActionKind kind, const PeerId& key, RoundId round) {
    Impl& impl = *m_impl;
    if (const Status may = impl.may_moderate(); !may.ok()) return may.error();
    run::HostAction action;
    action.number = impl.moderation.next_number();
    action.kind = kind;
    if (kind == run::ActionKind::roll_back) {
        const std::vector<Checkpoint> held = impl.seeder.checkpoints();
        const auto found = std::find_if(held.begin(), held.end(), [&](const auto& one) { return one.round == round; });
        if (found == held.end()) {
            return Error{ErrorCode::not_found, "This computer holds no checkpoint of round " +
                                                   std::to_string(round.value) +
                                                   "; potluck-node checkpoints lists those that it has."};
        }
        action.round = round;
        action.state = found->blob;
    } else {
        // All of a person's computers, whichever of them was pointed at.
        action.key = impl.seats.person_of(key);
        if (kind == run::ActionKind::ban && action.key == impl.manifest.host) {
            return Error{ErrorCode::invalid_argument, "A host cannot ban itself."};
        }
    }
    return impl.sign(action);
}

Result<std::uint32_t> Peer::replace_committee(std::vector<PeerId> keys, std::optional<RoundId> after) {
    Impl& impl = *m_impl;
    if (const Status may = impl.may_moderate(); !may.ok()) return may.error();
    for (PeerId& key : keys) key = impl.seats.device_of(key);
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
    const run::Owners owners = impl.seats.owners_of(keys);
    const auto is_trusted = [&](const PeerId& key) { return impl.chain.rules().trusts(run::person_in(owners, key)); };
    const bool may_decide = run::is_committee_size(keys.size()) && std::all_of(keys.begin(), keys.end(), is_trusted) &&
                            run::are_different_persons(keys, owners);
    if (!may_decide) {
        return Error{ErrorCode::invalid_argument,
                     "A committee has 1, 4 or 7 members, each another person's whom the host trusts: itself, its "
                     "backbones, and keys that it allows."};
    }
    const RoundId height = impl.chain.height();
    const RoundId round = after.value_or(height);
    if (const Status may = impl.may_go_back_to(round); !may.ok()) return may.error();
    const auto next = round < height ? impl.chain.list_at(round) : std::nullopt;
    run::HostAction action;
    action.number = (next ? next->actions_before : impl.chain.rules().actions) + 1;
    action.kind = run::ActionKind::replace;
    action.round = round;
    action.previous = impl.chain.hash_before(round);
    action.committee = std::move(keys);
    action.committee_owners = owners;
    const auto& last = impl.chain.last_replacement();
    action.term = std::max(impl.chain.term(), last ? last->action.term : 0) + 1;
    const Result<std::uint32_t> number = impl.sign(action);
    if (number.ok()) impl.replaced();
    return number;
}

void Peer::begin_leaving(TimePoint now) {
    m_impl->context.set_now(now);
    if (!m_impl->started || m_impl->gone) return;
    m_impl->own_status.leave();
    m_impl->seats.leave();
    m_impl->contributor.pause();
    m_impl->own_status.broadcast();
}

bool Peer::may_leave() const {
    if (!m_impl->started || m_impl->gone) return true;
    return !m_impl->contributor.facts().pausing && m_impl->seats.may_go();
}

/// Training goes on: what it comes to until then is kept over the sleep, as all else of the process.
void Peer::begin_sleep(TimePoint now) {
    m_impl->context.set_now(now);
    if (!m_impl->started || m_impl->gone || m_impl->own_status.leaves()) return;
    m_impl->own_status.fall_asleep();
    m_impl->seats.leave();
    m_impl->own_status.broadcast();
}

bool Peer::may_sleep() const { return !m_impl->own_status.sleepy() || m_impl->seats.may_go(); }

void Peer::end_sleep(TimePoint now) {
    m_impl->context.set_now(now);
    if (!m_impl->own_status.wake() || m_impl->own_status.leaves()) return;
    m_impl->seats.stay();
    m_impl->own_status.changed();
}

void Peer::leave() {
    if (m_impl->started && !m_impl->gone) m_impl->context.broadcast(run::GoodbyeMessage{});
    m_impl->gone = true;
    m_impl->jobs.stop();
}

PeerView Peer::view() const { return m_impl->view(); }
const run::Manifest& Peer::manifest() const { return m_impl->manifest; }
std::vector<std::pair<Verdict, std::uint64_t>> Peer::verdicts() const { return m_impl->members.verdicts(); }
std::vector<Refusal> Peer::refusals() const { return m_impl->members.refusals(); }

void Peer::on_neighbour(const PeerId& peer) {
    m_impl->members.joined(peer);
    if (!m_impl->started || m_impl->gone) return;
    m_impl->context.send(peer, m_impl->own_status.next());
    m_impl->moderation.tell({peer});
    if (m_impl->machine.playing()) m_impl->contributor.offer_to(peer);
}

void Peer::on_neighbour_lost(const PeerId& peer) {
    m_impl->members.left(peer);
    m_impl->members.remove(peer);
    m_impl->gossip.left(peer);
    m_impl->payload_post.lost(peer);
    m_impl->machine.lost(peer);
}

void Peer::on_own_key_elsewhere() { m_impl->own_status.key_is_elsewhere(); }
void Peer::on_envelope(const PeerId& from, run::Envelope envelope) { m_impl->receive(from, envelope); }
void Peer::on_blob(const run::BlobRef& blob, BlobPointer content) { m_impl->blob_here(blob, std::move(content)); }
void Peer::on_blob_failed(const BlobId& blob, Error error) { m_impl->blob_failed(blob, error); }

void Peer::on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    if (!m_impl->gone) m_impl->seeder.on_published(file, std::move(blob));
}

void Peer::on_trainer_started() { m_impl->contributor.on_started(); }
void Peer::on_trainer_lost(const Error& error) { m_impl->contributor.on_lost(error); }

void Peer::on_snapshot(const SnapshotResult& result) {
    if (!m_impl->gone) m_impl->contributor.on_snapshot(result);
}

void Peer::on_first_step() { m_impl->catch_up.first_step(); }

void Peer::on_progress(TokenCount window_tokens, double tokens_per_second, double loss) {
    m_impl->contributor.on_progress(window_tokens, tokens_per_second, loss);
}

void Peer::pause(TimePoint now) {
    m_impl->context.set_now(now);
    m_impl->contributor.pause();
}

void Peer::resume(TimePoint now) {
    m_impl->context.set_now(now);
    m_impl->contributor.resume();
}

void Peer::finish(TimePoint now) {
    m_impl->context.set_now(now);
    m_impl->contributor.finish();
}

bool Peer::has_finished() const { return m_impl->contributor.has_finished(); }
bool Peer::all_settled() const { return has_finished() && m_impl->contributor.record().pending.empty(); }

void Peer::restart_trainer() { m_impl->contributor.restart(); }
void Peer::set_shard_bytes_max(std::uint64_t bytes) { m_impl->shards.set_cap(bytes); }

void Peer::set_name(const std::string& name) { m_impl->own_status.set_name(name); }
void Peer::set_team(const std::string& team) { m_impl->own_status.set_team(team); }

// What the node shows of this member, and what it tells the others.

StatusFacts Peer::Impl::all_facts() const {
    StatusFacts facts = own_status.facts();
    facts.volunteer = contributor.volunteer();
    facts.last_error = errors.last();
    facts.error_recent = errors.recent();
    facts.state = keeper.round();
    if (keeper.round()) {
        facts.digest = keeper.digest();
        facts.list = chain.hash_before(*keeper.round());
    }
    facts.chain_height = chain.height();
    facts.run_complete = over();
    facts.applying = keeper.applying();
    facts.checking = keeper.checking();
    facts.repairing = repairer.active();
    facts.fetching_state = catch_up.fetching();
    facts.calculates_differently = self_check.calculates_differently();
    facts.disk_full = errors.recent() && errors.remedy() == Remedy::disk_limit;
    facts.checkpoint = seeder.newest_checkpoint();
    facts.seats_here = seats.seated_here();
    facts.seats_needed = ballots.quorum();
    facts.training = contributor.facts();
    return facts;
}

PeerView Peer::Impl::view() const {
    PeerView view;
    const StatusFacts own = all_facts();
    view.phase = phase_of(own);
    view.why = why_of(own);
    if (!keeper.round()) view.progress = catch_up.progress().value_or(view.progress);
    if (const auto shard = contributor.shard_waited_for(); keeper.round() && shard)
        view.progress = world.swarm.progress(*shard);
    if (const auto progress = repairer.progress()) view.progress = *progress;
    view.round = keeper.round().value_or(RoundId{0});
    view.digest = keeper.round() ? keeper.digest() : StateDigest{};
    view.closed = chain.closed();
    if (machine.playing()) view.proposer = ballots.proposer();
    view.members = member_views({context.self(), status_message_of(own), true}, members, chain.committee());
    view.window_tokens = own.training.window_tokens;
    view.tokens_per_second = own.training.tokens_per_second;
    view.loss = own.training.loss;
    view.digests_compared = repairer.digests_compared();
    view.digests_equal = repairer.digests_equal();
    view.repairs = repairer.repairs();
    view.rounds_lost = ballots.views_lost();
    view.calculates_differently = own.calculates_differently;
    view.payload_bytes_sent = contributor.payload_bytes_sent();
    view.payloads_sent = contributor.payloads_sent();
    view.k = contributor.k();
    view.k_allowed = chain.k();
    view.last_round_overhead = last_round_overhead;
    view.join_to_first_step = catch_up.join_to_first_step();
    view.checkpoints = seeder.checkpoints();
    return view;
}

CommitteeView Peer::committee() const {
    const Impl& impl = *m_impl;
    CommitteeView view{
        impl.chain.committee(), impl.ballots.quorum(), impl.chain.rules(), impl.moderation.pending(), {}};
    for (const auto& [author, evidence] : impl.ballots.evidence()) view.evidence.push_back(evidence);
    return view;
}

Succession Peer::succession() const {
    const Impl& impl = *m_impl;
    Succession next{.seats = impl.seats.committee_without_self(), .shard_copies = impl.shards.other_copies()};
    const auto committee = run::Committee::from_keys(next.seats);
    next.needed = committee ? committee->quorum() : impl.ballots.quorum();
    for (const auto& [peer, member] : impl.members.all()) next.checkpoint_holders += member.status.checkpoint.size > 0;
    return next;
}

Accounting Peer::accounting() const { return m_impl->contributor.accounting(); }

void Peer::check_invariants() const {
    const Impl& impl = *m_impl;
    impl.keeper.check_invariants();
    impl.contributor.check_invariants();
    impl.shards.check_invariants();
    impl.seeder.check_invariants();
    impl.repairer.check_invariants();
    POTLUCK_CHECK(!impl.keeper.round() || *impl.keeper.round() <= impl.chain.height());
    POTLUCK_CHECK(!impl.advancing);
    impl.ballots.check_invariants();
}

}  // namespace potluck::peer
