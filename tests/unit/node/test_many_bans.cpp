// Whom a ban of many is about.
#include <QtTest>

#include "app/node/session/many_bans.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;

namespace {

PeerId key(std::uint8_t fill) { return run::samples::id<PeerId>(fill); }

const PeerId host = key(1), old_member = key(2), new_member = key(3), visitor = key(4), vouched = key(5),
             banned = key(6), person = key(7), computer = key(8), gone = key(9);

struct Scene {
    run::RunRules rules;
    Scene() {
        rules.host = host;
        rules.vouched = {vouched};
        rules.banned = {banned};
    }
    [[nodiscard]] Result<std::vector<PeerId>> ask(const control::Moderate& wanted) const {
        const BanFacts facts{rules,
                             {{host, host, true},
                              {old_member, old_member, true},
                              {new_member, new_member, true},
                              {visitor, visitor, false},
                              {vouched, vouched, false},
                              {banned, banned, false},
                              {computer, person, true}},
                             {new_member, gone, vouched},
                             {{host, 0, 0, "203.0.113.1"},
                              {old_member, 0, 0, "203.0.113.2"},
                              {visitor, 0, 0, "198.51.100.3"},
                              {computer, 0, 0, "203.0.113.4"},
                              {gone, 0, 0, "203.0.113.5"}}};
        return persons_to_ban(wanted, facts);
    }
};

control::Moderate ban(std::uint64_t since, const std::string& addresses) {
    control::Moderate wanted;
    wanted.since = since;
    wanted.addresses = addresses;
    return wanted;
}

}  // namespace

class TestManyBans : public QObject {
    Q_OBJECT

private slots:
    void a_time_or_a_range_makes_a_ban_one_of_many() {
        QVERIFY(!bans_many(ban(0, {})));
        QVERIFY(bans_many(ban(1, {})) && bans_many(ban(0, "203.0.113.0/24")));
    }

    void recent_arrivals_are_banned_unless_the_host_vouches_for_them() {
        QVERIFY(*Scene().ask(ban(1, {})) == (std::vector{new_member, visitor, gone}));
    }

    void members_with_a_session_from_a_range_are_banned_with_all_their_computers() {
        QVERIFY(*Scene().ask(ban(0, "203.0.113.0/24")) == (std::vector{old_member, person, gone}));
        QVERIFY(*Scene().ask(ban(0, "198.51.100.3")) == std::vector{visitor});
        QVERIFY(Scene().ask(ban(0, "192.0.2.0/24"))->empty());
    }

    void with_both_both_have_to_hold() { QVERIFY(*Scene().ask(ban(1, "203.0.113.0/24")) == std::vector{gone}); }

    void an_invalid_range_is_refused() {
        QVERIFY(Scene().ask(ban(0, "example.org")).error().code == ErrorCode::invalid_argument);
    }
};

QTEST_APPLESS_MAIN(TestManyBans)
#include "test_many_bans.moc"
