// The tables of docs/wire-format.md that follow a line `<!-- fields: NAME -->` or `<!-- kinds of messages -->` are
// printed from the descriptions of the structs. This test prints them again and compares; with POTLUCK_WRITE_DOCS=1 it
// writes them instead.
#include <QFile>
#include <QMap>
#include <QTest>

#include "core/run/agreement/vote.h"
#include "core/run/credit_table.h"
#include "core/run/message.h"

using namespace potluck;
using namespace potluck::run;

namespace {

QString text_of(std::string_view text) { return QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())); }

/// Takes the fields of a struct instead of writing or reading them.
class Rows {
public:
    template <class Value, class Rule>
    void operator()(std::string_view name, const Value&, const Rule& rule, std::string_view meaning) {
        const QString type = QString::fromStdString(rule.template type<std::remove_const_t<Value>>());
        table += QStringLiteral("| %1 | %2 | %3 |\n").arg(text_of(name), type, text_of(meaning));
        line << QStringLiteral("*%1* %2: %3").arg(text_of(name), type, text_of(meaning));
    }
    [[nodiscard]] static bool has(bool) { return true; }
    [[nodiscard]] static bool goes_on(bool) { return true; }
    static void require(bool) {}

    QString table;
    QStringList line;
};

template <class Struct>
Rows rows_of() {
    Rows rows;
    Struct example;
    Struct::fields(example, rows);
    return rows;
}

using Tables = QMap<QString, QString>;

template <class Struct>
void add(Tables& tables) {
    tables["fields: " + text_of(Struct::label)] =
        "| field | type | meaning |\n|---|---|---|\n" + rows_of<Struct>().table;
}

/// One row a kind, with its fields where they are few.
template <std::size_t... index>
QString kinds(std::index_sequence<index...>) {
    QString table = "| kind | name | body |\n|---|---|---|\n";
    const auto add_row = [&](std::size_t kind, std::string_view name, const QStringList& fields) {
        const QString body = fields.isEmpty() ? "nothing" : fields.size() > 5 ? "below" : fields.join("; ");
        table += QStringLiteral("| %1 | %2 | %3 |\n").arg(kind).arg(text_of(name), body);
    };
    (add_row(index + 1, std::variant_alternative_t<index, Message>::label,
             rows_of<std::variant_alternative_t<index, Message>>().line),
     ...);
    return table;
}

Tables printed() {
    Tables tables;
    add<BlobRef>(tables);
    add<DeviceCertificate>(tables);
    add<StatusMessage>(tables);
    add<CommittedList>(tables);
    add<HostAction>(tables);
    add<JurorVerdict>(tables);
    add<MeasuredLoss>(tables);
    add<Suspension>(tables);
    add<SignedVerdict>(tables);
    add<AcceptList>(tables);
    add<Accepted>(tables);
    add<Measured>(tables);
    add<SignedLoss>(tables);
    add<Bounds>(tables);
    add<CreditTable>(tables);
    add<TableCredit>(tables);
    add<Suspended>(tables);
    add<LossCurve>(tables);
    add<LossPoint>(tables);
    add<Vote>(tables);
    add<Proposal>(tables);
    add<Certificate>(tables);
    tables["kinds of messages"] = kinds(std::make_index_sequence<std::variant_size_v<Message>>{});
    return tables;
}

/// `page` with every marked table replaced; `marks` are the marks that it has.
QString with_tables(const QString& page, const Tables& tables, QStringList& marks) {
    QString text, mark;
    for (const QString& line : page.split('\n')) {
        const bool is_row = line.startsWith('|');
        if (!mark.isEmpty() && is_row) continue;
        if (!mark.isEmpty()) text += tables.value(mark);
        mark.clear();
        text += line + '\n';
        if (!line.startsWith("<!-- ")) continue;
        mark = line.mid(5).chopped(4);
        marks << mark;
    }
    return text.chopped(1);
}

}  // namespace

class WireDocumentTest : public QObject {
    Q_OBJECT
private slots:
    void the_tables_are_what_the_structs_say() {
        QFile file(QStringLiteral(POTLUCK_SOURCE_DIR "/docs/wire-format.md"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QString page = QString::fromUtf8(file.readAll());
        file.close();
        const Tables tables = printed();
        QStringList marks;
        const QString wanted = with_tables(page, tables, marks);
        marks.sort();
        QCOMPARE(marks, QStringList(tables.keys()));
        if (qEnvironmentVariableIsSet("POTLUCK_WRITE_DOCS")) {
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(wanted.toUtf8());
            return;
        }
        const QStringList is = page.split('\n'), should = wanted.split('\n');
        for (qsizetype i = 0; i < should.size(); ++i) QCOMPARE(is.value(i), should[i]);
        QCOMPARE(is.size(), should.size());
    }

    void numbers_and_ranges_are_spelled_as_on_the_page() {
        QCOMPARE(wire::number_text(16'384), std::string("16,384"));
        QCOMPARE(wire::number_text(1U << 20U), std::string("2^20"));
        QCOMPARE(wire::number_text(1'000'000'000), std::string("10^9"));
        QCOMPARE(wire::number_text(870'446), std::string("870,446"));
        QCOMPARE(wire::number_text(3ULL << 52U), std::string("3 x 2^52"));
        QCOMPARE(wire::number_text(0), std::string("0"));
        QCOMPARE(wire::number_text((1U << 20U) - 1), std::string("2^20 - 1"));
        QCOMPARE(wire::whole_text(4, 0, UINT64_MAX), std::string("u32"));
        QCOMPARE(wire::whole_text(4, 1, UINT64_MAX), std::string("u32 (from 1)"));
        QCOMPARE(wire::whole_text(8, 0, round_max), std::string("u64 (0 to 2^40)"));
        QCOMPARE(wire::whole_text(1, 0, 255), std::string("u8"));
    }
};

QTEST_APPLESS_MAIN(WireDocumentTest)
#include "test_wire_document.moc"
