#include <QTest>

#include <algorithm>
#include <map>
#include <string>

#include "core/base/rng.h"
#include "core/run/agreement/committee_change.h"
#include "core/run/run_rules.h"
#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

constexpr std::uint32_t fit_rounds = 50;

/// A person's computers, by number; each is its own person unless said otherwise. Number 0 is the host's.
class Town {
public:
    explicit Town(std::size_t size) {
        for (std::size_t i = 0; i < size; ++i) {
            Standing one;
            one.key = one.person = key_of(i);
            one.attendance = Attendance::here;
            one.rounds_accepted = fit_rounds;
            one.in_step = 1'000 - static_cast<std::uint32_t>(i);  // the lower the number, the fitter
            people.push_back(one);
            trusted.push_back(one.key);
        }
    }
    Standing& operator[](std::size_t number) { return people[number]; }
    void distrust(std::size_t number) { std::erase(trusted, key_of(number)); }

    std::optional<CommitteeChange> next(const std::vector<std::size_t>& seated) const {
        std::vector<Standing> standings = people;
        std::sort(standings.begin(), standings.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
        std::vector<PeerId> keys = trusted;
        std::sort(keys.begin(), keys.end());
        return next_committee(
            committee(seated),
            {.trusted = keys, .standings = standings, .fit_rounds = fit_rounds, .previous = previous});
    }
    /// Numbers of the next committee; of today's if nothing changes.
    std::vector<std::size_t> seats(const std::vector<std::size_t>& seated) const {
        const auto change = next(seated);
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < people.size() + 10; ++i) {
            if ((change ? change->committee : committee(seated)).index_of(key_of(i))) numbers.push_back(i);
        }
        return numbers;
    }
    static Committee committee(const std::vector<std::size_t>& seated) {
        std::vector<PeerId> keys;
        for (const std::size_t number : seated) keys.push_back(key_of(number));
        return *Committee::from_keys(keys);
    }

    std::vector<Standing> people;
    std::vector<PeerId> trusted;
    Digest previous;
};

using SeatNumbers = std::vector<std::size_t>;

}  // namespace

class CommitteeChangeTest : public QObject {
    Q_OBJECT
private slots:
    void it_grows_from_one_to_four_when_three_others_are_fit() {
        QVERIFY(!Town(3).next({0}));
        QCOMPARE(Town(4).seats({0}), (SeatNumbers{0, 1, 2, 3}));
        const std::optional<CommitteeChange> change = Town(4).next({0});
        QCOMPARE(change->joined.size(), std::size_t{3});
        QVERIFY(change->left.empty());
    }

    void it_grows_from_four_to_seven_when_three_more_are_fit() {
        QVERIFY(!Town(6).next({0, 1, 2, 3}));
        QCOMPARE(Town(7).seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 2, 3, 4, 5, 6}));
        QVERIFY(!Town(20).next({0, 1, 2, 3, 4, 5, 6}));
    }

    void only_the_fit_are_seated() {
        const auto seats_without = [](auto change) {
            Town town(4);
            change(town[3]);
            return town.seats({0}).size();
        };
        QCOMPARE(seats_without([](Standing& one) { one.rounds_accepted = fit_rounds - 1; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.in_step = in_step_fit_min - 1; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.attendance = Attendance::away; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.attendance = Attendance::leaving; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.convicted = true; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.rounds_silent = silent_rounds_max; }), std::size_t{1});
        QCOMPARE(seats_without([](Standing& one) { one.in_step = in_step_fit_min; }), std::size_t{4});
    }

    void the_fittest_come_first() {
        Town town(9);
        town[8].in_step = 1'000;
        town[0].in_step = 1'000;
        town[8].rounds_accepted = fit_rounds + 1;
        QCOMPARE(town.seats({0}), (SeatNumbers{0, 1, 2, 3, 4, 5, 8}));
    }

    /// Who takes sums, for its line does not carry all contributions, would have to fetch them all in a seat.
    void of_the_equally_fit_those_on_slow_lines_come_last() {
        constexpr std::size_t size = 6;
        for (std::size_t one = 1; one < size; ++one) {
            for (std::size_t other = one + 1; other < size; ++other) {
                Town town(size);
                for (Standing& standing : town.people) standing.in_step = 1'000;
                town[one].light = town[other].light = true;
                const SeatNumbers seats = town.seats({0});
                QCOMPARE(seats.size(), std::size_t{4});
                QVERIFY(std::count(seats.begin(), seats.end(), one) == 0);
                QVERIFY(std::count(seats.begin(), seats.end(), other) == 0);
            }
        }
    }

    void slow_lines_get_seats_where_there_are_no_others() {
        Town town(5);
        for (std::size_t number = 1; number < 5; ++number) town[number].light = true;
        QCOMPARE(town.seats({0}), (SeatNumbers{0, 1, 2, 3}));
        town[4].light = false;
        town[4].rounds_accepted = fit_rounds - 1;
        QCOMPARE(town.seats({0}), (SeatNumbers{0, 1, 2, 3}));
    }

    void strangers_get_no_seat_however_long_they_stay() {
        Town town(1'004);
        for (std::size_t i = 1; i < 1'001; ++i) {
            town[i].rounds_accepted = 1'000'000;
            town[i].in_step = 1'000;
            town.distrust(i);
        }
        QCOMPARE(town.seats({0}), (SeatNumbers{0, 1'001, 1'002, 1'003}));
    }

    void one_device_of_a_person_has_a_seat() {
        Town town(5);
        town[3].person = town[4].person = town[0].person;
        QVERIFY(!town.next({0}));
        town[3].person = town[4].person = key_of(3);
        QCOMPARE(town.seats({0}), (SeatNumbers{0, 1, 2, 3}));
        // Two devices that have seats already keep one.
        town = Town(5);
        town[3].person = town[2].person;
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 2, 4}));
        QVERIFY(town.next({0, 1, 2, 3})->left[0].why == Departure::duplicate);
    }

    void a_seat_silent_for_ten_rounds_goes_to_the_fittest_without_a_seat() {
        Town town(6);
        town[2].attendance = Attendance::away;
        town[2].rounds_silent = silent_rounds_max - 1;
        QVERIFY(!town.next({0, 1, 2, 3}));
        town[2].rounds_silent = silent_rounds_max;
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 3, 4}));
        QVERIFY(town.next({0, 1, 2, 3})->left == (std::vector<CommitteeChange::Left>{{key_of(2), Departure::silent}}));
        QVERIFY(town.next({0, 1, 2, 3})->joined == std::vector<PeerId>{key_of(4)});
    }

    void a_member_without_a_standing_is_silent() {
        Town town(5);
        const std::size_t unknown = 9;
        town.trusted.push_back(key_of(unknown));
        QCOMPARE(town.seats({0, 1, 2, unknown}), (SeatNumbers{0, 1, 2, 3}));
    }

    void a_committee_never_shrinks_by_absence_data() {
        QTest::addColumn<int>("seats");
        for (const int seats : {1, 4, 7}) QTest::addRow("%d seats", seats) << seats;
    }
    void a_committee_never_shrinks_by_absence() {
        QFETCH(int, seats);
        const auto size = static_cast<std::size_t>(seats);
        SeatNumbers seated;
        for (std::size_t i = 0; i < size; ++i) seated.push_back(i);
        for (std::size_t away = 1; away <= size; ++away) {
            Town silent(size), leaving(size), banned(size), convicted(size);
            for (std::size_t i = 0; i < away; ++i) {
                silent[i].rounds_silent = silent_rounds_max;
                silent[i].attendance = Attendance::away;
                leaving[i].attendance = Attendance::leaving;
                banned.distrust(i);
                convicted[i].convicted = true;
            }
            QVERIFY(!silent.next(seated));
            QVERIFY(!leaving.next(seated));
            QVERIFY(!banned.next(seated));
            QVERIFY(!convicted.next(seated));
        }
    }

    void seats_that_are_gone_are_filled_by_untried_members() {
        for (const Attendance attendance : {Attendance::here, Attendance::leaving}) {
            Town town(5);
            town[4].rounds_accepted = 0;
            town[1].attendance = attendance;
            town[1].convicted = attendance == Attendance::here;
            QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 2, 3, 4}));
            town[4].attendance = Attendance::away;
            QVERIFY(!town.next({0, 1, 2, 3}));
        }
    }

    void silent_seats_are_not_filled_by_untried_members() {
        Town town(5);
        town[4].rounds_accepted = 0;
        town[1].rounds_silent = silent_rounds_max;
        QVERIFY(!town.next({0, 1, 2, 3}));
    }

    void a_convicted_seat_goes_before_one_that_leaves() {
        Town town(5);
        town[1].attendance = Attendance::leaving;
        town[2].convicted = true;
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 3, 4}));
        town[1].attendance = Attendance::here;
        town.distrust(1);
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 3, 4}));
    }

    void a_banned_seat_goes_before_one_that_leaves() {
        Town town(5);
        town[1].attendance = Attendance::leaving;
        town.distrust(2);
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 1, 3, 4}));
    }

    void sizes_that_cannot_be_filled_change_nothing() {
        Town town(4);
        town[3].person = town[2].person;  // three persons have four seats
        QVERIFY(!town.next({0, 1, 2, 3}));
    }

    void equals_are_told_apart_by_the_last_list_and_never_by_their_keys() {
        std::map<std::size_t, int> chosen;
        for (std::uint8_t round = 0; round < 100; ++round) {
            Town town(6);
            for (Standing& one : town.people) one.in_step = 1'000;
            town[1].rounds_silent = silent_rounds_max;
            town.previous.bytes[0] = std::byte{round};
            const SeatNumbers seats = town.seats({0, 1, 2, 3});
            QCOMPARE(seats.size(), std::size_t{4});
            for (const std::size_t one : {4U, 5U})
                chosen[one] += static_cast<int>(std::count(seats.begin(), seats.end(), one));
        }
        QVERIFY2(chosen[4] > 25 && chosen[5] > 25, std::to_string(chosen[4]).c_str());
    }

    void sizes_between_become_one_of_the_three() {
        QCOMPARE(Town(2).seats({0, 1}), (SeatNumbers{0}));
        QCOMPARE(Town(3).seats({0, 1, 2}), (SeatNumbers{0}));
        QCOMPARE(Town(5).seats({0, 1, 2, 3, 4}), (SeatNumbers{0, 1, 2, 3}));
        Town town(5);
        town[4].rounds_silent = silent_rounds_max;
        QCOMPARE(town.seats({0, 1, 2, 3, 4}), (SeatNumbers{0, 1, 2, 3}));
    }

    void a_leaving_member_hands_its_seat_over_at_once() {
        Town town(6);
        town[1].attendance = Attendance::leaving;
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 2, 3, 4}));
        QVERIFY(town.next({0, 1, 2, 3})->left ==
                (std::vector<CommitteeChange::Left>{{key_of(1), Departure::handed_over}}));
    }

    void the_last_seat_goes_to_the_fittest_that_is_here_tried_or_not() {
        Town town(3);
        for (std::size_t i = 0; i < 3; ++i) town[i].rounds_accepted = 0;
        town[0].attendance = Attendance::leaving;
        QCOMPARE(town.seats({0}), (SeatNumbers{1}));
        town[1].attendance = Attendance::away;
        QCOMPARE(town.seats({0}), (SeatNumbers{2}));
        town[2].attendance = Attendance::away;
        QVERIFY(!town.next({0}));  // nobody to hand over to: the seat stays, and the run waits
        town[2].attendance = Attendance::here;
        town.distrust(2);
        QVERIFY(!town.next({0}));
    }

    void three_that_are_on_in_turn_pass_the_seat_round() {
        Town town(3);
        for (Standing& one : town.people) one.rounds_accepted = 0;  // friends on their first days
        SeatNumbers seat{0};
        for (std::size_t day = 0; day < 21; ++day) {
            const std::size_t on = (day + 1) % 3;
            town[seat[0]].attendance = Attendance::leaving;
            town[on].attendance = Attendance::here;
            const std::size_t before = seat[0];
            seat = town.seats(seat);
            QCOMPARE(seat, SeatNumbers{on});
            town[before].attendance = Attendance::away;
        }
    }

    void a_convicted_key_leaves_and_never_returns() {
        Town town(6);
        town[0].convicted = true;  // the fittest, and the host
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{1, 2, 3, 4}));
        QVERIFY(town.next({0, 1, 2, 3})->left ==
                (std::vector<CommitteeChange::Left>{{key_of(0), Departure::convicted}}));
        QVERIFY(!town.next({1, 2, 3, 4}));
        QVERIFY(!town.next({1, 2, 3, 5}));
    }

    void a_key_that_is_no_longer_trusted_leaves() {
        Town town(5);
        town.distrust(1);
        QCOMPARE(town.seats({0, 1, 2, 3}), (SeatNumbers{0, 2, 3, 4}));
        QVERIFY(town.next({0, 1, 2, 3})->left ==
                (std::vector<CommitteeChange::Left>{{key_of(1), Departure::distrusted}}));
    }

    void seated_members_keep_their_seats_against_fitter_ones() {
        Town town(6);
        town[0].in_step = 960;
        town[0].rounds_accepted = 0;  // once seated it need not be fit
        QVERIFY(!town.next({0, 1, 2, 3}));
    }

    void a_committee_is_never_empty() {
        Town town(4);
        for (std::size_t i = 0; i < 4; ++i) {
            town[i].attendance = Attendance::away;
            town[i].rounds_silent = silent_rounds_max;
        }
        QVERIFY(!town.next({0, 1, 2, 3}));
    }

    void a_changed_committee_needs_no_further_change() {
        Rng rng(3);
        for (int i = 0; i < 2'000; ++i) {
            Town town(1 + rng.below(12));
            SeatNumbers seated;
            for (std::size_t j = 0; j < town.people.size(); ++j) {
                town[j].attendance = static_cast<Attendance>(rng.below(3));
                town[j].rounds_silent = static_cast<std::uint32_t>(rng.below(2 * silent_rounds_max));
                town[j].convicted = rng.below(8) == 0;
                if (rng.below(8) == 0) town.distrust(j);
                if (rng.below(2) == 0 && seated.size() < committee_members_max) seated.push_back(j);
            }
            if (seated.empty()) seated.push_back(0);
            const SeatNumbers once = town.seats(seated);
            QVERIFY(!once.empty());
            QCOMPARE(town.seats(once), once);
            QVERIFY(once.size() >= largest_committee(seated.size()));
            const bool kept = once == seated;
            QVERIFY(kept || once.size() == 1 || once.size() == 4 || once.size() == 7 || once.size() == seated.size());
        }
    }
};

QTEST_APPLESS_MAIN(CommitteeChangeTest)
#include "test_committee_change.moc"
