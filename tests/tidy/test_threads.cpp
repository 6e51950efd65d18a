// The threads that headers promise are checked by the classes themselves: a header that promises one thread holds a
// ThreadOwner (core/base/thread_owner.h), or stands below with the reason why it need not.
#include <QMap>
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

/// Headers that promise one thread and hold no ThreadOwner.
const QMap<QString, QString>& exceptions() {
    static const QMap<QString, QString> all = {
        {"app/node/control/dispatcher.h", "a table, filled before it is used"},
        {"core/ledger/database.h", "part of the ledger, which checks"},
        {"core/run/round_machine.h", "a value"},
        {"core/training/plan_facts.h", "functions"},
    };
    return all;
}

/// Rooms whose headers are read. core/data and core/model are used by one thread at a time and handed from one to
/// another; core/peer is one Peer, which the run's session calls; LibTorch's rooms are reached through the Trainer,
/// which checks once instead of at every product; ui has Qt's own.
const QStringList& rooms() {
    static const QStringList all = {"net",
                                    "net/links",
                                    "net/proxy",
                                    "app/node/owner",
                                    "app/node/member",
                                    "app/node/session",
                                    "app/node/trainer",
                                    "app/node/control",
                                    "core/training",
                                    "core/ledger",
                                    "core/run"};
    return all;
}

bool is_in_room(const QString& file) { return rooms().contains(file.section('/', 0, -2)); }

}  // namespace

class ThreadsTest : public QObject {
    Q_OBJECT
private slots:
    void a_class_that_promises_one_thread_checks_it() {
        static const QRegularExpression promise("Threads: (one\\b|the (loop|node)'s)");
        QStringList wrong;
        int seen = 0;
        for (const QString& file : files_below({"core", "net", "app"}, {"*.h"})) {
            if (!is_in_room(file)) continue;
            const QString text = lines_of(file).join('\n');
            const bool has_class = text.contains(QRegularExpression("^class ", QRegularExpression::MultilineOption));
            if (!has_class || !promise.match(text).hasMatch()) continue;
            ++seen;
            if (exceptions().contains(file)) continue;
            if (!text.contains("ThreadOwner m_owner;")) wrong << file + " promises one thread and has no ThreadOwner";
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
        QVERIFY(seen > 15);
    }

    void every_thread_owner_is_checked() {
        QStringList wrong;
        for (const QString& file : files_below({"core", "net", "app"}, {"*.h"})) {
            if (!lines_of(file).join('\n').contains("ThreadOwner m_owner;")) continue;
            QStringList sources = {file};
            const QString stem = file.section('/', 0, -2) + "/";
            sources << files_below({file.section('/', 0, -2)}, {file.section('/', -1).replace(".h", ".cpp")});
            bool asks = false;
            for (const QString& source : sources) {
                if (source.startsWith(stem)) asks = asks || lines_of(source).join('\n').contains("m_owner.check();");
            }
            if (!asks) wrong << file + " has an owner that nothing asks";
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void every_exception_is_still_one() {
        for (auto it = exceptions().begin(); it != exceptions().end(); ++it) {
            const QStringList lines = lines_of(it.key());
            QVERIFY2(!lines.isEmpty(), qPrintable(it.key() + " is gone"));
            QVERIFY2(!lines.join('\n').contains("ThreadOwner"), qPrintable(it.key() + " checks by now"));
        }
    }
};

QTEST_APPLESS_MAIN(ThreadsTest)
#include "test_threads.moc"
