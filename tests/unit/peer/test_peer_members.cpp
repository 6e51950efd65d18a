#include <QTest>

#include "core/peer/members.h"

using namespace potluck;
using namespace potluck::peer;

namespace {
PeerId peer_of(std::uint32_t number) {
    PeerId id;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    return id;
}
run::StatusMessage status_of(std::uint64_t sequence) {
    run::StatusMessage status;
    status.sequence = sequence;
    return status;
}
TimePoint at(int milliseconds) { return TimePoint{Duration{milliseconds}}; }
}  // namespace

class PeerMembersTest : public QObject {
    Q_OBJECT
private slots:
    void an_older_status_is_stale() {
        Members members;
        QCOMPARE(members.take(peer_of(1), status_of(5), at(0)), run::Verdict::accepted);
        QCOMPARE(members.take(peer_of(1), status_of(5), at(1)), run::Verdict::stale);
        QCOMPARE(members.take(peer_of(1), status_of(4), at(1)), run::Verdict::stale);
        QCOMPARE(members.take(peer_of(1), status_of(6), at(1)), run::Verdict::accepted);
    }

    void a_new_session_starts_its_sequence_anew() {
        Members members;
        (void)members.take(peer_of(1), status_of(500), at(0));
        members.joined(peer_of(1));
        QCOMPARE(members.take(peer_of(1), status_of(1), at(1)), run::Verdict::accepted);
    }

    void there_is_room_for_a_limited_number_of_members() {
        Members members;
        for (std::uint32_t i = 0; i < run::members_max; ++i) {
            QCOMPARE(members.take(peer_of(i), status_of(1), at(0)), run::Verdict::accepted);
        }
        QCOMPARE(members.take(peer_of(1'000'000), status_of(1), at(0)), run::Verdict::flood);
    }

    void a_neighbour_that_talks_too_much_is_cut_short_and_recovers() {
        Members members;
        members.joined(peer_of(1));
        int admitted = 0;
        for (int i = 0; i < 2'000; ++i) admitted += members.admit_message(peer_of(1), at(0)) ? 1 : 0;
        QCOMPARE(admitted, static_cast<int>(messages_burst_max));
        QVERIFY(members.admit_message(peer_of(1), at(1'000)));
    }

    void many_offences_of_one_session_are_reported_once() {
        Members members;
        members.joined(peer_of(1));
        int reports = 0;
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i) {
            reports += members.count(peer_of(1), run::Verdict::malformed) ? 1 : 0;
        }
        QCOMPARE(reports, 1);
        QCOMPARE(members.verdicts().front().second, static_cast<std::uint64_t>(3 * offences_max));
    }

    void lies_that_cannot_be_mistakes_are_offences() {
        for (const run::Verdict lie :
             {run::Verdict::malformed, run::Verdict::bad_signature, run::Verdict::flood, run::Verdict::too_large}) {
            Members members;
            members.joined(peer_of(1));
            for (std::uint32_t i = 0; i + 1 < offences_max; ++i) QVERIFY(!members.count(peer_of(1), lie));
            QVERIFY(members.count(peer_of(1), lie));
        }
    }

    void honest_disagreement_is_no_offence() {
        Members members;
        members.joined(peer_of(1));
        for (std::uint32_t i = 0; i < 3 * offences_max; ++i) {
            QVERIFY(!members.count(peer_of(1), run::Verdict::wrong_base));
        }
    }

    void who_is_silent_is_dropped() {
        Members members;
        (void)members.take(peer_of(1), status_of(1), at(0));
        members.expire(at(4'000), Duration{4'000});
        QVERIFY(members.find(peer_of(1)) != nullptr);
        members.expire(at(4'001), Duration{4'000});
        QVERIFY(members.find(peer_of(1)) == nullptr);
    }
};

QTEST_APPLESS_MAIN(PeerMembersTest)
#include "test_peer_members.moc"
