// Hosts whom a person knows by work that they accepted: their other runs are vouched for by that.
#include <QtTest>

#include <fstream>

#include "app/node/find/known_hosts.h"
#include "app/node/paths.h"
#include "tests/unit/ledger/ledger_chain.h"
#include "tests/unit/run_samples.h"

using namespace potluck;
using namespace potluck::node;
using namespace potluck::test;
namespace fs = std::filesystem;

namespace {

/// The folder of a run that person 7 hosts.
void make_run(const fs::path& data_folder, const RunId& run) {
    run::Manifest manifest = run::samples::manifest();
    manifest.host = key(7);
    const std::string json = manifest.to_json_text();
    const Bytes file = run::manifest_file(as_bytes(json), person(7).sign(run::manifest_domain, as_bytes(json)));
    fs::create_directories(run_folder(data_folder, run));
    std::ofstream(run_folder(data_folder, run) / "manifest", std::ios::binary)
        .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
}

}  // namespace

class TestKnownHosts : public QObject {
    Q_OBJECT
private slots:
    void a_host_is_known_by_accepted_work_and_not_by_an_invite() {
        const QTemporaryDir folder;
        const fs::path data = folder.path().toStdString();
        ledger::Ledger ledger = in_memory();
        QVERIFY(known_hosts(data, ledger, key(1)).empty());
        Chain chain;
        const auto list = chain.next({{1, 500}});
        const RunId run = run::AcceptList::decode(list.list)->run;
        make_run(data, run);
        QVERIFY(known_hosts(data, ledger, key(1)).empty());
        QVERIFY(ledger.append(list, {}, 1'000).ok());
        QVERIFY(known_hosts(data, ledger, key(1)) == std::set<PeerId>{key(7)});
        // Somebody else's work is not this person's, and nobody is a friend of their own.
        QVERIFY(known_hosts(data, ledger, key(2)).empty());
    }
    void a_damaged_description_makes_nobody_known() {
        const QTemporaryDir folder;
        const fs::path data = folder.path().toStdString();
        ledger::Ledger ledger = in_memory();
        Chain chain;
        const auto list = chain.next({{1, 500}});
        const RunId run = run::AcceptList::decode(list.list)->run;
        QVERIFY(ledger.append(list, {}, 1'000).ok());
        make_run(data, run);
        std::ofstream(run_folder(data, run) / "manifest", std::ios::binary | std::ios::app) << "x";
        QVERIFY(known_hosts(data, ledger, key(1)).empty());
    }
};

QTEST_APPLESS_MAIN(TestKnownHosts)
#include "test_known_hosts.moc"
