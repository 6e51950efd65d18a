#include <QTest>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::model;

namespace {

constexpr std::size_t term_at = 32, round_at = 36, k_at = 108, members_at = 110, entries_at = 111;
constexpr std::size_t head_bytes = 113, member_bytes = 33, entry_bytes = 179;  // without certificates
constexpr std::size_t tail_bytes = 4 + 1 + 1;  // how many actions there were and how many follow, and no table
constexpr std::size_t table_bytes = 73, bounds_bytes = 18;
constexpr std::size_t key_action_bytes = 4 + 1 + 32 + 64;
/// The first entry of the sample, which has four members.
constexpr std::size_t first_entry_at = head_bytes + 4 * member_bytes;

bool decodes(const AcceptList& list) {
    const Result<AcceptList> decoded = AcceptList::decode(list.encode());
    return decoded.ok() && *decoded == list;
}

template <class Change>
bool refuses(Change change) {
    AcceptList list = samples::accept_list();
    change(list);
    return !decodes(list);
}

/// Whether the sample decodes with a little-endian number of `width` bytes at `at`.
bool decodes_with(std::size_t at, std::uint64_t number, std::size_t width) {
    Bytes bytes = samples::accept_list().encode();
    for (std::size_t i = 0; i < width; ++i) bytes.at(at + i) = static_cast<std::byte>(number >> (8 * i));
    return AcceptList::decode(bytes).ok();
}

/// One contributor each, with a payload of its own.
std::vector<Accepted> contributors(std::size_t count) {
    std::vector<Accepted> entries;
    for (std::size_t i = 0; i < count; ++i) {
        Accepted entry{{}, samples::plain_blob(1, 1), {1}, false, samples::signature()};
        entry.peer.bytes[0] = entry.payload.root.bytes[0] = static_cast<std::byte>(i >> 8U);
        entry.peer.bytes[1] = entry.payload.root.bytes[1] = static_cast<std::byte>(i & 0xffU);
        entries.push_back(entry);
    }
    return entries;
}

std::vector<PeerId> members(std::size_t count) {
    std::vector<PeerId> keys;
    for (std::size_t i = 0; i < count; ++i) keys.push_back(samples::id<PeerId>(static_cast<std::uint8_t>(i + 1)));
    return keys;
}

/// Actions of the numbers that follow `before`.
std::vector<SignedAction> actions_after(std::uint32_t before, std::size_t count) {
    std::vector<SignedAction> actions;
    for (std::size_t i = 0; i < count; ++i) {
        actions.push_back({samples::ban(before + static_cast<std::uint32_t>(i) + 1), samples::signature()});
    }
    return actions;
}

struct Claim {
    std::uint64_t tokens = 0;
    bool newcomer = false;
};

using Weights = std::vector<std::uint64_t>;

std::vector<Accepted> claims_of(const std::vector<Claim>& claims) {
    std::vector<Accepted> entries = contributors(claims.size());
    for (std::size_t i = 0; i < claims.size(); ++i) {
        entries[i].tokens = {claims[i].tokens};
        entries[i].newcomer = claims[i].newcomer;
    }
    return entries;
}

Weights weights_in(const std::vector<Accepted>& entries, const std::optional<Bounds>& bounds) {
    Weights values;
    for (const TokenCount& weight : weights_of(entries, bounds)) values.push_back(weight.value);
    return values;
}

Weights weights(const std::vector<Claim>& claims) { return weights_in(claims_of(claims), std::nullopt); }

constexpr bool newcomer = true;

}  // namespace

class AcceptListTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_survives_its_bytes() {
        QVERIFY(decodes(samples::accept_list()));
        QCOMPARE(samples::accept_list().encode().size(), head_bytes + 4 * member_bytes + 2 * entry_bytes + tail_bytes);
        AcceptList first = samples::accept_list();
        first.round = {0};
        first.previous = {};
        QVERIFY(decodes(first));
    }

    void a_list_without_entries_certifies_a_state() {
        AcceptList list = samples::accept_list();
        list.entries.clear();
        list.committee.resize(1);
        QVERIFY(decodes(list));
        QCOMPARE(list.encode().size(), accept_list_bytes_min);
        QCOMPARE(accept_list_bytes_min, std::size_t{152});
    }

    void the_fullest_list_fits_and_one_more_does_not() {
        AcceptList list = samples::accept_list();
        list.committee = members(committee_members_max);
        list.entries = contributors(accepted_max);
        QVERIFY(decodes(list));
        Bytes bytes = list.encode();
        AcceptList more = samples::accept_list();
        more.entries = {contributors(accepted_max + 1).back()};
        const Bytes extra = more.encode();
        bytes.insert(bytes.end() - tail_bytes, extra.end() - entry_bytes - tail_bytes, extra.end() - tail_bytes);
        bytes[entries_at] = std::byte{0x01};
        bytes[entries_at + 1] = std::byte{0x0c};
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void no_list_is_longer_than_the_limit() {
        AcceptList list = samples::accept_list();
        list.committee = members(committee_members_max);
        list.entries = contributors(accepted_max);
        list.actions = actions_after(0, actions_per_list_max);
        list.table = samples::plain_blob(0xc3, 100);
        list.bounds = Bounds{.norm = 1.5, .claim_max = 7, .unvouched = 500};
        for (Accepted& entry : list.entries) entry.certificate = samples::certificate();
        for (const PeerId& member : list.committee) {
            PeerId person = member;
            person.bytes[31] = std::byte{0xff};
            list.committee_owners[member] = {person, samples::signature()};
        }
        for (std::uint8_t i = 0; i < suspensions_per_list_max; ++i) {
            list.suspensions.push_back(samples::suspension());
            list.suspensions.back().person.bytes[31] = std::byte{i};
            for (SignedVerdict& one : list.suspensions.back().verdicts)
                one.verdict.person = list.suspensions.back().person;
            list.suspensions.back().verdicts.push_back(list.suspensions.back().verdicts.back());
            list.suspensions.back().verdicts.back().juror = samples::id<PeerId>(0xff);
        }
        list.measured = Measured{{1}, 8'192, {}};
        for (std::uint8_t i = 1; i <= losses_per_list_max; ++i) {
            const PeerId member = samples::id<PeerId>(i);
            const PeerId person = samples::id<PeerId>(static_cast<std::uint8_t>(0x80 + i));
            list.measured->losses.push_back({member, 1, samples::signature(), {person, samples::signature()}});
        }
        QVERIFY(decodes(list));
        QVERIFY(accept_list_bytes_max + statement_bytes_max + 16 <= message_bytes_max);
        // The limit reserves room for the longest kind of action, which never comes in numbers.
        const std::size_t reserve = actions_per_list_max * (host_action_bytes_max + 64 - key_action_bytes);
        QCOMPARE(list.encode().size(), accept_list_bytes_max - reserve);
        QCOMPARE(accept_list_bytes_max, std::size_t{870'446});
        QVERIFY(accept_list_bytes_max + 4 + 2 + statement_bytes_max <= message_bytes_max);
    }

    void suspensions_survive_their_bytes_and_have_one_spelling() {
        const AcceptList good = samples::suspending_list();
        QVERIFY(decodes(good));
        const auto refuses = [&](auto change) {
            AcceptList list = good;
            change(list);
            return !AcceptList::decode(list.encode()).ok();
        };
        const auto verdict_with = [&](auto change) {
            return refuses([&](AcceptList& list) { change(list.suspensions[0].verdicts[0].verdict); });
        };
        QVERIFY(refuses([](AcceptList& list) { list.entries.clear(); }));
        QVERIFY(refuses([](AcceptList& list) { list.suspensions.push_back(list.suspensions[0]); }));
        QVERIFY(refuses([](AcceptList& list) { list.suspensions[0].person = list.entries[0].peer; }));
        QVERIFY(refuses([](AcceptList& list) { list.suspensions[0].verdicts.clear(); }));
        QVERIFY(refuses([](AcceptList& list) {
            std::swap(list.suspensions[0].verdicts[0].juror, list.suspensions[0].verdicts[1].juror);
        }));
        QVERIFY(refuses(
            [](AcceptList& list) { list.suspensions[0].verdicts[1].juror = list.suspensions[0].verdicts[0].juror; }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.judged = 0; }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.times = suspensions_max; }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.first = one.last.next(); }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.last = {judged_round_max + 1}; }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.own = figure_max + 1; }));
        QVERIFY(verdict_with([](JurorVerdict& one) { one.median = -figure_max - 1; }));
        Bytes more = good.encode();
        more.push_back(std::byte{0});
        QVERIFY(!AcceptList::decode(more).ok());
        QCOMPARE(suspension_bytes_max, std::size_t{429});
        QCOMPARE(juror_verdict_bytes, std::size_t{68});
        QCOMPARE(encode_body(samples::verdict()).size(), juror_verdict_bytes);
    }

    void a_list_suspends_sixteen_persons_at_most() {
        AcceptList list = samples::suspending_list();
        const Suspension one = list.suspensions[0];
        list.suspensions.clear();
        for (std::uint8_t i = 0; i < suspensions_per_list_max; ++i) {
            list.suspensions.push_back(one);
            list.suspensions.back().person.bytes[31] = std::byte{i};
            for (SignedVerdict& verdict : list.suspensions.back().verdicts)
                verdict.verdict.person = list.suspensions.back().person;
        }
        QVERIFY(decodes(list));
        Bytes bytes = list.encode();
        ByteWriter extra;
        one.write(extra);
        const std::size_t each = extra.bytes().size();
        QVERIFY(bytes[bytes.size() - 1 - 16 * each] == std::byte{16});
        bytes[bytes.size() - 1 - 16 * each] = std::byte{17};
        bytes.insert(bytes.end(), extra.bytes().begin(), extra.bytes().end());
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void actions_of_the_host_survive_their_bytes() {
        const AcceptList list = samples::moderated_list();
        QVERIFY(decodes(list));
        QCOMPARE(list.encode().size(), samples::accept_list().encode().size() + 2 * key_action_bytes);
        QVERIFY(decodes(samples::roll_back_list()));
        QVERIFY(samples::moderated_list().hash() != samples::accept_list().hash());
    }

    void actions_are_numbered_without_a_gap() {
        const auto decodes_as = [](std::vector<std::uint32_t> numbers) {
            AcceptList list = samples::accept_list();
            list.actions_before = 3;
            for (const std::uint32_t number : numbers) list.actions.push_back({samples::ban(number), {}});
            return decodes(list);
        };
        QVERIFY(decodes_as({}));
        QVERIFY(decodes_as({4}));
        QVERIFY(decodes_as({4, 5, 6}));
        QVERIFY(!decodes_as({3}));
        QVERIFY(!decodes_as({5}));
        QVERIFY(!decodes_as({4, 4}));
        QVERIFY(!decodes_as({4, 6}));
        QVERIFY(!decodes_as({5, 4}));
    }

    void a_list_has_sixteen_actions_and_not_seventeen() {
        AcceptList list = samples::accept_list();
        list.actions = actions_after(0, actions_per_list_max);
        QVERIFY(decodes(list));
        Bytes bytes = list.encode();
        AcceptList more = samples::accept_list();
        more.actions_before = actions_per_list_max;
        more.actions = actions_after(actions_per_list_max, 1);
        const Bytes extra = more.encode();
        bytes[bytes.size() - actions_per_list_max * key_action_bytes - 2] = std::byte{actions_per_list_max + 1};
        bytes.insert(bytes.end() - 1, extra.end() - key_action_bytes - 1, extra.end() - 1);
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void the_number_of_actions_before_ends_at_two_to_the_twentieth() {
        const std::size_t before_at = samples::accept_list().encode().size() - tail_bytes;
        QVERIFY(decodes_with(before_at, 0, 4));
        QVERIFY(decodes_with(before_at, action_number_max, 4));
        QVERIFY(!decodes_with(before_at, action_number_max + 1, 4));
        QVERIFY(!decodes_with(before_at, ~std::uint32_t{0}, 4));
    }

    void a_list_may_name_a_table() {
        AcceptList list = samples::accept_list();
        list.table = samples::plain_blob(0xc3, 100);
        QVERIFY(decodes(list));
        QCOMPARE(list.encode().size(), samples::accept_list().encode().size() + table_bytes);
        QVERIFY(list.hash() != samples::accept_list().hash());
        const auto mark = [&](std::uint8_t value) {
            Bytes bytes = list.encode();
            bytes[bytes.size() - table_bytes - 1] = std::byte{value};
            return AcceptList::decode(bytes).ok();
        };
        QVERIFY(mark(1));
        QVERIFY(!mark(0));
        QVERIFY(!mark(2));
        list.table = samples::open_blob(0xc3, 100);
        QVERIFY(!decodes(list));
        // Before the first list there is nothing to sum up.
        list.table = samples::plain_blob(0xc3, 100);
        list.round = {0};
        list.previous = {};
        QVERIFY(!decodes(list));
    }

    void a_roll_back_stands_in_a_list_alone() {
        AcceptList list = samples::roll_back_list();
        QVERIFY(list.roll_back() == &list.actions[0].action);
        AcceptList behind = list;
        behind.actions_before = 4;
        behind.actions.insert(behind.actions.begin(), {samples::ban(5), {}});
        QVERIFY(!decodes(behind));
        AcceptList before = list;
        before.actions.push_back({samples::ban(7), {}});
        QVERIFY(!decodes(before));
        AcceptList beside = list;
        beside.entries = samples::accept_list().entries;
        QVERIFY(!decodes(beside));
    }

    void a_list_that_bans_or_allows_takes_nothing_back() {
        QVERIFY(samples::accept_list().roll_back() == nullptr);
        QVERIFY(samples::moderated_list().roll_back() == nullptr);
        AcceptList one = samples::moderated_list();
        one.actions.pop_back();
        QVERIFY(one.roll_back() == nullptr);
    }

    void a_committee_has_one_to_seven_members_in_order_and_none_twice() {
        AcceptList list = samples::accept_list();
        for (std::size_t size = 1; size <= committee_members_max; ++size) {
            list.committee = members(size);
            QVERIFY(decodes(list));
        }
        QVERIFY(refuses([](AcceptList& one) { one.committee.clear(); }));
        QVERIFY(refuses([](AcceptList& one) { std::swap(one.committee[1], one.committee[2]); }));
        QVERIFY(refuses([](AcceptList& one) { one.committee[2] = one.committee[1]; }));
        Bytes eight = list.encode();
        const PeerId last = samples::id<PeerId>(9);
        const auto end_of_members = eight.begin() + static_cast<std::ptrdiff_t>(head_bytes + 7 * member_bytes);
        Bytes member(last.bytes.begin(), last.bytes.end());
        member.push_back(std::byte{0});
        eight.insert(end_of_members, member.begin(), member.end());
        eight[members_at] = std::byte{8};
        QVERIFY(!AcceptList::decode(eight).ok());
    }

    void entries_are_sorted_and_nobody_stands_twice() {
        AcceptList list = samples::accept_list();
        std::swap(list.entries[0], list.entries[1]);
        QVERIFY(!decodes(list));
        list.entries[0].peer = list.entries[1].peer;
        QVERIFY(!decodes(list));
    }

    void a_payload_stands_in_a_list_once() {
        AcceptList list = samples::accept_list();
        list.entries = contributors(5);
        QVERIFY(decodes(list));
        list.entries[4].payload.root = list.entries[1].payload.root;
        QVERIFY(!decodes(list));
        list.entries[4].payload.size = 77;  // another size is no other payload: the root is what is fetched
        QVERIFY(!decodes(list));
    }

    void fields_out_of_range_are_refused() {
        QVERIFY(refuses([](AcceptList& list) { list.entries[0].tokens = {0}; }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].tokens = {tokens_max + 1}; }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].payload = samples::open_blob(1, 1); }));
        QVERIFY(refuses([](AcceptList& list) { list.entries[1].payload.size = 0; }));
        QVERIFY(refuses([](AcceptList& list) { list.term = term_max + 1; }));
        QVERIFY(refuses([](AcceptList& list) { list.round = {round_max + 1}; }));
        QVERIFY(refuses([](AcceptList& list) { list.round = {0}; }));  // but a list before it
    }

    void the_first_list_has_no_late_contribution() {
        const auto first = [](AcceptList& list) {
            list.round = {0};
            list.previous = {};
        };
        QVERIFY(!refuses(first));
        QVERIFY(!refuses([](AcceptList& list) { list.entries[1].late = true; }));
        QVERIFY(refuses([&](AcceptList& list) {
            first(list);
            list.entries[1].late = true;
        }));
    }

    void an_entry_has_two_marks_and_one_spelling_of_each() {
        constexpr std::size_t marks_at = first_entry_at + 32 + 73 + 8;
        for (const std::uint64_t marks : {0, 1, 2, 3}) QVERIFY(decodes_with(marks_at, marks, 1));
        for (const std::uint64_t marks : {4, 5, 128, 255}) QVERIFY(!decodes_with(marks_at, marks, 1));
    }

    void bounds_survive_their_bytes_and_have_one_spelling() {
        AcceptList list = samples::accept_list();
        list.bounds = Bounds{.norm = 0.5, .claim_max = 1'000, .unvouched = 500};
        QVERIFY(decodes(list));
        QCOMPARE(list.encode().size(), samples::accept_list().encode().size() + bounds_bytes);
        list.table = samples::plain_blob(0xc3, 100);
        QVERIFY(decodes(list));
        const auto refused = [&](double norm, std::uint64_t claim_max, std::uint32_t unvouched) {
            list.bounds = Bounds{.norm = norm, .claim_max = claim_max, .unvouched = unvouched};
            return !AcceptList::decode(list.encode()).ok();
        };
        static_assert(claim_sum_max == 4 * accepted_max * tokens_max);
        QVERIFY(!refused(0, claim_sum_max, Bounds::whole));
        QVERIFY(refused(0, claim_sum_max + 1, Bounds::whole));
        QVERIFY(refused(0, claim_sum_max, Bounds::whole + 1));
        QVERIFY(refused(-0.0, 1, 1) && refused(-1, 1, 1) && refused(std::numeric_limits<double>::infinity(), 1, 1) &&
                refused(std::numeric_limits<double>::quiet_NaN(), 1, 1));
        Bytes bytes = samples::accept_list().encode();
        bytes.back() = std::byte{4};
        QVERIFY(!AcceptList::decode(bytes).ok());
    }

    void only_lists_with_bounds_say_who_is_vouched_for() {
        AcceptList list = samples::accept_list();
        list.entries[0].newcomer = false;
        list.entries[0].vouched = true;
        QVERIFY(!decodes(list));
        list.bounds = Bounds{};
        QVERIFY(decodes(list));
        list.entries[0].newcomer = true;
        QVERIFY(!decodes(list));
    }

    void a_claim_counts_up_to_the_bound_of_the_list() {
        std::vector<Accepted> entries = claims_of({{100, newcomer}, {tokens_max, newcomer}, {tokens_max, newcomer}});
        QCOMPARE(weights_in(entries, std::nullopt), (Weights{100, tokens_max, tokens_max}));
        QCOMPARE(weights_in(entries, Bounds{.claim_max = 400}), (Weights{100, 400, 400}));
    }

    void before_anybody_is_established_the_least_claim_bounds_the_others() {
        const std::vector<Accepted> entries =
            claims_of({{100, newcomer}, {tokens_max, newcomer}, {tokens_max, newcomer}});
        QCOMPARE(next_bounds(entries, std::nullopt, 0, {.claim = 1}).claim_max, std::uint64_t{400});
        // A claim of next to nothing leaves everybody the step of a round that probation asks for.
        const std::vector<Accepted> mean = claims_of({{100, newcomer}, {1, newcomer}});
        QCOMPARE(next_bounds(mean, std::nullopt, 0, {.claim = 64}).claim_max, std::uint64_t{64});
        QCOMPARE(next_bounds({}, std::nullopt, 0, {.claim = 64}).claim_max, std::uint64_t{0});
    }

    void the_last_established_members_bound_newcomers_who_are_alone() {
        const std::vector<Accepted> first = claims_of({{100, newcomer}, {300}, {50}});
        const Bounds bounds = next_bounds(first, std::nullopt, 2.5, {.claim = 1});
        QCOMPARE(bounds.claim_max, std::uint64_t{200});
        QCOMPARE(bounds.norm, 2.5);
        const std::vector<Accepted> alone = claims_of({{1, newcomer}, {tokens_max, newcomer}});
        QCOMPARE(next_bounds(alone, bounds, 0, {.claim = 1}), bounds);
        QCOMPARE(next_bounds({}, bounds, 0, {.claim = 1}), bounds);
        const Bounds later = next_bounds(first, bounds, 9, {.claim = 1});
        QCOMPARE(later.norm, 9.0);
    }

    void unvouched_entries_have_their_share_and_no_say() {
        std::vector<Accepted> entries = claims_of({{100}, {1'000}, {3'000}, {1'000}, {100, newcomer}});
        entries[0].vouched = true;
        const Bounds half{.claim_max = 100'000, .unvouched = 500};
        // 100 of 1'000 + 3'000 + 1'000 + 100.
        QCOMPARE(weights_in(entries, half), (Weights{100, 19, 58, 19, 1}));
        QCOMPARE(weights_in(entries, Bounds{.claim_max = 100'000, .unvouched = 800}), (Weights{100, 78, 235, 78, 7}));
        QCOMPARE(weights_in(entries, Bounds{.claim_max = 100'000, .unvouched = 0}), (Weights{100, 0, 0, 0, 0}));
        QCOMPARE(weights_in(entries, Bounds{.claim_max = 100'000}), (Weights{100, 1'000, 3'000, 1'000, 100}));
        QCOMPARE(with_a_say(entries, half), (std::vector<bool>{true, false, false, false, false}));
        QCOMPARE(next_bounds(entries, std::nullopt, 1, {.unvouched = 500, .claim = 1}).claim_max, std::uint64_t{400});
        QCOMPARE(with_a_say(entries, Bounds{}), (std::vector<bool>{true, true, true, true, false}));
        // Where nobody is vouched for, there is nobody to have the other half.
        entries[0].vouched = false;
        QCOMPARE(weights_in(entries, half), (Weights{100, 1'000, 3'000, 1'000, 100}));
        QCOMPARE(with_a_say(entries, half), (std::vector<bool>{true, true, true, true, false}));
    }

    void claims_within_the_share_keep_their_weight() {
        std::vector<Accepted> entries = claims_of({{100}, {60}, {40}});
        entries[0].vouched = true;
        QCOMPARE(weights_in(entries, Bounds{.claim_max = 400, .unvouched = 500}), (Weights{100, 60, 40}));
    }

    void numbers_end_at_their_limits() {
        constexpr std::size_t tokens_at = first_entry_at + 32 + 73;
        QVERIFY(decodes_with(term_at, term_max, 4));
        QVERIFY(!decodes_with(term_at, term_max + 1, 4));
        QVERIFY(decodes_with(round_at, round_max, 8));
        QVERIFY(!decodes_with(round_at, round_max + 1, 8));
        QVERIFY(decodes_with(k_at, 1, 2));
        QVERIFY(!decodes_with(k_at, 0, 2));
        QVERIFY(decodes_with(k_at, chunk_entries, 2));
        QVERIFY(!decodes_with(k_at, chunk_entries + 1, 2));
        QVERIFY(decodes_with(tokens_at, 1, 8));
        QVERIFY(!decodes_with(tokens_at, 0, 8));
        QVERIFY(decodes_with(tokens_at, tokens_max, 8));
        QVERIFY(!decodes_with(tokens_at, tokens_max + 1, 8));
    }

    void an_incomplete_or_overlong_list_is_refused() {
        for (const AcceptList& list : {samples::accept_list(), samples::moderated_list(), samples::roll_back_list()}) {
            Bytes bytes = list.encode();
            for (std::size_t size = 0; size < bytes.size(); ++size) {
                QVERIFY(!AcceptList::decode(ByteSpan(bytes).first(size)).ok());
            }
            bytes.push_back(std::byte{0});
            QVERIFY(!AcceptList::decode(bytes).ok());
        }
    }

    void the_hash_depends_on_every_byte() {
        const Bytes bytes = samples::moderated_list().encode();
        std::set<Digest> hashes{samples::moderated_list().hash()};
        std::size_t others = 0;
        for (std::size_t i = 0; i < bytes.size(); ++i) {
            Bytes flipped = bytes;
            flipped[i] ^= std::byte{1};
            const Result<AcceptList> list = AcceptList::decode(flipped);
            if (!list.ok()) continue;
            QCOMPARE(to_hex(list->encode()), to_hex(flipped));
            QVERIFY(hashes.insert(list->hash()).second);
            ++others;
        }
        QVERIFY2(others > 640, qPrintable(QString::number(others)));  // all but counts, kinds and info-hashes
    }

    void a_usual_claim_weighs_what_it_says() {
        QVERIFY(weights({}) == Weights{});
        QVERIFY(weights({{7}}) == Weights{7});
        QVERIFY(weights({{100}, {250}, {400}}) == (Weights{100, 250, 400}));
    }

    void a_claim_is_worth_at_most_four_lower_medians() {
        QCOMPARE(median_multiple_max, std::uint64_t{4});
        QVERIFY(weights({{100}, {100}, {400}}) == (Weights{100, 100, 400}));
        QVERIFY(weights({{100}, {100}, {401}}) == (Weights{100, 100, 400}));
        // Of an even number the lower of the two in the middle counts: 100, not 300.
        QVERIFY(weights({{300}, {50}, {tokens_max}, {100}}) == (Weights{300, 50, 400, 100}));
    }

    void the_median_is_that_of_the_middle_whatever_the_order() {
        std::vector<Claim> claims{{3}, {9}, {27}, {81}, {243}};
        do {
            Weights expected;
            for (const Claim& claim : claims) expected.push_back(std::min<std::uint64_t>(claim.tokens, 108));
            QVERIFY(weights(claims) == expected);
        } while (std::next_permutation(claims.begin(), claims.end(),
                                       [](const Claim& a, const Claim& b) { return a.tokens < b.tokens; }));
    }

    void newcomers_have_no_say_in_the_median() {
        // A crowd of fresh keys that claims one token would press everybody down to four.
        const Weights low = weights({{1'000}, {1'200}, {1, newcomer}, {1, newcomer}, {1, newcomer}});
        QVERIFY(low == (Weights{1'000, 1'200, 1, 1, 1}));
        // One that claims much would raise what may be claimed.
        const Weights high = weights({{10}, {10'000}, {1'000'000, newcomer}, {1'000'000, newcomer}});
        QVERIFY(high == (Weights{10, 40, 6, 6}));
    }

    void newcomers_weigh_together_at_most_a_fifth() {
        QVERIFY(weights({{400}, {400}, {200, newcomer}}) == (Weights{400, 400, 200}));
        QVERIFY(weights({{400}, {400}, {201, newcomer}}) == (Weights{400, 400, 200}));
        QVERIFY(weights({{400}, {400}, {100, newcomer}, {300, newcomer}}) == (Weights{400, 400, 50, 150}));
        QVERIFY(weights({{403}, {100, newcomer}, {100, newcomer}}) == (Weights{403, 50, 50}));  // of 100.75
        for (const std::size_t crowd : {1, 10, 100, 1'000}) {
            std::vector<Claim> claims(5, Claim{1'000});
            claims.resize(5 + crowd, Claim{1'000'000, newcomer});
            const Weights all = weights(claims);
            const std::uint64_t share = std::accumulate(all.begin() + 5, all.end(), std::uint64_t{0});
            QVERIFY(share <= 1'250 && share + crowd > 1'250);
        }
    }

    void a_newcomer_s_weight_may_come_to_nothing() {
        QVERIFY(weights({{3}, {5, newcomer}}) == (Weights{3, 0}));
        QVERIFY(weights({{4}, {1, newcomer}, {3, newcomer}}) == (Weights{4, 0, 0}));
    }

    void while_all_are_newcomers_all_count() {
        QVERIFY(weights({{100, newcomer}, {200, newcomer}, {900, newcomer}}) == (Weights{100, 200, 800}));
        QVERIFY(weights({{5, newcomer}}) == Weights{5});
    }

    void the_largest_claims_do_not_wrap_around() {
        // 3,070 others with 2^40 tokens each are nearly 2^52; times 2^40 that is more than 64 bits hold.
        std::vector<Claim> claims(accepted_max - 2, Claim{tokens_max});
        claims.resize(accepted_max - 1, Claim{tokens_max, newcomer});
        QCOMPARE(weights(claims).back(), tokens_max);  // far below a fifth
        std::vector<Claim> crowd(2, Claim{tokens_max});
        crowd.resize(accepted_max, Claim{tokens_max, newcomer});
        const Weights all = weights(crowd);
        QCOMPARE(all.front(), tokens_max);
        QCOMPARE(all.back(), tokens_max / 2 / (accepted_max - 2));
    }
};

QTEST_APPLESS_MAIN(AcceptListTest)
#include "test_accept_list.moc"
