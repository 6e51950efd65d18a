// docs/control-protocol.md is printed from the descriptions of the protocols' structs. This test prints it again and
// compares; with POTLUCK_WRITE_DOCS=1 it writes the file instead.
#include <QDir>
#include <QFile>
#include <QTest>

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "core/control/node_methods.h"
#include "core/control/trainer_protocol.h"

using namespace potluck;
using namespace potluck::control;

namespace {

constexpr const char* head = R"(# Control protocol

Printed from `core/control` by `tests/tidy/test_control_document.cpp`; run it with `POTLUCK_WRITE_DOCS=1` after a change.

Window, command line, node and trainer speak JSON-RPC 2.0, one object per line of at most LINE bytes, over standard
streams or a local socket. A request is answered by one reply with the same id; a notification has no id:

    {"jsonrpc":"2.0","id":7,"method":"status","params":{}}
    {"jsonrpc":"2.0","id":7,"result":{...}}
    {"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"a sentence for the person","data":{"kind":"not_found"}}}
    {"jsonrpc":"2.0","method":"progress","params":{...}}

Every object has a closed set of fields. A field that is missing, unknown, of another type or out of bounds is refused,
because the line may come from another version of the program. Numbers are finite; 0 stands for "none". A text is UTF-8,
and its bound counts bytes.
)";

std::string number_text(double number) {
    char text[40];
    std::snprintf(text, sizeof text, "%.10g", number);
    return text;
}

std::string limit_text(std::uint64_t limit) {
    if (limit == integer_max) return "2^62";
    return limit == UINT64_MAX ? "2^64 - 1" : std::to_string(limit);
}

/// "an energy", "a use of the disk", and "rules", since labels that end in s are plurals.
std::string with_article(std::string_view label) {
    const std::string text(label);
    if (text.ends_with('s')) return text;
    return (std::string_view("aeio").find(text.front()) == std::string_view::npos ? "a " : "an ") + text;
}

std::string capitalised(std::string_view label) {
    std::string text(label);
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
    return text;
}

/// Prints a struct as a table, and afterwards the structs that it contains.
class Printer {
public:
    template <Described T>
    void section(const std::string& title) {
        Rows rows;
        T example;
        T::fields(example, rows);
        text += title;
        text +=
            rows.table.empty() ? "No fields.\n\n" : "| field | type | meaning |\n|---|---|---|\n" + rows.table + "\n";
        for (const auto& print : rows.nested) print(*this);
    }
    /// Once, wherever it is used first.
    template <Described T>
    void once() {
        if (m_printed.insert(std::string(label_of<T>())).second)
            section<T>("### " + capitalised(label_of<T>()) + "\n\n");
    }

    std::string text;

private:
    struct Rows {
        std::string table;
        std::vector<void (*)(Printer&)> nested;

        template <class T, class Rule>
        void operator()(const char* name, T& value, const Rule& rule, const char* meaning) {
            table += "| `" + std::string(name) + "` | " + type(value, rule) + " | " + meaning + " |\n";
        }

        std::string type(std::string&, const Text& rule) {
            return "text of at most " + limit_text(rule.bytes_max) + " bytes";
        }
        std::string type(std::integral auto& value, const Whole& rule) {
            using T = std::remove_reference_t<decltype(value)>;
            return "whole number from " + limit_text(rule.low) + " to " + limit_text(highest<T>(rule));
        }
        std::string type(double&, const Real& rule) {
            if (rule.low == -number_max && rule.high == number_max) return "number";
            if (rule.high == number_max) return "number from " + number_text(rule.low);
            return "number from " + number_text(rule.low) + " to " + number_text(rule.high);
        }
        std::string type(bool&, const Any&) { return "true or false"; }
        std::string type(nlohmann::json&, const Any&) { return "object"; }
        template <Named E>
        std::string type(E&, const Any&) {
            std::string words;
            for (const char* word : names<E>) words += (words.empty() ? "`" : ", `") + std::string(word) + "`";
            return "one of " + words;
        }
        template <Described T>
        std::string type(T&, const Any&) {
            nested.push_back([](Printer& p) { p.once<T>(); });
            return with_article(label_of<T>());
        }
        template <Foreign T>
        std::string type(T&, const Any&) {
            return "object";
        }
        template <class T, class Rule>
        std::string type(std::vector<T>&, const List<Rule>& rule) {
            T entry{};
            return "list of " + std::to_string(rule.entries_min) + " to " + std::to_string(rule.entries_max) +
                   ", each " + type(entry, rule.each);
        }
        template <class T, class Rule>
        std::string type(std::optional<T>&, const Rule& rule) {
            T inner{};
            return type(inner, rule) + "; may be missing";
        }
        template <class T, class Rule>
        std::string type(T& value, const Optional<Rule>& rule) {
            return type(value, rule.rule) + "; " + default_text(value) + " if missing";
        }

        static std::string default_text(double value) { return number_text(value); }
        static std::string default_text(std::int64_t value) { return std::to_string(value); }
        static std::string default_text(std::uint64_t value) { return std::to_string(value); }
        static std::string default_text(std::uint32_t value) { return std::to_string(value); }
        static std::string default_text(std::uint16_t value) { return std::to_string(value); }
        template <Described T>
        static std::string default_text(const T&) {
            return "all its numbers 0";
        }
        static std::string default_text(const std::string& value) { return value.empty() ? "empty" : value; }
        template <class T>
        static std::string default_text(const std::vector<T>&) {
            return "empty";
        }
        static std::string default_text(bool value) { return value ? "true" : "false"; }
        template <Named E>
        static std::string default_text(E value) {
            return "`" + std::string(name_of(value)) + "`";
        }
    };

    std::set<std::string> m_printed;
};

template <class Methods>
void print_methods(Printer& printer) {
    Methods::for_each([&]<class Call>() {
        printer.section<Call>("## Method `" + std::string(Call::name) + "`\n\n");
        if constexpr (std::is_same_v<typename Call::Reply, Done>) {
            printer.text += "Answered by an empty object.\n\n";
        } else {
            printer.text += "Answered by " + with_article(label_of<typename Call::Reply>()) + ".\n\n";
            printer.once<typename Call::Reply>();
        }
    });
}

std::string document() {
    Printer node, trainer;
    print_methods<NodeMethods>(node);
    node.text += "## Notification `" + std::string(status_notification) +
                 "`\n\nA node snapshot, sent to all "
                 "subscribers at every change and at least once a second.\n\n";
    print_methods<TrainerMethods>(trainer);
    trainer.section<TrainerProgress>("## Notification `progress`\n\n");
    trainer.section<TrainerReplanned>("## Notification `replanned`\n\n");
    trainer.section<TrainerMoments>("## Notification `moments`\n\n");
    trainer.section<TrainerJudged>("## Notification `judged`\n\n");
    trainer.section<TrainerFailed>("## Notification `failed`\n\n");
    std::string start = head;
    start.replace(start.find("LINE"), 4, std::to_string(line_bytes_max));
    std::string whole =
        start + "\n# Window and command line to node, version " + std::to_string(node_protocol_version) + "\n\n" +
        node.text + "# Node to trainer, version " + std::to_string(trainer_protocol_version) +
        "\n\nTensors pass as files. The trainer keeps the local model L and the anchor M, the vector it last "
        "loaded or wrote:\n`snapshot` writes L to a file and sets M = L, `rebase` sets L += new - M and M = "
        "new. Requests are answered in order.\n\n" +
        trainer.text;
    while (whole.ends_with("\n\n")) whole.pop_back();
    return whole;
}

}  // namespace

class ControlDocumentTest : public QObject {
    Q_OBJECT
private slots:
    void the_document_says_what_the_structs_say() {
        QFile file(QDir(QStringLiteral(POTLUCK_SOURCE_DIR)).filePath("docs/control-protocol.md"));
        const QByteArray wanted = QByteArray::fromStdString(document());
        if (qEnvironmentVariableIntValue("POTLUCK_WRITE_DOCS") == 1) {
            QVERIFY(file.open(QIODevice::WriteOnly));
            QCOMPARE(file.write(wanted), wanted.size());
            return;
        }
        QVERIFY(file.open(QIODevice::ReadOnly));
        QVERIFY2(file.readAll() == wanted, "docs/control-protocol.md is old: run this test with POTLUCK_WRITE_DOCS=1");
    }

    void every_field_has_a_meaning() {
        const QString text = QString::fromStdString(document());
        QVERIFY(text.contains("| `pruned_weights` |"));
        for (const QString& line : text.split('\n')) QVERIFY2(!line.endsWith("|  |"), qPrintable(line));
    }
};

QTEST_APPLESS_MAIN(ControlDocumentTest)
#include "test_control_document.moc"
