// Who keeps which shard: enough copies, caps, and how little moves when members come and go.
#include <QTest>

#include <algorithm>
#include <set>

#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/run/shard_holders.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId key_of(std::uint64_t n) {
    PeerId key;
    key.bytes = sha256(as_bytes("key " + std::to_string(n))).bytes;
    return key;
}

Shard shard_of_size(std::uint64_t n, std::uint64_t size) {
    Shard shard;
    shard.blob.root.bytes = sha256(as_bytes("shard " + std::to_string(n))).bytes;
    shard.blob.size = size;
    return shard;
}

std::vector<Shard> shards_of(std::size_t count, std::uint64_t size = 100) {
    std::vector<Shard> shards;
    for (std::size_t i = 0; i < count; ++i) shards.push_back(shard_of_size(i, size));
    return shards;
}

std::vector<ShardHolder> members_of(std::size_t count, std::uint64_t bytes_max = no_shard_cap) {
    std::vector<ShardHolder> members;
    for (std::size_t i = 0; i < count; ++i) members.push_back({key_of(i), bytes_max});
    return members;
}

using Holders = std::vector<std::vector<std::size_t>>;

std::vector<std::uint64_t> bytes_kept(const Holders& holders, const std::vector<Shard>& shards, std::size_t members) {
    std::vector<std::uint64_t> bytes(members);
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (const std::size_t member : holders[i]) bytes[member] += shards[i].blob.size;
    }
    return bytes;
}

/// Pairs of shard and key, whatever the members' indexes.
std::set<std::pair<std::size_t, PeerId>> pairs_of(const Holders& holders, const std::vector<ShardHolder>& members) {
    std::set<std::pair<std::size_t, PeerId>> pairs;
    for (std::size_t i = 0; i < holders.size(); ++i) {
        for (const std::size_t member : holders[i]) pairs.emplace(i, members[member].key);
    }
    return pairs;
}

}  // namespace

class ShardHoldersTest : public QObject {
    Q_OBJECT
private slots:
    void every_shard_has_three_holders_as_soon_as_there_are_three_members() {
        const std::vector<Shard> shards = shards_of(200);
        for (const std::size_t count : {1U, 2U, 3U, 4U, 5U, 9U, 64U}) {
            for (const auto& holders : shard_holders(shards, members_of(count), shard_copies)) {
                QCOMPARE(holders.size(), std::min<std::size_t>(count, shard_copies));
                QCOMPARE(std::set(holders.begin(), holders.end()).size(), holders.size());
            }
        }
        QVERIFY(shard_copies > shard_copies_min);
        QCOMPARE(shard_copies_min, 3U);
    }

    void the_highest_weights_keep_a_shard() {
        const std::vector<Shard> shards = shards_of(50);
        const std::vector<ShardHolder> members = members_of(12);
        const Holders holders = shard_holders(shards, members, 3);
        for (std::size_t i = 0; i < shards.size(); ++i) {
            std::vector<std::pair<std::uint64_t, std::size_t>> order;
            for (std::size_t member = 0; member < members.size(); ++member)
                order.emplace_back(holder_weight(members[member].key, shards[i].blob.root), member);
            std::sort(order.rbegin(), order.rend());
            QCOMPARE(holders[i], (std::vector<std::size_t>{order[0].second, order[1].second, order[2].second}));
        }
    }

    void members_keep_about_the_same() {
        const std::vector<Shard> shards = shards_of(2'000);
        for (const std::uint64_t bytes : bytes_kept(shard_holders(shards, members_of(20), 4), shards, 20)) {
            QVERIFY2(bytes > 34'000 && bytes < 46'000, std::to_string(bytes).c_str());  // 40,000 each on average
        }
    }

    void the_order_of_members_and_shards_does_not_matter() {
        std::vector<Shard> shards = shards_of(60);
        for (std::size_t i = 0; i < shards.size(); ++i) shards[i].blob.size = 50 + 10 * (i % 7);
        std::vector<ShardHolder> members = members_of(9);
        for (std::size_t i = 0; i < members.size(); ++i) members[i].bytes_max = 1'000 + 400 * i;
        const Holders holders = shard_holders(shards, members, 3);
        std::vector<Shard> shards_back(shards.rbegin(), shards.rend());
        std::vector<ShardHolder> members_back(members.rbegin(), members.rend());
        Holders back = shard_holders(shards_back, members_back, 3);
        std::reverse(back.begin(), back.end());
        QCOMPARE(pairs_of(holders, members), pairs_of(back, members_back));
        QCOMPARE(holders, shard_holders(shards, members, 3));
    }

    void when_a_member_goes_only_its_shards_move() {
        const std::vector<Shard> shards = shards_of(500);
        std::vector<ShardHolder> members = members_of(10);
        const auto before = pairs_of(shard_holders(shards, members, 4), members);
        const PeerId gone = members[3].key;
        members.erase(members.begin() + 3);
        const auto after = pairs_of(shard_holders(shards, members, 4), members);
        std::size_t lost = 0;
        for (const auto& pair : before) {
            lost += pair.second == gone ? 1 : 0;
            QVERIFY(pair.second == gone || after.contains(pair));
        }
        QCOMPARE(after.size(), before.size());
        QVERIFY(lost > 150 && lost < 250);
    }

    void a_newcomer_takes_its_share_and_no_other_shard_moves() {
        const std::vector<Shard> shards = shards_of(500);
        std::vector<ShardHolder> members = members_of(10);
        const auto before = pairs_of(shard_holders(shards, members, 4), members);
        members.push_back({key_of(99)});
        const auto after = pairs_of(shard_holders(shards, members, 4), members);
        for (const auto& pair : after) QVERIFY(pair.second == key_of(99) || before.contains(pair));
    }

    void caps_are_respected_and_others_take_over() {
        const std::vector<Shard> shards = shards_of(120);
        std::vector<ShardHolder> members = members_of(6);
        members[0].bytes_max = 0;
        members[1].bytes_max = 1'050;
        const Holders holders = shard_holders(shards, members, 4);
        const std::vector<std::uint64_t> bytes = bytes_kept(holders, shards, members.size());
        QCOMPARE(bytes[0], 0U);
        QCOMPARE(bytes[1], 1'000U);
        for (const auto& of_one : holders) QCOMPARE(of_one.size(), 4U);
        // What the small one keeps is what it weighs most for among all that it would keep without a cap.
        members[1].bytes_max = no_shard_cap;
        const Holders wide = shard_holders(shards, members, 4);
        std::vector<std::uint64_t> weights;
        for (std::size_t i = 0; i < shards.size(); ++i) {
            if (std::count(wide[i].begin(), wide[i].end(), 1U) > 0)
                weights.push_back(holder_weight(members[1].key, shards[i].blob.root));
        }
        std::sort(weights.rbegin(), weights.rend());
        for (std::size_t i = 0; i < shards.size(); ++i) {
            const bool kept = std::count(holders[i].begin(), holders[i].end(), 1U) > 0;
            const std::uint64_t weight = holder_weight(members[1].key, shards[i].blob.root);
            QCOMPARE(kept, std::count(wide[i].begin(), wide[i].end(), 1U) > 0 && weight >= weights[9]);
        }
    }

    void shards_that_find_no_room_have_fewer_holders() {
        const std::vector<Shard> shards = shards_of(10);
        const Holders holders = shard_holders(shards, members_of(3, 500), 3);
        std::size_t copies = 0;
        for (const auto& of_one : holders) copies += of_one.size();
        QCOMPARE(copies, 15U);  // every cap is used up
        QVERIFY(shard_holders(shards, {}, 3) == Holders(10));
        QVERIFY(shard_holders({}, members_of(3), 3).empty());
    }

    void with_caps_too_a_member_that_goes_moves_little() {
        Rng rng(5);
        const std::vector<Shard> shards = shards_of(300);
        std::vector<ShardHolder> members = members_of(20);
        for (ShardHolder& member : members) member.bytes_max = 4'500 + 100 * rng.below(40);
        const auto before = pairs_of(shard_holders(shards, members, 3), members);
        QCOMPARE(before.size(), 900U);
        const PeerId gone = members[7].key;
        members.erase(members.begin() + 7);
        const auto after = pairs_of(shard_holders(shards, members, 3), members);
        std::size_t its_own = 0, moved = 0;
        for (const auto& pair : before) {
            its_own += pair.second == gone ? 1 : 0;
            moved += after.contains(pair) ? 0 : 1;
        }
        QVERIFY2(moved < 3 * its_own, std::to_string(moved).c_str());
    }

    void a_weight_is_the_same_on_every_computer() {
        // From a second implementation of docs/wire-format.md, section 2.4.
        QCOMPARE(holder_weight(key_of(1), shard_of_size(1, 1).blob.root), std::uint64_t{13262271985090540327U});
    }
};

QTEST_APPLESS_MAIN(ShardHoldersTest)
#include "test_shard_holders.moc"
