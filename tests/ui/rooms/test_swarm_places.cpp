// Where members stand in the picture of the swarm, and what of a snapshot is drawn: values in, values out.
#include <set>

#include <QFontMetricsF>
#include <QtTest>

#include "ui/members/swarm_scene.h"

using namespace potluck;
using namespace potluck::ui;

namespace {

std::string keyOf(int number) { return QString::number(number, 16).rightJustified(64, u'0').toStdString(); }

/// Keys of members, and who of them are of which rank.
struct Crowd {
    std::vector<std::string> keys;
    std::vector<SwarmGuest> guests(int rank = 0) const {
        std::vector<SwarmGuest> all;
        for (const std::string& key : keys) all.push_back({key, rank});
        return all;
    }
};
Crowd crowdOf(int count, int first = 0) {
    Crowd crowd;
    for (int i = 0; i < count; ++i) crowd.keys.push_back(keyOf(first + i));
    return crowd;
}

std::set<int> taken(const SwarmPlaces& places) {
    std::set<int> all;
    for (const auto& [key, place] : places) all.insert(place);
    return all;
}

control::MemberRow rowOf(int number, bool self = false) {
    control::MemberRow row;
    row.id = keyOf(number);
    row.name = "member " + std::to_string(number);
    row.phase = run::Phase::training;
    row.self = self;
    row.connected = !self;
    return row;
}
std::vector<control::MemberRow> rowsOf(int count) {
    std::vector<control::MemberRow> rows;
    for (int i = 0; i < count; ++i) rows.push_back(rowOf(i, i == 0));
    return rows;
}

}  // namespace

class TestSwarmPlaces : public QObject {
    Q_OBJECT

private slots:
    void initTestCase() { QLocale::setDefault(QLocale::c()); }

    void everybody_gets_a_place_of_its_own_as_far_as_there_are_any() {
        for (const int rings : {1, 2, swarm_rings_max}) {
            const SwarmPlaces all = arrange({}, crowdOf(placesIn(rings)).guests(), rings);
            QCOMPARE(static_cast<int>(taken(all).size()), placesIn(rings));
            QVERIFY(*taken(all).begin() == 0 && *taken(all).rbegin() == placesIn(rings) - 1);
            QCOMPARE(static_cast<int>(arrange({}, crowdOf(placesIn(rings) + 100).guests(), rings).size()),
                     placesIn(rings));
        }
        QVERIFY(arrange({}, {}, 3).empty());
        QCOMPARE(static_cast<int>(arrange({}, crowdOf(1'000).guests(), 99).size()), placesIn(swarm_rings_max));
    }

    void a_member_keeps_its_position_while_others_come_and_go() {
        SwarmPlaces places = arrange({}, crowdOf(6).guests(), 5);
        for (int step = 1; step < 60; ++step) {
            const Crowd now = crowdOf(6 + step % 7, step / 3);
            const SwarmPlaces next = arrange(places, now.guests(), 5);
            QCOMPARE(next.size(), now.keys.size());
            QCOMPARE(taken(next).size(), next.size());
            for (const auto& [key, place] : next) {
                if (const auto before = places.find(key); before != places.end()) QCOMPARE(place, before->second);
            }
            places = next;
        }
    }

    void the_same_keys_get_the_same_places_in_any_order() {
        Crowd crowd = crowdOf(40);
        const SwarmPlaces places = arrange({}, crowd.guests(), 5);
        std::reverse(crowd.keys.begin(), crowd.keys.end());
        QVERIFY(arrange({}, crowd.guests(), 5) == places);
    }

    void a_few_stand_all_around() {
        for (int count = 2; count <= 4; ++count) {
            const std::set<int> places = taken(arrange({}, crowdOf(count).guests(), 3));
            for (const int place : places) QVERIFY(!places.contains((place + 1) % 8));
        }
    }

    void those_of_the_lowest_rank_stand_innermost_and_are_never_left_out() {
        const Crowd many = crowdOf(100), seats = crowdOf(4, 1'000);
        std::vector<SwarmGuest> guests = many.guests(3);
        for (const SwarmGuest& seat : seats.guests(0)) guests.push_back(seat);
        const SwarmPlaces fresh = arrange({}, guests, 2);
        for (const std::string& key : seats.keys) QCOMPARE(ringOf(fresh.find(key)->second), 1);
        const SwarmPlaces later = arrange(arrange({}, many.guests(3), 2), guests, 2);
        for (const std::string& key : seats.keys) QVERIFY(later.contains(key));
        QCOMPARE(static_cast<int>(later.size()), placesIn(2));
    }

    void rings_that_nearly_everybody_has_left_are_given_up() {
        const SwarmPlaces many = arrange({}, crowdOf(placesIn(5)).guests(), 5);
        QCOMPARE(ringsOf(many), 5);
        QCOMPARE(ringsOf(arrange(many, crowdOf(5).guests(), 5)), 1);
    }

    void fewer_rings_take_in_who_stood_further_out() {
        const Crowd crowd = crowdOf(placesIn(3));
        const SwarmPlaces wide = arrange({}, crowd.guests(), 3);
        const SwarmPlaces narrow = arrange(wide, crowd.guests(), 2);
        QCOMPARE(static_cast<int>(narrow.size()), placesIn(2));
        for (const auto& [key, place] : narrow) QCOMPARE(place, wide.find(key)->second);
    }

    void places_are_apart_and_within_the_circle() {
        std::vector<QPointF> points{QPointF()};
        for (int place = 0; place < placesIn(swarm_rings_max); ++place)
            points.push_back(pointOf(place, swarm_rings_max));
        for (std::size_t i = 0; i < points.size(); ++i) {
            QVERIFY(std::hypot(points[i].x(), points[i].y()) < 1 + 1e-9);
            for (std::size_t j = 0; j < i; ++j) {
                const QPointF away = points[i] - points[j];
                QVERIFY(std::hypot(away.x(), away.y()) > 0.7 / swarm_rings_max);
            }
        }
    }

    void a_key_that_comes_twice_has_one_place() {
        Crowd crowd = crowdOf(3);
        crowd.keys.push_back(crowd.keys.front());
        QCOMPARE(arrange({}, crowd.guests(), 1).size(), 3U);
    }

    void each_phase_maps_to_one_of_three_activities() {
        control::MemberRow row = rowOf(1);
        for (const auto& [phase, doing] :
             {std::pair(run::Phase::training, Doing::trains), std::pair(run::Phase::collecting, Doing::trains),
              std::pair(run::Phase::applying, Doing::trains), std::pair(run::Phase::repairing, Doing::trains),
              std::pair(run::Phase::finished, Doing::passes_on), std::pair(run::Phase::paused, Doing::silent),
              std::pair(run::Phase::joining, Doing::silent), std::pair(run::Phase::leaving, Doing::silent)}) {
            row.phase = phase;
            QCOMPARE(doingOf(row), doing);
        }
        row.role = run::Role::backbone;
        row.phase = run::Phase::training;
        QCOMPARE(doingOf(row), Doing::passes_on);
    }

    void an_indirect_member_hangs_on_its_relay_but_never_on_an_unknown_key() {
        std::vector<control::MemberRow> rows = rowsOf(4);
        rows[2].connected = rows[3].connected = false;
        rows[2].through = rows[1].id;
        rows[3].through = keyOf(77);
        const SwarmScene scene = sceneOf(rows, placesOf(rows, {}, 1));
        QCOMPARE(scene.nodes.size(), 4U);
        QVERIFY(scene.nodes[0].is_self);
        const auto named = [&](const char* name) {
            return *std::ranges::find(scene.nodes, QString::fromLatin1(name), &SwarmNode::name);
        };
        QCOMPARE(scene.nodes[named("member 2").through].name, QStringLiteral("member 1"));
        QVERIFY(named("member 2").line.endsWith(QStringLiteral(", through member 1")));
        QCOMPARE(named("member 3").through, 0U);
        QVERIFY(named("member 3").line.endsWith(QStringLiteral(", through others")));
        QCOMPARE(scene.direct, 1);
        QCOMPARE(scene.others, 3);
    }

    void names_cover_neither_members_nor_each_other() {
        for (const int count : {2, 7, 30, 120, 400}) {
            const std::vector<control::MemberRow> rows = rowsOf(count);
            const QRectF area(0, 0, 600, 400);
            const QFontMetricsF metrics{QFont()};
            const SwarmPlaces places = placesOf(rows, {}, ringsIn(area.size(), metrics.height()));
            SwarmScene scene = sceneOf(rows, places);
            QCOMPARE(scene.rest, count - 1 - static_cast<int>(places.size()));
            layOut(scene, area, metrics);
            for (std::size_t i = 0; i < scene.nodes.size(); ++i) {
                const SwarmNode& one = scene.nodes[i];
                QVERIFY(area.contains(one.at));
                QCOMPARE(nodeAt(scene, one.at), static_cast<int>(i));
                if (one.shown.isEmpty()) continue;
                QVERIFY(area.contains(one.label));
                for (std::size_t j = 0; j < scene.nodes.size(); ++j) {
                    const SwarmNode& other = scene.nodes[j];
                    QVERIFY(i == j || !one.label.contains(other.at));
                    QVERIFY(i == j || other.shown.isEmpty() || !one.label.intersects(other.label));
                }
            }
            QVERIFY(count > 10 || std::ranges::none_of(scene.nodes, &QString::isEmpty, &SwarmNode::shown));
            QCOMPARE(nodeAt(scene, {-50, -50}), -1);
        }
    }

    void a_snapshot_without_this_computer_shows_nobody() {
        std::vector<control::MemberRow> rows = rowsOf(3);
        rows[0].self = false;
        QVERIFY(sceneOf(rows, placesOf(rows, {}, 2)).nodes.empty());
    }
};

QTEST_MAIN(TestSwarmPlaces)
#include "test_swarm_places.moc"
