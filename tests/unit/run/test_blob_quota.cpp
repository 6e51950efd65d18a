// Which blobs make room for which.
#include <QTest>

#include "core/run/blob_quota.h"

using namespace potluck::run;

namespace {

using Indexes = std::vector<std::size_t>;

constexpr StoredBlob blob(std::uint64_t size, Retention retention, std::uint64_t order, bool complete = true) {
    return {size, retention, complete, order};
}

}  // namespace

class BlobQuotaTest : public QObject {
    Q_OBJECT
private slots:
    void no_blob_is_displaced_while_there_is_room() {
        const std::vector<StoredBlob> stored{blob(60, Retention::left_behind, 1), blob(30, Retention::newcomer, 2)};
        QVERIFY(blobs_to_displace(stored, 10, Retention::kept, 100) == Indexes{});
        QVERIFY(blobs_to_displace(stored, 11, Retention::kept, 100) == Indexes{0});
        QVERIFY(blobs_to_displace({}, 101, Retention::kept, 100) == std::nullopt);
    }

    void the_lowest_rank_goes_first_and_the_own_rank_never() {
        const std::vector<StoredBlob> stored{blob(10, Retention::kept, 1), blob(10, Retention::offered, 2),
                                             blob(10, Retention::newcomer, 3), blob(10, Retention::left_behind, 4)};
        QVERIFY(blobs_to_displace(stored, 30, Retention::kept, 40) == (Indexes{3, 2, 1}));
        QVERIFY(blobs_to_displace(stored, 31, Retention::kept, 40) == std::nullopt);
        QVERIFY(blobs_to_displace(stored, 20, Retention::offered, 40) == (Indexes{3, 2}));
        QVERIFY(blobs_to_displace(stored, 21, Retention::offered, 40) == std::nullopt);
        QVERIFY(blobs_to_displace(stored, 10, Retention::newcomer, 40) == Indexes{3});
        QVERIFY(blobs_to_displace(stored, 11, Retention::newcomer, 40) == std::nullopt);
        QVERIFY(blobs_to_displace(stored, 1, Retention::left_behind, 40) == std::nullopt);
    }

    void unfinished_blobs_go_before_whole_blobs_and_the_newest_first() {
        const std::vector<StoredBlob> stored{blob(10, Retention::newcomer, 1), blob(10, Retention::newcomer, 2),
                                             blob(10, Retention::newcomer, 3, false),
                                             blob(10, Retention::newcomer, 4, false)};
        QVERIFY(blobs_to_displace(stored, 40, Retention::kept, 40) == (Indexes{3, 2, 1, 0}));
        QVERIFY(blobs_to_displace(stored, 25, Retention::kept, 40) == (Indexes{3, 2, 1}));
    }

    void a_quota_that_is_exceeded_already_is_brought_below_again() {
        const std::vector<StoredBlob> stored{blob(60, Retention::kept, 1), blob(60, Retention::newcomer, 2)};
        QVERIFY(blobs_to_displace(stored, 10, Retention::kept, 100) == Indexes{1});
        QVERIFY(blobs_to_displace(stored, 50, Retention::kept, 100) == std::nullopt);
    }
};

QTEST_APPLESS_MAIN(BlobQuotaTest)
#include "test_blob_quota.moc"
