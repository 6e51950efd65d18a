// Archives, sound and hostile, into a folder.
#include <QTemporaryDir>
#include <QtTest>

#include <fstream>
#include <functional>

#include <archive.h>
#include <archive_entry.h>

#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/release/unpack.h"

using namespace potluck;
using namespace potluck::release;
namespace fs = std::filesystem;

namespace {

struct Entry {
    std::string name, content;
    unsigned type = AE_IFREG;
    std::string link = "";
    unsigned mode = 0644;
};

void make_archive(const fs::path& file, const std::vector<Entry>& entries) {
    archive* out = archive_write_new();
    archive_write_add_filter_xz(out);
    archive_write_set_format_pax_restricted(out);
    archive_write_open_filename(out, file.string().c_str());
    for (const Entry& each : entries) {
        archive_entry* entry = archive_entry_new();
        archive_entry_set_pathname(entry, each.name.c_str());
        archive_entry_set_filetype(entry, each.type);
        archive_entry_set_perm(entry, static_cast<mode_t>(each.mode));
        if (each.type == AE_IFREG) archive_entry_set_size(entry, static_cast<la_int64_t>(each.content.size()));
        if (each.type == AE_IFLNK) archive_entry_set_symlink(entry, each.link.c_str());
        if (each.type == AE_IFREG && !each.link.empty()) archive_entry_set_hardlink(entry, each.link.c_str());
        archive_write_header(out, entry);
        if (each.type == AE_IFREG) archive_write_data(out, each.content.data(), each.content.size());
        archive_entry_free(entry);
    }
    archive_write_close(out);
    archive_write_free(out);
}

/// A sparse member, as GNU tar writes them, whose header promises `said` bytes and whose map brings `brought`.
void make_sparse_archive(const fs::path& file, std::size_t said, std::size_t brought) {
    std::string header(512, '\0');
    const auto put = [&](std::size_t at, std::size_t digits, std::size_t number) {
        for (std::size_t i = digits; i-- > 0; number /= 8) header[at + i] = static_cast<char>('0' + number % 8);
    };
    header[0] = 'a';
    header.replace(257, 7, "ustar  ");
    header[156] = 'S';
    for (const std::size_t at : {100U, 108U, 116U}) put(at, 7, at == 100 ? 0644 : 0);
    put(124, 11, brought);
    put(136, 11, 0);
    put(386, 11, 0);
    put(398, 11, brought);
    put(483, 11, said);
    header.replace(148, 8, 8, ' ');
    std::size_t sum = 0;
    for (const char byte : header) sum += static_cast<unsigned char>(byte);
    put(148, 6, sum);
    header[154] = '\0';
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out << header << std::string((brought + 511) / 512 * 512, 'x') << std::string(1024, '\0');
}

constexpr UnpackLimits roomy{1 << 20, 100};

}  // namespace

class TestUnpack : public QObject {
    Q_OBJECT
    QTemporaryDir m_folder;
    fs::path m_archive, m_into;

    Status unpacked(const std::vector<Entry>& entries, UnpackLimits limits = roomy) {
        make_archive(m_archive, entries);
        return unpack(m_archive, m_into, limits, {});
    }
    void is_refused(const std::vector<Entry>& entries, UnpackLimits limits = roomy) {
        const Status status = unpacked(entries, limits);
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::malformed);
        QVERIFY(status.error().message.ends_with('.'));
        QVERIFY(!fs::exists(m_into));
        QVERIFY(!fs::exists(m_into.string() + ".part"));
    }

private slots:
    void init() {
        m_archive = fs::path(m_folder.path().toStdString()) / "pack.tar.xz";
        m_into = fs::path(m_folder.path().toStdString()) / "into";
        fs::remove_all(m_into);
    }
    void files_and_folders_come_out_as_they_went_in() {
        const Status status = unpacked({{"licences/", "", AE_IFDIR, "", 0755},
                                        {"licences/torch.txt", "BSD"},
                                        {"potluck-trainer", "program", AE_IFREG, "", 04755}});
        QVERIFY2(status.ok(), status ? "" : status.error().message.c_str());
        QCOMPARE(as_text(*read_file(m_into / "licences/torch.txt", 100)), std::string_view("BSD"));
        // Neither a bit that changes the user nor a write for others survives.
        QCOMPARE(static_cast<unsigned>(fs::status(m_into / "potluck-trainer").permissions()), 0755U);
        QCOMPARE(static_cast<unsigned>(fs::status(m_into / "licences/torch.txt").permissions()), 0644U);
        const auto contents = contents_of(m_archive);
        QVERIFY(contents.ok());
        QCOMPARE(contents->bytes, std::uint64_t{10});
        QCOMPARE(contents->files, std::uint64_t{3});
    }
    /// Whoever may write to the archive may swap it after it was hashed: the bytes that are unpacked have to be the
    /// ones.
    void other_bytes_than_were_signed_for_become_no_folder() {
        std::string noise;
        for (std::uint32_t i = 0, value = 1; i < 300'000; ++i)
            noise += static_cast<char>((value = value * 1664525 + 1013904223) >> 24U);
        make_archive(m_archive, {{"potluck-trainer", noise}});
        UnpackLimits limits = roomy;
        limits.sha256 = sha256(*read_file(m_archive, 1 << 20));
        QVERIFY(unpack(m_archive, m_into, limits, {}).ok());
        fs::remove_all(m_into);
        noise.back() ^= 1;
        make_archive(m_archive, {{"potluck-trainer", noise}});
        const Status swapped = unpack(m_archive, m_into, limits, {});
        QVERIFY(!swapped.ok());
        QCOMPARE(swapped.error().code, ErrorCode::untrusted);
        QVERIFY(!fs::exists(m_into) && !fs::exists(m_into.string() + ".part"));
    }
    /// libarchive stops reading where the archive ends.
    void bytes_behind_the_archive_are_hashed_too() {
        make_archive(m_archive, {{"potluck-trainer", "program"}});
        const Bytes archive = *read_file(m_archive, 1 << 20);
        std::ofstream(m_archive, std::ios::app | std::ios::binary) << std::string(200'000, '\0');
        UnpackLimits limits = roomy;
        limits.sha256 = sha256(archive);
        QVERIFY(!unpack(m_archive, m_into, limits, {}).ok());
        limits.sha256 = sha256(*read_file(m_archive, 1 << 20));
        QVERIFY(unpack(m_archive, m_into, limits, {}).ok());
    }
    void an_earlier_folder_is_replaced() {
        QVERIFY(unpacked({{"old", "1"}}).ok());
        QVERIFY(unpacked({{"new", "2"}}).ok());
        QVERIFY(!fs::exists(m_into / "old") && fs::exists(m_into / "new"));
    }
    void a_name_that_leads_out_of_the_folder_is_refused() {
        for (const char* name : {"../outside", "a/../../outside", "/etc/passwd", "a//b", "./a", ".hidden", "a/.b",
                                 "a\\b", "c:d", "a b", "a\nb"}) {
            is_refused({{"fine", "x"}, {name, "x"}});
        }
        is_refused({{std::string(201, 'a'), "x"}});
        QVERIFY(!fs::exists(m_into.parent_path() / "outside"));
    }
    void links_and_devices_are_refused() {
        is_refused({{"link", "", AE_IFLNK, "/etc/passwd", 0777}});
        is_refused({{"a", "x"}, {"hard", "", AE_IFREG, "a", 0644}});
        is_refused({{"pipe", "", AE_IFIFO, "", 0644}});
    }
    void a_bomb_is_refused_before_it_is_written() {
        is_refused({{"bomb", std::string(2 << 20, '\0')}});
        is_refused({{"a", "12"}, {"b", "34"}}, {.bytes_max = 3, .files_max = 10});
    }
    void more_files_than_signed_for_are_refused() {
        is_refused({{"a", ""}, {"b", ""}, {"c", ""}}, {.bytes_max = 10, .files_max = 2});
    }
    void contents_of_more_files_than_a_pack_may_have_are_refused() {
        std::vector<Entry> entries;
        for (int i = 0; i < 2'000; ++i) entries.push_back({std::to_string(i), ""});
        make_archive(m_archive, entries);
        QVERIFY(contents_of(m_archive).ok());
        entries.push_back({"one-more", ""});
        make_archive(m_archive, entries);
        QVERIFY(!contents_of(m_archive).ok());
    }
    /// What a header promises is what the signed sizes were compared with.
    void a_member_longer_than_its_header_says_is_refused_before_it_is_written() {
        make_sparse_archive(m_archive, 600, 600);
        QVERIFY(unpack(m_archive, m_into, roomy, {}).ok());
        QCOMPARE(fs::file_size(m_into / "a"), std::uintmax_t{600});
        fs::remove_all(m_into);
        for (const std::size_t said : {std::size_t{599}, std::size_t{10}, std::size_t{0}}) {
            make_sparse_archive(m_archive, said, 600);
            const Status status = unpack(m_archive, m_into, roomy, {});
            QVERIFY(!status.ok());
            QVERIFY2(status.error().message.find("is longer than its header says") != std::string::npos,
                     status.error().message.c_str());
            QVERIFY(!fs::exists(m_into));
        }
        make_sparse_archive(m_archive, 601, 600);
        const Status status = unpack(m_archive, m_into, roomy, {});
        QVERIFY(!status.ok() && status.error().message.find("is shorter than its header says") != std::string::npos);
    }
    void one_name_twice_is_refused() { is_refused({{"a", "1"}, {"a", "2"}}); }
    void a_damaged_archive_is_refused() {
        make_archive(m_archive, {{"a", std::string(100'000, 'x')}});
        fs::resize_file(m_archive, fs::file_size(m_archive) / 2);
        const Status status = unpack(m_archive, m_into, roomy, {});
        QVERIFY(!status.ok());
        QVERIFY(!fs::exists(m_into));
        std::ofstream(m_archive, std::ios::trunc) << "no archive";
        QVERIFY(!unpack(m_archive, m_into, roomy, {}).ok());
        QVERIFY(!contents_of(m_archive).ok());
    }
    void a_full_disk_is_told_before_anything_is_written() {
        make_archive(m_archive, {{"a", "1"}});
        const Status status = unpack(m_archive, m_into, {.bytes_max = 1ULL << 60U, .files_max = 10}, {});
        QVERIFY(!status.ok());
        QCOMPARE(status.error().code, ErrorCode::no_space);
    }
    void it_ends_when_it_is_told_to() {
        make_archive(m_archive, {{"a", "1"}});
        std::stop_source stop;
        stop.request_stop();
        QCOMPARE(unpack(m_archive, m_into, roomy, stop.get_token()).error().code, ErrorCode::cancelled);
        QVERIFY(!fs::exists(m_into));
    }
};

QTEST_APPLESS_MAIN(TestUnpack)
#include "test_unpack.moc"
