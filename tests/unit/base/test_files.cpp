// Files: limits, atomic replacement, maps and locks, in a temporary folder.
#include <QtTest>

#include <fstream>

#include "core/base/files.h"

using namespace potluck;
namespace fs = std::filesystem;

class TestFiles : public QObject {
    Q_OBJECT
private slots:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }
    void written_bytes_are_read_back();
    void a_file_above_the_limit_is_refused();
    void a_missing_file_is_not_found();
    void a_folder_is_not_a_file();
    void replacing_leaves_no_temporary_file();
    void a_failed_write_keeps_the_old_content();
    void a_private_file_is_for_its_owner_only();
    void a_created_map_is_zero_and_keeps_what_is_written();
    void a_new_file_leaves_an_older_map_whole();
    void an_empty_file_maps_to_nothing();
    void a_map_for_reading_gives_no_writable_bytes();
    void moving_a_map_hands_it_over();
    void an_impossible_size_is_an_error_and_leaves_nothing();
    void a_lock_is_held_once_and_freed();
    void free_space_is_known();

private:
    [[nodiscard]] fs::path at(const char* name) const { return fs::path(m_dir->path().toStdString()) / name; }
    std::unique_ptr<QTemporaryDir> m_dir;
};

void TestFiles::written_bytes_are_read_back() {
    QVERIFY(write_file_atomically(at("a"), as_bytes("hello")).ok());
    const Result<Bytes> read = read_file(at("a"), 5);
    QVERIFY(read.ok());
    QCOMPARE(std::string(as_text(*read)), std::string("hello"));
    QVERIFY(sync_file(at("a")).ok());
}

void TestFiles::a_file_above_the_limit_is_refused() {
    QVERIFY(write_file_atomically(at("a"), as_bytes("hello")).ok());
    const Result<Bytes> read = read_file(at("a"), 4);
    QVERIFY(!read.ok());
    QVERIFY(read.error().code == ErrorCode::malformed);
}

void TestFiles::a_missing_file_is_not_found() {
    const Result<Bytes> read = read_file(at("none"), 4);
    QVERIFY(!read.ok());
    QVERIFY(read.error().code == ErrorCode::not_found);
    QVERIFY(read.error().message.find("none") != std::string::npos);
    QVERIFY(!sync_file(at("none")).ok());
    QVERIFY(!MappedFile::open_read(at("none")).ok());
}

void TestFiles::a_folder_is_not_a_file() {
    QVERIFY(!read_file(m_dir->path().toStdString(), 1'000'000).ok());
    QVERIFY(!MappedFile::open_read(m_dir->path().toStdString()).ok());
}

void TestFiles::replacing_leaves_no_temporary_file() {
    QVERIFY(write_file_atomically(at("a"), as_bytes("old")).ok());
    QVERIFY(write_file_atomically(at("a"), as_bytes("new")).ok());
    QCOMPARE(std::string(as_text(*read_file(at("a"), 9))), std::string("new"));
    QCOMPARE(std::distance(fs::directory_iterator(m_dir->path().toStdString()), fs::directory_iterator{}), 1);
}

void TestFiles::a_failed_write_keeps_the_old_content() {
    // A folder that is not empty cannot be replaced by a file.
    fs::create_directory(at("folder"));
    QVERIFY(write_file_atomically(at("folder") / "kept", as_bytes("kept")).ok());
    QVERIFY(!write_file_atomically(at("folder"), as_bytes("new")).ok());
    QCOMPARE(std::string(as_text(*read_file(at("folder") / "kept", 9))), std::string("kept"));
    QCOMPARE(std::distance(fs::directory_iterator(m_dir->path().toStdString()), fs::directory_iterator{}), 1);
}

void TestFiles::a_private_file_is_for_its_owner_only() {
#ifdef _WIN32
    QSKIP("access follows the folder there");
#else
    QVERIFY(write_file_atomically(at("key"), as_bytes("secret"), FileAccess::private_to_owner).ok());
    QVERIFY(fs::status(at("key")).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
#endif
}

void TestFiles::a_created_map_is_zero_and_keeps_what_is_written() {
    {
        Result<MappedFile> file = MappedFile::create(at("map"), 100'000);
        QVERIFY(file.ok());
        QCOMPARE(file->writable().size(), std::size_t{100'000});
        for (const std::byte byte : file->bytes()) QVERIFY(byte == std::byte{0});
        file->writable()[99'999] = std::byte{42};
        QVERIFY(file->sync().ok());
    }
    Result<MappedFile> again = MappedFile::open_write(at("map"));
    QVERIFY(again.ok());
    QVERIFY(again->bytes()[99'999] == std::byte{42});
    again->writable()[0] = std::byte{7};
    QVERIFY((*read_file(at("map"), 100'000))[0] == std::byte{7});
}

void TestFiles::a_new_file_leaves_an_older_map_whole() {
    QVERIFY(write_file_atomically(at("map"), as_bytes("old content")).ok());
    const Result<MappedFile> old = MappedFile::open_read(at("map"));
    QVERIFY(old.ok());
    QVERIFY(MappedFile::create(at("map"), 3).ok());
    QCOMPARE(std::string(as_text(old->bytes())), std::string("old content"));
}

void TestFiles::an_empty_file_maps_to_nothing() {
    QVERIFY(MappedFile::create(at("empty"), 0).ok());
    Result<MappedFile> file = MappedFile::open_write(at("empty"));
    QVERIFY(file.ok());
    QVERIFY(file->bytes().empty());
    QVERIFY(file->sync().ok());
}

void TestFiles::a_map_for_reading_gives_no_writable_bytes() {
    QVERIFY(write_file_atomically(at("a"), as_bytes("hello")).ok());
    Result<MappedFile> file = MappedFile::open_read(at("a"));
    QVERIFY(file.ok());
    QVERIFY(file->writable().empty());
    QCOMPARE(file->bytes().size(), std::size_t{5});
}

void TestFiles::moving_a_map_hands_it_over() {
    QVERIFY(write_file_atomically(at("a"), as_bytes("hello")).ok());
    Result<MappedFile> file = MappedFile::open_read(at("a"));
    QVERIFY(file.ok());
    MappedFile moved = std::move(*file);
    QCOMPARE(std::string(as_text(moved.bytes())), std::string("hello"));
    QVERIFY(file->bytes().empty());
}

void TestFiles::an_impossible_size_is_an_error_and_leaves_nothing() {
    QVERIFY(!MappedFile::create(at("huge"), std::uint64_t{1} << 60U).ok());
    QVERIFY(!fs::exists(at("huge")));
}

void TestFiles::a_lock_is_held_once_and_freed() {
    {
        const Result<FileLock> held = FileLock::acquire(at("lock"));
        QVERIFY(held.ok());
        const Result<FileLock> second = FileLock::acquire(at("lock"));
        QVERIFY(!second.ok());
        QVERIFY(second.error().code == ErrorCode::already_exists);
    }
    QVERIFY(FileLock::acquire(at("lock")).ok());
}

void TestFiles::free_space_is_known() {
    QVERIFY(free_disk_bytes(m_dir->path().toStdString()) > 0);
    QCOMPARE(free_disk_bytes(at("none")), std::uint64_t{0});
}

QTEST_APPLESS_MAIN(TestFiles)
#include "test_files.moc"
