// Lists that the person follows, in the data folder: nothing older replaces what was seen, and nothing unsigned counts.
#include <QtTest>

#include "app/node/find/followed_lists.h"
#include "core/base/files.h"
#include "core/identity/minisign_signer.h"
#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::node;
namespace samples = potluck::find::samples;

namespace {

struct Maker {
    explicit Maker(const QString& file)
        : signer(*identity::MinisignSigner::open_or_create(std::filesystem::path(file.toStdString()))) {}
    static std::string text_of(std::uint64_t serial, std::int64_t expires) {
        const find::RunList list{.serial = serial,
                                 .issued = 1'000,
                                 .expires = expires,
                                 .title = "Kitchen",
                                 .runs = {{samples::run(1), samples::key(1).id(), "Serial " + std::to_string(serial)}}};
        return list.to_text();
    }
    [[nodiscard]] Status renewed(const std::filesystem::path& folder, const FollowedList& kept, std::uint64_t serial,
                                 std::int64_t now, std::int64_t expires = 2'000) const {
        const std::string text = text_of(serial, expires);
        return renew_list(folder, kept, as_bytes(text), signer.sign(as_bytes(text), "a list"), now);
    }
    Result<find::RunList> followed(const std::filesystem::path& folder, std::uint64_t serial, std::int64_t now,
                                   std::int64_t expires = 2'000) const {
        const std::string text = text_of(serial, expires);
        return follow_list(folder, {.key = signer.key_line(), .source = "/some/where", .list = {}}, as_bytes(text),
                           signer.sign(as_bytes(text), "a list"), now);
    }
    identity::MinisignSigner signer;
};

}  // namespace

class TestFollowedLists : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_data = (m_folder->path() + "/data").toStdString();
        m_maker = std::make_unique<Maker>(m_folder->filePath("key"));
    }
    void no_list_is_followed_at_first() {
        QVERIFY(followed_lists(m_data).empty());
        QVERIFY(trust_of(m_data, 1'500) == find::Trust{});
    }
    void a_list_that_was_left_stays_left_until_it_is_followed_again() {
        const identity::MinisignKey key = m_maker->signer.key();
        QVERIFY(!has_followed(m_data, key));
        QVERIFY(!unfollow_list(m_data, key).ok());
        QVERIFY(!has_followed(m_data, key));
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        QVERIFY(has_followed(m_data, key));
        QVERIFY(unfollow_list(m_data, key).ok());
        QVERIFY(has_followed(m_data, key) && followed_lists(m_data).empty());
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        QCOMPARE(followed_lists(m_data).size(), std::size_t{1});
    }
    void a_list_is_kept_until_it_expires() {
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        QCOMPARE(followed_lists(m_data).size(), std::size_t{1});
        QCOMPARE(followed_lists(m_data)[0].source, std::string("/some/where"));
        QCOMPARE(followed_lists(m_data)[0].key, m_maker->signer.key_line());
        QCOMPARE(trust_of(m_data, 1'999).listed.size(), std::size_t{1});
        QVERIFY(trust_of(m_data, 2'000).listed.empty());
    }
    void an_older_list_replaces_no_newer_one_even_if_that_has_expired() {
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        QVERIFY(!m_maker->followed(m_data, 2, 2'500, 9'000).ok());
        QCOMPARE(followed_lists(m_data)[0].list.serial, std::uint64_t{3});
        QVERIFY(m_maker->followed(m_data, 4, 1'500).ok());
        QCOMPARE(followed_lists(m_data)[0].list.serial, std::uint64_t{4});
        QCOMPARE(followed_lists(m_data).size(), std::size_t{1});
    }
    void a_renewal_has_a_higher_serial_and_the_same_key() {
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        const auto kept = [this] { return followed_lists(m_data).at(0); };
        QVERIFY(m_maker->renewed(m_data, kept(), 3, 1'500).ok());  // nothing new
        QVERIFY(!m_maker->renewed(m_data, kept(), 2, 1'500).ok());
        QVERIFY(!m_maker->renewed(m_data, kept(), 4, 2'000).ok());  // expired
        QVERIFY(!Maker(m_folder->filePath("other")).renewed(m_data, kept(), 4, 1'500).ok());
        QCOMPARE(kept().list.serial, std::uint64_t{3});
        QVERIFY(m_maker->renewed(m_data, kept(), 4, 2'500, 9'000).ok());
        QCOMPARE(kept().list.serial, std::uint64_t{4});
        QCOMPARE(kept().source, std::string("/some/where"));
        QCOMPARE(trust_of(m_data, 2'500).listed.size(), std::size_t{1});
    }
    void a_changed_file_vouches_for_nothing() {
        QVERIFY(m_maker->followed(m_data, 3, 1'500).ok());
        const auto file = std::filesystem::directory_iterator(m_data / "lists")->path();
        Bytes bytes = *read_file(file, 1 << 20);
        bytes[bytes.size() - 40] ^= std::byte{1};
        QVERIFY(write_file_atomically(file, bytes).ok());
        QVERIFY(followed_lists(m_data).empty());
        QVERIFY(trust_of(m_data, 1'500).listed.empty());
    }
    void sixteen_lists_are_followed_at_most() {
        for (int number = 0; number < 16; ++number)
            QVERIFY(Maker(m_folder->filePath(QString::number(number))).followed(m_data, 1, 1'500).ok());
        QVERIFY(!m_maker->followed(m_data, 1, 1'500).ok());
        QVERIFY(Maker(m_folder->filePath("7")).followed(m_data, 2, 1'500).ok());
        QVERIFY(unfollow_list(m_data, Maker(m_folder->filePath("7")).signer.key()).ok());
        QCOMPARE(unfollow_list(m_data, Maker(m_folder->filePath("7")).signer.key()).error().code, ErrorCode::not_found);
        QVERIFY(m_maker->followed(m_data, 1, 1'500).ok());
    }
    void a_place_is_one_line() {
        const auto refused =
            follow_list(m_data, {.key = m_maker->signer.key_line(), .source = "a\nb", .list = {}}, Bytes{}, "", 1'500);
        QCOMPARE(refused.error().code, ErrorCode::invalid_argument);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path m_data;
    std::unique_ptr<Maker> m_maker;
};

QTEST_APPLESS_MAIN(TestFollowedLists)
#include "test_followed_lists.moc"
