// A data folder that is moved to another disk, back, and to a third one; and every way in which that cannot be done,
// after which all is where it was.
#include <QTemporaryDir>
#include <QtTest>
#include <filesystem>

#include "app/node/moved_folder.h"
#include "core/base/files.h"

using namespace potluck;
using namespace potluck::node;

namespace {

namespace fs = std::filesystem;

struct Disk {
    QTemporaryDir root;
    fs::path home = fs::canonical(root.path().toStdString()) / "home", other = home.parent_path() / "other";

    Disk() {
        fs::create_directories(home / "runs" / "ab" / "states");
        write("identity.key", "secret", FileAccess::private_to_owner);
        write("runs/ab/manifest", "a manifest");
        write("runs/ab/states/1.safetensors", std::string(100'000, 's'));
        write("window.ini", "look=dark");
        fs::create_symlink("/etc/passwd", home / "runs" / "link");
    }
    void write(const char* name, const std::string& text, FileAccess access = FileAccess::shared) const {
        if (!write_file_atomically(home / name, as_bytes(text), access)) qFatal("a file cannot be written");
    }
    [[nodiscard]] Result<fs::path> move(const fs::path& to) const {
        return move_data(home, to, [](std::uint64_t, std::uint64_t) {});
    }
    [[nodiscard]] bool is_whole(const fs::path& at) const {
        const auto key = read_file(at / "identity.key", 100),
                   state = read_file(at / "runs/ab/states/1.safetensors", 200'000);
        return key && as_text(*key) == "secret" && state && state->size() == 100'000 &&
               fs::exists(at / "runs/ab/manifest");
    }
    [[nodiscard]] std::vector<std::string> left() const {
        std::vector<std::string> names;
        for (const auto& entry : fs::directory_iterator(home)) names.push_back(entry.path().filename().string());
        std::ranges::sort(names);
        return names;
    }
};

}  // namespace

class TestMovedFolder : public QObject {
    Q_OBJECT

private slots:
    void the_old_folder_stands_for_the_new_one() {
        const Disk disk;
        std::vector<std::uint64_t> told;
        const auto place = move_data(disk.home, disk.other, [&](std::uint64_t done, std::uint64_t all) {
            told.push_back(done);
            QCOMPARE(all, std::uint64_t{6 + 10 + 100'000});
        });
        QVERIFY2(place.ok(), place ? "" : place.error().message.c_str());
        QVERIFY(*place == disk.other && disk.is_whole(disk.other) && !fs::exists(disk.other / "runs" / "link"));
        QVERIFY(std::ranges::is_sorted(told) && told.back() == 100'016);
        QCOMPARE(disk.left(), (std::vector<std::string>{"moved", "node.lock", "window.ini"}));
        const auto at = data_folder_at(disk.home);
        QVERIFY(at && *at == disk.other);
        QCOMPARE(fs::status(disk.other / "identity.key").permissions() & fs::perms::others_read, fs::perms::none);
        QCOMPARE(fs::status(disk.other).permissions() & fs::perms::others_read, fs::perms::none);
    }

    void a_folder_that_holds_something_gets_one_of_its_own() {
        const Disk disk;
        fs::create_directories(disk.other / "lost+found");
        const auto place = disk.move(disk.other);
        QVERIFY(place && *place == disk.other / "potluck" && disk.is_whole(*place));
    }

    void it_moves_on_and_back() {
        const Disk disk;
        const fs::path third = disk.other.parent_path() / "third";
        QVERIFY(disk.move(disk.other).ok());
        QVERIFY(disk.move(third).ok());
        QVERIFY(disk.is_whole(third) && !fs::exists(disk.other));
        QCOMPARE(*data_folder_at(disk.home), third);
        const auto back = disk.move(disk.home);
        QVERIFY2(back.ok(), back ? "" : back.error().message.c_str());
        QVERIFY(disk.is_whole(disk.home) && !fs::exists(disk.home / "moved") && !fs::exists(third));
        QCOMPARE(*data_folder_at(disk.home), disk.home);
    }

    void a_move_that_cannot_be_made_changes_nothing_data() {
        QTest::addColumn<QString>("to");
        QTest::addColumn<QString>("told");
        QTest::newRow("itself") << "home"
                                << "already";
        QTest::newRow("in itself") << "home/runs"
                                   << "already";
        QTest::newRow("a file") << "home/identity.key"
                                << "already";
        QTest::newRow("below a file") << "file/below"
                                      << "cannot be made";
        QTest::newRow("two that hold something") << "full"
                                                 << "holds something";
        QTest::newRow("a copy that fails") << QString("small").repeated(48) << "cannot be written";
    }
    void a_move_that_cannot_be_made_changes_nothing() {
        QFETCH(QString, to);
        QFETCH(QString, told);
        const Disk disk;
        const fs::path root = disk.home.parent_path();
        fs::create_directories(root / "full" / "potluck" / "letters");
        QVERIFY(write_file_atomically(root / "file", as_bytes("x")).ok());
        // As long as a path may be here, and longer there.
        fs::path deep = disk.home / "runs";
        while (deep.string().size() < 3'900) deep /= std::string(50, 'd');
        fs::create_directories(deep);
        const auto moved = disk.move(root / to.toStdString());
        QVERIFY(!moved.ok());
        QVERIFY2(moved.error().message.find(told.toStdString()) != std::string::npos, moved.error().message.c_str());
        QVERIFY(disk.is_whole(disk.home) && !fs::exists(disk.home / "moved"));
        QVERIFY(!fs::exists(root / "full" / "potluck" / "runs"));
        QVERIFY(to.size() < 100 || !fs::exists(root / to.toStdString()));
    }

    void the_folder_does_not_move_while_a_node_runs() {
        const Disk disk;
        const auto held = FileLock::acquire(disk.home / "node.lock");
        QVERIFY(held.ok());
        const auto moved = disk.move(disk.other);
        QVERIFY(!moved && moved.error().code == ErrorCode::already_exists);
        QVERIFY(disk.is_whole(disk.home) && !fs::exists(disk.other));
    }

    void a_disk_that_is_not_attached_is_told() {
        const Disk disk;
        QVERIFY(disk.move(disk.other).ok());
        fs::rename(disk.other, disk.other.parent_path() / "away");
        const auto at = data_folder_at(disk.home);
        QVERIFY(!at && at.error().code == ErrorCode::unavailable);
        QVERIFY(at.error().message.find("attach its disk") != std::string::npos);
        disk.write("moved", "not a path\n");
        QCOMPARE(data_folder_at(disk.home).error().code, ErrorCode::malformed);
        disk.write("moved", std::string(5000, '/'));
        QVERIFY(!data_folder_at(disk.home).ok());
    }
};

QTEST_GUILESS_MAIN(TestMovedFolder)
#include "test_moved_folder.moc"
