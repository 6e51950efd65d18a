// The places that newcomers' contributions have in a round: few, drawn by lot, and kept only by payloads that are here.
#include <QTest>

#include <algorithm>
#include <set>
#include <vector>

#include "core/run/offers.h"

using namespace potluck;
using namespace potluck::run;

namespace {

constexpr SignedContribution::Signature no_signature{};

PeerId key(std::uint32_t number) {
    PeerId id;
    id.bytes[0] = std::byte{static_cast<unsigned char>(number)};
    id.bytes[1] = std::byte{static_cast<unsigned char>(number >> 8U)};
    id.bytes[2] = std::byte{static_cast<unsigned char>(number >> 16U)};
    return id;
}

const PeerId session = key(1'000'000);

OfferOrigin through(const PeerId& from) { return {.session = from, .newcomer = true}; }

struct Round {
    Round() { offers.begin(Digest{}); }
    Verdict offer(std::uint32_t author, const OfferOrigin& origin) {
        ContributionMessage message;
        message.payload.root = payload_of(author);
        return offers.take(key(author), message, no_signature, origin);
    }
    static BlobId payload_of(std::uint32_t author) { return BlobId{key(author).bytes}; }
    /// Of authors 0 to `count`, those that stand.
    [[nodiscard]] std::set<std::uint32_t> standing(std::uint32_t count) const {
        std::set<std::uint32_t> those;
        for (std::uint32_t author = 0; author < count; ++author) {
            if (offers.contains(key(author))) those.insert(author);
        }
        return those;
    }
    Offers offers;
};

/// Each of `count` authors is delivered by a session of its own.
std::set<std::uint32_t> drawn_of(std::vector<std::uint32_t> authors, const Digest& lot) {
    Round round;
    round.offers.begin(lot);
    for (const std::uint32_t author : authors) (void)round.offer(author, through(key(2'000'000 + author)));
    return round.standing(static_cast<std::uint32_t>(authors.size()));
}

std::vector<std::uint32_t> numbers(std::uint32_t count) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t i = 0; i < count; ++i) all.push_back(i);
    return all;
}

}  // namespace

class OffersTest : public QObject {
    Q_OBJECT
private slots:
    void newcomers_have_64_places_in_a_round() {
        QCOMPARE(drawn_of(numbers(64), {}).size(), std::size_t{64});
        QCOMPARE(drawn_of(numbers(1'000), {}).size(), std::size_t{64});
    }

    void the_draw_does_not_depend_on_who_comes_first() {
        std::vector<std::uint32_t> reversed = numbers(1'000);
        std::reverse(reversed.begin(), reversed.end());
        QCOMPARE(drawn_of(numbers(1'000), {}), drawn_of(reversed, {}));
    }

    void each_list_draws_other_newcomers() {
        Digest other;
        other.bytes[0] = std::byte{1};
        QVERIFY(drawn_of(numbers(1'000), {}) != drawn_of(numbers(1'000), other));
    }

    void one_session_fills_16_places() {
        Round round;
        std::uint32_t author = 0;
        while (author < 500) (void)round.offer(author++, through(session));
        QCOMPARE(round.standing(author).size(), std::size_t{16});
        QCOMPARE(round.offer(author, through(key(5'000'000))), Verdict::accepted);
    }

    void a_vouched_session_fills_all_places() {
        Round round;
        OfferOrigin origin = through(session);
        origin.vouched = true;
        std::uint32_t author = 0;
        while (author < 500) (void)round.offer(author++, origin);
        QCOMPARE(round.standing(author).size(), std::size_t{64});
        // Nor is the number of its draws limited: the best lots of all stand.
        QCOMPARE(round.standing(author), drawn_of(numbers(500), {}));
    }

    void a_full_session_displaces_only_its_own_offers() {
        Round round;
        for (std::uint32_t author = 1'000; author < 1'048; ++author)
            QCOMPARE(round.offer(author, through(key(2'000'000 + author))), Verdict::accepted);
        for (std::uint32_t author = 0; author < 500; ++author) (void)round.offer(author, through(session));
        QCOMPARE(round.standing(1'000).size(), std::size_t{16});
        QCOMPARE(round.standing(1'048).size(), std::size_t{64});
    }

    void offers_of_no_use_give_way_before_all_others() {
        Round round;
        const std::set<std::uint32_t> best = drawn_of(numbers(65), {});
        std::uint32_t worst = 0;
        while (best.contains(worst)) ++worst;
        for (const std::uint32_t author : best) (void)round.offer(author, through(key(2'000'000 + author)));
        const std::uint32_t useless = *best.begin();
        QCOMPARE(round.offer(worst, through(session)), Verdict::no_room);
        (void)round.offers.payload_bad(Round::payload_of(useless));
        QCOMPARE(round.offer(worst, through(session)), Verdict::accepted);
        std::set<std::uint32_t> expected = best;
        expected.erase(useless);
        expected.insert(worst);
        QCOMPARE(round.standing(65), expected);
    }

    void a_session_draws_64_times_in_a_round() {
        Round round;
        std::size_t accepted = 0;
        // Offers that are useless give way at once, so that each next one would find a place.
        for (std::uint32_t author = 0; author < 500; ++author) {
            if (round.offer(author, through(session)) == Verdict::accepted) ++accepted;
            (void)round.offers.payload_bad(Round::payload_of(author));
        }
        QCOMPARE(accepted, std::size_t{64});
        round.offers.begin({});
        QCOMPARE(round.offer(1, through(session)), Verdict::accepted);
    }

    void an_offer_whose_payload_is_here_keeps_its_place() {
        Round round;
        for (std::uint32_t author = 0; author < 64; ++author) {
            QCOMPARE(round.offer(author, through(key(2'000'000 + author))), Verdict::accepted);
            (void)round.offers.payload_held(Round::payload_of(author), key(author));
        }
        for (std::uint32_t author = 64; author < 500; ++author)
            QCOMPARE(round.offer(author, through(key(2'000'000 + author))), Verdict::no_room);
        QCOMPARE(round.standing(500).size(), std::size_t{64});
        QVERIFY(round.offers.take_displaced().empty());
    }

    void payloads_of_displaced_offers_are_named_once() {
        Round round;
        std::set<std::uint32_t> ever;
        for (std::uint32_t author = 0; author < 500; ++author) {
            if (round.offer(author, through(key(2'000'000 + author))) == Verdict::accepted) ever.insert(author);
        }
        QVERIFY(ever.size() > 64);
        QCOMPARE(round.offers.take_displaced().size(), ever.size() - 64);
        QVERIFY(round.offers.take_displaced().empty());
    }

    void a_payload_that_another_offer_names_is_not_displaced() {
        Round round;
        ContributionMessage shared;
        shared.payload.root = Round::payload_of(7'777);
        QCOMPARE(round.offers.take(key(7'777), shared, no_signature), Verdict::accepted);
        for (std::uint32_t author = 0; author < 500; ++author)
            (void)round.offers.take(key(author), shared, no_signature, through(key(2'000'000 + author)));
        QVERIFY(round.offers.take_displaced().empty());
    }

    void newcomers_leave_the_places_of_others_alone() {
        Round round;
        for (std::uint32_t author = 0; author < 500; ++author)
            (void)round.offer(author, through(key(2'000'000 + author)));
        for (std::uint32_t author = 10'000; author < 10'000 + accepted_max; ++author)
            QCOMPARE(round.offer(author, {}), Verdict::accepted);
        QCOMPARE(round.offer(9'999, {}), Verdict::flood);
        QCOMPARE(round.standing(500).size(), std::size_t{64});
    }

    void room_is_foretold_without_a_signature() {
        Round round;
        for (std::uint32_t author = 0; author < 1'000; ++author) {
            const OfferOrigin origin = through(key(2'000'000 + author % 7));
            const bool foretold = round.offers.has_place_for(key(author), origin);
            QCOMPARE(round.offer(author, origin) == Verdict::accepted, foretold);
        }
        QVERIFY(round.offers.has_place_for(key(5'000), {}));
        // What stands is repeated, whatever its author or its neighbours send: that is no question of room.
        for (const std::uint32_t standing : round.standing(1'000))
            QVERIFY(round.offers.has_place_for(key(standing), through(session)));
    }
};

QTEST_APPLESS_MAIN(OffersTest)
#include "test_offers.moc"
