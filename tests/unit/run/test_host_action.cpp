// What a host changes: the layout of each kind of action, and its limits.
#include <QTest>

#include <set>

#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

constexpr std::size_t kind_at = 4, round_at = 5, size_at = 13 + 32, blob_kind_at = size_at + 8;

std::vector<HostAction> each_kind() {
    return {samples::ban(1),       samples::readmit(2),     samples::allow(3),
            samples::roll_back(4), samples::replacement(5), samples::lift(6)};
}

Bytes bytes_of(const HostAction& action) {
    ByteWriter out;
    action.write(out);
    return out.take();
}

std::optional<HostAction> read(ByteSpan bytes) {
    ByteReader in(bytes);
    const HostAction action = HostAction::read(in);
    return in.finished() ? std::optional(action) : std::nullopt;
}

/// Whether `action` decodes with a little-endian number of `width` bytes at `at`.
bool reads_with(const HostAction& action, std::size_t at, std::uint64_t number, std::size_t width) {
    Bytes bytes = bytes_of(action);
    for (std::size_t i = 0; i < width; ++i) bytes.at(at + i) = static_cast<std::byte>(number >> (8 * i));
    return read(bytes).has_value();
}

}  // namespace

class HostActionTest : public QObject {
    Q_OBJECT
private slots:
    void each_kind_survives_its_bytes() {
        std::uint8_t number = 0;
        for (const HostAction& action : each_kind()) {
            const Bytes bytes = bytes_of(action);
            const std::size_t size = action.kind == ActionKind::roll_back ? 86U
                                     : action.kind == ActionKind::replace ? 83U
                                                                          : 37U;
            QCOMPARE(bytes.size(), size);
            QVERIFY(read(bytes) == action);
            QCOMPARE(std::to_integer<std::uint8_t>(bytes[kind_at]), ++number);
        }
    }

    void an_incomplete_or_overlong_action_is_refused() {
        for (const HostAction& action : each_kind()) {
            Bytes bytes = bytes_of(action);
            for (std::size_t size = 0; size < bytes.size(); ++size) QVERIFY(!read(ByteSpan(bytes).first(size)));
            bytes.push_back(std::byte{0});
            QVERIFY(!read(bytes));
        }
    }

    void a_decoded_action_encodes_to_the_same_bytes() {
        for (const HostAction& action : each_kind()) {
            const Bytes bytes = bytes_of(action);
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                for (const std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
                    Bytes other = bytes;
                    other[i] ^= mask;
                    if (const auto found = read(other)) QCOMPARE(to_hex(bytes_of(*found)), to_hex(other));
                }
            }
        }
    }

    void numbers_begin_at_one_and_end_at_two_to_the_twentieth() {
        for (const HostAction& action : each_kind()) {
            QVERIFY(!reads_with(action, 0, 0, 4));
            QVERIFY(reads_with(action, 0, 1, 4));
            QVERIFY(reads_with(action, 0, 1U << 20U, 4));
            QVERIFY(!reads_with(action, 0, (1U << 20U) + 1, 4));
        }
    }

    void a_kind_without_a_meaning_is_refused() {
        for (const int kind : {0, 7, 255}) {
            QVERIFY(!reads_with(samples::ban(1), kind_at, static_cast<std::uint64_t>(kind), 1));
            QVERIFY(!reads_with(samples::roll_back(1), kind_at, static_cast<std::uint64_t>(kind), 1));
        }
        QVERIFY(reads_with(samples::ban(1), kind_at, 3, 1));
    }

    void a_roll_back_names_a_round_and_a_state_that_can_be() {
        const HostAction action = samples::roll_back(1);
        QVERIFY(reads_with(action, round_at, 0, 8));
        QVERIFY(reads_with(action, round_at, round_max, 8));
        QVERIFY(!reads_with(action, round_at, round_max + 1, 8));
        QVERIFY(reads_with(action, size_at, blob_bytes_max, 8));
        QVERIFY(!reads_with(action, size_at, blob_bytes_max + 1, 8));
        QVERIFY(!reads_with(action, size_at, 0, 8));
        QVERIFY(!reads_with(action, blob_kind_at, 2, 1));
    }

    void a_replacement_names_a_term_a_round_and_a_committee_that_can_be() {
        constexpr std::size_t term_at = 5, replaced_round_at = 9, members_at = 49;
        const HostAction action = samples::replacement(1);
        QVERIFY(!reads_with(action, term_at, 0, 4));
        QVERIFY(reads_with(action, term_at, term_max, 4));
        QVERIFY(!reads_with(action, term_at, term_max + 1, 4));
        QVERIFY(reads_with(action, replaced_round_at, round_max, 8));
        QVERIFY(!reads_with(action, replaced_round_at, round_max + 1, 8));
        QVERIFY(!reads_with(action, members_at, 0, 1));
        HostAction full = action;
        full.committee.clear();
        for (std::uint8_t member = 1; member <= committee_members_max; ++member) {
            full.committee.push_back(samples::id<PeerId>(member));
            full.committee_owners[samples::id<PeerId>(member)] = {
                samples::id<PeerId>(static_cast<std::uint8_t>(member + 100)), samples::signature()};
        }
        QCOMPARE(bytes_of(full).size(), host_action_bytes_max);
        QVERIFY(read(bytes_of(full)) == full);
        std::swap(full.committee[0], full.committee[1]);
        QVERIFY(!read(bytes_of(full)));
        Bytes eight = bytes_of(action);
        eight[members_at] = std::byte{8};
        for (std::uint8_t member = 6; member < 13; ++member) {
            eight.insert(eight.end(), 32, std::byte{member});
            eight.push_back(std::byte{0});
        }
        QVERIFY(!read(eight));
    }

    void a_signed_action_is_the_action_and_the_signature() {
        for (const HostAction& action : each_kind()) {
            const SignedAction one{action, samples::signature(0x71)};
            ByteWriter out;
            wire::write(out, one);
            QCOMPARE(out.bytes().size(), bytes_of(action).size() + 64);
            ByteReader in(out.bytes());
            QVERIFY(wire::read<SignedAction>(in) == one);
            QVERIFY(in.finished());
            for (std::size_t size = 0; size < out.bytes().size(); ++size) {
                ByteReader cut(ByteSpan(out.bytes()).first(size));
                (void)wire::read<SignedAction>(cut);
                QVERIFY(cut.failed());
            }
        }
    }

    void the_log_tells_what_and_to_whom() {
        const std::string key = samples::ban(1).key.hex(), other = samples::allow(1).key.hex();
        QCOMPARE(describe(samples::ban(1)), "ban " + key);
        QCOMPARE(describe(samples::readmit(1)), "readmit " + key);
        QCOMPARE(describe(samples::allow(1)), "allow " + other);
        HostAction everybody = samples::ban(1);
        everybody.key = unvouched_keys;
        QCOMPARE(describe(everybody), std::string("close the run to keys that its host does not vouch for"));
        everybody.kind = ActionKind::readmit;
        QCOMPARE(describe(everybody), std::string("open the run to everybody"));
        QCOMPARE(describe(samples::roll_back(1)), std::string("roll back to round 5"));
    }
};

QTEST_APPLESS_MAIN(HostActionTest)
#include "test_host_action.moc"
