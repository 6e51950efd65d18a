#include <QTemporaryDir>
#include <QTest>

#include <fstream>

#include "app/node/member/state_files.h"
#include "core/base/merkle.h"
#ifdef __linux__
#include "tests/unit/disk_calls.h"
#endif

using namespace potluck;
using namespace potluck::node;
namespace fs = std::filesystem;

namespace {

model::ModelSpec small_model() {
    model::ModelSpec model;
    model.layers = 1;
    model.heads = 2;
    model.width = 16;
    model.context = 8;
    return model;
}

}  // namespace

class StateFilesTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_temporary;
    int m_folders = 0;
    fs::path fresh() { return fs::path(m_temporary.path().toStdString()) / std::to_string(++m_folders); }
    static std::unique_ptr<StateFiles> open(const fs::path& folder) {
        return std::move(StateFiles::open(folder, small_model(), 1).value());
    }
    static StateDigest commit(StateFiles& files, std::uint64_t round, float value) {
        const auto state = files.begin_state(RoundId{round}).value().values;
        std::fill(state.begin(), state.end(), value);
        return files.commit_state(RoundId{round}).value();
    }

    /// Without the numbers at the end of temporary names.
    static std::vector<std::string> short_names(std::vector<std::string> calls) {
        for (std::string& call : calls) {
            if (const auto part = call.find(".part-"); part != std::string::npos) call.resize(part + 5);
        }
        return calls;
    }

private slots:
    void a_committed_state_is_there_after_a_restart() {
        const fs::path folder = fresh();
        const StateDigest digest = commit(*open(folder), 3, 0.5F);
        const auto again = open(folder);
        QCOMPARE(again->held().size(), std::size_t{1});
        QVERIFY(again->held()[0].digest == digest);
        QVERIFY(again->held()[0].round == RoundId{3});
        QCOMPARE(again->state(RoundId{3}).parameters.size(), static_cast<std::size_t>(small_model().parameters()));
        QCOMPARE(again->state(RoundId{3}).parameters[7], 0.5F);
        QVERIFY(merkle_root(again->state(RoundId{3}).file) == digest);
        QCOMPARE(again->state_place(RoundId{3}).offset, std::uint64_t{again->layout().header.size()});
    }

#ifdef __linux__
    /// Neither name nor index may be on the disk before what they promise.
    void a_state_is_on_the_disk_before_its_name_and_its_name_before_the_index() {
        const std::vector<std::string> expected = {"msync map",         "rename 3.safetensors",  "sync 3.safetensors",
                                                   "sync states/",      "write index.json.part", "sync index.json.part",
                                                   "rename index.json", "sync states/"};
        const auto from = open(fresh());
        test::DiskCalls::begin();
        const StateDigest digest = commit(*from, 3, 0.5F);
        QCOMPARE(short_names(test::DiskCalls::end()), expected);
        const auto to = open(fresh());
        test::DiskCalls::begin();
        const bool adopted = to->adopt_state(RoundId{3}, digest, from->state(RoundId{3}).file).ok();
        const auto calls = short_names(test::DiskCalls::end());
        QVERIFY(adopted);
        QCOMPARE(calls, expected);
    }
#endif

    void a_state_that_was_begun_only_is_invisible_and_swept_away() {
        const fs::path folder = fresh();
        {
            const auto files = open(folder);
            QVERIFY(files->begin_state(RoundId{1}).ok());
            QVERIFY(files->held().empty());
        }
        QVERIFY(fs::exists(folder / "states" / "1.partial"));
        QVERIFY(open(folder)->held().empty());
        QVERIFY(!fs::exists(folder / "states" / "1.partial"));
    }

    void a_file_that_the_index_does_not_name_is_swept_away() {
        const fs::path folder = fresh();
        commit(*open(folder), 1, 1.0F);
        fs::copy(folder / "states" / "1.safetensors", folder / "states" / "2.safetensors");
        QCOMPARE(open(folder)->held().size(), std::size_t{1});
        QVERIFY(!fs::exists(folder / "states" / "2.safetensors"));
    }

    void a_damaged_index_or_a_short_file_costs_states_but_not_the_start() {
        const fs::path folder = fresh();
        commit(*open(folder), 1, 1.0F);
        commit(*open(folder), 2, 2.0F);
        fs::resize_file(folder / "states" / "1.safetensors", 100);
        QCOMPARE(open(folder)->held().size(), std::size_t{1});
        std::ofstream(folder / "states" / "index.json") << "{";
        QVERIFY(open(folder)->held().empty());
    }

    void verifying_sees_a_changed_byte() {
        const fs::path folder = fresh();
        const auto files = open(folder);
        const StateDigest digest = commit(*files, 4, 1.0F);
        QVERIFY(merkle_root(files->state(RoundId{4}).file) == digest);
        std::fstream file(files->state_file(RoundId{4}), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(20'000);
        file.put('x');
        file.close();
        QVERIFY(merkle_root(files->state(RoundId{4}).file) != digest);
        QVERIFY(files->held()[0].digest == digest);
    }

    void only_a_file_with_its_digest_is_adopted() {
        const auto from = open(fresh());
        const StateDigest digest = commit(*from, 5, 3.0F);
        const auto files = open(fresh());
        QCOMPARE(files->adopt_state(RoundId{5}, StateDigest{}, from->state(RoundId{5}).file).error().code,
                 ErrorCode::untrusted);
        QCOMPARE(files->adopt_state(RoundId{5}, digest, from->state(RoundId{5}).file.subspan(1)).error().code,
                 ErrorCode::malformed);
        QVERIFY(files->held().empty());
        QVERIFY(files->adopt_state(RoundId{5}, digest, from->state(RoundId{5}).file).ok());
        QCOMPARE(files->state(RoundId{5}).parameters[0], 3.0F);
    }

    void a_dropped_state_is_gone_from_disk() {
        const fs::path folder = fresh();
        const auto files = open(folder);
        commit(*files, 1, 1.0F);
        commit(*files, 2, 1.0F);
        files->drop_state(RoundId{1});
        QCOMPARE(files->held().size(), std::size_t{1});
        QVERIFY(!fs::exists(files->state_file(RoundId{1})));
        QCOMPARE(open(folder)->held().size(), std::size_t{1});
    }

    void a_state_that_a_job_reads_outlives_being_dropped_and_replaced() {
        const auto files = open(fresh());
        const StateDigest first = commit(*files, 1, 1.0F);
        const peer::State held = files->state(RoundId{1});
        commit(*files, 1, 2.0F);
        QVERIFY(merkle_root(held.file) == first);
        files->drop_state(RoundId{1});
        QVERIFY(merkle_root(held.file) == first);
        QCOMPARE(held.parameters[7], 1.0F);
    }

    void evidence_is_a_file_for_each_key_and_only_so_much_is_read() {
        const fs::path folder = fresh();
        PeerId liar, other;
        liar.bytes[0] = std::byte{1};
        other.bytes[0] = std::byte{2};
        const Bytes proof(300, std::byte{7});
        QVERIFY(open(folder)->save_evidence(liar, proof).ok());
        QVERIFY(open(folder)->load_evidence() == std::vector<Bytes>{proof});
        QVERIFY(fs::exists(evidence_file_in(folder, liar)));
        // What is too long is left out, and so is what a kill left half-written.
        QVERIFY(open(folder)->save_evidence(other, Bytes(run::evidence_bytes_max + 1)).ok());
        std::ofstream(folder / "evidence" / "x.part-1") << "half";
        QVERIFY(open(folder)->load_evidence() == std::vector<Bytes>{proof});
        for (std::size_t i = 0; i < run::evidence_kept_max + 8; ++i) {
            other.bytes[1] = static_cast<std::byte>(i);
            QVERIFY(open(folder)->save_evidence(other, proof).ok());
        }
        QCOMPARE(open(folder)->load_evidence().size(), run::evidence_kept_max);
    }

    void proofs_of_false_steps_are_files_by_their_lists_and_only_a_few_are_read() {
        const fs::path folder = fresh();
        Digest list;
        list.bytes[0] = std::byte{1};
        QVERIFY(open(folder)->manifest_file().empty());
        std::ofstream(folder / "manifest") << "told";
        QVERIFY(open(folder)->manifest_file() == Bytes(as_bytes("told").begin(), as_bytes("told").end()));
        QVERIFY(open(folder)->false_steps().empty());
        QVERIFY(!open(folder)->load_false_step(list));
        const Bytes proof(300, std::byte{7});
        QVERIFY(open(folder)->save_false_step(list, proof).ok());
        QVERIFY(open(folder)->false_steps() == std::vector<Digest>{list});
        QVERIFY(open(folder)->load_false_step(list) == proof);
        QVERIFY(fs::exists(false_step_file_in(folder, list)));
        QVERIFY(open(folder)->load_evidence().empty());
        // Neither a name that is no list's nor what a kill left half-written.
        std::ofstream(folder / "evidence" / "x.false-step") << "half";
        std::ofstream(folder / "evidence" / (list.hex() + ".false-step.part")) << "half";
        QVERIFY(open(folder)->false_steps() == std::vector<Digest>{list});
        for (std::size_t i = 0; i < peer::false_steps_kept_max + 2; ++i) {
            list.bytes[1] = static_cast<std::byte>(i);
            QVERIFY(open(folder)->save_false_step(list, proof).ok());
        }
        QCOMPARE(open(folder)->false_steps().size(), peer::false_steps_kept_max);
    }

#ifdef __linux__
    void evidence_is_on_the_disk_before_it_is_told() {
        const auto files = open(fresh());
        test::DiskCalls::begin();
        const bool saved = files->save_evidence(PeerId{}, Bytes(9)).ok();
        const auto calls = short_names(test::DiskCalls::end());
        QVERIFY(saved);
        const std::string name = PeerId{}.hex() + ".evidence";
        const std::vector<std::string> expected = {"write " + name + ".part", "sync " + name + ".part",
                                                   "rename " + name, "sync evidence/"};
        QCOMPARE(calls, expected);
    }
#endif

    void the_error_feedback_and_the_record_survive_a_restart() {
        const fs::path folder = fresh();
        {
            const auto files = open(folder);
            const auto error = files->scratch(peer::Scratch::error).value().values;
            QCOMPARE(error[0], 0.0F);
            error[9] = 4.0F;
            QVERIFY(!files->load_record());
            QVERIFY(files->save_record(as_bytes("record")).ok());
        }
        const auto files = open(folder);
        QCOMPARE(files->scratch(peer::Scratch::error).value().values[9], 4.0F);
        QCOMPARE(as_text(*files->load_record()), std::string_view("record"));
    }
};

QTEST_APPLESS_MAIN(StateFilesTest)
#include "test_state_files.moc"
