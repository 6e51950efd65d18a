// The layouts of the committee's messages against vectors that were written by another program (wire/vectors.py): what
// the product writes is these bytes, and these bytes read back as the same value.
#include <algorithm>

#include <QFile>
#include <QTest>

#include "core/run/agreement/committee_change.h"
#include "core/run/agreement/evidence.h"
#include "core/run/agreement/vote_record.h"
#include "core/run/message.h"
#include "core/run/offers.h"

using namespace potluck;
using namespace potluck::run;

namespace {

/// The bytes of wire/<name>.hex, without blanks and comments.
Bytes vector_of(const char* name) {
    QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/tests/golden/wire/%1.hex").arg(QLatin1String(name)));
    if (!file.open(QIODevice::ReadOnly)) qFatal("no vector %s", name);
    QByteArray digits;
    for (const QByteArray& line : file.readAll().split('\n')) digits += line.split('#').front().trimmed();
    Bytes bytes(static_cast<std::size_t>(digits.size() / 2));
    if (!from_hex(std::string_view(digits.constData(), static_cast<std::size_t>(digits.size())), bytes)) {
        qFatal("vector %s is not hexadecimal", name);
    }
    return bytes;
}

template <class Id>
Id id(int byte) {
    Id value;
    value.bytes.fill(static_cast<std::byte>(byte));
    return value;
}

identity::Signature signature(int byte) {
    identity::Signature value;
    value.fill(static_cast<std::byte>(byte));
    return value;
}

const Digest list_a = id<Digest>(0xc1);
const Digest list_b = id<Digest>(0xc2);

Instance instance() { return {id<RunId>(0x11), 2, RoundId{7}}; }

Certificate certificate(std::uint32_t view, Step step) {
    return {instance(), view, step, list_a, 0b1011, {signature(0x50), signature(0x51), signature(0x53)}};
}

SignedVote vote(std::uint32_t view, Step step, std::optional<Digest> list, int author = 0xa1) {
    return {Vote{instance(), view, step, list}, id<PeerId>(author), signature(0x5a)};
}

SignedProposal proposal() { return {Proposal{instance(), 3, list_a, std::nullopt}, id<PeerId>(0xa1), signature(0x5a)}; }

SignedProposal proposal_again() {
    return {Proposal{instance(), 3, list_a, certificate(1, Step::prevote)}, id<PeerId>(0xa1), signature(0x5a)};
}

const Digest previous = id<Digest>(0x33);

/// Those of the vector, the lowest lot after `previous` first.
std::vector<PeerId> keys_by_lot() {
    const Bytes bytes = vector_of("lots");
    ByteReader in(bytes);
    std::vector<PeerId> keys(4);
    for (PeerId& key : keys) {
        in.array(key.bytes);
        (void)in.raw(32);
    }
    if (!in.finished()) qFatal("the vector has another length");
    return keys;
}

void compare(const char* name, const AgreementMessage& message) {
    const Bytes expected = vector_of(name);
    QCOMPARE(QString::fromStdString(to_hex(encode(message))), QString::fromStdString(to_hex(expected)));
    const Result<AgreementMessage> decoded = decode_agreement_message(expected);
    QVERIFY2(decoded.ok() && *decoded == message, name);
}

void compare_ballot(const char* name, const AgreementMessage& statement) {
    const Result<Message> ballot = decode_body(MessageKind::ballot, vector_of(name));
    QVERIFY2(ballot.ok(), name);
    QVERIFY2(std::get<BallotMessage>(*ballot).statement == encode(statement), name);
}

}  // namespace

class AgreementVectorsTest : public QObject {
    Q_OBJECT
private slots:
    void every_message_of_the_committee_has_its_layout() {
        compare("agreement_proposal", proposal());
        compare("agreement_proposal_again", proposal_again());
        compare("agreement_vote", vote(3, Step::precommit, list_a));
        compare("agreement_nil", vote(3, Step::prevote, std::nullopt));
        compare("agreement_certificate", certificate(3, Step::precommit));
    }

    void the_certificate_of_a_list_names_its_place_and_hash() {
        const AcceptList list = *AcceptList::decode(vector_of("accept_list"));
        Certificate of_list = certificate(3, Step::precommit);
        of_list.list = list.hash();
        compare("accept_list_certificate", of_list);
        QVERIFY(of_list.instance == (Instance{list.run, list.term, list.round}));
        SignedProposal proposed = proposal();
        proposed.statement.list = list.hash();
        compare_ballot("ballot", proposed);
        compare_ballot("ballot_without_list", vote(3, Step::precommit, list.hash()));
    }

    void proposers_take_turns_by_their_lots() {
        const std::vector<PeerId> keys = keys_by_lot();
        QVERIFY(!std::is_sorted(keys.begin(), keys.end()));
        QVERIFY(proposer_order(*Committee::from_keys(keys), previous) == keys);
    }

    void the_lower_lot_gets_a_seat_among_equals() {
        const std::vector<PeerId> keys = keys_by_lot();
        const std::vector<PeerId> seated{id<PeerId>(1), id<PeerId>(2), id<PeerId>(3), id<PeerId>(4)};
        for (const std::size_t lower : {1U, 2U}) {
            std::vector<PeerId> trusted = seated;
            trusted.insert(trusted.end(), {keys[lower], keys[lower + 1]});
            std::sort(trusted.begin(), trusted.end());
            std::vector<Standing> standings;
            for (const PeerId& key : trusted) {
                const bool leaves = key == seated[0];
                standings.push_back({.key = key,
                                     .person = key,
                                     .attendance = leaves ? Attendance::leaving : Attendance::here,
                                     .rounds_accepted = 5,
                                     .in_step = 1000});
            }
            const CommitteeView view{.trusted = trusted, .standings = standings, .fit_rounds = 5, .previous = previous};
            const auto change = next_committee(*Committee::from_keys(seated), view);
            QVERIFY(change.has_value());
            QVERIFY(change->joined == std::vector<PeerId>{keys[lower]});
        }
    }

    void the_higher_lot_gives_way_among_newcomers() {
        const std::vector<PeerId> keys = keys_by_lot();
        Offers offers;
        offers.begin(previous);
        const auto take = [&](const PeerId& author) {
            ContributionMessage message;
            message.payload.root.bytes = author.bytes;
            return offers.take(author, message, {}, {.session = id<PeerId>(9), .newcomer = true});
        };
        for (std::size_t i = 2; i < newcomers_per_session; ++i) {
            const auto author = id<PeerId>(static_cast<int>(0x40 + i));
            QVERIFY(take(author) == Verdict::accepted);
            (void)offers.payload_held(BlobId{author.bytes}, author);
        }
        QVERIFY(take(keys[1]) == Verdict::accepted && take(keys[2]) == Verdict::accepted);
        QVERIFY(take(keys[3]) == Verdict::no_room);
        QVERIFY(take(keys[0]) == Verdict::accepted);
        QVERIFY(!offers.contains(keys[2]) && offers.contains(keys[1]));
    }

    void evidence_has_its_layout() {
        const Evidence evidence{vote(3, Step::precommit, list_a), vote(3, Step::precommit, list_b)};
        QVERIFY(make_evidence(evidence.second, evidence.first) == evidence);
        const Bytes expected = vector_of("agreement_evidence");
        QCOMPARE(QString::fromStdString(to_hex(evidence.encode())), QString::fromStdString(to_hex(expected)));
        QVERIFY(*Evidence::decode(expected) == evidence);
    }

    void the_record_of_votes_has_its_layout() {
        VoteRecord record;
        record.author = id<PeerId>(0xa1);
        record.instance = instance();
        record.view = 3;
        record.locked = Lock{1, list_a};
        record.valid = certificate(1, Step::prevote);
        record.proposal = proposal_again();
        record.prevote = vote(3, Step::prevote, list_a);
        record.precommit = vote(3, Step::precommit, std::nullopt);
        record.entry = {vote(2, Step::precommit, std::nullopt, 0xb2)};
        const Bytes expected = vector_of("vote_record");
        QCOMPARE(QString::fromStdString(to_hex(record.encode())), QString::fromStdString(to_hex(expected)));
        QVERIFY(*VoteRecord::decode(expected) == record);
    }
};

QTEST_APPLESS_MAIN(AgreementVectorsTest)
#include "test_agreement_vectors.moc"
