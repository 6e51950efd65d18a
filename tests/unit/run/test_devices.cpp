// A person's computers: what makes a key one, and what a list may hold of them.
#include <QTest>

#include <algorithm>

#include "core/run/agreement/keyring.h"
#include "core/run/offers.h"
#include "core/run/run_rules.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::run;

namespace {

identity::Identity key_of(std::uint8_t number) {
    std::array<std::byte, 32> seed{};
    seed[0] = std::byte{number};
    return identity::Identity::from_seed(seed);
}

PeerId peer(std::uint8_t fill) { return samples::id<PeerId>(fill); }
const PeerId host = peer(2), ada = peer(3), bob = peer(4), stranger = peer(5);

DeviceCertificate computer_of(const PeerId& person) { return {person, samples::signature(0x66)}; }

RunRules rules_of_run() {
    RunRules rules;
    rules.host = host;
    rules.backbones = {ada};
    return rules;
}

AcceptList first_list() {
    AcceptList list;
    list.committee = {host};
    return list;
}

Accepted entry_of(std::uint8_t number, std::uint64_t tokens, const DeviceCertificate& certificate = {}) {
    return {peer(number), samples::plain_blob(number, 100), {tokens}, false, {}, false, certificate};
}

HostAction replacement_by(const std::vector<PeerId>& committee, const Owners& owners) {
    HostAction action = samples::replacement(1);
    action.round = {0};
    action.previous = {};
    action.committee = committee;
    action.committee_owners = owners;
    return action;
}

std::vector<std::uint64_t> weights(const std::vector<Accepted>& entries) {
    std::vector<std::uint64_t> values;
    for (const TokenCount& weight : weights_of(entries, {})) values.push_back(weight.value);
    return values;
}

using Weights = std::vector<std::uint64_t>;

}  // namespace

class DevicesTest : public QObject {
    Q_OBJECT
private slots:
    void a_person_signs_each_of_its_computers() {
        const Ed25519Verifier verifier;
        const identity::Identity person = key_of(1), computer = key_of(2), other = key_of(3);
        const DeviceCertificate certificate = certify(person, computer.id());
        QVERIFY(is_certified(computer.id(), certificate, verifier));
        QVERIFY(!is_certified(other.id(), certificate, verifier));
        DeviceCertificate changed = certificate;
        changed.person = other.id();
        QVERIFY(!is_certified(computer.id(), changed, verifier));
        changed = certificate;
        changed.signature[9] ^= std::byte{1};
        QVERIFY(!is_certified(computer.id(), changed, verifier));
        QVERIFY(is_certified(other.id(), {}, verifier));  // its own person
        const Bytes bytes = signed_bytes_of_device(person.id(), computer.id());
        changed.signature = person.sign("potluck/status/1", bytes);
        QVERIFY(!is_certified(computer.id(), changed, verifier));
        QVERIFY(are_certified({{computer.id(), certificate}}, verifier));
        QVERIFY(!are_certified({{computer.id(), certificate}, {other.id(), certificate}}, verifier));
    }

    void a_certificate_has_one_spelling() {
        ByteWriter out;
        computer_of(ada).write(out);
        QCOMPARE(out.bytes().size(), certificate_bytes_max);
        const auto reads = [](Bytes bytes, const PeerId* device = nullptr) {
            ByteReader in(bytes);
            (void)DeviceCertificate::read(in, device);
            return in.finished();
        };
        const Bytes whole = out.bytes();
        QVERIFY(reads(whole) && reads(whole, &bob));
        QVERIFY(!reads(whole, &ada));  // its own person, which has a spelling of its own
        QVERIFY(reads({std::byte{0}}));
        QVERIFY(!reads({std::byte{2}}));
        Bytes changed = whole;
        changed[0] = std::byte{2};
        QVERIFY(!reads(changed));
        changed = whole;
        std::fill(changed.begin() + 1, changed.begin() + 33, std::byte{0});
        QVERIFY(!reads(changed));
        changed = whole;
        changed.pop_back();
        QVERIFY(!reads(changed));
    }

    void a_list_carries_the_certificates_of_its_computers() {
        const AcceptList list = samples::list_of_computers();
        const Result<AcceptList> decoded = AcceptList::decode(list.encode());
        QVERIFY(decoded.ok() && *decoded == list);
        QVERIFY(list.entries[0].person() == samples::certificate().person);
        QVERIFY(list.entries[1].person() == list.entries[1].peer);
        AcceptList twice = list;
        twice.committee_owners[peer(0x05)] = samples::certificate();  // whose other computer has a seat, too
        QVERIFY(!AcceptList::decode(twice.encode()).ok());
        twice.committee_owners = {{peer(0x05), computer_of(peer(0x22))}};  // who has a seat itself
        QVERIFY(!AcceptList::decode(twice.encode()).ok());
    }

    void a_signed_contribution_names_its_person() {
        const AcceptList list = samples::list_of_computers();
        QVERIFY(contribution_of(list, list.entries[0]).certificate == samples::certificate());
        AcceptList stripped = list;
        stripped.entries[0].certificate = {};
        QVERIFY(encode_body(contribution_of(list, list.entries[0])) !=
                encode_body(contribution_of(stripped, stripped.entries[0])));
        AcceptList late = list;
        late.entries[0].late = true;
        QVERIFY(contribution_of(late, late.entries[0]).certificate == samples::certificate());
    }

    void all_computers_of_a_person_weigh_what_one_may() {
        const DeviceCertificate own = computer_of(ada);
        // 100, 100 and 400 + 400: the median is 100, and 800 are twice what one person may weigh.
        QVERIFY(weights({entry_of(10, 100), entry_of(11, 100), entry_of(12, 400, own), entry_of(13, 400, own)}) ==
                (Weights{100, 100, 200, 200}));
        QVERIFY(weights({entry_of(10, 100), entry_of(11, 100), entry_of(12, 100, own), entry_of(13, 300, own)}) ==
                (Weights{100, 100, 100, 300}));
        QVERIFY(weights({entry_of(10, 100), entry_of(11, 100), entry_of(12, 500, own), entry_of(13, 300, own)}) ==
                (Weights{100, 100, 250, 150}));
    }

    void a_persons_own_key_is_one_of_its_computers() {
        const DeviceCertificate own = computer_of(peer(10));
        QVERIFY(weights({entry_of(10, 400), entry_of(11, 100), entry_of(12, 100), entry_of(13, 400, own)}) ==
                (Weights{200, 100, 100, 200}));
    }

    void a_person_has_one_say_in_the_median() {
        const DeviceCertificate own = computer_of(ada);
        // Six keys of one person, against two: if each counted, the median would be theirs.
        std::vector<Accepted> low{entry_of(10, 1'000), entry_of(11, 1'000)};
        for (std::uint8_t i = 0; i < 6; ++i) low.push_back(entry_of(static_cast<std::uint8_t>(20 + i), 1, own));
        QCOMPARE(weights(low)[0], 1'000U);
        std::vector<Accepted> high{entry_of(10, 10), entry_of(11, 10)};
        for (std::uint8_t i = 0; i < 6; ++i) high.push_back(entry_of(static_cast<std::uint8_t>(20 + i), 90, own));
        QCOMPARE(weights(high)[2], 6U);  // of 40
    }

    void a_newcomers_computers_are_newcomers_together() {
        std::vector<Accepted> entries{entry_of(10, 400), entry_of(11, 400)};
        for (std::uint8_t i = 0; i < 16; ++i) {
            entries.push_back(entry_of(static_cast<std::uint8_t>(20 + i), 400, computer_of(ada)));
            entries.back().newcomer = true;
        }
        std::uint64_t share = 0;
        for (std::size_t i = 2; i < entries.size(); ++i) share += weights_of(entries, {})[i].value;
        QVERIFY(share <= 200);
    }

    void a_list_holds_sixteen_computers_of_a_person_and_not_seventeen() {
        AcceptList list = first_list();
        for (std::uint8_t i = 0; i < 16; ++i) {
            list.entries.push_back(entry_of(static_cast<std::uint8_t>(20 + i), 10, computer_of(bob)));
        }
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::accepted);
        list.entries.push_back(entry_of(90, 10, computer_of(stranger)));
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::accepted);
        list.entries.push_back(entry_of(91, 10, computer_of(bob)));
        QCOMPARE(check_link(list, nullptr, rules_of_run()), Verdict::not_allowed);
    }

    void bans_and_invitations_hold_for_persons() {
        RunRules rules = rules_of_run();
        AcceptList list = first_list();
        list.entries = {entry_of(20, 10, computer_of(bob))};
        rules.apply({.number = 1, .kind = ActionKind::ban, .key = bob, .round = {}, .state = {}, .previous = {}});
        list.actions_before = 1;
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        rules.banned.clear();
        rules.allowed = {bob};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        list.entries[0].certificate = computer_of(stranger);
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        list.entries[0].certificate = {};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
    }

    void a_seat_is_a_trusted_persons_and_no_second_one() {
        const RunRules rules = rules_of_run();
        AcceptList list = first_list();
        list.committee = {host, peer(9)};
        list.committee_owners = {{peer(9), computer_of(ada)}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
        list.committee_owners = {{peer(9), computer_of(stranger)}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        list.committee_owners = {{peer(9), computer_of(host)}};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
    }

    void a_seat_cannot_change_its_person() {
        const RunRules rules = rules_of_run();
        AcceptList before = first_list();
        before.committee = {host, peer(9)};
        before.committee_owners = {{peer(9), computer_of(ada)}};
        AcceptList list = before;
        list.round = {1};
        list.previous = before.hash();
        QCOMPARE(check_link(list, &before, rules), Verdict::accepted);
        list.committee_owners = {};
        QCOMPARE(check_link(list, &before, rules), Verdict::not_allowed);
        list.committee_owners = {{peer(9), {ada, samples::signature(0x67)}}};
        QCOMPARE(check_link(list, &before, rules), Verdict::not_allowed);
    }

    void the_hosts_computer_decides_the_first_list() {
        RunRules rules = rules_of_run();
        rules.backbones = {host, ada, bob, stranger};
        QVERIFY(rules.first_committee() == (std::vector{host, ada, bob, stranger}));
        QVERIFY(rules.first_owners().empty());
        rules.host_device = Device{peer(9), computer_of(host)};
        QVERIFY(rules.first_committee() == (std::vector{ada, bob, stranger, peer(9)}));
        QVERIFY(rules.first_owners() == (Owners{{peer(9), computer_of(host)}}));
        AcceptList list = first_list();
        list.committee = rules.first_committee();
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        list.committee_owners = rules.first_owners();
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
    }

    void a_host_replaces_its_committee_by_trusted_persons_computers() {
        const RunRules rules = rules_of_run();
        const auto verdict = [&](const DeviceCertificate& certificate) {
            AcceptList list = first_list();
            list.committee = {peer(9)};
            if (!certificate.is_own()) list.committee_owners = {{peer(9), certificate}};
            const HostAction action = replacement_by(list.committee, list.committee_owners);
            list.term = action.term;
            list.actions = {{action, {}}};
            ByteWriter out;
            action.write(out);
            ByteReader in(out.bytes());
            const bool survives = HostAction::read(in) == action && in.finished();
            return survives ? check_link(list, nullptr, rules) : Verdict::malformed;
        };
        QCOMPARE(verdict(computer_of(ada)), Verdict::accepted);
        QCOMPARE(verdict(computer_of(stranger)), Verdict::not_allowed);
        QCOMPARE(verdict({}), Verdict::not_allowed);
    }

    void a_round_takes_sixteen_offers_of_a_person() {
        Offers offers;
        ContributionMessage message;
        message.certificate = computer_of(bob);
        for (std::uint8_t i = 0; i < 16; ++i)
            QCOMPARE(offers.take(peer(static_cast<std::uint8_t>(100 + i)), message, {}), Verdict::accepted);
        QCOMPARE(offers.take(peer(200), message, {}), Verdict::no_room);
        QCOMPARE(offers.take(bob, {}, {}), Verdict::no_room);
        QCOMPARE(offers.take(peer(100), message, {}), Verdict::repeated);
        message.certificate = computer_of(ada);
        QCOMPARE(offers.take(peer(200), message, {}), Verdict::accepted);
    }
};

QTEST_APPLESS_MAIN(DevicesTest)
#include "test_devices.moc"
