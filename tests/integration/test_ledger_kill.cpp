// The ledger under SIGKILL and on a full disk. This program runs itself as the victim: a child appends lists as fast
// as it can and prints each round after append has returned; whatever was printed must be there after the kill.
#include <QtTest>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/rng.h"
#include "core/identity/identity.h"
#include "core/ledger/ledger.h"
#include "core/run/agreement/vote.h"

using namespace potluck;
using ledger::Ledger;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t kills = 20;
constexpr const char* victim_argument = "--append-until-killed";

constexpr std::uint64_t corrected_every = 7;  // rounds whose result is noted wrongly at first
constexpr std::size_t contributors = 400;

/// Member 0 is the committee; the others contribute.
const std::vector<identity::Identity>& people() {
    static const std::vector<identity::Identity> all = [] {
        std::vector<identity::Identity> made;
        for (std::size_t i = 0; i <= contributors; ++i) {
            std::array<std::byte, 32> seed{};
            seed[0] = static_cast<std::byte>(i >> 8U);
            seed[1] = static_cast<std::byte>(i);
            made.push_back(identity::Identity::from_seed(seed));
        }
        std::sort(made.begin() + 1, made.end(), [](const auto& a, const auto& b) { return a.id() < b.id(); });
        return made;
    }();
    return all;
}

std::vector<PeerId> committee() { return {people()[0].id()}; }

RunId run_id() {
    RunId run;
    run.bytes.fill(std::byte{5});
    return run;
}

/// L[round] after `previous`, with a few to a few hundred entries.
run::CommittedList make_list(RoundId round, const Digest& previous) {
    Rng rng(round.value);
    run::AcceptList list;
    list.run = run_id();
    list.round = round;
    list.previous = previous;
    list.committee = committee();
    const std::uint64_t entries = 1 + rng.below(rng.below(10) == 0 ? contributors : 10);
    for (std::uint64_t i = 0; i < entries; ++i) {
        const identity::Identity& contributor = people()[1 + i];
        run::Accepted accepted;
        accepted.peer = contributor.id();
        accepted.payload.root.bytes.fill(std::byte{1});
        accepted.payload.root.bytes[0] = static_cast<std::byte>(i >> 8U);
        accepted.payload.root.bytes[1] = static_cast<std::byte>(i);
        accepted.payload.size = 1 + i;
        accepted.tokens = {1 + round.value};
        const Bytes bytes = signed_bytes(run_id(), run::contribution_of(list, accepted));
        accepted.signature = contributor.sign(run::domain_of(run::MessageKind::contribution), bytes);
        list.entries.push_back(accepted);
    }
    const run::Vote vote{{list.run, list.term, round}, 0, run::Step::precommit, list.hash()};
    const identity::Signature signature = sign(vote, run::IdentityKeyring(people()[0])).signature;
    const run::Certificate certificate{vote.instance, 0, run::Step::precommit, list.hash(), 1, {signature}};
    return {list.encode(), encode(run::AgreementMessage{certificate})};
}

StateDigest state_after(RoundId round) {
    StateDigest digest;
    std::memcpy(digest.bytes.data(), &round.value, sizeof round.value);
    return digest;
}

StateDigest wrong_state() {
    StateDigest digest;
    digest.bytes.fill(std::byte{0xee});
    return digest;
}

bool is_corrected(RoundId round) { return round.value % corrected_every == corrected_every - 1; }

/// Continues the chain in `file`; never returns but on an error. Every few rounds it corrects a result, so that kills
/// meet corrections as well.
int append_until_killed(const char* file) {
    Result<Ledger> opened = Ledger::open(file);
    if (!opened.ok()) return 2;
    const std::optional<run::AcceptList> head = opened->head(run_id());
    if (head && is_corrected(head->round) && !opened->correct_result(run_id(), state_after(head->round)).ok()) return 3;
    RoundId round = head ? head->round.next() : RoundId{};
    Digest previous = head ? head->hash() : Digest{};
    for (;;) {
        const run::CommittedList list = make_list(round, previous);
        const StateDigest result = is_corrected(round) ? wrong_state() : state_after(round);
        if (!opened->append(list, result, static_cast<std::int64_t>(round.value)).ok()) return 4;
        if (is_corrected(round) && !opened->correct_result(run_id(), state_after(round)).ok()) return 5;
        // One write: a line is there whole or not at all.
        const std::string line = std::to_string(round.value) + "\n";
        if (::write(STDOUT_FILENO, line.data(), line.size()) < 0) return 7;
        previous = run::AcceptList::decode(list.list)->hash();
        round = round.next();
    }
}

struct Victim {
    pid_t process = -1;
    int output = -1;
};

Victim start_victim(const fs::path& file) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return {};
    const pid_t process = ::fork();
    if (process == 0) {
        ::dup2(ends[1], STDOUT_FILENO);
        ::execl("/proc/self/exe", "test_ledger_kill", victim_argument, file.c_str(), nullptr);
        ::_exit(1);
    }
    ::close(ends[1]);
    return {process, ends[0]};
}

/// Lets the victim print `lines` lines, waits `then` more, kills it; gives all it printed and checks how it ended.
QByteArray kill_after(const Victim& victim, int lines, std::chrono::microseconds then) {
    QByteArray printed;
    std::array<char, 4096> buffer{};
    while (printed.count('\n') < lines) {
        const ssize_t got = ::read(victim.output, buffer.data(), buffer.size());
        if (got <= 0) break;
        printed.append(buffer.data(), got);
    }
    ::usleep(static_cast<useconds_t>(then.count()));
    ::kill(victim.process, SIGKILL);
    for (ssize_t got = 0; (got = ::read(victim.output, buffer.data(), buffer.size())) > 0;) {
        printed.append(buffer.data(), got);
    }
    ::close(victim.output);
    int status = 0;
    ::waitpid(victim.process, &status, 0);
    const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    return killed ? printed : QByteArray();
}

}  // namespace

class TestLedgerKill : public QObject {
    Q_OBJECT
private slots:
    void appended_lists_survive_sigkill();
    void a_full_disk_is_a_sentence_and_loses_nothing();
};

void TestLedgerKill::appended_lists_survive_sigkill() {
    const QTemporaryDir dir;
    const fs::path file = fs::path(dir.path().toStdString()) / "ledger";
    const QString wanted = qEnvironmentVariable("POTLUCK_KILL_SEED", "1");
    const std::uint64_t seed = wanted.toULongLong();
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    Rng rng(seed);
    std::uint64_t last = 0;
    for (std::uint64_t turn = 0; turn < kills; ++turn) {
        const int lines = 1 + static_cast<int>(rng.below(15));
        const QByteArray printed = kill_after(start_victim(file), lines, std::chrono::microseconds(rng.below(20000)));
        const QList<QByteArray> rounds = printed.trimmed().split('\n');
        QVERIFY2(!printed.isEmpty() && rounds.size() >= lines,
                 qPrintable(QString("turn %1: the victim died by itself").arg(turn)));
        last = rounds.back().toULongLong();

        Result<Ledger> opened = Ledger::open(file);
        QVERIFY2(opened.ok(), opened.ok() ? "" : opened.error().message.c_str());
        const Status verified = opened->verify_chain(run_id(), {run_id(), committee()[0], {}, {}});
        QVERIFY2(verified.ok(), verified.ok() ? "" : verified.error().message.c_str());
        const std::uint64_t length = opened->totals(run_id()).rounds.value;
        QVERIFY2(length > last, qPrintable(QString("turn %1: %2 printed, %3 found").arg(turn).arg(last).arg(length)));
        for (std::uint64_t round = 0; round < length; ++round) {
            // Killed between the list and its correction, of which nothing was printed yet.
            const bool at_work = round > last && is_corrected({round});
            const std::optional<StateDigest> found = opened->digest_after(run_id(), {round});
            QVERIFY(found == state_after({round}) || (at_work && found == wrong_state()));
        }
    }
    QVERIFY(last > kills);
}

void TestLedgerKill::a_full_disk_is_a_sentence_and_loses_nothing() {
    const QTemporaryDir dir;
    const fs::path file = fs::path(dir.path().toStdString()) / "ledger";
    Result<Ledger> opened = Ledger::open(file);
    QVERIFY(opened.ok());
    // A limit on file size stands in for the disk's end: writes fail in the middle of a transaction.
    rlimit before{};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit small = before;
    small.rlim_cur = 600'000;
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &small), 0);
    Digest previous;
    RoundId round;
    Status status;
    run::CommittedList list;
    while (round.value < 10000) {
        list = make_list(round, previous);
        status = opened->append(list, state_after(round), 0);
        if (!status.ok()) break;
        previous = run::AcceptList::decode(list.list)->hash();
        round = round.next();
    }
    const std::uint64_t length_when_full = opened->totals(run_id()).rounds.value;
    const bool whole_when_full = opened->verify_chain(run_id(), {run_id(), committee()[0], {}, {}}).ok();
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    std::signal(SIGXFSZ, handler);

    QVERIFY(!status.ok());
    QVERIFY2(status.error().code == ErrorCode::no_space, status.error().message.c_str());
    QVERIFY(status.error().message.find("free some space") != std::string::npos);
    QVERIFY(round.value > 3);
    QCOMPARE(length_when_full, round.value);
    QVERIFY(whole_when_full);
    QVERIFY(opened->append(list, state_after(round), 0).ok());  // space again: it goes on where it was
    opened = Ledger::open(file);
    QVERIFY(opened.ok());
    QVERIFY(opened->verify_chain(run_id(), {run_id(), committee()[0], {}, {}}).ok());
    QCOMPARE(opened->totals(run_id()).rounds.value, round.value + 1);
}

int main(int argc, char** argv) {
    if (argc == 3 && std::strcmp(argv[1], victim_argument) == 0) return append_until_killed(argv[2]);
    TestLedgerKill test;
    return QTest::qExec(&test, argc, argv);
}

#include "test_ledger_kill.moc"
