// What a confined process cannot do any more, tried by children of this one; and what is told where a system cannot.
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "core/confinement/confinement.h"

#ifdef __linux__
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#endif

using namespace potluck;
using namespace potluck::confinement;
namespace fs = std::filesystem;

#ifdef __linux__
namespace {

bool reads(const fs::path& file) {
    const int at = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (at >= 0) ::close(at);
    return at >= 0;
}
bool writes(const fs::path& file) {
    const int at = ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (at >= 0) ::close(at);
    return at >= 0;
}

/// Bit i of what comes back: whether attempt i succeeds in a process with these limits. -1: it could not be confined.
int attempts(const Limits& limits, const std::vector<std::function<bool()>>& each) {
    const pid_t child = ::fork();
    if (child == 0) {
        if (!confine(limits)) ::_exit(255);
        int bits = 0;
        for (std::size_t i = 0; i < each.size(); ++i) bits |= each[i]() ? 1 << i : 0;
        ::_exit(bits);
    }
    int status = 0;
    if (::waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) == 255) return -1;
    return WEXITSTATUS(status);
}

}  // namespace
#endif

class ConfinementTest : public QObject {
    Q_OBJECT
    std::unique_ptr<QTemporaryDir> m_folder;
    fs::path m_data, m_beside;

    [[nodiscard]] Limits limits() const { return {m_data, {"runs", "packs"}, std::nullopt}; }

private slots:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        const fs::path folder = m_folder->path().toStdString();
        m_data = folder / "home/potluck";
        m_beside = folder / "home/beside";
        for (const fs::path& made : {m_data / "runs/a", m_data / "packs", m_beside}) fs::create_directories(made);
        for (const fs::path& file : {m_data / "identity.key", m_data / "runs/a/state", m_data / "packs/trainer",
                                     m_beside / "picture.png", folder / "text"})
            std::ofstream(file) << "x";
    }

    void each_lack_has_its_sentence_data() {
        QTest::addColumn<bool>("system");
        QTest::addColumn<bool>("files");
        QTest::addColumn<bool>("network");
        QTest::addColumn<QString>("sentence");
        QTest::newRow("all") << true << true << true << "";
        QTest::newRow("key") << true << false << true
                             << "The trainer is not kept from your key: this kernel has no Landlock.";
        QTest::newRow("network") << true << true << false
                                 << "The trainer is not kept from the network: this kernel has no seccomp filters.";
        QTest::newRow("both") << true << false << false
                              << "The trainer is not kept from your key: this kernel has no Landlock. The trainer is "
                                 "not kept from the network: this kernel has no seccomp filters.";
        QTest::newRow("elsewhere") << false << false << false
                                   << "The trainer is not kept from your key and the network: Potluck can do that on "
                                      "Linux only.";
    }
    void each_lack_has_its_sentence() {
        QFETCH(bool, system);
        QFETCH(bool, files);
        QFETCH(bool, network);
        QFETCH(QString, sentence);
        QCOMPARE(QString::fromStdString(gap({system, files, network})), sentence);
    }

    void limits_travel_through_the_environment() {
        QVERIFY(!limits_from_environment());
        const std::vector<fs::path> folders{"/data folder/runs/a", "/b"};
        const Variable hidden = hidden_variable("/data folder", {"runs", "packs"}),
                       writable = writable_variable(folders);
        qputenv(hidden.name.c_str(), QByteArray::fromStdString(hidden.value));
        const auto wide = limits_from_environment();
        qputenv(writable.name.c_str(), QByteArray::fromStdString(writable.value));
        const auto told = limits_from_environment();
        qunsetenv(hidden.name.c_str());
        const auto none = limits_from_environment();
        qunsetenv(writable.name.c_str());
        QVERIFY(wide && wide->hidden == "/data folder" && !wide->writable);
        QVERIFY(wide->open_inside == (std::vector<std::string>{"runs", "packs"}));
        QVERIFY(told && told->hidden == wide->hidden && told->open_inside == wide->open_inside);
        QVERIFY(told->writable == folders);
        QVERIFY(!none);
    }

#ifdef __linux__
    void the_key_is_hidden_and_what_training_needs_is_not() {
        if (!support().files) QSKIP("this kernel has no Landlock");
        const fs::path key = m_data / "identity.key";
        const int bits = attempts(
            limits(), {[&] { return reads(key); }, [&] { return writes(key); },
                       [&] { return std::rename(key.c_str(), (m_beside / "key").c_str()) == 0; },
                       [&] { return writes(m_data / "new"); }, [&] { return reads(m_data / "runs/a/state"); },
                       [&] { return reads(m_data / "packs/trainer"); }, [&] { return reads(m_beside / "picture.png"); },
                       [&] { return reads("/proc/cpuinfo") && reads("/etc/passwd"); }});
        QCOMPARE(bits, 0b11110000);
        QVERIFY(fs::exists(key));
    }

    /// The key may be named in many ways.
    void no_other_name_leads_to_the_key() {
        if (!support().files) QSKIP("this kernel has no Landlock");
        const fs::path key = m_data / "identity.key";
        fs::create_symlink(key, m_beside / "link");
        fs::create_directory_symlink(m_data.parent_path(), m_folder->path().toStdString() + "/up");
        fs::create_directory_symlink(m_data, m_data / "runs/back");
        Limits by_link = limits();
        by_link.hidden = fs::path(m_folder->path().toStdString()) / "up/potluck";
        for (const Limits& each : {limits(), by_link}) {
            const int bits =
                attempts(each, {[&] { return reads(key); }, [&] { return reads(m_beside / "link"); },
                                [&] { return reads(m_folder->path().toStdString() + "/up/potluck/identity.key"); },
                                [&] { return reads(m_data / "runs/back/identity.key"); },
                                [&] { return reads("/proc/self/root" + key.string()); },
                                [&] { return reads(m_data / "runs/a/state"); }});
            QCOMPARE(bits, 0b100000);
        }
    }

    void a_folder_that_is_not_there_yet_is_hidden_once_it_is() {
        if (!support().files) QSKIP("this kernel has no Landlock");
        const fs::path later = m_beside / "later/deep";
        int go[2] = {}, made[2] = {};
        QVERIFY(::pipe(go) == 0 && ::pipe(made) == 0);
        const pid_t child = ::fork();
        if (child == 0) {
            char byte = 0;
            if (!confine({later, {}, std::nullopt})) ::_exit(255);
            if (::write(go[1], "x", 1) != 1 || ::read(made[0], &byte, 1) != 1) ::_exit(254);
            ::_exit((reads(later / "identity.key") ? 1 : 0) | (reads(m_beside / "picture.png") ? 2 : 0));
        }
        char byte = 0;
        QVERIFY(::read(go[0], &byte, 1) == 1);
        fs::create_directories(later);
        std::ofstream(later / "identity.key") << "x";
        QVERIFY(::write(made[1], "x", 1) == 1);
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(WEXITSTATUS(status), 2);
        for (const int end : {go[0], go[1], made[0], made[1]}) ::close(end);
    }

    /// Which would go on as they were.
    void a_process_with_threads_is_not_confined_silently() {
        const pid_t child = ::fork();
        if (child == 0) {
            std::atomic<bool> end = false;
            std::thread other([&] {
                while (!end) std::this_thread::yield();
            });
            const bool confined = confine({m_data, {}, std::nullopt}).ok();
            end = true;
            other.join();
            ::_exit(confined ? 1 : 0);
        }
        int status = 0;
        QCOMPARE(::waitpid(child, &status, 0), child);
        QCOMPARE(WEXITSTATUS(status), 0);
    }

    void it_writes_where_it_may_and_nowhere_else() {
        if (!support().files) QSKIP("this kernel has no Landlock");
        Limits told = limits();
        told.writable = {m_data / "runs/a"};
        const int bits =
            attempts(told, {[&] { return writes(m_beside / "new"); }, [&] { return writes(m_data / "runs/other"); },
                            [&] { return ::unlink((m_beside / "picture.png").c_str()) == 0; },
                            [&] { return writes(m_data / "runs/a/new") && writes(m_data / "runs/a/state"); },
                            [&] { return writes("/dev/null"); }, [&] { return reads(m_beside / "picture.png"); }});
        QCOMPARE(bits, 0b111000);
    }

    /// As CUDA's driver does for each thread that it starts.
    void it_names_its_threads_and_nobody_elses() {
        if (!support().files) QSKIP("this kernel has no Landlock");
        const auto names_a_thread = [] {
            std::atomic<pid_t> number = 0;
            std::atomic<bool> end = false;
            std::thread other([&] {
                number = static_cast<pid_t>(::syscall(SYS_gettid));
                while (!end) std::this_thread::yield();
            });
            while (number == 0) std::this_thread::yield();
            const bool named = writes("/proc/self/task/" + std::to_string(number) + "/comm");
            end = true;
            other.join();
            return named;
        };
        const std::string parent = "/proc/" + std::to_string(::getpid()) + "/comm";
        QVERIFY(writes(parent));
        Limits told = limits();
        told.writable.emplace();
        const int bits = attempts(
            told, {names_a_thread, [&] { return writes(parent); }, [] { return writes("/proc/self/oom_score_adj"); }});
        QCOMPARE(bits, 0b1);
    }

    void it_reaches_nobody() {
        if (!support().network) QSKIP("this kernel has no seccomp filters");
        const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        const std::string name = (m_beside / "bus").string();
        QVERIFY(name.size() < sizeof address.sun_path);
        name.copy(address.sun_path, sizeof address.sun_path - 1);
        QVERIFY(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0 && ::listen(server, 1) == 0);
        const auto connects = [&] {
            const int at = ::socket(AF_UNIX, SOCK_STREAM, 0);
            return ::connect(at, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
        };
        QVERIFY(connects());
        const int bits = attempts({}, {[] { return ::socket(AF_INET, SOCK_STREAM, 0) >= 0; },
                                       [] { return ::socket(AF_INET6, SOCK_DGRAM, 0) >= 0; },
                                       [] { return ::socket(AF_PACKET, SOCK_RAW, 0) >= 0; }, connects,
                                       [] { return ::syscall(425L, 1, nullptr) >= 0 || errno != ENOSYS; },
                                       [] { return ::socket(AF_UNIX, SOCK_STREAM, 0) >= 0; },
                                       [] { return ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1; }});
        ::close(server);
        QCOMPARE(bits, 0b1100000);
    }

    void it_starts_and_signals_no_other_program() {
        if (!support().files || !support().network) QSKIP("this kernel has no Landlock or no seccomp filters");
        const pid_t parent = ::getpid();
        const int bits = attempts(limits(), {[] {
                                                 const pid_t child = ::fork();
                                                 if (child == 0) {
                                                     ::execl("/bin/true", "true", nullptr);
                                                     ::_exit(1);
                                                 }
                                                 int status = 0;
                                                 ::waitpid(child, &status, 0);
                                                 return WIFEXITED(status) && WEXITSTATUS(status) == 0;
                                             },
                                             // Root may read it by another right, CAP_PERFMON.
                                             [&] {
                                                 const std::string file =
                                                     "/proc/" + std::to_string(parent) + "/environ";
                                                 return ::geteuid() != 0 && reads(file);
                                             },
                                             [&] { return ::syscall(SYS_ptrace, 16, parent, 0, 0) == 0; },
                                             [] { return ::dlopen("libz.so.1", RTLD_NOW) != nullptr; }});
        QCOMPARE(bits, 0b1000);
    }
#endif
};

QTEST_GUILESS_MAIN(ConfinementTest)
#include "test_confinement.moc"
