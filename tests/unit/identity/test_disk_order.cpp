// What must outlive a loss of power is on the disk before it gets its name, and the name is before the call returns.
#include <QtTest>

#include "core/base/files.h"
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

    void a_replaced_file_is_synced_before_it_is_renamed_and_its_folder_after() {
        for (const char* content : {"first", "second"}) {
            DiskCalls::begin();
            const Status written = write_file_atomically(at("record"), as_bytes(content));
            const auto calls = DiskCalls::end();
            QVERIFY(written.ok());
            compare(calls, {"write <new>", "sync <new>", "rename record", "sync <folder>"});
        }
    }

    void a_synced_file_is_synced_with_its_folder() {
        QVERIFY(write_file_atomically(at("blob"), as_bytes("content")).ok());
        DiskCalls::begin();
        const Status synced = sync_file(at("blob"));
        const auto calls = DiskCalls::end();
        QVERIFY(synced.ok());
        compare(calls, {"sync blob", "sync <folder>"});
    }

    void a_synced_map_writes_its_pages_and_then_its_file() {
        Result<MappedFile> file = MappedFile::create(at("state"), 10'000);
        QVERIFY(file.ok());
        file->writable()[5] = std::byte{1};
        DiskCalls::begin();
        const Status synced = file->sync();
        const auto calls = DiskCalls::end();
        QVERIFY(synced.ok());
        QVERIFY(!calls.empty());
        QCOMPARE(calls.front(), std::string("msync map"));
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
