// A key outlives a loss of power: it is on the disk before it gets its name, and its name is before the call returns.
#include <QtTest>

#include "core/identity/identity.h"
#include "tests/unit/disk_calls.h"

using namespace potluck;
namespace fs = std::filesystem;

using test::DiskCalls;

class TestDiskOrder : public QObject {
    Q_OBJECT
private slots:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void a_key_is_synced_before_it_is_linked_and_its_folder_after() {
        const identity::Identity person = identity::Identity::from_seed({});
        DiskCalls::begin();
        const Status saved = person.save(at("identity.key"));
        const auto calls = DiskCalls::end();
        QVERIFY(saved.ok());
        compare(calls, {"write <new>", "sync <new>", "link identity.key", "sync <folder>"});
    }

    void a_first_key_syncs_the_folders_it_needs_too() {
        DiskCalls::begin();
        const bool made = identity::Identity::open_or_create(at("new") / "identity.key").ok();
        const auto calls = DiskCalls::end();
        QVERIFY(made);
        compare(calls, {"sync <folder>", "write <new>", "sync <new>", "link identity.key", "sync new/"});
    }

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }

    /// `<new>` stands for the file that was written, whatever its temporary name, `<folder>` for the test's folder.
    void compare(const std::vector<std::string>& calls, std::vector<std::string> expected) {
        std::string temporary;
        for (const std::string& call : calls) {
            if (call.starts_with("write ")) temporary = call.substr(6);
        }
        const std::string folder = fs::path(m_dir->path().toStdString()).filename().string() + "/";
        for (std::string& call : expected) {
            const auto replace = [&](std::string_view what, const std::string& by) {
                if (const auto found = call.find(what); found != std::string::npos)
                    call.replace(found, what.size(), by);
            };
            replace("<new>", temporary);
            replace("<folder>", folder);
        }
        QStringList seen, wanted;
        for (const std::string& call : calls) seen << QString::fromStdString(call);
        for (const std::string& call : expected) wanted << QString::fromStdString(call);
        QCOMPARE(seen, wanted);
    }

    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_APPLESS_MAIN(TestDiskOrder)
#include "test_disk_order.moc"
