// What proves that a seat signed a false step, and what a forger's file does not.
#include <QTest>

#include <algorithm>

#include "core/base/files.h"
#include "core/base/merkle.h"
#include "core/numerics/codec/sparse_codec.h"
#include "core/numerics/outer/step_code.h"
#include "core/proof/false_step.h"
#include "core/proof/true_step.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::proof;

namespace {

constexpr std::uint64_t first_seat = 100;  // of four

/// A list with three payloads, and what its seats sign.
struct Sample {
    Sample() {
        manifest = run::samples::manifest();
        manifest.recipe.outer.form = numerics::StepForm::coded;
        list.entries.clear();
        list.committee.clear();
        for (std::uint64_t i = 0; i < 4; ++i) list.committee.push_back(test::key(first_seat + i));
        std::sort(list.committee.begin(), list.committee.end());
        for (std::uint64_t i = 0; i < 3; ++i) {
            run::Accepted entry;
            entry.peer = test::key(i + 1);
            std::vector<float> error(manifest.model.parameters());
            for (std::size_t at = 0; at < error.size(); ++at)
                error[at] = static_cast<float>((at * (i + 3)) % 17) - 8.0F;
            ByteWriter out;
            out.raw(entry.peer.bytes);
            out.raw(numerics::encode(error, 64, 1));
            const Bytes blob = out.take();
            entry.payload = {merkle_root(blob), blob.size(), run::BlobKind::plain, {}};
            entry.tokens = {64};
            entries.emplace_back(entry, blob);
        }
        std::sort(entries.begin(), entries.end(),
                  [](const auto& a, const auto& b) { return a.first.peer < b.first.peer; });
        for (const auto& [entry, blob] : entries) list.entries.push_back(entry);
        update();
    }
    /// The list has changed.
    void update() {
        json = manifest.to_json_text();
        file = run::manifest_file(as_bytes(json), {});
        evidence.manifest_file = file;
        evidence.list = list;
        evidence.payloads.clear();
        for (const auto& [entry, blob] : entries) {
            if (std::ranges::find(list.entries, entry.peer, &run::Accepted::peer) != list.entries.end())
                evidence.payloads.emplace_back(blob);
        }
        accuse({0});
    }
    /// Seats of these numbers have signed `step`, or else a false one.
    void accuse(const std::vector<std::uint64_t>& seats, std::optional<run::BlobRef> step = std::nullopt) {
        evidence.accused.clear();
        for (const std::uint64_t seat : seats) {
            const run::StepMessage message{
                list.round, list.hash(), step.value_or(run::samples::plain_blob(0xf0, 100)), {}};
            evidence.accused.push_back(signed_by(first_seat + seat, message));
        }
        std::ranges::sort(evidence.accused, {}, &SignedStep::seat);
    }
    [[nodiscard]] SignedStep signed_by(std::uint64_t number, const run::StepMessage& message) const {
        return {test::key(number), message,
                test::person(number).sign(run::domain_of(run::MessageKind::step), run::signed_bytes(run, message))};
    }
    [[nodiscard]] run::BlobRef true_blob() const {
        return true_step(list, evidence.payloads, {manifest.recipe, manifest.model.parameters()}, 1).value().value();
    }
    [[nodiscard]] Result<ProvenFalse> check(ByteSpan bytes) const {
        return check_false_step(bytes, run, run::Ed25519Verifier(), 1);
    }
    [[nodiscard]] Result<ProvenFalse> check() const { return check(evidence.encode()); }

    RunId run = run::samples::id<RunId>(0x11);
    run::Manifest manifest;
    std::string json;
    Bytes file;
    run::AcceptList list = run::samples::accept_list();
    std::vector<std::pair<run::Accepted, Bytes>> entries;
    FalseStep evidence;
};

}  // namespace

class FalseStepTest : public QObject {
    Q_OBJECT
private slots:
    void a_false_step_is_proven_for_each_seat_that_signed_one() {
        Sample sample;
        sample.accuse({0, 2});
        const auto proven = sample.check();
        QVERIFY2(proven.ok(), proven.ok() ? "" : proven.error().message.c_str());
        QVERIFY(proven->run == sample.run);
        QCOMPARE(proven->round.value, 7U);
        QVERIFY(proven->list == sample.list.hash());
        QCOMPARE(proven->seats.size(), std::size_t{2});
        QVERIFY(proven->seats == proven->persons);
        QCOMPARE(describe_false_step(proven->round), std::string("a false step of round 7"));
    }

    void a_seat_that_signed_the_true_step_is_not_convicted_beside_a_liar() {
        Sample sample;
        sample.accuse({1}, sample.true_blob());
        QVERIFY(!sample.check().ok());
        const SignedStep honest = sample.evidence.accused[0];
        sample.accuse({0});
        sample.evidence.accused.push_back(honest);
        std::ranges::sort(sample.evidence.accused, {}, &SignedStep::seat);
        const auto proven = sample.check();
        QVERIFY(!proven.ok());
        QCOMPARE(proven.error().code, ErrorCode::untrusted);
    }

    void a_step_of_another_size_is_false() {
        Sample sample;
        run::BlobRef longer = sample.true_blob();
        ++longer.size;
        sample.accuse({0}, longer);
        QVERIFY(sample.check().ok());
    }

    void a_word_that_its_seat_has_not_signed_proves_nothing() {
        Sample sample;
        sample.evidence.accused[0].signature[5] ^= std::byte{1};
        QCOMPARE(sample.check().error().code, ErrorCode::untrusted);
        sample.accuse({0});
        sample.evidence.accused[0].message.result.bytes[0] ^= std::byte{1};
        QCOMPARE(sample.check().error().code, ErrorCode::untrusted);
        // Signed for another run.
        Sample other;
        other.run = run::samples::id<RunId>(0x12);
        other.list.run = sample.run;
        other.accuse({0});
        other.evidence.list = other.list;
        QCOMPARE(check_false_step(other.evidence.encode(), sample.run, run::Ed25519Verifier(), 1).error().code,
                 ErrorCode::untrusted);
    }

    void only_seats_of_the_list_that_speak_of_it_are_accused() {
        const auto fails = [](auto change) {
            Sample sample;
            run::StepMessage message = sample.evidence.accused[0].message;
            const std::uint64_t author = change(message);
            sample.evidence.accused = {sample.signed_by(author, message)};
            return !FalseStep::parse(sample.evidence.encode()).ok();
        };
        QVERIFY(fails([](run::StepMessage& message) { return ++message.round.value, first_seat; }));
        QVERIFY(fails([](run::StepMessage& message) { return message.list.bytes[3] ^= std::byte{1}, first_seat; }));
        QVERIFY(fails([](run::StepMessage&) { return first_seat + 9; }));
        QVERIFY(!fails([](run::StepMessage&) { return first_seat; }));
    }

    void another_list_payload_or_run_proves_nothing() {
        Sample sample;
        // The same seats, another weight: another hash.
        Sample other;
        other.list.entries[0].tokens.value = 65;
        other.evidence.list = other.list;
        QVERIFY(!other.check().ok());
        Bytes changed = sample.entries[1].second;
        changed.back() ^= std::byte{1};
        sample.evidence.payloads[1] = changed;
        QCOMPARE(sample.check().error().code, ErrorCode::untrusted);
        std::swap(sample.evidence.payloads[0], sample.evidence.payloads[2]);
        QVERIFY(!sample.check().ok());
        const Sample good;
        QCOMPARE(check_false_step(good.evidence.encode(), run::samples::id<RunId>(0x13), run::Ed25519Verifier(), 1)
                     .error()
                     .code,
                 ErrorCode::untrusted);
    }

    void an_exact_run_has_no_steps_to_lie_about() {
        Sample sample;
        sample.manifest.recipe.outer.form = numerics::StepForm::exact;
        sample.update();
        QCOMPARE(sample.check().error().code, ErrorCode::untrusted);
    }

    void a_payload_that_is_none_of_the_run_convicts_nobody() {
        Sample sample;
        sample.entries[0].second.resize(sample.entries[0].second.size() - 1);
        sample.list.entries[0].payload = {
            merkle_root(sample.entries[0].second), sample.entries[0].second.size(), run::BlobKind::plain, {}};
        sample.update();
        const auto proven = sample.check();
        QVERIFY(!proven.ok());
        QCOMPARE(proven.error().code, ErrorCode::untrusted);
    }

    void more_payloads_than_the_list_names_are_refused() {
        Sample sample;
        sample.evidence.payloads.push_back(sample.evidence.payloads[0]);
        const auto step = true_step(sample.list, sample.evidence.payloads,
                                    {sample.manifest.recipe, sample.manifest.model.parameters()}, 1);
        QCOMPARE(step.error().code, ErrorCode::untrusted);
        sample.evidence.payloads.resize(2);
        QVERIFY(!true_step(sample.list, sample.evidence.payloads,
                           {sample.manifest.recipe, sample.manifest.model.parameters()}, 1)
                     .ok());
    }

    void a_list_without_contributions_has_no_step() {
        Sample sample;
        sample.list.entries.clear();
        sample.update();
        QVERIFY(sample.check().ok());
    }

    void a_seats_person_is_convicted_with_it() {
        Sample sample;
        const PeerId seat = test::key(first_seat);
        sample.list.committee_owners = {{seat, run::certify(test::person(50), seat)}};
        sample.update();
        const auto proven = sample.check();
        QVERIFY(proven.ok());
        QVERIFY(proven->persons == std::vector{test::key(50)});
    }

    void the_rule_of_the_recipe_decides_what_is_false() {
        Sample sample;
        const run::BlobRef step = sample.true_blob();
        sample.accuse({0}, step);
        QVERIFY(!sample.check().ok());
        // Coordinates that one of three sends are divided by the weight of all of them then.
        sample.manifest.recipe.outer.amplification = 1;
        sample.update();
        sample.accuse({0}, step);
        QVERIFY(sample.check().ok());
    }

    void every_byte_of_the_file_counts_up_to_the_payloads() {
        const Sample sample;
        const Bytes whole = sample.evidence.encode();
        std::size_t held = 0;
        for (std::size_t at = 0; at < whole.size(); at += at < 16 ? 1 : 7) {
            Bytes changed = whole;
            changed[at] ^= std::byte{0x40};
            // A letter of the manifest that F does not look at makes another run, which is its hash's affair.
            const bool is_manifest = at >= 12 && at < 12 + sample.file.size();
            if (!is_manifest && sample.check(changed).ok()) ++held;
        }
        QCOMPARE(held, std::size_t{0});
    }

    /// The layout stays as it is: proofs are kept for good. POTLUCK_WRITE_CORPUS=1 writes the file.
    void the_layout_is_that_of_the_corpus() {
        const Sample sample;
        const std::filesystem::path file = POTLUCK_SOURCE_DIR "/tests/fuzz/corpus/false_step/run";
        if (qEnvironmentVariableIsSet("POTLUCK_WRITE_CORPUS")) {
            QVERIFY(write_file_atomically(file, sample.evidence.encode()).ok());
        }
        QVERIFY(*read_file(file, false_step_bytes_max) == sample.evidence.encode());
    }

    void a_file_is_read_strictly() {
        const Sample sample;
        const Bytes whole = sample.evidence.encode();
        QVERIFY(is_false_step(whole));
        QVERIFY(!is_false_step(ByteSpan(whole).first(7)));
        QVERIFY(FalseStep::parse(whole).ok());
        QVERIFY(FalseStep::parse(whole).value().encode() == whole);
        for (std::size_t size = 0; size < whole.size(); size += size < 400 ? 1 : 997)
            QCOMPARE(FalseStep::parse(ByteSpan(whole).first(size)).error().code, ErrorCode::malformed);
        Bytes longer = whole;
        longer.push_back({});
        QCOMPARE(FalseStep::parse(longer).error().code, ErrorCode::malformed);
        // Nobody is accused; a seat twice; seats out of order; more than may sit.
        Sample changed;
        changed.accuse({});
        QVERIFY(!FalseStep::parse(changed.evidence.encode()).ok());
        changed.accuse({0, 0});
        QVERIFY(!FalseStep::parse(changed.evidence.encode()).ok());
        changed.accuse({0, 1});
        std::swap(changed.evidence.accused[0], changed.evidence.accused[1]);
        QVERIFY(!FalseStep::parse(changed.evidence.encode()).ok());
        changed.accuse({0, 1, 2, 3, 0, 1, 2, 3});
        QVERIFY(!FalseStep::parse(changed.evidence.encode()).ok());
    }

    void lengths_beyond_any_limit_are_refused_before_they_are_read() {
        const Sample sample;
        const auto longest = FalseStep::parse(Bytes(false_step_bytes_max + 1));
        QVERIFY(longest.error().message.find("longer than any") != std::string::npos);
        Bytes file = sample.evidence.encode();
        std::fill_n(file.begin() + 8, 4, std::byte{0xff});
        QCOMPARE(FalseStep::parse(file).error().code, ErrorCode::malformed);
        // A list whose payloads are longer than the file.
        Sample large;
        large.list.entries[0].payload.size = run::blob_bytes_max;
        large.evidence.list = large.list;
        large.accuse({0});
        QCOMPARE(FalseStep::parse(large.evidence.encode()).error().code, ErrorCode::malformed);
    }
};

QTEST_APPLESS_MAIN(FalseStepTest)
#include "test_false_step.moc"
