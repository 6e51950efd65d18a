// Newer versions of followed lists: when they are asked for, what takes the place of what, and what a person is told.
#include <QtTest>

#include <deque>
#include <mutex>

#include "app/node/find/built_in_list.h"
#include "app/node/find/list_keeper.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/identity/minisign_signer.h"
#include "tests/unit/find/announcement_samples.h"

using namespace potluck;
using namespace potluck::node;
namespace samples = potluck::find::samples;

namespace {

constexpr std::int64_t day = 86'400;

/// A web server of one list, and the loop that answers come to.
struct Web {
    explicit Web(const QString& folder)
        : data((folder + "/data").toStdString()),
          signer(*identity::MinisignSigner::open_or_create((folder + "/key").toStdString())) {}

    void publish(std::uint64_t serial, std::int64_t expires) {
        const find::RunList list{.serial = serial,
                                 .issued = 1'000,
                                 .expires = expires,
                                 .title = "Kitchen",
                                 .runs = {{samples::run(1), samples::key(1).id(), "Good."}}};
        const std::scoped_lock hold(mutex);
        text = list.to_text();
        signature = signer.sign(as_bytes(text), "a list");
    }
    /// What a torrent of the list has, and the magnet that names it.
    [[nodiscard]] std::string whole() const { return find::SignedList{signature, text}.to_file(); }
    [[nodiscard]] find::ListLink magnet(const std::string& seed) const {
        run::BlobRef file{.root = {}, .size = whole().size(), .kind = run::BlobKind::open, .info_hash = {}};
        file.root.bytes[0] = file.info_hash.bytes[0] = std::byte{1};
        return {find::ListTorrent{file, seed}.to_magnet(), signer.key_line()};
    }
    [[nodiscard]] ListKeeper::World world() {
        return {[this](std::function<void()> call) {
                    const std::scoped_lock hold(mutex);
                    calls.push_back(std::move(call));
                },
                [this]() -> ListKeeper::Fetch {
                    return [this](const std::string& place, std::size_t bytes_max, const std::stop_token&) {
                        return get(place, bytes_max);
                    };
                },
                [this](net::PublicFile file, net::FileDone done) {
                    wanted = std::move(file);
                    file_done = std::move(done);
                },
                [this](const BlobId& root) { forgotten.push_back(root); }, [this] { shared = true; }};
    }
    /// The torrent has come, with these bytes.
    void deliver(const std::string& bytes) {
        const std::filesystem::path file = data.parent_path() / "came";
        POTLUCK_CHECK(write_file_atomically(file, as_bytes(bytes)).ok());
        std::exchange(file_done, nullptr)(file);
    }
    Result<Bytes> get(const std::string& place, std::size_t bytes_max) {
        const std::scoped_lock hold(mutex);
        ++asked;
        if (text.empty()) return Error{ErrorCode::not_found, "The server has no such file."};
        const bool is_whole = place == "https://x.org/runs.signed";
        if (place == "https://x.org/runs.signed.torrent")
            return Bytes(as_bytes("torrent").begin(), as_bytes("torrent").end());
        const std::string file = is_whole ? whole() : place == "https://x.org/runs" ? text : signature;
        POTLUCK_CHECK(file.size() <= bytes_max);
        return Bytes(as_bytes(file).begin(), as_bytes(file).end());
    }
    /// Runs what was posted; false if nothing was.
    bool run_posted() {
        std::function<void()> call;
        {
            const std::scoped_lock hold(mutex);
            if (calls.empty()) return false;
            call = std::move(calls.front());
            calls.pop_front();
        }
        call();
        return true;
    }
    [[nodiscard]] find::ListLink link() const { return {"https://x.org/runs", signer.key_line()}; }

    std::filesystem::path data;
    identity::MinisignSigner signer;
    std::mutex mutex;
    std::deque<std::function<void()>> calls;
    std::string text, signature;
    int asked = 0;
    std::optional<net::PublicFile> wanted;
    net::FileDone file_done;
    std::vector<BlobId> forgotten;
    bool shared = false;
};

}  // namespace

class TestListKeeper : public QObject {
    Q_OBJECT
private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_web = std::make_unique<Web>(m_folder->path());
    }
    void a_list_is_followed_by_its_link() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(1, unix_seconds() + 10 * day);
        const auto followed = follow(keeper);
        QVERIFY2(followed.ok(), followed ? "" : followed.error().message.c_str());
        QCOMPARE(followed->title, std::string("Kitchen"));
        QVERIFY(!followed->expired);
        QCOMPARE(keeper.rows(unix_seconds()).size(), std::size_t{1});
        QVERIFY(keeper.rows(unix_seconds() + 10 * day)[0].expired);
        QVERIFY(keeper.unfollow(m_web->signer.key_line()).ok());
        QVERIFY(keeper.rows(unix_seconds()).empty());
    }
    void a_list_that_its_key_did_not_sign_is_not_followed() {
        ListKeeper keeper(m_web->data, m_web->world());
        QCOMPARE(follow(keeper).error().code, ErrorCode::not_found);
        m_web->publish(1, unix_seconds() + 10 * day);
        m_web->text[20] ^= 1;
        QVERIFY(!follow(keeper).ok());
        QVERIFY(keeper.rows(unix_seconds()).empty());
    }
    void a_newer_version_is_fetched_by_itself() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(1, unix_seconds() + 10 * day);
        QVERIFY(follow(keeper).ok());
        m_web->publish(2, unix_seconds() + 20 * day);
        const TimePoint start{Duration{1'000'000}};
        keeper.tick(start, unix_seconds());
        QCOMPARE(m_web->asked, 2);  // both for following it
        keeper.tick(start + ListKeeper::first_renewal_after, unix_seconds());
        QVERIFY(answered());
        QCOMPARE(followed_lists(m_web->data)[0].list.serial, std::uint64_t{2});
        QVERIFY(keeper.rows(unix_seconds())[0].problem.empty());
        // Not again before it is due.
        const TimePoint tried = start + ListKeeper::first_renewal_after;
        keeper.tick(tried + ListKeeper::renew_every - Duration{1}, unix_seconds());
        QTest::qWait(20);
        QCOMPARE(m_web->asked, 4);
        keeper.tick(tried + ListKeeper::renew_every + Duration{60'000}, unix_seconds());
        QVERIFY(answered());
        QCOMPARE(m_web->asked, 6);
    }
    void a_list_that_is_about_to_expire_is_asked_for_every_hour() {
        const find::RunList list{.serial = 1, .issued = 0, .expires = 10 * day, .title = "K", .runs = {}};
        QCOMPARE(ListKeeper::pause_of(list, 8 * day), ListKeeper::renew_every);
        QCOMPARE(ListKeeper::pause_of(list, 8 * day + 1), ListKeeper::renew_soon_every);
        QCOMPARE(ListKeeper::pause_of(list, 30 * day), ListKeeper::renew_soon_every);
    }
    void an_older_version_and_a_silent_server_change_nothing_and_are_told() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(3, unix_seconds() + 10 * day);
        QVERIFY(follow(keeper).ok());
        m_web->publish(2, unix_seconds() + 20 * day);
        const TimePoint start{Duration{1'000'000}};
        keeper.tick(start, unix_seconds());
        keeper.tick(start + ListKeeper::first_renewal_after, unix_seconds());
        QVERIFY(answered());
        QCOMPARE(followed_lists(m_web->data)[0].list.serial, std::uint64_t{3});
        QVERIFY(!keeper.rows(unix_seconds())[0].problem.empty());
        m_web->text.clear();
        keeper.tick(start + 2 * ListKeeper::renew_every, unix_seconds());
        QVERIFY(answered());
        QVERIFY(keeper.rows(unix_seconds())[0].problem.find("no such file") != std::string::npos);
        QCOMPARE(keeper.rows(unix_seconds())[0].runs, std::uint64_t{1});
    }
    void a_list_is_followed_as_a_torrent_and_renewed_from_its_web_seed() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(1, unix_seconds() + 10 * day);
        const auto link = m_web->magnet("https://x.org/runs.signed");
        follow_torrent(keeper, link);
        QCOMPARE(m_web->wanted->ref.size, m_web->whole().size());
        QCOMPARE(as_text(m_web->wanted->torrent), std::string_view("torrent"));
        QCOMPARE(m_web->wanted->web_seeds, std::vector<std::string>{"https://x.org/runs.signed"});
        m_web->deliver(m_web->whole());
        QVERIFY(m_outcome && m_outcome->ok());
        QCOMPARE(followed_lists(m_web->data)[0].source, link.source);
        QVERIFY(m_web->forgotten.empty());
        m_web->publish(2, unix_seconds() + 20 * day);
        const TimePoint start{Duration{1'000'000}};
        keeper.tick(start, unix_seconds());
        keeper.tick(start + ListKeeper::first_renewal_after, unix_seconds());
        QVERIFY(m_web->shared);
        QVERIFY(answered());
        QCOMPARE(followed_lists(m_web->data)[0].list.serial, std::uint64_t{2});
        QVERIFY(keeper.unfollow(m_web->signer.key_line()).ok());
        QCOMPARE(m_web->forgotten.size(), std::size_t{1});
    }
    void a_torrent_that_nobody_has_is_given_up_and_its_web_seed_asked() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(1, unix_seconds() + 10 * day);
        follow_torrent(keeper, m_web->magnet("https://x.org/runs.signed"));
        const TimePoint start{Duration{1'000'000}};
        keeper.tick(start, unix_seconds());
        keeper.tick(start + ListKeeper::torrent_patience - Duration{1}, unix_seconds());
        QVERIFY(m_web->forgotten.empty());
        keeper.tick(start + ListKeeper::torrent_patience, unix_seconds());
        QVERIFY(!m_web->forgotten.empty());
        QVERIFY(answered());
        QVERIFY(m_outcome && m_outcome->ok());
    }
    void a_list_from_a_torrent_is_trusted_no_more_than_from_the_web() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(2, unix_seconds() + 10 * day);
        QVERIFY(follow(keeper).ok());
        m_web->publish(1, unix_seconds() + 20 * day);
        const std::string older = m_web->whole();
        m_web->publish(3, unix_seconds() + 20 * day);
        std::string changed = m_web->whole();
        changed[changed.size() - 20] ^= 1;
        for (const std::string& bytes : {older, changed, std::string("no list")}) {
            m_web->forgotten.clear();
            follow_torrent(keeper, m_web->magnet(""));
            m_web->deliver(bytes);
            QVERIFY(m_outcome && !m_outcome->ok());
            QCOMPARE(m_web->forgotten.size(), std::size_t{1});
            QCOMPARE(followed_lists(m_web->data)[0].list.serial, std::uint64_t{2});
        }
        // One without a web seed is not renewed by itself.
        follow_torrent(keeper, m_web->magnet(""));
        m_web->deliver(m_web->whole());
        QVERIFY(m_outcome && m_outcome->ok());
        const int asked = m_web->asked;
        const TimePoint start{Duration{1'000'000}};
        keeper.tick(start, unix_seconds());
        keeper.tick(start + 2 * ListKeeper::renew_every, unix_seconds());
        QTest::qWait(20);
        QCOMPARE(m_web->asked, asked);
    }
    void a_build_may_follow_a_list_until_its_person_leaves_it() {
        ListKeeper::World world = m_web->world();
        world.built_in = m_web->link();
        ListKeeper keeper(m_web->data, world);
        const TimePoint start{Duration{1'000'000}}, first = start + ListKeeper::first_renewal_after;
        keeper.tick(start, unix_seconds());
        keeper.tick(first, unix_seconds());
        QVERIFY(answered());
        QVERIFY(followed_lists(m_web->data).empty());  // nothing was published yet
        m_web->publish(1, unix_seconds() + 10 * day);
        const int asked = m_web->asked;
        keeper.tick(first + ListKeeper::renew_soon_every - Duration{1}, unix_seconds());
        QTest::qWait(20);
        QCOMPARE(m_web->asked, asked);
        keeper.tick(first + ListKeeper::renew_soon_every + Duration{60'000}, unix_seconds());
        QVERIFY(answered());
        QCOMPARE(followed_lists(m_web->data).size(), std::size_t{1});
        QVERIFY(keeper.unfollow(m_web->signer.key_line()).ok());
        keeper.tick(first + 9 * ListKeeper::renew_soon_every, unix_seconds());
        QTest::qWait(20);
        QVERIFY(followed_lists(m_web->data).empty());
        QCOMPARE(m_web->asked, asked + 2);
    }
    void a_build_without_a_key_follows_nothing() {
        QVERIFY(!list_of("", "https://x.org/runs"));
        QVERIFY(!list_of(m_web->signer.key_line(), ""));
        QVERIFY(!list_of(m_web->signer.key_line(), "/etc/passwd"));
        QVERIFY(!list_of("RWno", "https://x.org/runs"));
        QVERIFY(list_of(m_web->signer.key_line(), "https://x.org/runs") == m_web->link());
    }
    void a_torrent_is_fetched_once_at_a_time() {
        ListKeeper keeper(m_web->data, m_web->world());
        m_web->publish(1, unix_seconds() + 10 * day);
        follow_torrent(keeper, m_web->magnet(""));
        std::optional<Result<control::FollowedRow>> second;
        keeper.follow(m_web->magnet(""), [&](const Result<control::FollowedRow>& one) { second = one; });
        QVERIFY(second && second->error().code == ErrorCode::already_exists);
        m_web->deliver(m_web->whole());
        QVERIFY(m_outcome && m_outcome->ok());
    }

private:
    /// Until the torrent is asked for.
    void follow_torrent(ListKeeper& keeper, const find::ListLink& link) {
        m_outcome.reset();
        keeper.follow(link, [this](const Result<control::FollowedRow>& one) { m_outcome = one; });
        POTLUCK_CHECK(answered() && m_web->file_done);
    }
    Result<control::FollowedRow> follow(ListKeeper& keeper) {
        std::optional<Result<control::FollowedRow>> outcome;
        keeper.follow(m_web->link(), [&](const Result<control::FollowedRow>& one) { outcome = one; });
        POTLUCK_CHECK(answered() && outcome);
        return *outcome;
    }
    bool answered() {
        return QTest::qWaitFor([this] { return m_web->run_posted(); }, 10'000);
    }
    std::unique_ptr<QTemporaryDir> m_folder;
    std::unique_ptr<Web> m_web;
    std::optional<Result<control::FollowedRow>> m_outcome;
};

QTEST_GUILESS_MAIN(TestListKeeper)
#include "test_list_keeper.moc"
