// Who may take part, who may decide, and which list may follow which.
#include <QTest>

#include "core/run/run_rules.h"

using namespace potluck;
using namespace potluck::run;

namespace {

PeerId peer(std::uint8_t fill) {
    PeerId id;
    id.bytes.fill(std::byte{fill});
    return id;
}
BlobRef payload(std::uint8_t fill) {
    BlobRef ref;
    ref.root.bytes.fill(std::byte{fill});
    ref.size = 100;
    return ref;
}

const PeerId host = peer(2), backbone = peer(3), other = peer(4), third = peer(5);

RunRules rules_of_run() {
    RunRules rules;
    rules.host = host;
    rules.backbones = {backbone};
    return rules;
}

AcceptList list_of(const PeerId& contributor) {
    AcceptList list;
    list.committee = {host, backbone};
    list.entries = {{contributor, payload(9), {640}, false, {}}};
    return list;
}

}  // namespace

class RunRulesTest : public QObject {
    Q_OBJECT
private slots:
    void a_list_links_only_to_its_predecessor() {
        const RunRules rules = rules_of_run();
        const AcceptList first = list_of(other);
        QCOMPARE(check_link(first, nullptr, rules), Verdict::accepted);
        AcceptList of_another_run = first;
        of_another_run.run.bytes[0] = std::byte{1};
        QCOMPARE(check_link(of_another_run, nullptr, rules), Verdict::wrong_run);
        AcceptList second = list_of(other);
        second.round = {1};
        QCOMPARE(check_link(second, nullptr, rules), Verdict::stale);
        QCOMPARE(check_link(second, &first, rules), Verdict::wrong_base);
        second.previous = first.hash();
        QCOMPARE(check_link(second, &first, rules), Verdict::accepted);
        QCOMPARE(check_link(first, &first, rules), Verdict::stale);
    }

    void only_who_is_trusted_has_a_seat() {
        RunRules rules = rules_of_run();
        AcceptList list = list_of(other);
        list.committee = {host, backbone, other};  // who contributes for years is no more trusted for it
        QCOMPARE(check_link(list, nullptr, rules), Verdict::not_allowed);
        rules.allowed = {other};
        QCOMPARE(check_link(list, nullptr, rules), Verdict::accepted);
    }

    void an_allow_list_holds_for_contributors() {
        RunRules rules = rules_of_run();
        rules.allowed = {peer(7)};
        QCOMPARE(check_link(list_of(other), nullptr, rules), Verdict::not_allowed);
        QCOMPARE(check_link(list_of(host), nullptr, rules), Verdict::accepted);
        QCOMPARE(check_link(list_of(backbone), nullptr, rules), Verdict::accepted);
        rules.allowed = {other};
        QCOMPARE(check_link(list_of(other), nullptr, rules), Verdict::accepted);
    }

    void host_backbones_and_the_allow_list_are_trusted() {
        RunRules rules = rules_of_run();
        QVERIFY(rules.trusts(host) && rules.trusts(backbone));
        QVERIFY(!rules.trusts(other) && rules.admits(other));
        rules.allowed = {host, third, peer(6)};
        QVERIFY(rules.trusts(third) && rules.trusts(peer(6)));
        QVERIFY(!rules.trusts(other) && !rules.admits(other));
        QVERIFY(rules.trusted() == (std::vector{host, backbone, third, peer(6)}));
    }

    void the_first_committee_is_the_host_and_the_first_backbones() {
        const auto committee = [](std::vector<PeerId> backbones) {
            RunRules rules;
            rules.host = peer(9);
            rules.backbones = std::move(backbones);
            return rules.first_committee();
        };
        QVERIFY(committee({}) == std::vector{peer(9)});
        QVERIFY(committee({peer(1), peer(2)}) == std::vector{peer(9)});
        const std::vector<PeerId> four{peer(1), peer(2), peer(3), peer(9)};
        QVERIFY(committee({peer(2), peer(1), peer(3)}) == four);
        QVERIFY(committee({peer(2), peer(9), peer(1), peer(3)}) == four);
        QVERIFY(committee({peer(2), peer(1), peer(3), peer(8), peer(7)}) == four);
        QCOMPARE(committee({peer(1), peer(2), peer(3), peer(4), peer(5), peer(6), peer(7)}).size(), 7U);
    }
};

QTEST_APPLESS_MAIN(RunRulesTest)
#include "test_run_rules.moc"
