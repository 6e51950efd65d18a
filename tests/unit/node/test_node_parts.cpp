// The small decisions of app/node: paths, settings, activities, the command line, the demo's books.
#include <QTemporaryDir>
#include <QTest>
#include <cmath>

#include <fstream>
#include <sstream>

#include <nlohmann/json.hpp>

#include "app/demo/report.h"
#include "app/demo/scenario.h"
#include "app/node/cli/help/nearest.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/cli/verbs/host/committee.h"
#include "app/node/cli/verbs/host/host.h"
#include "app/node/cli/verbs/host/page.h"
#include "app/node/control/dispatcher.h"
#include "app/node/member/view.h"
#include "app/node/owner/usage.h"
#include "app/node/paths.h"
#include "app/node/session/node_status.h"
#include "app/node/session/own_proxy.h"
#include "app/node/session/settings.h"
#include "app/node/trainer/own_programs.h"
#include "core/base/files.h"
#include "core/control/node_methods.h"
#include "core/run/plain_text.h"
#include "tests/unit/node/parsed_line.h"

using namespace potluck;
using namespace potluck::node;
using potluck::test::ParsedLine;
namespace fs = std::filesystem;

namespace {

Environment environment_of(std::map<std::string, std::string> values) {
    return [values = std::move(values)](const char* name) -> std::optional<std::string> {
        const auto found = values.find(name);
        return found == values.end() ? std::nullopt : std::optional(found->second);
    };
}

DemoReport good_report() {
    DemoReport report;
    report.rounds = report.rounds_wanted = 10;
    report.digests_compared = report.digests_equal = 50;
    report.initial_loss = 5.5;
    report.final_loss = 2.0;
    report.bigram_loss = 2.5;
    report.trained_tokens = 1050;
    report.credited_tokens = 1000;
    report.leaderboard = {{"a", 600, 6, 650}, {"b", 400, 4, 400}};
    report.late_rounds = report.returned_rounds = 3;
    report.late_seconds_left = report.returned_seconds_left = 60;
    report.all_in_step = true;
    report.closed = true;
    report.committee_size = report.committee_size_wanted = 4;
    return report;
}

}  // namespace

class NodePartsTest : public QObject {
    Q_OBJECT
private slots:
    void the_data_folder_is_where_the_system_keeps_such_things() {
        const auto home = environment_of({{"HOME", "/home/a"}});
        QCOMPARE(default_data_folder(home, Platform::linux_like)->string(),
                 std::string("/home/a/.local/share/potluck"));
        QCOMPARE(default_data_folder(home, Platform::mac)->string(),
                 std::string("/home/a/Library/Application Support/Potluck"));
        QVERIFY(!default_data_folder(home, Platform::windows));
        const auto chosen =
            environment_of({{"HOME", "/home/a"}, {"XDG_DATA_HOME", "/data"}, {"POTLUCK_HOME", "/mine"}});
        QCOMPARE(default_data_folder(chosen, Platform::linux_like)->string(), std::string("/mine"));
        const auto xdg = environment_of({{"HOME", "/home/a"}, {"XDG_DATA_HOME", "/data"}});
        QCOMPARE(default_data_folder(xdg, Platform::linux_like)->string(), std::string("/data/potluck"));
    }

    void traffic_is_shown_only_for_members_with_a_session() {
        PeerId here, gone;
        here.bytes[0] = std::byte{1};
        gone.bytes[0] = std::byte{2};
        control::RunSnapshot run;
        run.members.resize(3);
        run.members[0].self = true;
        run.members[1].id = here.hex();
        run.members[1].connected = true;
        run.members[2].id = gone.hex();
        add_flows({{here, 12, 34}, {gone, 56, 78}, {PeerId{}, 9, 9}}, run);
        QVERIFY(run.members[1].sent_per_second == 12 && run.members[1].received_per_second == 34);
        for (const std::size_t silent : {0U, 2U}) QCOMPARE(run.members[silent].sent_per_second, std::uint64_t{0});
    }

    void the_trainer_is_beside_the_node_or_in_the_folder_of_its_package() {
        const QTemporaryDir folder;
        const fs::path bin = fs::path(folder.path().toStdString()) / "bin";
        const std::string name = program_beside("potluck-trainer").filename().string();
        fs::create_directory(bin);
        QCOMPARE(installed_trainer(bin).string(), (bin.parent_path() / "lib" / "potluck" / name).string());
        std::ofstream(bin / name) << "built";
        QCOMPARE(installed_trainer(bin).string(), (bin / name).string());
    }

    void a_socket_path_always_fits() {
        const auto runtime = environment_of({{"XDG_RUNTIME_DIR", "/run/user/1000"}});
        QCOMPARE(socket_path("/home/a/potluck", runtime).string(), std::string("/home/a/potluck/node.sock"));
        const fs::path deep = fs::path("/") / std::string(200, 'd');
        const fs::path other = fs::path("/") / std::string(200, 'e');
        QVERIFY(socket_path(deep, runtime).native().size() < socket_path_max);
        QVERIFY(socket_path(deep, runtime).string().starts_with("/run/user/1000/potluck/"));
        QVERIFY(socket_path(deep, runtime) != socket_path(other, runtime));
        QVERIFY(socket_path(deep, environment_of({})).native().size() < socket_path_max);
    }

    void settings_survive_and_damage_is_told() {
        const QTemporaryDir folder;
        const fs::path path = folder.path().toStdString();
        QVERIFY(NodeSettings::load(path).value() == NodeSettings{});
        NodeSettings settings;
        settings.name = "kitchen";
        settings.team = "Physics Uni Graz";
        settings.paused = true;
        settings.paused_until = 1'700'000'000;
        settings.run = SavedRun{{RunId{{std::byte{1}}}, "soup", {{"127.0.0.1", 6881}}},
                                run::Role::backbone,
                                true,
                                control::AfterFinish::leave};
        QVERIFY(settings.save(path).ok());
        QVERIFY(NodeSettings::load(path).value() == settings);
        settings.run->announcing = Announcing{.on_board = true, .language = "de", .page = "https://example.org/"};
        QVERIFY(settings.save(path).ok());
        QVERIFY(NodeSettings::load(path).value() == settings);
        settings.run->announcing.page = "javascript:alert(1)";
        QVERIFY(settings.save(path).ok());
        QVERIFY(!NodeSettings::load(path).ok());
        // The invite in it lets anybody in who reads it.
        QVERIFY(fs::status(path / "node.json").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
        std::ofstream(path / "node.json") << "{\"paused\": 3}";
        const auto damaged = NodeSettings::load(path);
        QCOMPARE(damaged.error().code, ErrorCode::malformed);
        QVERIFY(damaged.error().message.find("node.json") != std::string::npos);
    }

    void settings_with_a_field_role_or_invite_that_is_none_are_refused() {
        const QTemporaryDir folder;
        const fs::path path = folder.path().toStdString();
        const std::string magnet = run::Invite{RunId{{std::byte{1}}}, "soup", {}}.to_magnet();
        const auto loads = [&](const std::string& json) {
            std::ofstream(path / "node.json") << json;
            return NodeSettings::load(path).ok();
        };
        const auto run = [](const std::string& invite, const std::string& role) {
            return nlohmann::json{{"run", {{"invite", invite}, {"role", role}, {"finishing", false}}}}.dump();
        };
        QVERIFY(loads("{}"));
        QVERIFY(!loads("{\"pausd\": true}"));
        QVERIFY(loads(run(magnet, "volunteer")) && loads(run(magnet, "backbone")));
        QVERIFY(!loads(run(magnet, "chef")));
        QVERIFY(!loads(run("magnet:?xt=urn:btmh:12", "volunteer")));
    }

    void programs_that_run_are_the_node_its_trainer_and_whatever_it_has_started() {
        ProcessView system{.self = 7, .running = {}, .children = std::vector<std::int64_t>{8, 9, 10, 11}};
        system.running = [](std::int64_t process) -> std::optional<activity::Running> {
            switch (process) {
                case 7: return activity::Running{"/bin/potluck-node", 70};
                case 8:
                case 9: return activity::Running{"/lib/potluck-trainer", 80};
                case 10: return activity::Running{"/bin/sh", 10};
                default: return std::nullopt;  // 11 has just ended
            }
        };
        const TrainerFacts trainer{"/lib/potluck-trainer", 8, "0.2.0"};
        const control::ProgramList list = program_rows(trainer, system);
        using control::ProgramKind;
        const std::vector<control::ProgramRow> expected{
            {ProgramKind::node, "/bin/potluck-node", POTLUCK_VERSION, 7, 70},
            {ProgramKind::trainer, "/lib/potluck-trainer", "0.2.0", 8, 80},
            {ProgramKind::question, "/lib/potluck-trainer", "", 9, 80},
            {ProgramKind::other, "/bin/sh", "", 10, 10}};
        QVERIFY(list.complete && list.rows == expected);
    }

    void a_trainer_that_has_ended_is_told_without_a_process() {
        ProcessView system{.self = 7, .running = {}, .children = std::vector<std::int64_t>{}};
        system.running = [](std::int64_t) { return std::optional<activity::Running>(); };
        using control::ProgramKind;
        for (const std::int64_t process : {0, 8}) {
            const auto list = program_rows({"/nowhere/potluck-trainer", process, "0.2.0"}, system);
            QCOMPARE(list.rows.size(), std::size_t{2});
            QVERIFY(list.rows[0].path == own_program().string() && list.rows[0].process == 7);
            QVERIFY(list.rows[1] == control::ProgramRow{.kind = ProgramKind::trainer});
        }
        const std::string here = own_program().string();
        QCOMPARE(program_rows({here, 0, ""}, system).rows[1].path, here);
        system.children.reset();  // a system that tells nothing
        const auto untold = program_rows({here, 8, ""}, system);
        QVERIFY(!untold.complete && untold.rows[1].process == 8);
    }

    void memory_that_our_own_trainer_has_taken_is_not_lacking() {
        control::DetectReply found;
        for (const char* id : {"cpu", "cuda:0", "cuda:1"}) {
            control::DeviceRow row;
            row.id = id;
            row.usable = row.id == "cpu";
            row.reason = row.usable ? "It trains." : "No memory.";
            found.devices.push_back(row);
        }
        const control::DetectReply idle = device_rows(found, {});
        QVERIFY(idle.devices[0].usable && !idle.devices[1].usable && !idle.devices[2].usable);
        const control::DetectReply both = device_rows(found, {"cuda:0", "cuda:1"});
        QVERIFY(both.devices[1].usable && both.devices[2].usable);
        const control::DetectReply shown = device_rows(found, {"cuda:1"});
        QVERIFY(shown.devices[2].usable && shown.devices[2].reason == "It trains.");
        QVERIFY(!shown.devices[1].usable && shown.devices[1].reason == "No memory.");
    }

    void the_training_loss_of_a_swarm_is_weighted_by_speed() {
        peer::PeerView view;
        QCOMPARE(swarm_loss(view), 0.0);
        const auto add = [&](std::uint32_t speed, float loss) {
            run::StatusMessage status;
            status.tokens_per_second = speed;
            status.loss = loss;
            view.members.push_back({PeerId{}, status, false});
        };
        add(3000, 2.0F);
        add(1000, 4.0F);
        add(9000, 0.0F);  // has none yet
        QCOMPARE(swarm_loss(view), 2.5);
    }

    void a_round_has_the_loss_of_those_that_trained_in_it() {
        peer::PeerView view;
        const auto add = [&](std::uint64_t round, float loss) {
            run::StatusMessage status;
            status.round = RoundId{round};
            status.tokens_per_second = 1000;
            status.loss = loss;
            view.members.push_back({PeerId{}, status, false});
        };
        add(6, 4.0F);
        add(7, 5.0F);
        // A late joiner passes rounds that the others have left behind: what they say now is of none of them.
        for (std::uint64_t passed = 0; passed < 5; ++passed) QCOMPARE(loss_of_round(view, RoundId{passed}), 0.0);
        QCOMPARE(loss_of_round(view, RoundId{5}), 4.0);
        QCOMPARE(loss_of_round(view, RoundId{6}), 4.5);
        QCOMPARE(loss_of_round(view, RoundId{7}), 5.0);
        QCOMPARE(loss_of_round(view, RoundId{8}), 0.0);
    }

    void a_pause_ends_at_its_time_and_never_by_itself_without_one() {
        NodeSettings settings;
        QVERIFY(!settings.pause_over(10));
        settings.paused = true;
        QVERIFY(!settings.pause_over(1'000'000));
        settings.paused_until = 100;
        QVERIFY(!settings.pause_over(99));
        QVERIFY(settings.pause_over(100));
    }

    void names_are_cut_at_a_character() {
        QCOMPARE(fit_name("a\nb"), std::string("a b"));
        const std::string fitted = fit_name(std::string(39, 'a') + "ä");
        QCOMPARE(fitted, std::string(39, 'a'));
        QVERIFY(fit_name(std::string(100, 'x')).size() == run::name_bytes_max);
    }

    /// Else this computer would count its person with another team than all others do.
    void a_team_is_kept_as_others_hear_it() {
        QCOMPARE(fit_team(" Uni\nGraz\t"), std::string("Uni Graz"));
        QCOMPARE(fit_team(" \xe2\x80\xae a\xff\xe2\x80\xa8\xc2\x85 "), std::string("a"));
        QCOMPARE(fit_team(" \n "), std::string());
        QCOMPARE(fit_team(std::string(39, 'a') + "\xc3\xa4"), std::string(39, 'a'));
        QCOMPARE(fit_team(std::string(39, 'a') + "  b"), std::string(39, 'a'));
        for (const std::string& odd : {std::string("\x1b[31m\xe2\x81\xa6x"), std::string(300, '\xc3')}) {
            const std::string team = fit_team(odd);
            QCOMPARE(run::plain_text_of(team, run::team_bytes_max, run::LineBreaks::refused), team);
        }
    }

    void how_others_get_here_is_told_once_it_was_seen() {
        using control::Inbound;
        net::SessionCounters counters;
        counters.open_for = Duration(3'600'000);
        QVERIFY(inbound_of(counters) == Inbound::unknown);  // a network without the internet, or too little said
        counters.on_internet = true;
        QVERIFY(inbound_of(counters) == Inbound::shut);
        counters.open_for = Duration(59'999);
        QVERIFY(inbound_of(counters) == Inbound::unknown);
        counters.mapped_port = 40'000;
        counters.mapped_by = net::PortMapper::nat_pmp;
        QVERIFY(inbound_of(counters) == Inbound::mapped);
        QCOMPARE(network_snapshot(counters).router, std::string("NAT-PMP"));
        counters.reached = true;
        QVERIFY(inbound_of(counters) == Inbound::reached);
    }

    void the_first_reason_that_holds_is_taken() {
        using status::Reason;
        NodeConditions conditions;
        const auto reason = [&] { return node_status(conditions).why.reason; };
        QVERIFY(reason() == Reason::no_run);
        conditions.error = "No such run.";
        QVERIFY(reason() == Reason::run_refused);
        QCOMPARE(node_status(conditions).sentence, conditions.error);
        conditions.search.emplace();
        QVERIFY(reason() == Reason::searching_network);
        conditions.member = status::Why{Reason::training};
        QVERIFY(reason() == Reason::training);
        conditions.volunteer = false;
        QCOMPARE(node_status(conditions).activity, control::Activity::sharing);
        conditions.volunteer = true;
        conditions.trainer_notice = "Memory ran out.";
        QVERIFY(reason() == Reason::trainer_changed);
        conditions.member->reason = Reason::trouble;
        QVERIFY(reason() == Reason::trouble);
        conditions.trainer_failure = "signal 9";
        QVERIFY(reason() == Reason::trainer_failed);
        conditions.trainer_missing = true;
        QVERIFY(reason() == Reason::trainer_missing);
        conditions.trainer_missing = false;
        conditions.member->reason = Reason::calculates_differently;
        QVERIFY(reason() == Reason::calculates_differently);
        conditions.yield = {activity::Level::pause, activity::Signal::battery, ""};
        QVERIFY(reason() == Reason::yielding);
        conditions.paused = true;
        QVERIFY(reason() == Reason::paused);
        QVERIFY(node_status(conditions).sentence.find("memory is free") != std::string::npos);
        conditions.trainer_alive = true;
        QVERIFY(node_status(conditions).sentence.find("is ending") != std::string::npos);
        conditions.member->reason = Reason::run_complete;
        QVERIFY(reason() == Reason::run_complete);
    }

    void a_search_that_reaches_nobody_says_so() {
        using status::Reason;
        NodeConditions conditions;
        conditions.search = SearchConditions{.search = {}, .run_name = "Gone", .since = 77};
        SearchConditions& looking = *conditions.search;
        const auto why = [&] { return node_status(conditions).why; };
        QVERIFY(why().reason == Reason::searching_network && why().detail == "Gone" && why().since == 77);
        looking.search.dht_nodes = 3;
        QVERIFY(why().reason == Reason::searching_run);
        looking.nobody_in_time = true;
        QVERIFY(why().reason == Reason::run_unreachable);
        looking.search.dht_nodes = 0;
        QVERIFY(why().reason == Reason::search_offline);
        looking.search.peers = 1;
        QVERIFY(why().reason == Reason::asking_run);
        looking.search.stage = net::SearchStage::fetching;
        looking.search.progress = 0.5;
        QVERIFY(why().reason == Reason::fetching_run);
        QCOMPARE(node_status(conditions).progress, 0.5);
        conditions.proxy_shut = "10.0.0.1:9050";
        QVERIFY(why().reason == Reason::search_proxy_shut && why().detail == "10.0.0.1:9050");
    }

    void traffic_is_counted_by_day_and_month_over_all_starts() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        QVERIFY(TrafficBook::load(path).traffic == control::Traffic{});
        const Calendar first{1'000, 500}, next_day{2'000, 500}, next_month{3'000, 2'900};
        TrafficBook book;
        book.note(10, 100, first);
        book.note(15, 150, first);
        QVERIFY((book.traffic == control::Traffic{15, 150, 15, 150, 15, 150}));
        QVERIFY(book.save(path).ok());
        TrafficBook later = TrafficBook::load(path);  // its network counts from 0 on
        later.note(1, 2, first);
        QVERIFY((later.traffic == control::Traffic{16, 152, 16, 152, 16, 152}));
        later.note(4, 2, next_day);
        QVERIFY((later.traffic == control::Traffic{3, 0, 19, 152, 19, 152}));
        later.note(5, 2, next_month);
        QVERIFY((later.traffic == control::Traffic{1, 0, 1, 0, 20, 152}));
        later.note(2, 3, next_month);  // another network
        QVERIFY((later.traffic == control::Traffic{3, 1, 3, 1, 22, 153}));
        std::ofstream(path / "traffic.json") << R"({"midnight":1,"month":1,"traffic":{}})";
        QVERIFY(TrafficBook::load(path).traffic == control::Traffic{});
    }

    void energy_is_counted_over_the_time_that_was_trained() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        QVERIFY(EnergyBook::load(path).energy == control::Energy{});
        const Calendar first{1'000, 500}, next_day{2'000, 500}, next_month{3'000, 2'900};
        EnergyBook book;
        book.note(Duration{40'000}, 50.0, first);
        QVERIFY(!book.mean_watts());  // less than a minute of it
        book.note(Duration{40'000}, 100.0, first);
        book.note(Duration{20'000}, std::nullopt, first);  // could not be read
        const control::EnergySpan span{100, 80, 6'000};
        QVERIFY((book.energy == control::Energy{span, span, span}));
        QCOMPARE(book.mean_watts(), std::optional(75.0));
        QVERIFY(book.save(path).ok());
        EnergyBook later = EnergyBook::load(path);
        QVERIFY(later.energy == book.energy);
        later.turn(next_day);
        QVERIFY((later.energy == control::Energy{{}, span, span}));
        later.note(Duration{1'000}, 10.0, next_month);
        QVERIFY((later.energy == control::Energy{{1, 1, 10}, {1, 1, 10}, {101, 81, 6'010}}));
        const nlohmann::json whole = nlohmann::json::parse(as_text(read_file(path / "energy.json", 4'096).value()));
        for (const char* damaged : {"/energy/total/joules", "/energy/today", "/midnight"}) {
            nlohmann::json json = whole;
            json[nlohmann::json::json_pointer(damaged)] = "much";
            std::ofstream(path / "energy.json") << json.dump();
            QVERIFY2(EnergyBook::load(path).energy == control::Energy{}, damaged);
        }
        std::ofstream(path / "energy.json") << R"({"midnight":1,"month":1,"energy":{"today":{}}})";
        QVERIFY(EnergyBook::load(path).energy == control::Energy{});
        std::ofstream(path / "energy.json") << std::string(5'000, ' ');  // more than is read
        QVERIFY(EnergyBook::load(path).energy == control::Energy{});
    }

    void a_day_and_a_month_begin_at_midnight() {
        std::tm parts{};
        parts.tm_year = 126, parts.tm_mon = 2, parts.tm_mday = 30, parts.tm_hour = 13, parts.tm_isdst = -1;
        const auto noonish = static_cast<std::int64_t>(std::mktime(&parts));
        parts.tm_hour = 0, parts.tm_isdst = -1;
        const auto midnight = static_cast<std::int64_t>(std::mktime(&parts));
        parts.tm_mday = 1, parts.tm_isdst = -1;
        const auto month = static_cast<std::int64_t>(std::mktime(&parts));
        QCOMPARE(calendar_of(noonish).midnight, midnight);
        QCOMPARE(calendar_of(noonish).month, month);
        QCOMPARE(calendar_of(month).month, month);
        QCOMPARE(calendar_of(month - 1).midnight, midnight_before(month - 1));
        QVERIFY(calendar_of(month - 1).month < month);
    }

    void a_shut_proxy_is_told_to_who_has_nobody_to_work_with() {
        using status::Reason;
        NodeConditions conditions;
        conditions.proxy_shut = "10.0.0.1:9050";
        QVERIFY(node_status(conditions).why.reason == Reason::no_run);
        const auto reason_with = [&](Reason member) {
            conditions.member = status::Why{member};
            return node_status(conditions).why.reason;
        };
        for (const Reason waits :
             {Reason::searching_members, Reason::members_unreachable, Reason::fetching_model, Reason::fetching_history,
              Reason::fetching_data, Reason::waiting_for_committee, Reason::alone_waiting})
            QVERIFY(reason_with(waits) == Reason::proxy_shut);
        for (const Reason works : {Reason::training, Reason::alone, Reason::finished, Reason::run_complete})
            QVERIFY(reason_with(works) == works);
    }

    void a_proxy_is_kept_with_its_password_and_shown_without() {
        const QTemporaryDir folder;
        NodeSettings settings;
        settings.proxy = net::parse_proxy("socks5://ada:lovelace@host:9050").value();
        QVERIFY(settings.save(folder.path().toStdString()).ok());
        QVERIFY(NodeSettings::load(folder.path().toStdString()).value() == settings);
        const std::string told = to_json(shown(settings.proxy, net::ProxyAnswer::refuses)).dump();
        QVERIFY(told.find("lovelace") == std::string::npos && told.find("refuses") != std::string::npos);
    }

    void a_password_counts_on_for_the_same_proxy_and_name_alone() {
        const net::Proxy known = net::parse_proxy("socks5://ada:lovelace@host:9050").value();
        control::SetProxy call = kept(known);
        call.password.reset();
        QVERIFY(proxy_of(call, known).value() == known);
        call.kind = control::ProxyKind::http;
        QCOMPARE(proxy_of(call, known).value().password, std::string("lovelace"));
        control::SetProxy elsewhere = call;
        elsewhere.host = "other";
        QVERIFY(!proxy_of(elsewhere, known).ok());
        control::SetProxy port = call;
        port.port = 1;
        QVERIFY(!proxy_of(port, known).ok());
        control::SetProxy nobody = call;
        nobody.username.clear();
        QVERIFY(proxy_of(nobody, known).value().password.empty());
        QVERIFY(proxy_of({}, known).value() == net::Proxy{});
    }

    void a_members_reason_yields_to_the_trainers_and_the_persons() {
        using status::Reason;
        NodeConditions conditions;
        const auto reason_with = [&](Reason member) {
            conditions.member = status::Why{member};
            return node_status(conditions).why.reason;
        };
        conditions.trainer_interruption = "signal 9";
        QVERIFY(reason_with(Reason::starting_trainer) == Reason::trainer_restarting);
        QVERIFY(reason_with(Reason::training) == Reason::training);
        QVERIFY(reason_with(Reason::alone_waiting) == Reason::alone_waiting);
        conditions.disk_needed = 500;
        conditions.disk_allowed = 500;
        QVERIFY(reason_with(Reason::fetching_history) == Reason::fetching_history);
        conditions.disk_allowed = 499;
        for (const Reason member :
             {Reason::fetching_model, Reason::fetching_history, Reason::fetching_data, Reason::hindered})
            QVERIFY(reason_with(member) == Reason::disk_too_small);
        QVERIFY(
            (node_status(conditions).why == status::Why{.reason = Reason::disk_too_small, .here = 499, .needed = 500}));
        QVERIFY(reason_with(Reason::alone) == Reason::alone);
        conditions.disk_allowed = 500;
        conditions.network_silent = true;
        QVERIFY(reason_with(Reason::alone_waiting) == Reason::offline);
        QVERIFY(reason_with(Reason::alone) == Reason::alone);
        QVERIFY(reason_with(Reason::finished) == Reason::finished);
        conditions.leaves_after_round = true;
        for (const Reason member : {Reason::training, Reason::finishing, Reason::finished, Reason::exchanging})
            QVERIFY(reason_with(member) == Reason::finishing_to_leave);
        conditions.paused = true;
        QVERIFY(reason_with(Reason::finished) == Reason::paused);
    }

    void evidence_is_shown_with_its_file_and_checked_without_a_node() {
        std::array<std::byte, 32> seed{};
        const auto liar = identity::Identity::from_seed(seed);
        const run::IdentityKeyring keyring(liar);
        RunId run;
        run.bytes[0] = std::byte{0xab};
        run::Vote vote{{run, 0, RoundId{12}}, 3, run::Step::precommit, std::nullopt};
        const run::SignedVote one = run::sign(vote, keyring);
        vote.list.emplace();
        const run::Evidence evidence = run::make_evidence(one, run::sign(vote, keyring));
        peer::CommitteeView committee;
        committee.evidence = {evidence};
        committee.rules.banned = {run::unvouched_keys, liar.id()};
        const control::Committee rows = committee_rows(committee, {}, "runs/ab");
        QVERIFY(rows.closed && rows.banned == std::vector{liar.id().hex()});
        QCOMPARE(rows.evidence.size(), std::size_t{1});
        QCOMPARE(rows.evidence[0].id, liar.id().hex());
        QCOMPARE(rows.evidence[0].round, std::uint64_t{12});
        QCOMPARE(rows.evidence[0].what, std::string("two different precommits in view 3 of round 12"));
        QCOMPARE(rows.evidence[0].file, "runs/ab/evidence/" + liar.id().hex() + ".evidence");
        Bytes file = evidence.encode();
        const Result<std::string> text = evidence_text(file);
        QVERIFY(text.ok());
        QCOMPARE(*text, "key: " + liar.id().hex() + "\nrun: " + run.hex() +
                            "\nsigned two different precommits in view 3 of round 12");
        file.back() ^= std::byte{1};
        QCOMPARE(evidence_text(file).error().code, ErrorCode::untrusted);
        const char* line[] = {"potluck-node", "committee", "verify", "proof"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        QCOMPARE(parsed.as<VerifyEvidenceVerb>().file(), fs::path("proof"));
    }

    void a_mistyped_word_is_told_with_what_was_meant() {
        const std::vector<std::string> verbs = {"join", "pause", "pauses", "leave", "status"};
        QCOMPARE(nearest("joni", verbs), std::string("join"));
        QCOMPARE(nearest("stats", verbs), std::string("status"));
        QCOMPARE(nearest("paus", verbs), std::string("pause"));
        QCOMPARE(nearest("xyzzy", verbs), std::string());
        QCOMPARE(nearest(std::string(1000, 'j'), verbs), std::string());
        QCOMPARE(distance("abc", "acb"), std::size_t{1});
        QCOMPARE(distance("", "abc"), std::size_t{3});
    }

    void durations_and_addresses_are_read_strictly() {
        QCOMPARE(parse_duration("90s").value(), std::int64_t{90});
        QCOMPARE(parse_duration("1h30m").value(), std::int64_t{5400});
        QCOMPARE(parse_duration("90").error().message, std::string("A duration needs its unit: 90s, 90m, 90h or 90d."));
        QCOMPARE(parse_duration("30m").value(), std::int64_t{1800});
        QCOMPARE(parse_duration("2d").value(), std::int64_t{172'800});
        for (const char* wrong : {"", "m", "-3h", "1.5h", "1y", "999999999999d", "3h "})
            QVERIFY2(!parse_duration(wrong).ok(), wrong);
        QVERIFY((parse_endpoint("[::1]:99", "--dht").value() == run::PeerHint{"::1", 99}));
        const std::string sentence = "Give --dht or POTLUCK_DHT as host:port, for example 127.0.0.1:6881.";
        for (const char* wrong : {"", "host", "host:", ":80", "host:0", "host:70000", "host:8x"})
            QCOMPARE(parse_endpoint(wrong, "--dht or POTLUCK_DHT").error().message, sentence);
    }

    void hosting_reads_its_fields() {
        const char* line[] = {"potluck-node", "host", "--text",   "t",   "--model",    "small", "--width",    "64",
                              "--rounds",     "7",    "--window", "2.5", "--data-dir", "/d",    "--volunteer"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        QCOMPARE(parsed.as<HostVerb>().plan().model.layers, 6U);
        QCOMPARE(parsed.as<HostVerb>().plan().model.width, 64U);
        QCOMPARE(parsed.as<HostVerb>().plan().recipe.total_rounds, std::uint64_t{7});
        QVERIFY(parsed.as<HostVerb>().plan().recipe.window == Duration{2'500});
        QVERIFY(parsed.as<HostVerb>().plan().window == HostPlan::Window::of_recipe);
        const char* shorter[] = {"potluck-node", "host", "--text", "t", "--data-dir", "/d"};
        const ParsedLine by_size(shorter);
        QVERIFY(by_size.as<HostVerb>().plan().window == HostPlan::Window::by_size);
        QVERIFY(parsed.as<HostVerb>().volunteers());
        QCOMPARE(parsed.node().data_folder.string(), std::string("/d"));
    }

    void patience_follows_the_window_unless_it_is_named() {
        const char* line[] = {"potluck-node", "host", "--text", "t", "--data-dir", "/d", "--collect", "20"};
        const HostPlan by_window = ParsedLine(6, line).as<HostVerb>().plan();
        QVERIFY(by_window.patience == HostPlan::Patience::by_window);
        const HostPlan named = ParsedLine(8, line).as<HostVerb>().plan();
        QVERIFY(named.patience == HostPlan::Patience::of_recipe);
        QCOMPARE(named.recipe.collect.count(), Duration{20'000}.count());
    }

    void newcomers_are_bounded_and_strangers_share_what_the_host_says() {
        const char* line[] = {"potluck-node", "host", "--text", "t", "--data-dir", "/d", "--unvouched-share", "0.5"};
        QCOMPARE(ParsedLine(6, line).as<HostVerb>().plan().recipe.strangers.unvouched_share, 1.0);
        QCOMPARE(ParsedLine(6, line).as<HostVerb>().plan().recipe.strangers.newcomer_rms, 64 * 3e-3);
        QCOMPARE(ParsedLine(8, line).as<HostVerb>().plan().recipe.strangers.unvouched_share, 0.5);
    }

    void a_probation_is_an_hour_unless_it_is_named() {
        const char* line[] = {"potluck-node", "host", "--text", "t", "--data-dir", "/d", "--probation-hours", "0.5"};
        QVERIFY(ParsedLine(6, line).as<HostVerb>().plan().recipe.probation_time == Duration{3'600'000});
        QVERIFY(ParsedLine(8, line).as<HostVerb>().plan().recipe.probation_time == Duration{1'800'000});
    }

    void hosting_reads_the_optimizer() {
        const char* line[] = {"potluck-node",  "host", "--text",       "t",    "--data-dir", "/d",
                              "--optimizer",   "lamb", "--state-bits", "32",   "--epsilon",  "1e-6",
                              "--beta1",       "0.8",  "--beta2",      "0.96", "--clip",     "4",
                              "--lamb-debias", "rate", "--step",       "exact"};
        const ParsedLine parsed(line);
        const run::Recipe& recipe = parsed.as<HostVerb>().plan().recipe;
        QCOMPARE(recipe.optimizer, run::Optimizer::lamb);
        QCOMPARE(recipe.lamb_debias, run::LambDebias::rate);
        QCOMPARE(recipe.state_bits, 32U);
        QCOMPARE(recipe.epsilon, 1e-6);
        QCOMPARE(recipe.beta1, 0.8);
        QCOMPARE(recipe.beta2, 0.96);
        QCOMPARE(recipe.clip_norm, 4.0);
        QVERIFY(recipe.outer.form == numerics::StepForm::exact);
        QVERIFY(ParsedLine(6, line).as<HostVerb>().plan().recipe.outer.form == numerics::StepForm::coded);
        for (const auto& [option, value] : {std::pair("--optimizer", "sgd"), std::pair("--state-bits", "16"),
                                            std::pair("--lamb-debias", "rate"), std::pair("--step", "rounded")}) {
            const char* wrong[] = {"potluck-node", "host", "--text", "t", "--data-dir", "/d", option, value};
            QVERIFY2(ParsedLine(wrong).verb == nullptr, option);
        }
    }

    void an_encoder_trains_at_its_own_rate_unless_one_is_named() {
        const char* line[] = {"potluck-node", "host",        "--text",          "t",    "--data-dir", "/d",
                              "--model",      "albert-tiny", "--learning-rate", "0.002"};
        const auto rate_with = [&](int words) {
            return ParsedLine(words, line).as<HostVerb>().plan().recipe.learning_rate;
        };
        QCOMPARE(rate_with(6), 3e-3);
        QCOMPARE(rate_with(8), 1e-3);
        QCOMPARE(rate_with(10), 2e-3);
    }

    void a_checkpoint_brings_its_own_shape() {
        const char* line[] = {"potluck-node", "host",   "--text", "t",         "--data-dir",
                              "/d",           "--from", "f",      "--dropout", "0.1"};
        const ParsedLine parsed(line);
        QVERIFY(parsed.verb != nullptr);
        QCOMPARE(parsed.as<HostVerb>().plan().from.string(), std::string("f"));
        QCOMPARE(parsed.as<HostVerb>().plan().model.context, 0U);  // the checkpoint's
        QCOMPARE(parsed.as<HostVerb>().plan().model.dropout, 0.1F);
        const char* shorter[] = {"potluck-node", "host",   "--text", "t",         "--data-dir",
                                 "/d",           "--from", "f",      "--context", "64"};
        QCOMPARE(ParsedLine(shorter).as<HostVerb>().plan().model.context, 64U);
        const char* reshaped[] = {"potluck-node", "host",   "--text", "t",       "--data-dir",
                                  "/d",           "--from", "f",      "--width", "64"};
        QVERIFY(ParsedLine(reshaped).verb == nullptr);
    }

    void a_page_is_written_once_or_again_and_again() {
        const char* once[] = {"potluck-node", "page", "www", "--prompt", ""};
        const ParsedLine first(once);
        const PageOptions& one = first.as<PageVerb>().options();
        QVERIFY(one.every_seconds == 0 && one.folder == "www" && one.prompt == "");
        const char* often[] = {"potluck-node", "page", "www", "--every", "1m"};
        const ParsedLine again(often);
        QVERIFY(again.as<PageVerb>().options().every_seconds == 60 && !again.as<PageVerb>().options().prompt);
        const char* too_often[] = {"potluck-node", "page", "www", "--every", "4s"};
        QVERIFY(ParsedLine(too_often).line.exit() == ExitCode::usage);
    }

    void a_method_that_is_not_there_is_answered() {
        Dispatcher dispatcher;
        dispatcher.add<control::MakeInvite>([](const control::MakeInvite&) { return control::InviteLink{"magnet:"}; });
        std::vector<control::Reply> replies;
        const auto keep = [&](const control::Reply& reply) { replies.push_back(reply); };
        dispatcher.dispatch({4, "invite", nlohmann::json::object()}, keep);
        dispatcher.dispatch({5, "pong", nlohmann::json::object()}, keep);
        dispatcher.dispatch({6, "invite", {{"colour", 1}}}, keep);
        QCOMPARE(replies.size(), std::size_t{3});
        QCOMPARE(replies[0].id, std::uint64_t{4});
        QVERIFY(!replies[0].error && replies[1].error && replies[2].error);
        QCOMPARE(replies[0].result.at("magnet").get<std::string>(), std::string("magnet:"));
    }

    void a_report_names_every_fault() {
        QVERIFY(faults_of(good_report()).empty());
        const auto faulty = [](auto change) {
            DemoReport report = good_report();
            change(report);
            return faults_of(report).size() == 1;
        };
        QVERIFY(faulty([](DemoReport& r) { --r.digests_equal; }));
        QVERIFY(!faulty([](DemoReport& r) { r.rounds_lost = 3; }));
        QVERIFY(faulty([](DemoReport& r) { r.rounds_lost = 4; }));
        QVERIFY(faulty([](DemoReport& r) { r.committee_size = 1; }));
        QVERIFY(faulty([](DemoReport& r) { r.credited_tokens = 1051; }));
        QVERIFY(faulty([](DemoReport& r) { r.trained_tokens = 1112; }));
        QVERIFY(!faulty([](DemoReport& r) { r.trained_tokens = 1111; }));
        QVERIFY(faulty([](DemoReport& r) { r.leaderboard[1].trained = 399; }));
        QVERIFY(!faulty([](DemoReport& r) { r.final_loss = 2.5; }));
        QVERIFY(faulty([](DemoReport& r) { r.final_loss = 0; }));
        QVERIFY(faulty([](DemoReport& r) { r.late_rounds = 0; }));
        QVERIFY(faulty([](DemoReport& r) { r.returned_rounds = 0; }));
        QVERIFY(faulty([](DemoReport& r) { r.all_in_step = false; }));
        QVERIFY(faulty([](DemoReport& r) { r.closed = false; }));
        for (const char* field :
             {"rounds", "rounds_lost", "digests_compared", "digests_equal", "initial_loss", "final_loss", "bigram_loss",
              "k", "bits_per_parameter", "trained_tokens", "digests_copied", "credited_tokens",
              "upload_bytes_per_round", "seconds_join_to_first_step"}) {
            QVERIFY2(to_json(good_report()).contains(field), field);
        }
    }

    void a_swarm_is_worth_the_tokens_that_one_computer_needs_for_its_loss() {
        const std::vector<LonePoint> alone = {{1, 2.0}, {2, 1.6}, {4, 1.5}};
        const auto is = [&](double loss, Worth::Bound bound, double computers) {
            const Worth worth = worth_of(alone, loss);
            return worth.bound == bound && std::abs(worth.computers - computers) < 1e-9;
        };
        QVERIFY(is(2.1, Worth::Bound::upper, 1));
        QVERIFY(is(2.0, Worth::Bound::none, 1));
        QVERIFY(is(1.8, Worth::Bound::none, std::sqrt(2.0)));
        QVERIFY(is(1.55, Worth::Bound::none, 2 * std::sqrt(2.0)));
        QVERIFY(is(1.5, Worth::Bound::none, 4));
        QVERIFY(is(1.4, Worth::Bound::lower, 4));
        DemoReport report = good_report();
        QVERIFY(to_text(report).find("worth") == std::string::npos && to_json(report)["worth"].is_null());
        report.alone = {{1, 2.2}, {2, 1.8}};
        QVERIFY(to_text(report).find("1.4 computers; one alone reaches 2.200 with 1.0, 1.800 with 2.0 times") !=
                std::string::npos);
        QVERIFY(std::abs(to_json(report)["worth"]["computers"].get<double>() - std::sqrt(2.0)) < 1e-9);
        report.final_loss = 1.7;
        QVERIFY(to_text(report).find("at least 2.0 computers") != std::string::npos);
    }

    void a_log_tells_what_a_trainer_counted_and_which_states_were_computed() {
        std::istringstream lines(
            "2026-01-01T00:00:00.000Z info trainer: trained 512 tokens in 4 steps, training loss 2.100\n"
            "2026-01-01T00:00:01.000Z debug states: computed state 1 " +
            std::string(64, 'a') +
            "\n"
            "2026-01-01T00:00:01.000Z info run: joined: trained 9999 tokens (00000000); members now: 2\n"
            "2026-01-01T00:00:02.000Z info trainer: trained 1024 tokens in 8 steps, training loss 2.000\n"
            "2026-01-01T00:00:03.000Z debug states: computed state 12 " +
            std::string(64, 'b') + "\n");
        const NodeLog log = read_node_log(lines);
        QCOMPARE(log.trained_tokens, std::uint64_t{1536});
        QCOMPARE(log.states.size(), std::size_t{2});
        QCOMPARE(log.states.at(12), std::string(64, 'b'));
    }

    void the_model_is_described_with_its_family() {
        model::ModelSpec model;
        QVERIFY(QString::fromStdString(describe(model)).startsWith("GPT-2 shape, 4 layers, width"));
        model.family = model::Family::opt;
        QVERIFY(QString::fromStdString(describe(model)).startsWith("OPT shape, 4 layers, width"));
        model.family = model::Family::llama;
        QVERIFY(QString::fromStdString(describe(model)).startsWith("Llama shape, 4 layers, width"));
        model.llama.qk_norm = true;
        QVERIFY(QString::fromStdString(describe(model)).startsWith("Qwen3 shape, 4 layers, width"));
    }

    void one_layer_and_few_parameters_are_described_as_such() {
        model::ModelSpec model;
        model.layers = 1;
        model.width = 16;
        model.heads = 2;
        model.vocabulary = 64;
        model.context = 8;
        const QString text = QString::fromStdString(describe(model));
        QVERIFY2(text.startsWith("GPT-2 shape, 1 layer, width 16: "), qPrintable(text));
        QVERIFY2(text.endsWith(" k parameters") && !text.contains(": 0.0"), qPrintable(text));
    }

    void the_turns_of_a_demo_come_in_order() {
        for (const std::uint64_t rounds : {4U, 6U, 10U, 60U, 1000U}) {
            const Turns turns = Turns::of(rounds);
            QVERIFY(turns.late_join < turns.kill);
            QVERIFY(turns.kill <= turns.comeback || rounds < 6);
            QVERIFY(turns.comeback < rounds);
        }
    }

    void a_recipe_file_replaces_only_what_it_names() {
        const QTemporaryDir folder;
        const fs::path file = fs::path(folder.path().toStdString()) / "recipe.json";
        std::ofstream(file) << "{\"density\": \"64\", \"window_seconds\": 1.5}";
        const auto recipe = DemoRecipe::from_file(file, {});
        QVERIFY(recipe.ok());
        QCOMPARE(recipe->density, std::string("64"));
        QCOMPARE(recipe->batch, DemoRecipe{}.batch);
        std::ofstream(file) << "{\"densities\": \"64\"}";
        QVERIFY(!DemoRecipe::from_file(file, {}).ok());
    }
};

QTEST_APPLESS_MAIN(NodePartsTest)
#include "test_node_parts.moc"
