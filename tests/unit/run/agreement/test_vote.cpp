#include <QTest>

#include <bit>

#include "core/run/accept_list.h"
#include "tests/unit/run/agreement/committee_fixture.h"

using namespace potluck;
using namespace potluck::run;
using namespace potluck::run::testing;

namespace {

const Members& members() {
    static const Members seven(7);
    return seven;
}

Certificate polka(std::uint32_t view, const Digest& list) {
    return members().certificate(Step::prevote, view, list, {0, 2, 3, 5, 6});
}

std::vector<AgreementMessage> all_messages() {
    const Digest list = digest_of("a list");
    return {members().proposal(3, list),
            members().proposal(9, list, polka(4, list)),
            members().prevote(1, 3, list),
            members().precommit(2, 0, std::nullopt),
            members().certificate(Step::precommit, 3, list, {1, 2, 3, 4, 5}),
            polka(3, list)};
}

bool decodes(const AgreementMessage& message) {
    const Result<AgreementMessage> decoded = decode_agreement_message(encode(message));
    return decoded.ok() && *decoded == message;
}

template <class Change>
bool vote_with(Change change) {
    Vote vote{instance(), 3, Step::prevote, digest_of("a list")};
    change(vote);
    return decodes(sign(vote, members().keyrings[0]));
}

constexpr std::size_t vote_step_at = 1 + 32 + 32 + 4 + 8 + 4;

}  // namespace

class VoteTest : public QObject {
    Q_OBJECT
private slots:
    void every_message_survives_its_bytes() {
        for (const AgreementMessage& message : all_messages()) QVERIFY(decodes(message));
    }

    void an_incomplete_or_overlong_message_is_refused() {
        for (const AgreementMessage& message : all_messages()) {
            Bytes bytes = encode(message);
            for (std::size_t size = 0; size < bytes.size(); ++size) {
                QVERIFY(!decode_agreement_message(ByteSpan(bytes).first(size)).ok());
            }
            bytes.push_back(std::byte{0});
            QVERIFY(!decode_agreement_message(bytes).ok());
        }
    }

    void a_decoded_message_encodes_to_the_same_bytes() {
        for (const AgreementMessage& message : all_messages()) {
            const Bytes bytes = encode(message);
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                for (const std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xff}}) {
                    Bytes other = bytes;
                    other[i] ^= mask;
                    const Result<AgreementMessage> decoded = decode_agreement_message(other);
                    if (decoded.ok()) QCOMPARE(to_hex(encode(*decoded)), to_hex(other));
                }
            }
        }
    }

    void a_changed_byte_of_a_vote_or_proposal_breaks_its_signature() {
        const std::vector<AgreementMessage> messages = all_messages();
        for (std::size_t which = 0; which < 4; ++which) {
            const Bytes bytes = encode(messages[which]);
            for (std::size_t i = 0; i < bytes.size(); ++i) {
                Bytes other = bytes;
                other[i] ^= std::byte{0x01};
                const Result<AgreementMessage> decoded = decode_agreement_message(other);
                if (!decoded.ok()) continue;
                const auto* vote = std::get_if<SignedVote>(&*decoded);
                const auto* proposal = std::get_if<SignedProposal>(&*decoded);
                QVERIFY(vote == nullptr || !signature_holds(*vote, members().keyrings[0]));
                QVERIFY(proposal == nullptr || !signature_holds(*proposal, members().keyrings[0]));
            }
        }
    }

    void a_kind_without_a_meaning_is_refused() {
        for (const int kind : {0, 4, 255}) {
            Bytes bytes = encode(all_messages().front());
            bytes[0] = static_cast<std::byte>(kind);
            QVERIFY(!decode_agreement_message(bytes).ok());
        }
    }

    void limits_of_a_vote_are_exact() {
        QVERIFY(vote_with([](Vote& vote) { vote.view = view_max; }));
        QVERIFY(!vote_with([](Vote& vote) { vote.view = view_max + 1; }));
        QVERIFY(vote_with([](Vote& vote) { vote.instance.term = term_max; }));
        QVERIFY(!vote_with([](Vote& vote) { vote.instance.term = term_max + 1; }));
        QVERIFY(vote_with([](Vote& vote) { vote.instance.round = {round_max}; }));
        QVERIFY(!vote_with([](Vote& vote) { vote.instance.round = {round_max + 1}; }));
        QVERIFY(!vote_with([](Vote& vote) { vote.step = static_cast<Step>(0); }));
        QVERIFY(!vote_with([](Vote& vote) { vote.step = static_cast<Step>(3); }));
    }

    void nil_has_one_spelling() {
        Bytes bytes = encode(members().precommit(2, 0, std::nullopt));
        QCOMPARE(bytes[vote_step_at + 1], std::byte{0});
        bytes[vote_step_at + 1] = std::byte{2};
        QVERIFY(!decode_agreement_message(bytes).ok());
        bytes.insert(bytes.begin() + vote_step_at + 2, 32, std::byte{7});
        QVERIFY(!decode_agreement_message(bytes).ok());
    }

    void a_proof_is_of_an_earlier_view() {
        const Digest list = digest_of("a list");
        QVERIFY(decodes(members().proposal(5, list, polka(4, list))));
        QVERIFY(!decodes(members().proposal(5, list, polka(5, list))));
        QVERIFY(!decodes(members().proposal(5, list, polka(6, list))));
    }

    void a_certificate_has_one_to_five_signers_among_seven() {
        const auto with_signers = [](unsigned signers, std::size_t signatures) {
            Bytes bytes = encode(members().certificate(Step::precommit, 3, digest_of("a list"), {0}));
            const std::size_t at = 1 + 32 + 4 + 8 + 4 + 1 + 32;
            bytes[at] = static_cast<std::byte>(signers);
            bytes.resize(at + 1 + 64 * signatures);
            return decode_agreement_message(bytes).ok();
        };
        QVERIFY(with_signers(0b1, 1));
        QVERIFY(with_signers(0b1000000, 1));
        QVERIFY(with_signers(0b1111100, certificate_signatures_max));
        QVERIFY(!with_signers(0, 0));
        QVERIFY(!with_signers(0b10000000, 1));
        QVERIFY(!with_signers(0b1111110, certificate_signatures_max + 1));
        QVERIFY(!with_signers(0b11, 1));
        QVERIFY(!with_signers(0b1, 2));
    }

    void the_longest_message_is_as_long_as_its_limit() {
        QCOMPARE(encode(all_messages()[1]).size(), agreement_message_bytes_max);
    }

    void a_certificate_is_a_quorum_of_genuine_votes() {
        const Digest list = digest_of("a list");
        const HashKeyring& keyring = members().keyrings[0];
        const Certificate good = members().certificate(Step::precommit, 3, list, {0, 1, 2, 3, 4});
        QVERIFY(certifies(good, members().committee, keyring));
        QVERIFY(
            !certifies(members().certificate(Step::precommit, 3, list, {0, 1, 2, 3}), members().committee, keyring));
        QVERIFY(!certifies(members().certificate(Step::precommit, 3, list, {0, 1, 2, 3, 4, 5}), members().committee,
                           keyring));

        const auto changed = [&](auto change) {
            Certificate other = good;
            change(other);
            return certifies(other, members().committee, keyring);
        };
        QVERIFY(!changed([](Certificate& one) { one.list = digest_of("another"); }));
        QVERIFY(!changed([](Certificate& one) { one.view = 4; }));
        QVERIFY(!changed([](Certificate& one) { one.step = Step::prevote; }));
        QVERIFY(!changed([](Certificate& one) { one.instance.term = 3; }));
        QVERIFY(!changed([](Certificate& one) { one.instance.round = RoundId{6}; }));
        QVERIFY(!changed([](Certificate& one) { one.instance.run = {}; }));
        QVERIFY(!changed([](Certificate& one) { std::swap(one.signatures[0], one.signatures[1]); }));
        QVERIFY(!changed([](Certificate& one) { one.signatures[4] = one.signatures[3]; }));
        // The same signature may not stand for two members, nor a bit for nobody.
        QVERIFY(!changed([](Certificate& one) { one.signers = static_cast<std::uint8_t>(one.signers ^ 0x7f); }));
        QVERIFY(!changed([](Certificate& one) { one.signers = static_cast<std::uint8_t>(one.signers | 0x80); }));
        QVERIFY(!certifies(good, committee_of(6), keyring));
    }

    void signers_that_a_committee_does_not_have_make_no_quorum() {
        const Digest list = digest_of("a list");
        const Members four(4), one(1);
        // Two genuine votes, and a third for a seat that there is not.
        const Certificate good = four.certificate(Step::precommit, 3, list, {0, 1, 2});
        QVERIFY(certifies(good, four.committee, four.keyrings[0]));
        const unsigned last = std::bit_floor(static_cast<unsigned>(good.signers));
        for (const unsigned beyond : {4U, 5U, 6U, 7U}) {
            Certificate forged = good;
            forged.signers = static_cast<std::uint8_t>((good.signers ^ last) | 1U << beyond);
            QVERIFY(!certifies(forged, four.committee, four.keyrings[0]));
        }
        // A committee of one needs that one's vote.
        Certificate alone = one.certificate(Step::precommit, 3, list, {0});
        QVERIFY(certifies(alone, one.committee, one.keyrings[0]));
        alone.signers = 0b10;
        QVERIFY(!certifies(alone, one.committee, one.keyrings[0]));
    }

    void a_commit_is_proved_by_precommits_for_this_very_list() {
        AcceptList list;
        list.run = instance().run;
        list.term = instance().term;
        list.round = instance().round;
        list.previous = digest_of("previous list");
        list.committee = {key_of(0)};
        const std::vector<PeerId>& keys = members().committee.members();
        const HashKeyring& keyring = members().keyrings[0];
        const auto proves = [&](const AgreementMessage& message) {
            return proves_commit(encode(message), list, keys, keyring);
        };
        const std::vector<std::size_t> quorum{0, 2, 3, 5, 6};
        const Certificate good = members().certificate(Step::precommit, 3, list.hash(), quorum);
        QVERIFY(proves(good));
        QVERIFY(!proves(members().certificate(Step::prevote, 3, list.hash(), quorum)));
        QVERIFY(!proves(members().certificate(Step::precommit, 3, list.hash(), {0, 2, 3, 5})));
        QVERIFY(!proves(members().certificate(Step::precommit, 3, digest_of("another"), quorum)));
        QVERIFY(!proves(members().precommit(0, 3, list.hash())));
        QVERIFY(!proves(members().proposal(3, list.hash())));
        QVERIFY(!proves_commit({}, list, keys, keyring));
        // The committee is that of the list before, not the one that this list names, nor a part of it.
        QVERIFY(!proves_commit(encode(good), list, list.committee, keyring));
        QVERIFY(!proves_commit(encode(good), list, {keys.begin() + 1, keys.end()}, keyring));
        QVERIFY(!proves_commit(encode(good), list, {}, keyring));
        // Whatever is changed in the list, be it a signature in an entry, it is another list.
        const auto proves_other = [&](auto change) {
            AcceptList other = list;
            change(other);
            return proves_commit(encode(good), other, keys, keyring);
        };
        QVERIFY(!proves_other([](AcceptList& one) { one.committee.push_back(key_of(1)); }));
        QVERIFY(!proves_other([](AcceptList& one) { one.base.bytes[0] = std::byte{1}; }));
        QVERIFY(!proves_other([](AcceptList& one) { one.entries.push_back({key_of(0), {}, {1}, false, {}}); }));
    }

    void a_certificate_of_another_place_proves_nothing_though_it_names_the_list() {
        // Members that sign the hash of a list of another run, term or round do not commit it there.
        AcceptList list;
        list.run = instance().run;
        list.term = instance().term + 1;
        list.round = instance().round;
        list.committee = {key_of(0)};
        const std::vector<PeerId>& keys = members().committee.members();
        const auto proves = [&] {
            const Certificate of_this_instance =
                members().certificate(Step::precommit, 3, list.hash(), {0, 1, 2, 3, 4});
            return proves_commit(encode(of_this_instance), list, keys, members().keyrings[0]);
        };
        QVERIFY(!proves());
        list.term = instance().term;
        QVERIFY(proves());
        list.round = {6};
        QVERIFY(!proves());
        list.round = instance().round;
        list.run = {};
        QVERIFY(!proves());
    }

    void signatures_are_ed25519_over_run_and_body_under_the_kind() {
        std::array<std::byte, 32> seed{};
        const identity::Identity identity = identity::Identity::from_seed(seed);
        const IdentityKeyring keyring(identity);
        const SignedVote vote = sign(Vote{instance(), 3, Step::prevote, digest_of("a list")}, keyring);
        QVERIFY(vote.author == identity.id());
        QVERIFY(signature_holds(vote, keyring));
        QVERIFY(signature_holds(vote, Ed25519Verifier()));
        const Bytes bytes = encode(vote);
        Bytes covered(bytes.begin() + 1, bytes.begin() + 33);
        covered.insert(covered.end(), bytes.begin() + 65, bytes.end() - 64);
        QVERIFY(identity::verify(identity.id(), "potluck/vote/1", covered, vote.signature));

        const SignedProposal proposal = sign(Proposal{instance(), 3, digest_of("a list"), {}}, keyring);
        QVERIFY(signature_holds(proposal, keyring));
        const Bytes more = encode(proposal);
        covered.assign(more.begin() + 1, more.begin() + 33);
        covered.insert(covered.end(), more.begin() + 65, more.end() - 64);
        QVERIFY(identity::verify(identity.id(), "potluck/proposal/1", covered, proposal.signature));
    }

    void a_keyring_checks_as_it_was_told() {
        const identity::Identity identity = identity::Identity::from_seed({});
        const IdentityKeyring gullible(identity,
                                       [](const PeerId&, std::string_view, ByteSpan, const auto&) { return true; });
        const SignedVote forged{Vote{instance(), 3, Step::prevote, std::nullopt}, identity.id(), {}};
        QVERIFY(signature_holds(forged, gullible));
        QVERIFY(!signature_holds(forged, IdentityKeyring(identity)));
        QVERIFY(!signature_holds(forged, Ed25519Verifier()));
    }
};

QTEST_APPLESS_MAIN(VoteTest)
#include "test_vote.moc"
