// Classes that a reader can hold in the head: at most 30 fields, constants among them, and at most 50 methods.
//
// The scanner reads headers and knows declarations by their layout alone: it drops comments, literals and what stands
// in angle brackets, cuts a class's body at the semicolons and braces of its own level, and takes what has parentheses
// before any "=" for a function. Nested types are counted for themselves; deleted and defaulted functions are not.
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int fields_max = 30;
constexpr int methods_max = 50;

struct Class {
    QString name;
    int fields = 0, methods = 0;
};

struct Counts {
    int fields = 0, methods = 0;
};

/// Classes that are larger, by header, with what they count now. A row is lowered when its class shrinks and goes when
/// it fits; none is added.
const QMap<QString, Counts>& exceptions() {
    static const QMap<QString, Counts> all = {{"app/demo/demo_recipe.h: DemoRecipe", {34, 9}},
                                              {"app/demo/report.h: DemoReport", {48, 0}},
                                              {"app/demo/scenario.h: Scenario", {41, 33}},
                                              {"app/node/trainer/trainer_process.h: TrainerProcess", {41, 46}},
                                              {"core/control/node_protocol.h: RunSnapshot", {40, 2}},
                                              {"core/peer/contributor.h: Contributor", {27, 69}},
                                              {"core/peer/status_facts.h: StatusFacts", {32, 0}},
                                              {"net/blobs.h: Blobs", {17, 66}},
                                              {"ui/client/node_client.h: NodeClient", {16, 82}}};
    return all;
}

/// Without comments, preprocessor lines and the insides of literals.
QString code_of(const QStringList& lines) {
    static const QRegularExpression digits("(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])");
    static const QRegularExpression unread("//[^\n]*|\"(?:\\\\.|[^\"\\\\])*\"|'(?:\\\\.|[^'\\\\])*'");
    QString code;
    for (const QString& line : lines) {
        if (!line.trimmed().startsWith('#')) code += line + '\n';
    }
    static const QRegularExpression qt("\\bQ_\\w+(\\([^)]*\\))?");
    code.remove(digits).remove(unread).remove(qt);
    return code;
}

/// `text` without what balanced brackets of this kind hold. "<<" and "->" are no brackets.
QString without(const QString& text, QChar open, QChar close) {
    QString left;
    int depth = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QString pair = text.mid(i, 2);
        const bool is_operator = open == '<' && (pair == "<<" || pair == "<=" || pair == "->" || pair == ">=");
        if (is_operator) {
            if (depth == 0) left += pair;
            ++i;
        } else if (text[i] == open) {
            ++depth;
        } else if (text[i] == close && depth > 0) {
            --depth;
        } else if (depth == 0) {
            left += text[i];
        }
    }
    return left;
}

/// Behind the brace that closes the one at `open`.
qsizetype end_of_block(const QString& code, qsizetype open) {
    int depth = 0;
    for (qsizetype i = open; i < code.size(); ++i) {
        if (code[i] == '{') ++depth;
        if (code[i] == '}' && --depth == 0) return i + 1;
    }
    return code.size();
}

const QRegularExpression& type_head() {
    static const QRegularExpression head(
        R"(^\s*(?:template\b\s*)?(?:class|struct|union|enum)\b\s*(?:class\b\s*)?(?:alignas\([^)]*\)\s*)?([\w:]*))");
    return head;
}

const QRegularExpression& access() {
    static const QRegularExpression label("^\\s*(public|protected|private|signals)(\\s+slots)?\\s*:(?!:)");
    return label;
}

bool is_function(const QString& declaration) {
    if (declaration.contains(QRegularExpression("\\boperator\\b"))) return true;
    const qsizetype call = declaration.indexOf('('), value = declaration.indexOf('=');
    return call >= 0 && (value < 0 || call < value);
}

/// Counts a declaration of the class's own level, which ended with a semicolon or a body.
void count(QString declaration, Class& into) {
    static const QRegularExpression attribute("\\[\\[.*?\\]\\]");
    static const QRegularExpression no_member("^(using|typedef|friend|static_assert|class|struct|union|enum)\\b");
    declaration = declaration.remove(access()).remove(attribute).simplified();
    declaration.remove(QRegularExpression("^template "));
    if (declaration.isEmpty() || declaration.contains(no_member)) return;
    if (is_function(declaration)) {
        static const QRegularExpression unwritten("= ?(delete|default)$");
        if (!declaration.contains(unwritten)) ++into.methods;
    } else {
        into.fields += 1 + static_cast<int>(without(declaration, '(', ')').count(','));
    }
}

void scan(const QString& code, const QString& outer, QList<Class>& found);

/// What stands between a class's braces.
Class scan_body(const QString& body, const QString& name, QList<Class>& found) {
    Class counted{name};
    QString declaration;
    for (qsizetype i = 0; i < body.size(); ++i) {
        if (body[i] == ';') {
            count(without(declaration, '<', '>'), counted);
            declaration.clear();
            continue;
        }
        declaration += body[i];
        if (body[i] == ':') declaration.remove(access());
        if (body[i] != '{') continue;
        declaration.chop(1);
        const qsizetype end = end_of_block(body, i);
        const QString plain = without(declaration, '<', '>').remove(QRegularExpression("\\[\\[.*?\\]\\]"));
        const QString outside = without(plain, '(', ')').trimmed();
        const bool is_type = type_head().match(plain).hasMatch();
        const bool initialises = plain.contains(QRegularExpression("\\)\\s*(noexcept\\s*)?:(?!:)"));
        const bool is_body = is_function(plain) && !(initialises && outside.back().isLetterOrNumber());
        if (is_type) {
            scan(declaration + body.mid(i, end - i) + ';', name + "::", found);
            declaration.clear();  // what follows its braces is a field of that type
        } else if (is_body) {
            count(plain, counted);
            declaration.clear();
        } else {
            declaration += "{}";  // an initialiser
        }
        i = end - 1;
    }
    return counted;
}

/// Every class of `code`, those inside others too.
void scan(const QString& code, const QString& outer, QList<Class>& found) {
    static const QRegularExpression head(
        R"((?<![\w<,])(?<!enum )(class|struct)\s+(?:alignas\([^)]*\)\s*)?([A-Za-z_][\w:]*)\s*(?:<[^;{}()]*>)?\s*(?:final\s*)?(?::[^;{}()]*)?\{)");
    qsizetype at = 0;
    for (auto match = head.match(code, at); match.hasMatch(); match = head.match(code, at)) {
        const qsizetype open = match.capturedEnd() - 1, end = end_of_block(code, open);
        found.append(scan_body(code.mid(open + 1, end - open - 2), outer + match.captured(2), found));
        at = end;
    }
}

QList<Class> classes_of(const QStringList& lines) {
    QList<Class> found;
    scan(code_of(lines), {}, found);
    return found;
}

}  // namespace

class ClassesTest : public QObject {
    Q_OBJECT
private slots:
    void fields_and_methods_are_told_apart() {
        const QStringList source = {"template <class T>",
                                    "class Room final : public Base, private Other<int> {",
                                    "public:",
                                    "    static constexpr Duration every{1'000}, patience{2'000};",
                                    "    enum class Kind { open, shut } kind = Kind::open;  // a field, too",
                                    "    struct Inner {",
                                    "        int a = 0, b = 0;",
                                    "        bool operator==(const Inner&) const = default;",
                                    "    };",
                                    "    explicit Room(int a) : m_a(a), m_map{{a, \"};\"}} {}",
                                    "    Room(const Room&) = delete;",
                                    "    [[nodiscard]] std::map<int, std::string> rows(int most = 3) const;",
                                    "    [[nodiscard]] int size() const { return m_a < 3 ? 1 : 2; }",
                                    "    bool operator<(const Room& other) const;",
                                    "    using Done = std::function<void(int)>;",
                                    "    friend class Other;",
                                    "",
                                    "private:",
                                    "    void hold();  // void no_method();",
                                    "    std::function<void(int, int)> m_done;",
                                    "    int m_a = std::max(1, 2);",
                                    "    std::uint64_t m_bytes = 20ULL << 30U;",
                                    "    std::map<int, const char*> m_map;",
                                    "};",
                                    "enum class Colour { red };"};
        const QList<Class> found = classes_of(source);
        QCOMPARE(found.size(), qsizetype{2});
        QCOMPARE(found[0].name, QString("Room::Inner"));
        QCOMPARE(found[0].fields, 2);
        QCOMPARE(found[0].methods, 0);
        QCOMPARE(found[1].name, QString("Room"));
        QCOMPARE(found[1].fields, 7);
        QCOMPARE(found[1].methods, 5);
    }

    void no_class_has_more_than_30_fields_or_50_methods() {
        QStringList wrong;
        QSet<QString> large;
        int seen = 0;
        for (const QString& file : files_below(product_folders(), {"*.h"})) {
            for (const Class& one : classes_of(lines_of(file))) {
                ++seen;
                if (one.fields <= fields_max && one.methods <= methods_max) continue;
                const QString name = file + ": " + one.name;
                large.insert(name);
                const Counts allowed = exceptions().value(name);
                if (one.fields != allowed.fields || one.methods != allowed.methods)
                    wrong << QString("{\"%1\", {%2, %3}} is not what is listed")
                                 .arg(name)
                                 .arg(one.fields)
                                 .arg(one.methods);
            }
        }
        for (const QString& name : exceptions().keys()) {
            if (!large.contains(name)) wrong << name + " needs no exception any more";
        }
        QVERIFY(seen > 700);
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }
};

QTEST_APPLESS_MAIN(ClassesTest)
#include "test_classes.moc"
