// Everything is asked anew each time, so that no part has to report what it changed. A snapshot is made in three steps:
// what every node has, then the conditions from which node_status() chooses the one reason that holds, and for a member
// of a run what the run adds.
//
// The programs come last and on demand only: they are asked of the system, and change_report.h looks too often for
// that.
#include "app/node/session/node_view.h"

#include <algorithm>
#include <utility>

#include "app/node/member/view.h"
#include "app/node/session/own_proxy.h"
#include "app/node/trainer/own_programs.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

/// Adds what blobs may take of the disk, and what the run needs of it.
void add_disk(const NodeParts& node, NodeConditions& conditions) {
    const Beginning& beginning = node.run.beginning();
    conditions.disk_allowed = node.settings.blob_bytes_max();
    conditions.disk_needed = node.run.session()->swarm().counters().blob_bytes_needed;
    if (conditions.disk_needed > conditions.disk_allowed || beginning.shard > node.settings.shard_bytes_max()) {
        const std::uint64_t data = beginning.shard / 3 * 4 + 4;  // shards may take three quarters
        conditions.disk_needed = std::max({conditions.disk_needed, data, beginning.bytes()});
    }
}

NodeConditions conditions_of(const NodeParts& node, const net::SessionCounters& counters) {
    NodeConditions conditions;
    conditions.paused = node.settings.paused;
    conditions.paused_until = node.settings.paused_until;
    conditions.error = node.search.error();
    // On loopback a node that was told of no other has no network to miss.
    const bool has_network = node.options.reach == net::NetworkScope::internet || !node.options.dht_nodes.empty();
    const bool through_proxy = node.settings.proxy.is_used();
    // Behind a proxy that passes no datagrams on there is no DHT, and its answer is what the network says.
    conditions.network_silent =
        has_network && counters.dht_nodes == 0 && !(through_proxy && counters.proxy == net::ProxyAnswer::yes);
    const bool shut_out = counters.proxy != net::ProxyAnswer::unknown && counters.proxy != net::ProxyAnswer::yes;
    if (shut_out) conditions.proxy_shut = node.settings.proxy.place();
    if (node.search.is_searching())
        conditions.search = node.search.conditions(log::printable(node.settings.run->invite.name));
    const RunSession* session = node.run.session();
    if (session == nullptr) return conditions;
    const peer::PeerView view = session->peer().view();
    conditions.member = view.why;
    conditions.progress = view.progress;
    add_disk(node, conditions);
    conditions.leaves_after_round =
        node.settings.run->finishing && node.settings.run->after == control::AfterFinish::leave;
    const TrainerProcess* trainer = session->trainer();
    conditions.volunteer = trainer != nullptr;
    if (trainer == nullptr) return conditions;
    conditions.yield = node.owner.noticed();
    conditions.yield_seconds = node.owner.seconds_left();
    conditions.trainer_failure = trainer->failure();
    conditions.trainer_missing = trainer->lacks_program();
    conditions.trainer_interruption = trainer->interruption();
    conditions.trainer_notice = trainer->notice();
    conditions.trainer_alive = !trainer->gone();
    return conditions;
}

/// The run, and what only a member has.
void add_run(const NodeParts& node, control::NodeSnapshot& snapshot) {
    const RunSession& session = *node.run.session();
    const peer::PeerView view = session.peer().view();
    snapshot.run = run_snapshot(session.run(), session.peer().manifest(), view);
    const run::Invite invite = node.network.invite(session.run(), snapshot.run->name);
    snapshot.run->magnet = invite.to_magnet();
    snapshot.run->link = invite.to_link(node.settings.run->announcing.page);
    snapshot.run->refusals = session.refusals();
    add_flows(session.swarm().flows(), *snapshot.run);
    if (node.run.succession()) snapshot.run->succession = succession_rows(*node.run.succession(), view);
    add_credit(node.ledger, session.run(), node.keys.person.id(), *snapshot.run);
    add_loss(session.peer().curve(), *snapshot.run);
    if (session.evaluated()) {
        snapshot.run->figures = session.evaluated()->reply.figures;
        snapshot.run->collapsed = session.evaluated()->reply.collapsed;
    }
    snapshot.network.payload_bytes_up = view.payload_bytes_sent;
    snapshot.network.peers = static_cast<std::uint32_t>(session.swarm().counters().sessions);
    if (const TrainerProcess* trainer = session.trainer()) snapshot.trainer = trainer->view();
}

control::DeviceChoice device_choice(const NodeParts& node) {
    control::DeviceChoice choice{.chosen = node.settings.budget.device};
    const TrainerProcess* trainer = node.run.trainer();
    if (trainer != nullptr && !choice.chosen.empty()) choice.obstacle = trainer->device_obstacle();
    return choice;
}

control::ReleaseState release_state(const NodeParts& node) {
    control::ReleaseState state = node.releases.view();
    state.looks = node.settings.looks;
    state.passes_on = node.settings.passes_on;
    return state;
}

/// The trainer of a run that is being left is told as the trainer until it has ended.
control::ProgramList programs(const NodeParts& node) {
    TrainerFacts facts{.program = node.releases.trainer(), .process = 0, .version = {}};
    for (const RunSession* session : {node.run.retiring(), node.run.session()}) {
        const TrainerProcess* trainer = session != nullptr ? session->trainer() : nullptr;
        if (trainer == nullptr || trainer->gone()) continue;
        facts.process = trainer->view().process;
        facts.version = trainer->program_version();
    }
    return program_rows(facts, this_process());
}

}  // namespace

control::NodeSnapshot own_snapshot(const NodeParts& node) {
    control::NodeSnapshot snapshot;
    snapshot.peer_id = node.keys.device_key().id().hex();
    snapshot.person_id = node.keys.person.id().hex();
    snapshot.name = node.settings.name;
    snapshot.team = node.settings.team;
    snapshot.helps_lists = node.settings.helps_lists;
    snapshot.data_folder = node.options.data_folder.string();
    snapshot.paused_until = node.settings.paused ? node.settings.paused_until : 0;
    snapshot.rules = control::described(node.settings.rules);
    snapshot.resources = node.settings.resources;
    snapshot.device = device_choice(node);
    const net::SessionCounters counters = node.network.counters();
    snapshot.proxy = shown(node.settings.proxy, counters.proxy);
    snapshot.releases = release_state(node);
    snapshot.preparation = node.preparation;
    snapshot.network = network_snapshot(counters);
    snapshot.network.traffic = node.usage.traffic();
    snapshot.energy = node.usage.energy();
    const NodeConditions now = conditions_of(node, counters);
    if (!node.settings.paused && now.yield.level != activity::Level::run) {
        snapshot.yield =
            control::YieldState{now.yield.level, now.yield.signal, now.yield.detail, node.owner.noticed_since()};
    }
    if (node.run.session() != nullptr) add_run(node, snapshot);
    NodeStatus status = node_status(now);
    snapshot.activity = status.activity;
    snapshot.why = {std::move(status.why)};
    snapshot.reason = std::move(status.sentence);
    snapshot.progress = status.progress;
    return snapshot;
}

control::NodeSnapshot whole_snapshot(const NodeParts& node) {
    control::NodeSnapshot snapshot = own_snapshot(node);
    snapshot.programs = programs(node);
    return snapshot;
}

}  // namespace potluck::node
