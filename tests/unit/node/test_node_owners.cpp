// The owners of a node's state, each alone: the search for a run, the watch on the computer's owner, the count of what
// is used, the report of changes, the look for devices.
#include <QTemporaryDir>
#include <QTest>

#include <fstream>
#include <map>
#include <memory>
#include <optional>

#include <boost/asio/io_context.hpp>

#include "app/node/owner/usage_meter.h"
#include "app/node/paths.h"
#include "app/node/session/change_report.h"
#include "app/node/session/owner_watch.h"
#include "app/node/session/run_search.h"
#include "app/node/trainer/device_search.h"
#include "core/base/files.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;
using activity::Level;
using activity::Signal;

namespace {

const Error nobody{ErrorCode::timed_out, "Nobody answered."};

run::Invite invite_to(std::uint8_t fill) { return {run::samples::id<RunId>(fill), "a run", {}}; }

/// A search over a network that answers when the test says so.
struct Searching {
    QTemporaryDir folder;
    std::vector<std::function<void(Result<Bytes>)>> fetches;
    std::vector<RunId> cancelled, joined;
    net::ManifestSearch progress;
    bool wanted = true;
    Status joins;
    std::optional<RunSearch> search{
        std::in_place, folder.path().toStdString(), Duration{1'000},
        RunSearch::World{[this](const run::Invite&, Duration, std::function<void(Result<Bytes>)> done) {
                             fetches.push_back(std::move(done));
                         },
                         [this](const RunId& run) { cancelled.push_back(run); },
                         [this](const RunId&) { return std::optional(progress); },
                         [this](const RunId&) { return wanted; },
                         [this](const run::Invite& invite, const Bytes&) {
                             joined.push_back(invite.run);
                             return joins;
                         }}};

    void answer(std::size_t fetch, Result<Bytes> file) {
        const auto done = fetches.at(fetch);  // an answer may begin another fetch
        done(std::move(file));
    }
    /// How a look ended, once it has.
    std::optional<Result<RunSearch::Looked>> looked;
    RunSearch::LookDone take() {
        return [this](Result<RunSearch::Looked> found) { looked = std::move(found); };
    }
};

/// A watch on a computer where nothing happens but what a window tells.
struct Watched {
    QTemporaryDir folder;
    NodeSettings settings;
    OwnerWatch watch{settings, folder.path().toStdString(),
                     [](const std::vector<std::string>&) { return activity::Probes{}; }};
    TimePoint now{Duration{1'000}};

    void tell(Level level, std::uint64_t seconds) {
        watch.give_way(now, {level, Signal::full_screen, "game", seconds}, nullptr);
    }
};

}  // namespace

class NodeOwnersTest : public QObject {
    Q_OBJECT
private slots:
    void a_search_that_reaches_nobody_goes_on_and_says_so() {
        Searching net;
        net.search->begin(invite_to(1));
        QVERIFY(net.search->is_searching());
        QVERIFY(!net.search->conditions("a run")->nobody_in_time);
        net.answer(0, nobody);
        QCOMPARE(net.fetches.size(), std::size_t{2});
        QVERIFY(net.search->is_searching());
        QVERIFY(net.search->conditions("a run")->nobody_in_time);
        net.answer(1, Bytes(8));
        QCOMPARE(net.joined.size(), std::size_t{1});
        QVERIFY(!net.search->is_searching());
        net.search->begin(invite_to(1));  // what the last search found out is forgotten
        QVERIFY(!net.search->conditions("a run")->nobody_in_time);
    }

    void a_description_in_the_run_s_folder_needs_no_network() {
        Searching net;
        const auto folder = run_folder(net.folder.path().toStdString(), invite_to(1).run);
        std::filesystem::create_directories(folder);
        QVERIFY(write_file_atomically(folder / "manifest", Bytes(8)));
        net.search->begin(invite_to(1));
        QVERIFY(net.fetches.empty());
        QVERIFY(net.joined == std::vector<RunId>{invite_to(1).run});
        net.search->look_at(invite_to(1), net.take());
        QVERIFY(net.fetches.empty());
        QCOMPARE(net.looked->value().manifest_file.size(), std::size_t{8});
    }

    void the_reason_a_run_cannot_be_joined_stays_until_another_is_searched_for() {
        Searching net;
        net.joins = Error{ErrorCode::untrusted, "Another's description."};
        net.search->begin(invite_to(1));
        net.answer(0, Bytes(8));
        QCOMPARE(net.search->error(), std::string("Another's description."));
        QVERIFY(!net.search->is_searching());
        net.search->begin_anew();
        QVERIFY(net.search->error().empty());
    }

    void an_answer_about_a_run_that_is_no_longer_wanted_is_dropped() {
        Searching net;
        net.search->begin(invite_to(1));
        net.wanted = false;
        net.answer(0, Bytes(8));
        QVERIFY(net.joined.empty());
        net.wanted = true;
        net.search->begin(invite_to(1));
        const auto late = net.fetches.at(1);
        net.search.reset();
        late(Bytes(8));  // the search is gone
        QVERIFY(net.joined.empty());
    }

    void a_later_look_or_a_search_ends_a_look() {
        Searching net;
        net.search->look_at(invite_to(1), net.take());
        QVERIFY(!net.looked);
        std::optional<Result<RunSearch::Looked>> second;
        net.search->look_at(invite_to(2), [&](Result<RunSearch::Looked> found) { second = std::move(found); });
        QVERIFY(net.looked->error().code == ErrorCode::cancelled);
        net.search->begin(invite_to(3));
        QVERIFY(second->error().code == ErrorCode::cancelled);
        QVERIFY((net.cancelled == std::vector<RunId>{invite_to(1).run, invite_to(2).run}));
        net.search->look_at(invite_to(3), net.take());
        QVERIFY(net.looked->error().code == ErrorCode::unavailable);  // it is searched for already
    }

    void a_look_counts_the_members_that_answered() {
        Searching net;
        net.search->look_at(invite_to(1), net.take());
        for (const std::uint32_t peers : {1U, 3U, 2U}) {
            net.progress.peers = peers;
            net.search->tick();
        }
        net.answer(0, Bytes(8));
        QCOMPARE(net.looked->value().peers, std::uint64_t{3});
    }

    void a_pause_by_hand_hides_what_is_noticed_and_outlives_it() {
        Watched owner;
        owner.tell(Level::quiet, 10);
        QVERIFY(owner.watch.hold().level == Level::quiet);
        QVERIFY(owner.watch.obeyed() == Level::quiet);
        owner.settings.paused = true;
        owner.watch.obey(owner.now, nullptr);
        QVERIFY(owner.watch.hold().signal == Signal::person);
        QVERIFY(owner.watch.obeyed() == Level::pause);
        QVERIFY(owner.watch.noticed().level == Level::quiet);
        owner.now = owner.now + Duration{10'000};
        owner.watch.look(owner.now, nullptr);
        QVERIFY(owner.watch.noticed().level == Level::run);
        QVERIFY(owner.watch.obeyed() == Level::pause);
    }

    void a_level_set_by_a_window_ends_at_the_next_look_after_its_time() {
        Watched owner;
        owner.tell(Level::pause, 1);
        owner.now = owner.now + Duration{900};
        owner.watch.look_if_due(owner.now, nullptr);
        owner.now = owner.now + Duration{150};  // over, but no look is due
        owner.watch.look_if_due(owner.now, nullptr);
        QVERIFY(owner.watch.noticed().level == Level::pause);
        owner.now = owner.now + Duration{50};
        owner.watch.look_if_due(owner.now, nullptr);
        QVERIFY(owner.watch.noticed().level == Level::run);
    }

    void a_pause_that_ends_counts_its_seconds_down() {
        Watched owner;
        owner.tell(Level::pause, 20);
        QCOMPARE(owner.watch.seconds_left(), std::uint64_t{0});
        owner.watch.give_way(owner.now, {Level::pause, Signal::full_screen, "game", 20, 9}, nullptr);
        QCOMPARE(owner.watch.seconds_left(), std::uint64_t{9});
        owner.now = owner.now + Duration{2'500};
        owner.watch.look(owner.now, nullptr);
        QCOMPARE(owner.watch.seconds_left(), std::uint64_t{7});
        owner.now = owner.now + Duration{7'000};  // over, and the window has not said so yet
        owner.watch.look(owner.now, nullptr);
        QCOMPARE(owner.watch.seconds_left(), std::uint64_t{0});
    }

    void a_person_may_train_on_in_spite_of_what_is_noticed() {
        Watched owner;
        owner.tell(Level::pause, 10);
        owner.watch.dismiss();
        owner.watch.look(owner.now, nullptr);
        QVERIFY(owner.watch.hold().level == Level::run);
        QVERIFY(owner.watch.pauses().rows.empty());  // where nothing trains there is nothing to tell of
    }

    void time_asleep_is_not_counted_as_training() {
        const QTemporaryDir folder;
        UsageMeter meter(folder.path().toStdString());
        const TimePoint start{Duration{1'000}};
        meter.load(start);
        QVERIFY(!meter.is_due(start + Duration{999}));
        QVERIFY(meter.is_due(start + Duration{1'000}));
        meter.count(start + Duration{3'600'000}, 1'700'000'000,
                    {.bytes_up = 0, .bytes_down = 0, .training = {{.watts = 50}}});
        QCOMPARE(meter.energy().total.trained_seconds, 2.0);
        QCOMPARE(meter.energy().total.joules, 100.0);
        meter.count(start + Duration{3'601'000}, 1'700'000'001, {});  // nothing trains
        QCOMPARE(meter.energy().total.trained_seconds, 2.0);
    }

    void usage_is_written_once_a_minute_and_read_again_at_start() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        const TimePoint start{Duration{1'000}};
        UsageMeter meter(path);
        meter.load(start);
        meter.count(start + Duration{1'000}, 1'700'000'000, {.bytes_up = 30, .bytes_down = 40, .training = {}});
        meter.save_if_due(start + Duration{59'999});
        QVERIFY(!std::filesystem::exists(path / "traffic.json"));
        meter.save_if_due(start + Duration{60'000});
        UsageMeter next(path);
        next.load(start);
        QCOMPARE(next.traffic().total_up, std::uint64_t{30});
        QCOMPARE(next.traffic().total_down, std::uint64_t{40});
    }

    void a_change_is_reported_once_and_looked_for_every_fourth_tick() {
        control::NodeSnapshot now;
        now.proxy.emplace();
        now.device.emplace();
        int looks = 0, reports = 0;
        const auto look = [&] {
            ++looks;
            return now;
        };
        ChangeReport changes;
        for (int tick = 0; tick < 8; ++tick) changes.tick(look);
        QCOMPARE(looks, 0);  // nobody listens
        changes.on_change([&] { ++reports; });
        for (int tick = 0; tick < 8; ++tick) changes.tick(look);
        QCOMPARE(looks, 2);
        QCOMPARE(reports, 1);
        now.network.peers = 3;
        for (int tick = 0; tick < 8; ++tick) changes.tick(look);
        QCOMPARE(reports, 2);
    }

    void a_change_key_follows_whole_per_cents_of_what_is_made() {
        control::NodeSnapshot now;
        now.proxy.emplace();
        now.device.emplace();
        now.preparation = control::Preparation{"a run", control::MakingStage::model, 0.101};
        const std::string before = change_key(now);
        now.preparation->fraction = 0.109;
        QCOMPARE(change_key(now), before);
        now.preparation->fraction = 0.11;
        QVERIFY(change_key(now) != before);
    }

    void many_who_ask_for_devices_share_one_look_and_too_many_are_refused() {
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.path().toStdString();
        boost::asio::io_context loop;
        DeviceSearch devices(loop, path / "trainer.log");
        std::size_t failed = 0;
        std::optional<Error> refused;
        const auto ask = [&] {
            devices.find(path / "no-trainer", DeviceSearch::Freshness::found_earlier,
                         [&](const Result<control::DetectReply>& found) { failed += found ? 0 : 1; });
        };
        for (std::size_t i = 0; i < DeviceSearch::askers_max; ++i) ask();
        QCOMPARE(failed, std::size_t{0});
        devices.find(path / "no-trainer", DeviceSearch::Freshness::found_now,
                     [&](const Result<control::DetectReply>& found) { refused = found.error(); });
        QVERIFY(refused && refused->code == ErrorCode::unavailable);
        loop.run();
        QCOMPARE(failed, DeviceSearch::askers_max);
        loop.restart();
        ask();  // a look that failed is made again
        loop.run();
        QCOMPARE(failed, DeviceSearch::askers_max + 1);
    }
};

QTEST_GUILESS_MAIN(NodeOwnersTest)
#include "test_node_owners.moc"
