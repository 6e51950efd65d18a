// What the command line shows of evidence that seats signed a false step, of a node and of a file.
#include <QTest>

#include "app/node/member/view.h"
#include "core/base/merkle.h"
#include "net/blob_torrent.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;

class FalseStepTextTest : public QObject {
    Q_OBJECT
private slots:
    void a_false_step_is_shown_with_its_file_and_checked_without_a_node() {
        const auto liar = identity::Identity::from_seed({});
        run::Manifest manifest = run::samples::manifest();
        manifest.recipe.outer.form = numerics::StepForm::coded;
        const std::string json = manifest.to_json_text();
        const Bytes told = run::manifest_file(as_bytes(json), {});
        const RunId run{net::manifest_info(merkle_root(told), told.size()).info_hash.bytes};
        // A list without contributions has no step, so any is false.
        proof::FalseStep evidence{told, run::samples::accept_list(), {}, {}};
        evidence.list.run = run;
        evidence.list.entries.clear();
        evidence.list.committee = {liar.id()};
        const run::StepMessage message{evidence.list.round, evidence.list.hash(), run::samples::plain_blob(1, 99), {}};
        evidence.accused = {
            {liar.id(), message, liar.sign(run::domain_of(run::MessageKind::step), run::signed_bytes(run, message))}};
        Bytes file = evidence.encode();
        const Result<std::string> text = evidence_text(file);
        QVERIFY2(text.ok(), text.ok() ? "" : text.error().message.c_str());
        QCOMPARE(*text, "key: " + liar.id().hex() + "\nrun: " + run.hex() + "\nsigned a false step of round 7");
        file.back() ^= std::byte{1};
        QCOMPARE(evidence_text(file).error().code, ErrorCode::untrusted);
        peer::CommitteeView committee;
        committee.lies = {{liar.id(), {RoundId{7}, message.list, true}}, {PeerId{}, {RoundId{8}, message.list, false}}};
        const control::Committee rows = committee_rows(committee, {}, "runs/ab");
        QCOMPARE(rows.evidence.size(), std::size_t{2});
        QCOMPARE(rows.evidence[1].what, std::string("a false step of round 7"));
        QCOMPARE(rows.evidence[1].round, std::uint64_t{7});
        QCOMPARE(rows.evidence[1].file, "runs/ab/evidence/" + message.list.hex() + ".false-step");
        QVERIFY(rows.evidence[0].file.empty());
    }
};

QTEST_APPLESS_MAIN(FalseStepTextTest)
#include "test_false_step_text.moc"
