// Moments in a file: what comes back, whose they must be, what every kind of damage does, and when a writer gives up.
#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/base/files.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"
#include "core/training/moments/moments_file.h"
#ifdef __linux__
#include "tests/unit/disk_calls.h"
#endif

using namespace potluck;
using namespace potluck::training;
using numerics::OptimizerKind;
using numerics::OptimizerState;
using numerics::ParameterSlice;
using numerics::StateBits;
using std::chrono::milliseconds;
namespace fs = std::filesystem;

namespace {

constexpr milliseconds patience{60'000};

RunId run_of(unsigned char number) {
    RunId run;
    run.bytes.fill(std::byte{number});
    return run;
}

/// A slice of codes, one that is too short for them, and a gap between two.
std::vector<ParameterSlice> slices() { return {{0, 5000, 0.1F}, {5000, 5100, 0}, {6000, 11'000, 0.1F}}; }

/// Moments as steps leave them.
OptimizerState stepped(StateBits bits, std::vector<ParameterSlice> of = slices()) {
    OptimizerState state(std::move(of), bits);
    std::vector<float> parameters(11'000, 0.5F), gradient(11'000);
    Rng rng(4);
    for (std::uint64_t step = 1; step <= 3; ++step) {
        for (float& value : gradient) value = static_cast<float>(rng.unit() - 0.5);
        numerics::optimizer_step<float, float>(state, 0, state.slices().size(), parameters, gradient,
                                               {.learning_rate = 1e-3, .step = step}, 1);
    }
    return state;
}

Bytes contents(OptimizerState& state) {
    Bytes all;
    const auto add = [&](auto array) {
        const ByteSpan bytes = std::as_bytes(array);
        all.insert(all.end(), bytes.begin(), bytes.end());
    };
    for (std::size_t slice = 0; slice < state.slices().size(); ++slice) {
        const OptimizerState::Moments moments = state.moments(slice);
        add(moments.mean_codes), add(moments.variance_codes), add(moments.mean_scales), add(moments.variance_scales);
        add(moments.mean), add(moments.variance);
    }
    return all;
}

MomentsSource source_of(OptimizerState& state) {
    return {.slices = state.slices(), .bits = state.bits(), .read = [&](std::size_t slice) {
                return Result<OptimizerState::Moments>(state.moments(slice));
            }};
}

struct Shelf {
    QTemporaryDir folder;
    fs::path file = fs::path(folder.path().toStdString()) / "moments";
    MomentsStamp stamp{run_of(1), {20}, OptimizerKind::adamw, 3};
    MomentsWanted wanted{run_of(1), {20}, 4, OptimizerKind::adamw};
    StateBits bits = StateBits::bits8;

    void keep() {
        OptimizerState state = stepped(bits);
        if (!keep_moments(file, stamp, source_of(state), patience).ok()) qFatal("not kept");
    }
    /// The code with which it is refused, having left fresh moments.
    [[nodiscard]] ErrorCode refused() const {
        OptimizerState into(slices(), bits), fresh(slices(), bits);
        const auto read = read_moments(file, wanted, into);
        if (read.ok()) qFatal("taken");
        if (contents(into) != contents(fresh)) qFatal("poisoned");
        return read.error().code;
    }
    [[nodiscard]] Bytes bytes() const { return read_file(file, 1 << 20).value(); }
    void write(ByteSpan all) const {
        std::ofstream(file, std::ios::binary)
            .write(reinterpret_cast<const char*>(all.data()), static_cast<std::streamsize>(all.size()));
    }
    /// A file whose hash is right although its content is not: what a writer with a fault would leave.
    void write_hashed(Bytes all) const {
        const Digest digest = sha256(ByteSpan(all).first(all.size() - 32));
        std::ranges::copy(digest.bytes, all.end() - 32);
        write(all);
    }
    [[nodiscard]] std::size_t files() const {
        const fs::directory_iterator all(fs::path(folder.path().toStdString()));
        return static_cast<std::size_t>(std::distance(begin(all), end(all)));
    }
};

constexpr std::size_t header_bytes = 8 + 12 + 64 + 24;

}  // namespace

class MomentsFileTest : public QObject {
    Q_OBJECT
private slots:
    void saved_moments_come_back_bit_for_bit_data() {
        QTest::addColumn<int>("bits");
        QTest::newRow("8 bits") << 8;
        QTest::newRow("32 bits") << 32;
    }
    void saved_moments_come_back_bit_for_bit() {
        QFETCH(const int, bits);
        Shelf shelf;
        shelf.bits = static_cast<StateBits>(bits);
        shelf.keep();
        OptimizerState expected = stepped(shelf.bits), into(slices(), shelf.bits);
        QCOMPARE(fs::file_size(shelf.file), moments_file_bytes(slices(), shelf.bits));
        const auto read = read_moments(shelf.file, shelf.wanted, into);
        QVERIFY(read.ok());
        QCOMPARE(read->steps, 3U);
        QCOMPARE(read->round.value, 20U);
        QVERIFY(contents(into) == contents(expected));
        QCOMPARE(shelf.files(), std::size_t{1});
    }

    /// The format, by hand: magic, version, optimizer, bits, run, layout, round, steps, bytes of the body.
    void the_header_is_what_the_format_says() {
        Shelf shelf;
        shelf.stamp.optimizer = OptimizerKind::lamb;
        shelf.keep();
        const Bytes all = shelf.bytes();
        ByteReader reader{ByteSpan(all)};
        QCOMPARE(as_text(reader.raw(8)), std::string_view("PTLKMMNT"));
        QCOMPARE(reader.u32(), 1U);
        QCOMPARE(reader.u32(), 1U);
        QCOMPARE(reader.u32(), 8U);
        QVERIFY(std::ranges::equal(reader.raw(32), run_of(1).bytes));
        (void)reader.raw(32);
        QCOMPARE(reader.u64(), 20U);
        QCOMPARE(reader.u64(), 3U);
        QCOMPARE(reader.u64() + header_bytes + 32, all.size());
        QVERIFY(std::ranges::equal(ByteSpan(all).last(32), sha256(ByteSpan(all).first(all.size() - 32)).bytes));
    }

#ifdef __linux__
    void a_file_is_on_disk_before_it_has_its_name() {
        Shelf shelf;
        OptimizerState state = stepped(StateBits::bits8);
        test::DiskCalls::begin();
        QVERIFY(keep_moments(shelf.file, shelf.stamp, source_of(state), patience).ok());
        std::vector<std::string> calls = test::DiskCalls::end();
        std::erase_if(calls, [](const std::string& call) { return call.starts_with("write") || call.ends_with("/"); });
        QCOMPARE(calls, (std::vector<std::string>{"sync moments.partial", "rename moments", "sync moments"}));
    }
#endif

    void no_file_is_no_fault() {
        const Shelf shelf;
        QCOMPARE(shelf.refused(), ErrorCode::not_found);
    }

    void only_a_state_that_moved_little_takes_them_data() {
        QTest::addColumn<qulonglong>("round");
        QTest::addColumn<bool>("taken");
        QTest::newRow("the same state") << 20ULL << true;
        QTest::newRow("as far as may be") << 24ULL << true;
        QTest::newRow("one too far") << 25ULL << false;
        QTest::newRow("a state that went back") << 19ULL << false;
        QTest::newRow("the last round there is") << ~0ULL << false;
    }
    void only_a_state_that_moved_little_takes_them() {
        QFETCH(const qulonglong, round);
        QFETCH(const bool, taken);
        Shelf shelf;
        shelf.keep();
        shelf.wanted.round = {round};
        OptimizerState into(slices(), shelf.bits);
        if (taken)
            QVERIFY(read_moments(shelf.file, shelf.wanted, into).ok());
        else
            QCOMPARE(shelf.refused(), ErrorCode::cancelled);
    }

    void moments_of_something_else_are_refused() {
        Shelf shelf;
        shelf.keep();
        shelf.wanted.run = run_of(2);
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
        shelf.wanted = {run_of(1), {20}, 4, OptimizerKind::lamb};
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
        shelf.wanted.optimizer = OptimizerKind::adamw;
        shelf.bits = StateBits::bits32;
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
    }

    /// As many codes, scales and floats, but of other tensors.
    void moments_of_another_layout_are_refused() {
        Shelf shelf;
        OptimizerState other = stepped(StateBits::bits8, {{0, 5000, 0}, {5000, 5100, 0}, {5100, 10'100, 0}});
        QVERIFY(keep_moments(shelf.file, shelf.stamp, source_of(other), patience).ok());
        QCOMPARE(fs::file_size(shelf.file), moments_file_bytes(slices(), StateBits::bits8));
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
    }

    /// Each byte of the header and of the hash, and one in a hundred of the numbers between.
    void a_byte_that_flipped_is_found_wherever_it_is() {
        Shelf shelf;
        shelf.keep();
        const Bytes good = shelf.bytes();
        for (std::size_t at = 0; at < good.size(); at += at < header_bytes || at + 33 > good.size() ? 1 : 100) {
            Bytes bad = good;
            bad[at] ^= std::byte{0x10};
            shelf.write(bad);
            (void)shelf.refused();
        }
    }

    void a_file_of_another_length_is_not_read() {
        Shelf shelf;
        shelf.keep();
        const Bytes good = shelf.bytes();
        for (const std::size_t size : {std::size_t{0}, std::size_t{7}, header_bytes, good.size() - 1}) {
            shelf.write(ByteSpan(good).first(size));
            QCOMPARE(shelf.refused(), ErrorCode::malformed);
        }
        Bytes longer = good;
        longer.push_back({});
        shelf.write(longer);
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
        fs::remove(shelf.file);
        fs::create_directory(shelf.file);
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
    }

    void a_header_that_cannot_be_is_refused_even_with_its_hash_data() {
        QTest::addColumn<int>("at");
        QTest::addColumn<QByteArray>("value");
        QTest::newRow("version 2") << 8 << QByteArray("\2", 1);
        QTest::newRow("optimizer 2") << 12 << QByteArray("\2", 1);
        QTest::newRow("4 bits") << 16 << QByteArray("\4", 1);
        QTest::newRow("another layout") << 52 << QByteArray("x", 1);
        QTest::newRow("no step") << 92 << QByteArray(8, '\0');
        QTest::newRow("2^63 steps") << 99 << QByteArray("\x80", 1);
        QTest::newRow("a longer body") << 100 << QByteArray("\1\2", 2);
    }
    void a_header_that_cannot_be_is_refused_even_with_its_hash() {
        QFETCH(const int, at);
        QFETCH(const QByteArray, value);
        Shelf shelf;
        shelf.keep();
        Bytes bad = shelf.bytes();
        std::memcpy(bad.data() + at, value.data(), static_cast<std::size_t>(value.size()));
        shelf.write_hashed(bad);
        QCOMPARE(shelf.refused(), ErrorCode::malformed);
    }

    void numbers_that_no_step_writes_are_refused_even_with_their_hash_data() {
        QTest::addColumn<int>("bits");
        QTest::addColumn<int>("at");  // in the body
        QTest::addColumn<float>("value");
        constexpr float infinity = std::numeric_limits<float>::infinity();
        constexpr float nan = std::numeric_limits<float>::quiet_NaN();
        const int scales = 10'000, mean = 2 * 5000 + 2 * 4 * 20;
        QTest::newRow("infinite scale of means") << 8 << scales << infinity;
        QTest::newRow("negative scale of means") << 8 << scales << -1.0F;
        QTest::newRow("NaN scale of variances") << 8 << scales + 80 << nan;
        QTest::newRow("negative scale of variances") << 8 << scales + 80 << -1.0F;
        QTest::newRow("infinite mean") << 8 << mean << -infinity;
        QTest::newRow("negative variance") << 8 << mean + 400 << -1.0F;
        QTest::newRow("NaN variance") << 32 << 4 * 5000 << nan;
        QTest::newRow("NaN mean") << 32 << 0 << nan;
    }
    void numbers_that_no_step_writes_are_refused_even_with_their_hash() {
        QFETCH(const int, bits);
        QFETCH(const int, at);
        QFETCH(const float, value);
        Shelf shelf;
        shelf.bits = static_cast<StateBits>(bits);
        shelf.keep();
        Bytes bad = shelf.bytes();
        std::memcpy(bad.data() + header_bytes + at, &value, sizeof value);
        shelf.write_hashed(bad);
        QCOMPARE(shelf.refused(), ErrorCode::untrusted);
    }

    void a_writer_without_time_leaves_nothing() {
        Shelf shelf;
        shelf.keep();
        std::vector<ParameterSlice> large{{0, 10'000'000, 0}};
        OptimizerState state(large, StateBits::bits8);
        const Status kept = keep_moments(shelf.file, shelf.stamp, source_of(state), milliseconds{0});
        QCOMPARE(kept.error().code, ErrorCode::timed_out);
        QCOMPARE(shelf.files(), std::size_t{0});
    }

    void moments_that_cannot_be_read_leave_nothing() {
        Shelf shelf;
        OptimizerState state = stepped(StateBits::bits8);
        MomentsSource source = source_of(state);
        source.read = [&](std::size_t slice) -> Result<OptimizerState::Moments> {
            if (slice == 1) return Error{ErrorCode::io, "The GPU is gone."};
            return state.moments(slice);
        };
        QCOMPARE(keep_moments(shelf.file, shelf.stamp, source, patience).error().code, ErrorCode::io);
        QCOMPARE(shelf.files(), std::size_t{0});
        QVERIFY(!keep_moments("/no/such/folder/moments", shelf.stamp, source_of(state), patience).ok());
    }

    void a_pace_that_cannot_end_in_time_ends_now() {
        QVERIFY(writes_in_time(milliseconds{249}, milliseconds{1000}, 1, 1'000'000));   // too early to judge
        QVERIFY(!writes_in_time(milliseconds{251}, milliseconds{1000}, 1, 1'000'000));  // much too slow
        QVERIFY(writes_in_time(milliseconds{500}, milliseconds{1000}, 50, 100));
        QVERIFY(!writes_in_time(milliseconds{500}, milliseconds{1000}, 49, 100));
        QVERIFY(writes_in_time(milliseconds{1000}, milliseconds{1000}, 100, 100));
        QVERIFY(!writes_in_time(milliseconds{1001}, milliseconds{1000}, 100, 100));
    }

    void removing_takes_what_a_killed_writer_left_too() {
        Shelf shelf;
        shelf.keep();
        std::ofstream(shelf.file.string() + ".partial") << "half";
        remove_moments(shelf.file);
        QCOMPARE(shelf.files(), std::size_t{0});
    }
};

QTEST_GUILESS_MAIN(MomentsFileTest)
#include "test_moments_file.moc"
