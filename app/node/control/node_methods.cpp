// One line for each method, so that a reader finds in one place what the protocol asks and who answers it.
//
// A Status becomes an empty answer or its error; what takes time (an export, a plan, a walk through folders) answers
// later, through the respond that it is given. Subscriptions are the control server's, who knows the connection; that
// no other method of the list is missing is checked once, when the table is made.
#include "app/node/control/node_methods.h"

#include "app/node/control/log_tail.h"
#include "core/base/check.h"
#include "core/control/node_methods.h"
#include "core/run/invite.h"

namespace potluck::node {

namespace {

using namespace control;
using identity::Identity;

Result<Done> done(const Status& status) {
    if (!status) return status.error();
    return Done{};
}

Result<ModerationNumber> numbered(const Result<std::uint32_t>& number) {
    if (!number) return number.error();
    return ModerationNumber{*number};
}

void add_run_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add<Join>([&node](const Join& call) -> Result<Done> {
        const auto invite = run::Invite::parse(call.invite);
        if (!invite) return invite.error();
        return done(node.join(*invite, call.role, call.other_run));
    });
    dispatcher.add<FindRuns>([&node](const FindRuns&) { return node.finding().look(); });
    dispatcher.add_later<FollowList>([&node](const FollowList& call, const Dispatcher::Respond<FollowList>& respond) {
        node.finding().follow(call, respond);
    });
    dispatcher.add<UnfollowList>([&node](const UnfollowList& call) { return done(node.finding().unfollow(call)); });
    dispatcher.add<SetNextRun>([&node](const SetNextRun& call) { return done(node.set_next_run(call)); });
    dispatcher.add<Leave>([&node](const Leave&) { return done(node.leave()); });
    dispatcher.add<Pause>(
        [&node](const Pause& call) { return done(node.pause(static_cast<std::int64_t>(call.seconds))); });
    dispatcher.add<Resume>([&node](const Resume&) { return done(node.resume()); });
    dispatcher.add<Yield>([&node](const Yield& call) {
        node.give_way(call);
        return Result<Done>(Done{});
    });
    dispatcher.add<SetRules>([&node](const SetRules& call) { return done(node.set_rules(call.rules)); });
    dispatcher.add<SetResources>(
        [&node](const SetResources& call) { return done(node.set_resources(call.resources)); });
    dispatcher.add_later<ReadDevices>(
        [&node](const ReadDevices& call, const Dispatcher::Respond<ReadDevices>& respond) {
            node.find_devices(call, respond);
        });
    dispatcher.add<SetDevice>([&node](const SetDevice& call) { return done(node.set_device(call)); });
    dispatcher.add<SetPort>([&node](const SetPort& call) { return done(node.set_port(call)); });
    dispatcher.add<SetProxy>([&node](const SetProxy& call) { return done(node.set_proxy(call)); });
    dispatcher.add<ReadPauses>([&node](const ReadPauses&) { return node.owner_watch().pauses(); });
    dispatcher.add<Finish>([&node](const Finish& call) { return done(node.finish(call.after)); });
    dispatcher.add<CheckReleases>([&node](const CheckReleases&) { return done(node.releases().check()); });
    dispatcher.add<InstallTrainer>([&node](const InstallTrainer& call) { return done(node.releases().install(call)); });
    dispatcher.add<RemoveTrainer>([&node](const RemoveTrainer&) { return done(node.releases().remove()); });
    dispatcher.add<SetReleases>([&node](const SetReleases& call) { return done(node.set_releases(call)); });
    dispatcher.add<SetName>([&node](const SetName& call) { return done(node.set_name(call.new_name)); });
    dispatcher.add<SetTeam>([&node](const SetTeam& call) { return done(node.set_team(call.team)); });
    dispatcher.add<ReadCommittee>([&node](const ReadCommittee&) { return node.run().committee(); });
    dispatcher.add<Moderate>([&node](const Moderate& call) { return node.run().moderate(call); });
    dispatcher.add<ReplaceCommittee>(
        [&node](const ReplaceCommittee& call) { return numbered(node.run().replace_committee(call)); });
    dispatcher.add<MakeInvite>([&node](const MakeInvite&) -> Result<InviteLink> {
        const auto magnet = node.run().invite();
        if (!magnet) return magnet.error();
        return InviteLink{*magnet};
    });
}

void add_table_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add<ReadStatus>([&node](const ReadStatus&) { return node.snapshot(); });
    dispatcher.add<ReadLeaderboard>([&node](const ReadLeaderboard& call) { return node.run().leaderboard(call); });
    dispatcher.add<ReadCurve>(
        [&node](const ReadCurve& call) { return Curve{node.run().curve(static_cast<std::size_t>(call.points))}; });
    dispatcher.add<ReadLog>([&node](const ReadLog& call) {
        return log_tail(node.options().data_folder / "node.log", static_cast<std::size_t>(call.lines));
    });
    dispatcher.add<ReadCheckpoints>([&node](const ReadCheckpoints&) { return Checkpoints{node.run().checkpoints()}; });
}

void add_model_methods(Dispatcher& dispatcher, const Node& node, ModelExporter& exporter, Sampler& sampler) {
    dispatcher.add_later<ExportModel>([&](const ExportModel& call, const Dispatcher::Respond<ExportModel>& respond) {
        export_held_model(exporter, held_model(node, WhichState::certified), call, respond);
    });
    dispatcher.add_later<SampleText>([&](const SampleText& call, const Dispatcher::Respond<SampleText>& respond) {
        sample_held_model(sampler, held_model(node, WhichState::newest), call, respond);
    });
}

void add_host_methods(Dispatcher& dispatcher, RunPlanner& planner, RunPreparer& preparer) {
    dispatcher.add<ReadRunOptions>([](const ReadRunOptions&) { return run_options(); });
    dispatcher.add_later<EstimateRun>(
        [&planner](const EstimateRun& call, const Dispatcher::Respond<EstimateRun>& respond) {
            planner.estimate(call, respond);
        });
    dispatcher.add_later<LookAtRun>([&planner](const LookAtRun& call, const Dispatcher::Respond<LookAtRun>& respond) {
        const auto invite = run::Invite::parse(call.invite);
        if (!invite) return respond(invite.error());
        planner.look_into(*invite, respond);
    });
    dispatcher.add_later<HostRun>([&preparer](const HostRun& call, const Dispatcher::Respond<HostRun>& respond) {
        preparer.host(call.choices, [respond](const Status& made) { respond(done(made)); });
    });
    dispatcher.add<CancelHosting>([&preparer](const CancelHosting&) { return done(preparer.cancel()); });
}

void add_record_methods(Dispatcher& dispatcher, RunRecords& records) {
    dispatcher.add_later<ReadRuns>(
        [&records](const ReadRuns&, const Dispatcher::Respond<ReadRuns>& respond) { records.runs(respond); });
    dispatcher.add_later<ReadDisk>(
        [&records](const ReadDisk&, const Dispatcher::Respond<ReadDisk>& respond) { records.disk(respond); });
    dispatcher.add<ReadDays>([&records](const ReadDays& call) { return Result<Days>(records.days(call.days)); });
    dispatcher.add<Rejoin>([&records](const Rejoin& call) { return done(records.rejoin(call)); });
    dispatcher.add_later<DeleteRunFiles>(
        [&records](const DeleteRunFiles& call, const Dispatcher::Respond<DeleteRunFiles>& respond) {
            records.delete_files(call, [respond](const Status& deleted) { respond(done(deleted)); });
        });
}

void add_identity_methods(Dispatcher& dispatcher, Node& node) {
    dispatcher.add<ShowIdentity>([&node](const ShowIdentity&) {
        return IdentityWords{node.keys().person.id().hex(), node.keys().person.recovery_words()};
    });
    dispatcher.add<ExportIdentity>(
        [&node](const ExportIdentity& call) { return done(node.keys().person.save(call.file)); });
    dispatcher.add<ImportIdentity>(
        [&node](const ImportIdentity& call) { return done(node.replace_identity(Identity::import_file(call.file))); });
    dispatcher.add<ImportIdentityWords>([&node](const ImportIdentityWords& call) {
        return done(node.replace_identity(Identity::from_recovery_words(call.words)));
    });
}

}  // namespace

void export_held_model(ModelExporter& exporter, const Result<HeldModel>& model, const ExportModel& call,
                       const Dispatcher::Respond<ExportModel>& respond) {
    const Sparsity sparsity = call.sparse_2_4 ? Sparsity::two_of_four : Sparsity::dense;
    exporter.export_model(model, call.folder, sparsity, [respond](const Result<ExportedModel>& exported) {
        if (!exported) return respond(exported.error());
        ExportedFiles files{.files = exported->files, .round = exported->round, .agreed = exported->agreed};
        if (exported->pruned) {
            files.pruned_weights = exported->pruned->weights;
            files.zero_weights = exported->pruned->zeros;
        }
        respond(files);
    });
}

void sample_held_model(Sampler& sampler, const Result<HeldModel>& model, const SampleText& call,
                       const Dispatcher::Respond<SampleText>& respond) {
    sampler.sample(model, {call.prompt, call.tokens, call.temperature, call.seed},
                   [respond](const Result<SampledText>& sample) { respond(sample); });
}

void add_node_methods(Dispatcher& dispatcher, const Answerers& answerers, std::function<void()> stop) {
    add_run_methods(dispatcher, answerers.node);
    add_table_methods(dispatcher, answerers.node);
    add_model_methods(dispatcher, answerers.node, answerers.exporter, answerers.sampler);
    add_host_methods(dispatcher, answerers.planner, answerers.preparer);
    add_record_methods(dispatcher, answerers.records);
    add_identity_methods(dispatcher, answerers.node);
    dispatcher.add_later<StopNode>(
        [stop = std::move(stop)](const StopNode&, const Dispatcher::Respond<StopNode>& respond) {
            respond(Done{});
            stop();
        });
    // The control server answers subscriptions, because only it knows who asked.
    NodeMethods::for_each(
        [&]<class Call>() { POTLUCK_CHECK((std::is_same_v<Call, Subscribe>) || dispatcher.knows(Call::name)); });
}

}  // namespace potluck::node
