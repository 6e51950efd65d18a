// What is on disk before a function returns. The kernel keeps what a killed program wrote, so that killing one shows
// nothing of this: here the system calls themselves are watched. This program's own fsync, msync and rename stand
// before the C library's, note their order and may fail.
#include <QtTest>

#ifdef __linux__

#include <cerrno>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/base/files.h"

namespace fs = std::filesystem;

namespace {

std::vector<std::string> g_calls;  // "fsync a", "rename a.part-* a": names without their folder and number
std::string g_failing;             // the call that fails, with EIO

std::string short_name(const std::string& path) {
    std::string name = fs::path(path).filename().string();
    if (const auto part = name.find(".part-"); part != std::string::npos) name.resize(part + 5);
    return name;
}

std::string name_of(int handle) {
    return short_name(fs::read_symlink("/proc/self/fd/" + std::to_string(handle)).string());
}

/// Notes a call; true if it is to fail.
bool note(const std::string& call) {
    g_calls.push_back(call);
    if (call != g_failing) return false;
    errno = EIO;
    return true;
}

}  // namespace

extern "C" {
int fsync(int handle) { return note("fsync " + name_of(handle)) ? -1 : static_cast<int>(syscall(SYS_fsync, handle)); }
int msync(void* address, size_t size, int flags) {
    return note(flags == MS_SYNC ? "msync" : "msync without waiting")
               ? -1
               : static_cast<int>(syscall(SYS_msync, address, size, flags));
}
int rename(const char* from, const char* to) noexcept {
    const bool fails = note("rename " + short_name(from) + " " + short_name(to));
    return fails ? -1 : static_cast<int>(syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
}

using namespace potluck;

class TestDurability : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_dir = std::make_unique<QTemporaryDir>();
        m_folder = m_dir->path().toStdString();
        m_name = short_name(m_folder.string());
        start({});
    }

    void a_replaced_file_is_synced_before_it_gets_its_name_and_the_folder_after() {
        QVERIFY(write_file_atomically(m_folder / "a", as_bytes("new")).ok());
        QCOMPARE(calls(), (QStringList{"fsync a.part", "rename a.part a", "fsync " + QString::fromStdString(m_name)}));
    }

    void a_file_that_cannot_be_synced_does_not_replace_the_old_one() {
        QVERIFY(write_file_atomically(m_folder / "a", as_bytes("old")).ok());
        start("fsync a.part");
        QVERIFY(!write_file_atomically(m_folder / "a", as_bytes("new")).ok());
        QCOMPARE(calls(), QStringList{"fsync a.part"});
        QCOMPARE(content_of("a"), std::string("old"));
        QVERIFY(is_alone("a"));
    }

    void a_rename_that_fails_is_an_error_and_leaves_nothing() {
        QVERIFY(write_file_atomically(m_folder / "a", as_bytes("old")).ok());
        start("rename a.part a");
        QVERIFY(!write_file_atomically(m_folder / "a", as_bytes("new")).ok());
        QCOMPARE(content_of("a"), std::string("old"));
        QVERIFY(is_alone("a"));
    }

    void a_folder_that_cannot_be_synced_is_an_error() {
        start("fsync " + m_name);
        QVERIFY(!write_file_atomically(m_folder / "a", as_bytes("new")).ok());
        QVERIFY(!sync_file(m_folder / "a").ok());
    }

    void a_synced_file_is_synced_with_its_folder() {
        QVERIFY(write_file_atomically(m_folder / "a", as_bytes("new")).ok());
        start({});
        QVERIFY(sync_file(m_folder / "a").ok());
        QCOMPARE(calls(), (QStringList{"fsync a", "fsync " + QString::fromStdString(m_name)}));
        start("fsync a");
        QVERIFY(!sync_file(m_folder / "a").ok());
    }

    void a_map_waits_until_it_is_on_disk() {
        Result<MappedFile> map = MappedFile::create(m_folder / "map", 5000);
        QVERIFY(map.ok());
        start({});
        QVERIFY(map->sync().ok());
        QCOMPARE(calls(), QStringList{"msync"});
        start("msync");
        QVERIFY(!map->sync().ok());
    }

private:
    static void start(std::string failing) {
        g_calls.clear();
        g_failing = std::move(failing);
    }
    static QStringList calls() {
        QStringList all;
        for (const std::string& call : g_calls) all << QString::fromStdString(call);
        return all;
    }
    [[nodiscard]] std::string content_of(const char* name) const {
        return std::string(as_text(read_file(m_folder / name, 100).value()));
    }
    [[nodiscard]] bool is_alone(const char* name) const {
        return fs::exists(m_folder / name) &&
               std::distance(fs::directory_iterator(m_folder), fs::directory_iterator{}) == 1;
    }

    std::unique_ptr<QTemporaryDir> m_dir;
    fs::path m_folder;
    std::string m_name;
};

#else

class TestDurability : public QObject {
    Q_OBJECT
private slots:
    void the_calls_are_watched_on_linux_only() { QSKIP("a program can stand before the C library's calls on Linux"); }
};

#endif

QTEST_APPLESS_MAIN(TestDurability)
#include "test_durability.moc"
