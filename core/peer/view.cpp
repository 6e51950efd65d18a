// What the node shows of this member, and what it tells the others.

#include "core/base/check.h"
#include "core/peer/impl.h"

namespace potluck::peer {

StatusFacts Peer::Impl::facts() const {
    StatusFacts facts;
    facts.volunteer = contributor.volunteer();
    facts.name = name;
    facts.port = world.swarm.port();
    facts.sequence = sequence;
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
    facts.fetching_state = checkpoint_fetch.has_value();
    facts.members_known = !members.all().empty();
    facts.checkpoint = seeder.newest_checkpoint();
    facts.window_closed = machine.closed();
    facts.window_reopened = machine.reopened();
    facts.window_left = machine.opened_at() + manifest.recipe.window - now();
    facts.training = contributor.facts();
    return facts;
}

PeerView Peer::Impl::view() const {
    PeerView view;
    const StatusFacts own = facts();
    view.phase = phase_of(own);
    view.reason = reason_of(own);
    if (!keeper.round() && checkpoint_fetch) view.progress = world.swarm.progress(checkpoint_fetch->ref.root);
    if (const auto shard = contributor.shard_waited_for(); keeper.round() && shard)
        view.progress = world.swarm.progress(*shard);
    if (const auto progress = repairer.progress()) view.progress = *progress;
    view.round = keeper.round().value_or(RoundId{0});
    view.digest = keeper.round() ? keeper.digest() : StateDigest{};
    if (machine.playing()) view.leader = machine.leader_at(now()).leader;
    view.members.push_back({context.self(), status_message_of(own), true});
    for (const auto& [peer, member] : members.all()) view.members.push_back({peer, member.status, false});
    view.window_tokens = own.training.window_tokens;
    view.tokens_per_second = own.training.tokens_per_second;
    view.loss = own.training.loss;
    view.digests_compared = repairer.digests_compared();
    view.digests_equal = repairer.digests_equal();
    view.repairs = repairer.repairs();
    view.rounds_lost = rounds_lost;
    view.payload_bytes_sent = contributor.payload_bytes_sent();
    view.payloads_sent = contributor.payloads_sent();
    view.last_round_overhead = last_round_overhead;
    view.join_to_first_step = join_to_first_step;
    view.checkpoints = seeder.checkpoints();
    return view;
}

Accounting Peer::accounting() const { return m_impl->contributor.accounting(); }

void Peer::check_invariants() const {
    const Impl& impl = *m_impl;
    impl.keeper.check_invariants();
    impl.contributor.check_invariants();
    impl.seeder.check_invariants();
    impl.repairer.check_invariants();
    POTLUCK_CHECK(!impl.keeper.round() || *impl.keeper.round() <= impl.chain.height());
    POTLUCK_CHECK(!impl.advancing);
    POTLUCK_CHECK(impl.candidates.size() <= candidates_max);
    for (const Candidate& one : impl.candidates) POTLUCK_CHECK(one.checked.list.round == impl.chain.height());
}

}  // namespace potluck::peer
