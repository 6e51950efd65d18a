// Statements are kept prepared between uses: each use begins as the first did.
#include <QTemporaryDir>
#include <QTest>

#include "core/ledger/database.h"

using namespace potluck;
using namespace potluck::ledger;

namespace {

constexpr const char* insert = "INSERT INTO numbers (first, second) VALUES (?, ?)";
constexpr const char* all = "SELECT first, second FROM numbers ORDER BY first";

/// A file with a table of pairs.
struct Opened {
    QTemporaryDir folder;
    Connection connection;

    Opened() {
        if (!connection.open(folder.filePath("numbers").toStdString()).ok()) qFatal("it cannot be opened");
        if (!connection.make_durable().ok()) qFatal("it has no log");
        if (!connection.execute("CREATE TABLE numbers (first INTEGER UNIQUE, second INTEGER)")) qFatal("no table");
    }
    bool add(std::int64_t first, std::int64_t second) {
        return Statement(connection, insert).bind(first).bind(second).run();
    }
};

}  // namespace

class DatabaseTest : public QObject {
    Q_OBJECT
private slots:
    void values_of_the_use_before_are_gone() {
        Opened file;
        QVERIFY(file.add(1, 10));
        QVERIFY(Statement(file.connection, insert).bind(std::int64_t{2}).run());
        Statement query(file.connection, "SELECT count(*) FROM numbers WHERE second IS NULL");
        QVERIFY(query.step() == Statement::Step::row);
        QCOMPARE(query.integer(0), std::int64_t{1});
    }

    void two_of_one_text_read_side_by_side() {
        Opened file;
        QVERIFY(file.add(1, 10) && file.add(2, 20));
        for (int use = 0; use < 2; ++use) {
            Statement outer(file.connection, all);
            QVERIFY(outer.step() == Statement::Step::row);
            Statement inner(file.connection, all);
            QVERIFY(inner.step() == Statement::Step::row && inner.step() == Statement::Step::row);
            QCOMPARE(inner.integer(1), std::int64_t{20});
            QCOMPARE(outer.integer(1), std::int64_t{10});
        }
    }

    void a_query_that_was_left_half_read_holds_nothing() {
        Opened file;
        QVERIFY(file.add(1, 10) && file.add(2, 20));
        {
            Statement query(file.connection, all);
            QVERIFY(query.step() == Statement::Step::row);
        }
        // A reader's view would keep the log from being emptied.
        Connection other;
        QVERIFY(other.open(file.folder.filePath("numbers").toStdString()).ok());
        Statement checkpoint(other, "PRAGMA wal_checkpoint(TRUNCATE)");
        QVERIFY(checkpoint.step() == Statement::Step::row);
        QCOMPARE(checkpoint.integer(0), std::int64_t{0});
    }

    void a_statement_works_again_after_one_that_failed() {
        Opened file;
        QVERIFY(file.add(1, 10));
        QVERIFY(!file.add(1, 11));
        QVERIFY(file.add(2, 20));
        QVERIFY(!Statement(file.connection, "SELECT nothing FROM nowhere").run());
        QVERIFY(!Statement(file.connection, "SELECT nothing FROM nowhere").run());
    }

    void a_connection_closes_whatever_it_has_kept() {
        Opened file;
        for (std::size_t i = 0; i < 2 * kept_statements_max; ++i) {
            const std::string text = "SELECT " + std::to_string(i);
            Statement query(file.connection, text);
            QVERIFY(query.step() == Statement::Step::row);
            QCOMPARE(query.count(0), std::uint64_t{i});
        }
    }
};

QTEST_GUILESS_MAIN(DatabaseTest)
#include "test_database.moc"
