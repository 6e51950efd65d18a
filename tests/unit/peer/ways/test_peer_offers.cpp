// Whom a member tells of its own contributions.
#include <QTest>

#include "tests/unit/peer/ways/contributor_bench.h"

using namespace potluck;
using namespace potluck::peer;
using contributing::ContributorBench;

class PeerOffersTest : public QObject {
    Q_OBJECT
private slots:
    /// The only seat is this member's, so that nothing has to go anywhere by way of the light neighbour.
    void a_contribution_goes_where_it_is_needed_once_the_last_was_accepted() {
        const auto told_after = [](const std::vector<bool>& in_time) {
            ContributorBench bench;
            run::StatusMessage status;
            status.sequence = 1;
            for (const std::uint8_t neighbour : {std::uint8_t{2}, std::uint8_t{3}}) {
                const PeerId id = key_of(neighbour).id();
                bench.members.joined(id);
                bench.swarm.around.push_back(id);
                status.light = neighbour == 3;
                POTLUCK_CHECK(bench.members.take(id, status, Source::itself, bench.context.now()) ==
                              run::Verdict::accepted);
            }
            for (const bool one : in_time) bench.settle_one(one);
            bench.contribute(0.25F, 640);
            return bench.swarm.sent_to.size();
        };
        QCOMPARE(told_after({}), std::size_t{2});
        QCOMPARE(told_after({true}), std::size_t{1});
        QCOMPARE(told_after({true, false}), std::size_t{2});
    }
};

QTEST_APPLESS_MAIN(PeerOffersTest)
#include "test_peer_offers.moc"
