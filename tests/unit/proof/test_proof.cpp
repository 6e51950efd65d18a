// The proof of a state: what it proves, that nothing in it can be changed, and that a changed model is found out.
#include <QtTest>

#include <utility>

#include "tests/unit/proof/proof_sample.h"

using namespace potluck;
using namespace potluck::test;
using proof::ProofFile;
using proof::Proven;

namespace {

Result<Proven> check(ByteSpan bytes, const RunId& run) {
    const Result<ProofFile> file = ProofFile::parse(bytes);
    if (!file) return file.error();
    return proof::check_proof(*file, run, run::Ed25519Verifier());
}

/// What is said of a proof of `sample` that must not hold.
std::string refusal(const ProofSample& sample) {
    const Bytes bytes = sample.proof();
    const Result<Proven> proven = check(bytes, sample.run());
    if (proven.ok()) return "it was taken";
    return proven.error().code == ErrorCode::untrusted ? proven.error().message : "another code";
}

bool mentions(const std::string& text, std::string_view part) {
    if (text.find(part) != std::string::npos) return true;
    qWarning("%s", text.c_str());
    return false;
}

}  // namespace

class ProofTest : public QObject {
    Q_OBJECT
private slots:
    void a_proof_says_who_agreed_and_who_contributed() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<Proven> proven = check(bytes, sample.run());
        QVERIFY2(proven.ok(), proven.ok() ? "" : proven.error().message.c_str());
        QVERIFY(proven->run == sample.run() && proven->round == RoundId{4});
        QVERIFY(proven->digest == merkle_root(sample.state(4)));
        QVERIFY(proven->committee == ProofSample::keys_of(ProofSample::friends()));
        QCOMPARE(proven->signers.size(), std::size_t{3});
        for (const std::uint64_t person : {100U, 101U, 102U})
            QVERIFY(std::find(proven->signers.begin(), proven->signers.end(), key(person)) != proven->signers.end());
        QCOMPARE(proven->committee_changes, 1U);
        QCOMPARE(proven->contributions, 1U + 2U + 3U + 3U);
        QCOMPARE(proven->tokens.value, 4U * 100 + 3U * 200 + 2U * 300);
        QCOMPARE(proven->contributors.size(), std::size_t{3});
        // Two with 600 tokens each, by their keys, then the one with 400.
        QCOMPARE(proven->contributors[2], (proof::Contributor{key(1), {400}, 4}));
        QVERIFY(proven->contributors[0].peer < proven->contributors[1].peer);
    }

    void computers_of_a_person_are_credited_together() {
        Chain chain;
        proof::Credits credits;
        const auto add = [&](const std::vector<Chain::Share>& shares) {
            credits.add(*run::AcceptList::decode(chain.next(shares).list));
        };
        add({{1, 100}, {2, 100}, {11, 70, false, false, 1}});
        add({{2, 100}, {11, 100, false, false, 1}});
        QCOMPARE(credits.contributions(), 5U);
        QCOMPARE(credits.contributors().size(), std::size_t{2});
        QCOMPARE(credits.contributors()[0], (proof::Contributor{key(1), {270}, 2}));
    }

    /// The layout stays as it is: proofs lie beside models for good. POTLUCK_WRITE_CORPUS=1 writes these files.
    void the_layout_is_that_of_the_corpus() {
        const ProofSample sample;
        for (const auto& [name, bytes] : {std::pair("run", sample.proof()), std::pair("initial", sample.proof(0, 0))}) {
            QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/fuzz/corpus/proof/%1").arg(QLatin1String(name)));
            const std::string_view text = as_text(bytes);
            if (qEnvironmentVariableIsSet("POTLUCK_WRITE_CORPUS")) {
                QVERIFY(file.open(QIODevice::WriteOnly));
                QCOMPARE(file.write(text.data(), static_cast<qint64>(text.size())), static_cast<qint64>(text.size()));
                file.close();
            }
            QVERIFY(file.open(QIODevice::ReadOnly));
            QVERIFY(file.readAll() == QByteArray(text.data(), static_cast<qsizetype>(text.size())));
        }
    }

    void a_table_stands_for_the_lists_before_it() {
        run::CreditTable table;
        table.run = ProofSample().run();
        table.round = {2};
        table.tokens = {400};
        table.contributions = 3;
        table.credits = {{key(1), {200}, 2}, {key(2), {200}, 1}};
        std::sort(table.credits.begin(), table.credits.end(),
                  [](const auto& a, const auto& b) { return a.peer < b.peer; });
        const auto prove = [](const run::CreditTable& named, const run::CreditTable& told,
                              const std::vector<std::size_t>& lists) {
            ProofSample sample;
            sample.list(2).table = run::table_ref(named.encode());
            sample.commit();
            return check(sample.proof_of(4, lists, told.encode()), sample.run());
        };
        const Result<Proven> proven = prove(table, table, {1, 2, 3, 4});
        QVERIFY2(proven.ok(), proven.ok() ? "" : proven.error().message.c_str());
        const ProofSample sample;
        const Result<Proven> whole = check(sample.proof(), sample.run());
        QVERIFY(proven->contributors == whole->contributors);
        QCOMPARE(proven->contributions, whole->contributions);
        QCOMPARE(proven->tokens.value, whole->tokens.value);
        QVERIFY(proven->digest == whole->digest);
        // The lists before may come as well.
        QVERIFY(prove(table, table, {0, 1, 2, 3, 4}).ok());
        run::CreditTable other = table;
        other.credits[0].tokens.value += 1;
        QCOMPARE(prove(table, other, {1, 2, 3, 4}).error().code, ErrorCode::untrusted);
        other = table;
        other.run = id<RunId>(8);
        QCOMPARE(prove(other, other, {1, 2, 3, 4}).error().code, ErrorCode::untrusted);
        other = table;
        other.round = {3};
        QCOMPARE(prove(other, other, {1, 2, 3, 4}).error().code, ErrorCode::untrusted);
        // Without the list that changed the committee, without the one before the table's, or with a gap behind it.
        for (const std::vector<std::size_t>& lists :
             std::vector<std::vector<std::size_t>>{{0, 2, 3, 4}, {2, 3, 4}, {1, 3, 4}, {1, 2, 4}, {1, 2, 3}}) {
            QCOMPARE(prove(table, table, lists).error().code, ErrorCode::untrusted);
        }
    }

    /// The one that a table's list follows says who may decide that list and what it may hold.
    void the_list_before_a_table_may_not_be_left_out() {
        ProofSample sample;
        run::CreditTable table;
        table.run = sample.run();
        table.round = {3};
        table.tokens = {1'000};
        table.contributions = 6;
        table.credits = {{key(1), {300}, 3}, {key(2), {400}, 2}, {key(3), {300}, 1}};
        std::sort(table.credits.begin(), table.credits.end(),
                  [](const auto& a, const auto& b) { return a.peer < b.peer; });
        const Bytes content = table.encode();
        sample.list(3).table = run::table_ref(content);
        sample.commit();
        // The committee changed with the list of round 1 and not since, so nothing else is missed.
        QVERIFY(check(sample.proof_of(4, {0, 2, 3, 4}, content), sample.run()).error().code == ErrorCode::untrusted);
        QVERIFY(check(sample.proof_of(4, {0, 1, 2, 3, 4}, content), sample.run()).ok());
        const Bytes without = sample.proof_of(4, {0, 1, 3, 4}, content);
        const Result<Proven> proven = check(without, sample.run());
        QVERIFY(!proven.ok());
        QVERIFY(mentions(proven.error().message, "The list of round 3 in this proof does not name the table of"));
    }

    void entries_of_the_certifying_list_count_for_the_next_state() {
        const ProofSample sample;
        const Bytes bytes = sample.proof(2, 3);
        const Result<Proven> proven = check(bytes, sample.run());
        QVERIFY(proven.ok());
        QVERIFY(proven->digest == merkle_root(sample.state(2)));
        QCOMPARE(proven->contributions, 1U + 2U);
    }

    void an_initial_state_needs_no_list() {
        const ProofSample sample;
        for (const std::uint64_t lists : {0U, 1U}) {
            const Bytes bytes = sample.proof(0, lists);
            const Result<Proven> proven = check(bytes, sample.run());
            QVERIFY(proven.ok());
            QVERIFY(proven->digest == merkle_root(sample.state(0)) && proven->tokens.value == 0);
            QCOMPARE(proven->committee.empty(), lists == 0);
        }
    }

    void no_byte_of_a_proof_can_be_changed() {
        const ProofSample sample;
        const Bytes whole = sample.proof();
        for (std::size_t at = 0; at < whole.size(); at += 7) {
            Bytes changed = whole;
            changed[at] ^= static_cast<std::byte>(1U << at % 8);
            QVERIFY2(!check(changed, sample.run()).ok(), qPrintable(QString::number(at)));
        }
    }

    void a_proof_that_is_cut_or_too_long_does_not_parse() {
        const ProofSample sample;
        Bytes whole = sample.proof();
        for (std::size_t size = 0; size < whole.size(); size += 5) {
            const Result<ProofFile> cut = ProofFile::parse(ByteSpan(whole).first(size));
            QVERIFY(!cut.ok());
            QCOMPARE(cut.error().code, ErrorCode::malformed);
        }
        whole.push_back(std::byte{0});
        QVERIFY(!ProofFile::parse(whole).ok());
    }

    void a_manifest_of_more_than_its_limit_is_refused_by_its_length() {
        ByteWriter out;
        for (const char letter : std::string_view("PLKPRF1\n")) out.u8(static_cast<std::uint8_t>(letter));
        out.u32(proof::manifest_file_bytes_max + 1);
        const Result<ProofFile> parsed = ProofFile::parse(out.bytes());
        QVERIFY(!parsed.ok() && mentions(parsed.error().message, "more than 1 MiB"));
    }

    void a_table_longer_than_any_is_refused_by_its_length() {
        const auto message_of = [](std::size_t table_bytes) {
            Bytes bytes = ProofSample().proof(0, 0);  // ends in the length of a table and the number of lists
            ByteWriter length;
            length.u32(static_cast<std::uint32_t>(table_bytes));
            const Bytes written = length.take();
            std::copy(written.begin(), written.end(), bytes.end() - 12);
            const Result<ProofFile> parsed = ProofFile::parse(bytes);
            return parsed.ok() ? std::string("it was taken") : parsed.error().message;
        };
        QVERIFY(mentions(message_of(run::table_bytes_max), "is cut short"));
        QVERIFY(mentions(message_of(run::table_bytes_max + 1), "larger than one can be"));
    }

    void the_number_of_lists_is_that_of_the_round() {
        const ProofSample sample;
        for (const std::uint64_t lists : {0U, 3U, 5U}) {
            const Bytes bytes = sample.proof(3, lists);
            const Result<ProofFile> parsed = ProofFile::parse(bytes);
            QVERIFY(!parsed.ok() && mentions(parsed.error().message, "the lists of its rounds"));
        }
    }

    void a_round_that_the_run_does_not_have_is_refused() {
        ProofSample sample;
        sample.manifest().recipe.total_rounds = 3;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> parsed = ProofFile::parse(bytes);
        QVERIFY(!parsed.ok() && mentions(parsed.error().message, "a round that its run does not have"));
    }

    void the_proof_of_another_run_proves_nothing() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<Proven> proven = check(bytes, id<RunId>(8));
        QVERIFY(!proven.ok() && mentions(proven.error().message, "round 0 in this proof is that of another place"));
    }

    void a_manifest_must_be_its_host_s() {
        ProofSample sample;
        sample.manifest().host = key(101);  // signed by another
        QVERIFY(mentions(refusal(sample), "not signed by the host"));
    }

    void a_forged_certificate_is_named_by_its_round() {
        ProofSample sample;
        run::CommittedList& third = sample.committed(3);
        third.certificate[third.certificate.size() - 7] ^= std::byte{1};
        QVERIFY(mentions(refusal(sample), "The list of round 3 in this proof was not signed by a quorum"));
        ProofSample other;
        other.committed(2).certificate = other.committed(1).certificate;
        QVERIFY(mentions(refusal(other), "The list of round 2 in this proof was not signed by a quorum"));
    }

    void a_committee_that_nobody_vouched_for_is_refused() {
        ProofSample sample;
        sample.list(1).committee = ProofSample::keys_of({100, 101, 102, 777});
        sample.commit();
        QVERIFY(mentions(refusal(sample), "The list of round 1 in this proof may not follow the one before it"));
    }

    void a_contributor_who_may_not_join_is_refused() {
        ProofSample sample;
        sample.list(2).entries.push_back(ProofSample::entry(77, 2, 5));
        std::sort(sample.list(2).entries.begin(), sample.list(2).entries.end());
        sample.commit();
        QVERIFY(mentions(refusal(sample), "The list of round 2 in this proof may not follow the one before it"));
    }

    void a_contributor_whom_the_host_has_shut_out_is_refused() {
        ProofSample sample;
        sample.ban(1, key(2));
        QVERIFY(mentions(refusal(sample),
                         "The list of round 2 in this proof may not follow the one before it (not_allowed)"));
    }

    void a_proof_lists_the_hosts_decisions() {
        ProofSample sample;
        sample.ban(1, key(77));
        const Bytes bytes = sample.proof();
        const Result<Proven> proven = check(bytes, sample.run());
        QVERIFY(proven.ok());
        QCOMPARE(proven->actions, std::vector<std::string>{"ban " + key(77).hex()});
    }

    void a_run_begins_with_the_state_of_its_manifest() {
        ProofSample sample;
        sample.list(0).base = merkle_root(sample.state(9));
        sample.commit();
        QVERIFY(mentions(refusal(sample), "does not begin with the initial state"));
    }

    void the_pieces_are_those_of_the_state_that_was_agreed_on() {
        ProofSample sample;
        sample.list(4).base = merkle_root(sample.state(3));
        sample.commit();
        QVERIFY(mentions(refusal(sample), "do not lead to the state that was agreed on after round 4"));
    }

    void the_same_state_is_found_the_same() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> file = ProofFile::parse(bytes);
        const auto found = proof::check_state(*file, sample.state(4), 2);
        QVERIFY(found.ok() && found->damaged.empty());
        QCOMPARE(found->pieces, 2U);
        QCOMPARE(found->piece_size, std::uint64_t{merkle_block_size});
    }

    void a_changed_byte_is_named_by_tensor_and_place_data() {
        QTest::addColumn<qulonglong>("at");
        QTest::addColumn<QString>("place");
        QTest::addRow("header") << 100ULL << "header";
        QTest::addRow("first value") << 16'384ULL << "wte.weight[0..63]";
        QTest::addRow("last byte") << 0ULL << "ln_f.bias[0..7]";
    }
    void a_changed_byte_is_named_by_tensor_and_place() {
        QFETCH(const qulonglong, at);
        QFETCH(const QString, place);
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> file = ProofFile::parse(bytes);
        Bytes state = sample.state(4);
        const std::size_t byte = at == 0 ? state.size() - 1 : at;
        state[byte] ^= std::byte{0x20};
        const auto found = proof::check_state(*file, state, 1);
        QVERIFY(found.ok() && found->damaged.size() == 1);
        const proof::Damage& damage = found->damaged.front();
        QVERIFY(damage.begin <= byte && byte < damage.end);
        QVERIFY(damage.places.size() <= proof::places_max);
        if (at != 0) QVERIFY(mentions(damage.places.front(), place.toStdString()));
        const auto change = proof::find_changed_byte(*file, *found, state, 2);
        QVERIFY(change.has_value());
        QCOMPARE(change->at, byte);
        QVERIFY(change->is == state[byte] && change->was == (state[byte] ^ std::byte{0x20}));
    }

    void pieces_that_differ_side_by_side_are_one_place() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> file = ProofFile::parse(bytes);
        Bytes state = sample.state(4);
        state[3] ^= std::byte{1};
        state.back() ^= std::byte{1};
        const auto found = proof::check_state(*file, state, 1);
        QVERIFY(found.ok() && found->damaged.size() == 1);
        QCOMPARE(found->damaged[0].begin, 0U);
        QCOMPARE(found->damaged[0].end, state.size());
        QVERIFY(!proof::find_changed_byte(*file, *found, state, 1));
    }

    void two_changed_bytes_of_a_piece_are_no_byte() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> file = ProofFile::parse(bytes);
        Bytes state = sample.state(4);
        state[state.size() - 1] ^= std::byte{1};
        state[state.size() - 2] ^= std::byte{1};
        const auto found = proof::check_state(*file, state, 1);
        QVERIFY(found.ok() && found->damaged.size() == 1);
        QVERIFY(!proof::find_changed_byte(*file, *found, state, 2));
    }

    void a_model_of_another_size_says_so() {
        const ProofSample sample;
        const Bytes bytes = sample.proof();
        const Result<ProofFile> file = ProofFile::parse(bytes);
        const Bytes state = sample.state(4);
        const auto found = proof::check_state(*file, ByteSpan(state).first(state.size() - 4), 1);
        QVERIFY(!found.ok());
        QCOMPARE(found.error().code, ErrorCode::untrusted);
        QVERIFY(mentions(found.error().message, std::to_string(state.size())));
    }

    void large_states_have_larger_pieces() {
        constexpr std::uint64_t gib = 1ULL << 30U;
        QCOMPARE(proof::piece_size_of(1), std::uint64_t{merkle_block_size});
        QCOMPARE(proof::piece_size_of(merkle_block_size * proof::piece_hashes_max), gib / proof::piece_hashes_max);
        QCOMPARE(proof::piece_size_of(gib + 1), std::uint64_t{2 * merkle_block_size});
    }
};

QTEST_APPLESS_MAIN(ProofTest)
#include "test_proof.moc"
