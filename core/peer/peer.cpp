// The parts in the order in which they know each other, the passes of tick(), and where each event goes.
//
// The order of the passes matters. Members fall silent before the machine counts who is alive; the machine acts before
// advance() applies what it allows; the contributor comes last, since a new state moves its anchor; and old states are
// only forgotten when no job reads one. Threads: the node's.
#include "core/peer/peer.h"

#include <utility>

#include "core/base/check.h"

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

}  // namespace

Peer::Peer(const RunId& run, run::Manifest manifest, PeerSettings settings, World world)
    : m_context(run, std::move(manifest), std::move(settings), world.swarm, world.identity, world.certificate,
                world.person),
      m_world(std::move(world)),
      m_keyring(m_world.identity, m_world.verify),
      m_jobs(m_world.offload),
      m_rounds({m_context,      m_world.store, m_members,  m_machine,  m_chain,       m_payloads,
                m_payload_post, m_own_status,  m_steps,    m_keeper,   m_contributor, m_verdicts,
                m_losses,       m_juror,       m_seeder,   m_repairer, m_seats,       m_moderation,
                m_ballots,      m_catch_up,    m_shortcut, m_errors}),
      m_members(m_context.rules.trusted()),
      m_gossip(m_context, m_members),
      m_payloads(m_world.swarm, m_context.layout.parameters, m_context.manifest.recipe.k_max),
      m_machine(round_settings(m_context, m_world)),
      m_chain(m_context, m_world.ledger, m_keyring),
      m_steps({m_context, m_chain, m_members, m_payloads, m_world.store, m_jobs, m_seats, m_errors}),
      m_payload_post({m_context, m_chain, m_machine, m_members, m_gossip, m_payloads, m_steps}),
      m_own_status({m_context, m_chain, m_machine, m_members, m_keyring, m_world.unix_clock, *this}),
      m_keeper({m_context, m_chain, m_world.store, m_jobs, m_errors, m_rounds}),
      m_shards({m_context, m_chain, m_members, m_errors}),
      m_contributor({m_context, m_chain, m_keeper, m_machine, m_shards, m_losses, m_world.store, m_world.trainer,
                     m_payloads, m_payload_post.routes(), m_jobs, m_errors, m_rounds}),
      m_means(m_contributor, m_shards),
      m_verdicts({m_context, m_chain, m_members}),
      m_losses({m_context, m_chain, m_members, m_world.store}),
      m_juror({m_context, m_chain, m_payloads, m_world.store, m_world.trainer, m_verdicts, m_means}),
      m_seeder({m_context, m_chain, m_world.store, m_payloads, m_errors, m_rounds}),
      m_repairer({m_context, m_chain, m_keeper, m_world.store, m_members, m_jobs, m_errors, m_rounds}),
      m_seats(m_context, m_chain, m_members),
      m_moderation(m_context, m_chain, m_world.ledger, m_errors),
      m_ballots({m_context, m_chain, m_keeper, m_machine, m_payload_post.exchange(), m_keyring, m_world.store,
                 m_payloads, m_steps, m_seats, m_moderation, m_verdicts, m_losses, m_errors, m_rounds}),
      m_catch_up({m_context, m_chain, m_keeper, m_members, m_payloads, m_steps, m_seeder, m_moderation, m_ballots,
                  m_errors, m_rounds}),
      m_shortcut({m_context, m_chain, m_keyring, m_members, m_errors, m_rounds}),
      m_inbox({m_context, m_keyring, m_world.ledger, m_machine, m_chain, m_members, m_gossip, m_payload_post, m_steps,
               m_own_status, m_repairer, m_moderation, m_verdicts, m_losses, m_ballots, m_catch_up, m_shortcut,
               m_rounds}),
      m_host_commands(
          {m_context, m_world.store, m_chain, m_keeper, m_seeder, m_seats, m_moderation, m_errors, m_rounds}) {}

Peer::~Peer() = default;

void Peer::start(TimePoint now) {
    m_context.set_now(now);
    for (const PeerId& peer : m_world.swarm.neighbours()) m_members.joined(peer);
    m_juror.load();
    m_rounds.start();
}

void Peer::tick(TimePoint now) {
    m_context.set_now(now);
    if (!m_rounds.running()) return;
    m_own_status.tick();
    m_payloads.retry(now);
    m_payload_post.tick();
    m_inbox.tick();
    m_shortcut.tick();
    m_catch_up.ask_history();
    m_repairer.update_repair();
    m_rounds.tick();
    m_host_commands.undo_false_steps(m_steps.audits());
    m_rounds.advance();
    m_contributor.update_error_feedback();
    m_contributor.update_start_over();
    m_shards.update(m_contributor.shards_needed());
    m_contributor.update_trainer();
    if (m_jobs.count() == 0 && m_keeper.round() && !m_repairer.active()) m_seeder.forget_old();
    if (m_own_status.due()) m_own_status.broadcast();
}

// Events of network and trainer.

void Peer::on_neighbour(const PeerId& peer) {
    m_members.joined(peer);
    if (!m_rounds.running()) return;
    m_context.send(peer, m_own_status.next());
    m_moderation.tell({peer});
    m_verdicts.tell({peer});
    m_losses.tell({peer});
    if (m_machine.playing()) m_contributor.offer_to(peer);
}

void Peer::on_neighbour_lost(const PeerId& peer) {
    m_members.left(peer);
    m_members.remove(peer);
    m_gossip.left(peer);
    m_payload_post.lost(peer);
    m_machine.lost(peer);
}

void Peer::on_own_key_elsewhere() { m_own_status.key_is_elsewhere(); }
void Peer::on_envelope(const PeerId& from, run::Envelope envelope) { m_inbox.receive(from, envelope); }

void Peer::on_blob(const run::BlobRef& ref, BlobPointer content) {
    if (!m_rounds.running() || content == nullptr) return;
    switch (m_payloads.arrived(ref, content, m_context.now())) {
        case Payloads::Outcome::held:
            m_payload_post.here(ref.root);
            // It may be the last that a list waits for.
            m_rounds.look_at_offers();
            break;
        case Payloads::Outcome::bad: m_payload_post.useless(ref.root); break;
        case Payloads::Outcome::not_wanted: break;
    }
    m_steps.on_blob(ref, content);
    m_ballots.reconsider();
    m_contributor.update_error_feedback();
    m_shards.on_blob(ref.root);
    m_shortcut.blob_here(ref.root, content);
    if (m_repairer.fetches(ref.root)) {
        m_repairer.on_content(std::move(content));
    } else if (m_catch_up.fetches(ref.root)) {
        m_catch_up.on_content(std::move(content));
    }
    m_rounds.advance();
}

void Peer::on_blob_failed(const BlobId& id, Error error) {
    if (!m_rounds.running()) return;
    // On a full disk payloads that no list names just wait; for the rest room is made, and the fetch is tried again.
    const bool waits = error.code == ErrorCode::no_space && m_payloads.displaceable(id);
    if (error.code == ErrorCode::no_space && !waits) {
        if (!m_shards.evict_spare()) (void)m_seeder.forget_oldest_payloads(0);
    }
    m_payloads.failed(id, m_context.now());
    m_steps.on_blob_failed(id);
    m_repairer.on_fetch_failed(id);
    m_catch_up.on_fetch_failed(id, error);
    m_shards.on_blob_failed(id);
    m_shortcut.blob_failed(id);
    const Remedy remedy = error.code == ErrorCode::no_space ? Remedy::disk_limit : Remedy::none;
    if (error.code != ErrorCode::cancelled && !waits) m_errors.report(error.message, remedy);
}

void Peer::on_published(const std::filesystem::path& file, Result<run::BlobRef> blob) {
    if (m_rounds.running()) m_seeder.on_published(file, std::move(blob));
}

void Peer::on_trainer_started() { m_contributor.on_started(); }
void Peer::on_trainer_lost(const Error& error) {
    m_juror.trainer_ended();
    m_contributor.on_lost(error);
}
void Peer::on_first_step() { m_catch_up.first_step(); }

void Peer::on_judged(const JudgeReport& report) {
    if (m_rounds.running()) m_juror.on_judged(report);
}

std::optional<RoundId> Peer::loss_due() { return m_rounds.in_step() ? m_losses.due() : std::nullopt; }

void Peer::on_loss(RoundId round, double nats) {
    if (m_rounds.running()) m_losses.sign(round, nats);
}

void Peer::on_snapshot(const SnapshotResult& result) {
    if (m_rounds.running()) m_contributor.on_snapshot(result);
}

void Peer::on_progress(TokenCount window_tokens, double tokens_per_second, double loss) {
    m_contributor.on_progress(window_tokens, tokens_per_second, loss);
}

// What the person wants.

void Peer::pause(TimePoint now) {
    m_context.set_now(now);
    m_contributor.pause();
}

void Peer::resume(TimePoint now) {
    m_context.set_now(now);
    m_contributor.resume();
}

void Peer::finish(TimePoint now) {
    m_context.set_now(now);
    m_contributor.finish();
}

void Peer::restart_trainer() { m_contributor.restart(); }
bool Peer::has_finished() const { return m_contributor.has_finished(); }
bool Peer::all_settled() const { return has_finished() && m_contributor.record().pending.empty(); }

void Peer::begin_leaving(TimePoint now) {
    m_context.set_now(now);
    if (!m_rounds.running()) return;
    m_own_status.leave();
    m_seats.leave();
    m_contributor.pause();
    m_own_status.broadcast();
}

bool Peer::may_leave() const { return !m_rounds.running() || (!m_contributor.facts().pausing && m_seats.may_go()); }

/// Training goes on: what it comes to until then is kept over the sleep, as all else of the process.
void Peer::begin_sleep(TimePoint now) {
    m_context.set_now(now);
    if (!m_rounds.running() || m_own_status.leaves()) return;
    m_own_status.fall_asleep();
    m_seats.leave();
    m_own_status.broadcast();
}

bool Peer::may_sleep() const { return !m_own_status.sleepy() || m_seats.may_go(); }

void Peer::end_sleep(TimePoint now) {
    m_context.set_now(now);
    if (!m_own_status.wake() || m_own_status.leaves()) return;
    m_seats.stay();
    m_own_status.changed();
}

void Peer::leave() {
    if (m_rounds.running()) m_context.broadcast(run::GoodbyeMessage{});
    m_rounds.leave();
    m_jobs.stop();
}

Result<std::uint32_t> Peer::moderate(run::ActionKind kind, const PeerId& key, RoundId round) {
    return m_host_commands.moderate(kind, key, round);
}

Result<std::uint32_t> Peer::replace_committee(std::vector<PeerId> keys, std::optional<RoundId> after) {
    return m_host_commands.replace_committee(std::move(keys), after);
}

void Peer::set_name(const std::string& name) { m_own_status.set_name(name); }
const std::string& Peer::name() const { return m_own_status.name(); }
const std::string& Peer::team() const { return m_own_status.team(); }
void Peer::set_team(const std::string& team) { m_own_status.set_team(team); }
void Peer::set_shard_bytes_max(std::uint64_t bytes) { m_shards.set_cap(bytes); }

// What the node shows of this member, and what it tells the others.

const run::Manifest& Peer::manifest() const { return m_context.manifest; }
std::vector<std::pair<Verdict, std::uint64_t>> Peer::verdicts() const { return m_members.verdicts(); }
std::vector<Refusal> Peer::refusals() const { return m_members.refusals(); }

StatusFacts Peer::all_facts() const {
    StatusFacts facts = m_own_status.facts();
    // Among others the list that brings a ban into force is still to come, and until then what is trained counts.
    const PeerId& person = m_context.self_person();
    const bool is_alone = m_context.swarm.neighbours().empty();
    const bool is_admitted = is_alone ? m_moderation.will_admit(person) : m_chain.rules().admits(person);
    if (!is_admitted) facts.unadmitted_id = person.hex();
    facts.volunteer = m_contributor.volunteer();
    facts.last_error = m_errors.last();
    facts.error_recent = m_errors.recent();
    facts.state = m_keeper.round();
    if (m_keeper.round()) {
        facts.digest = m_keeper.digest();
        facts.list = m_chain.hash_before(*m_keeper.round());
    }
    facts.chain_height = m_chain.height();
    facts.run_complete = m_rounds.over();
    facts.applying = m_keeper.applying();
    facts.checking = m_keeper.checking();
    facts.repairing = m_repairer.active();
    facts.fetching_state = m_catch_up.fetching();
    facts.light = m_steps.light();
    facts.calculates_differently = m_rounds.calculates_differently();
    facts.disk_full = m_errors.recent() && m_errors.remedy() == Remedy::disk_limit;
    facts.checkpoint = m_seeder.newest_checkpoint();
    facts.seats_here = m_seats.seated_here();
    facts.seats_needed = m_ballots.quorum();
    facts.training = m_contributor.facts();
    facts.training.shut_out = shut_of(m_chain, m_context.self_person());
    if (m_context.is_host()) facts.training.best = run::best_before_divergence(curve());
    if (facts.training.best) facts.training.newest_loss = curve().points.back().loss;
    return facts;
}

PeerView Peer::view() const {
    PeerView view;
    const StatusFacts own = all_facts();
    view.phase = phase_of(own);
    view.why = why_of(own);
    if (!m_keeper.round()) view.progress = m_catch_up.progress().value_or(view.progress);
    if (const auto shard = m_contributor.shard_waited_for(); m_keeper.round() && shard)
        view.progress = m_context.swarm.progress(*shard);
    if (const auto progress = m_repairer.progress()) view.progress = *progress;
    view.round = m_keeper.round().value_or(RoundId{0});
    view.digest = m_keeper.round() ? m_keeper.digest() : StateDigest{};
    view.closed = m_chain.closed();
    if (m_machine.playing()) view.proposer = m_ballots.proposer();
    view.members = member_views({m_context.self(), status_message_of(own), true}, m_members, m_chain.committee());
    view.beyond = members_beyond(m_members, m_context.self(), m_chain.head(), m_context.manifest.recipe.window);
    view.window_tokens = own.training.window_tokens;
    view.tokens_per_second = own.training.tokens_per_second;
    view.loss = own.training.loss;
    view.digests_compared = m_repairer.digests_compared();
    view.digests_equal = m_repairer.digests_equal();
    view.repairs = m_repairer.repairs();
    view.rounds_lost = m_ballots.views_lost();
    view.calculates_differently = own.calculates_differently;
    view.payload_bytes_sent = m_contributor.payload_bytes_sent();
    view.payloads_sent = m_contributor.payloads_sent();
    view.k = m_contributor.k();
    view.k_allowed = m_chain.k();
    view.light = m_steps.light();
    view.step_signers = m_steps.signers();
    if (const Carried& carried = m_payloads.carried(); !carried.all() && !view.light) {
        view.offers = carried.offered;
        view.offers_in_time = carried.here;
    }
    view.last_round_overhead = m_rounds.last_overhead();
    view.join_to_first_step = m_catch_up.join_to_first_step();
    view.checkpoints = m_seeder.checkpoints();
    view.jury = jury_view(m_context, m_chain, m_verdicts, m_juror);
    return view;
}

CommitteeView Peer::committee() const {
    CommitteeView view{m_chain.committee(), m_ballots.quorum(), m_chain.rules(), m_moderation.pending(), {}};
    for (const auto& [author, evidence] : m_ballots.evidence()) view.evidence.push_back(evidence);
    view.lies = m_steps.audits().lies();
    return view;
}

Succession Peer::succession() const {
    Succession next{.seats = m_seats.committee_without_self(), .shard_copies = m_shards.other_copies()};
    const auto committee = run::Committee::from_keys(next.seats);
    next.needed = committee ? committee->quorum() : m_ballots.quorum();
    for (const auto& [peer, member] : m_members.all()) next.checkpoint_holders += member.status.checkpoint.size > 0;
    return next;
}

Accounting Peer::accounting() const { return m_contributor.accounting(); }

void Peer::check_invariants() const {
    m_keeper.check_invariants();
    m_contributor.check_invariants();
    m_shards.check_invariants();
    m_seeder.check_invariants();
    m_repairer.check_invariants();
    m_rounds.check_invariants();
    m_ballots.check_invariants();
}

}  // namespace potluck::peer
