// A family of models is one row and one room: at most eight files elsewhere may name one, and each is listed here.
//
// The rule reads every text file of the product, comments and documents included: a file that says what ALBERT does is
// one more that the next family may have to change. GPT-2, OPT and Llama are not looked for, since their names stand
// for tokenizers and file formats, too; what is particular to them in code begins with the enumeration's name.
#include <algorithm>

#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

constexpr int files_max = 8;

/// Where families live: their rows, and the rooms that compute them.
const QStringList& rooms() {
    static const QStringList all = {"core/model/", "core/training/decoder/", "core/training/encoder/",
                                    "core/training/picture/"};
    return all;
}

/// The other files that name a family, each with its reason. None is added but for a reason as good.
const QMap<QString, QString>& exceptions() {
    static const QMap<QString, QString> all = {
        {"app/demo/demo_recipe.cpp", "each family's recipe was chosen by measurement"},
        {"app/node/cli/options/demo_options.cpp", "--family takes their names"},
        {"core/training/make_model.cpp", "the table of what computes them"},
        {"core/training/memory/price.cpp", "what each keeps for its backward pass was counted and measured"}};
    return all;
}

bool names_a_family(const QStringList& lines) {
    static const QRegularExpression name("albert|dall-?e|swav|Family::", QRegularExpression::CaseInsensitiveOption);
    return std::ranges::any_of(lines, [](const QString& line) { return line.contains(name); });
}

bool is_in_a_room(const QString& file) {
    return std::ranges::any_of(rooms(), [&](const QString& room) { return file.startsWith(room); });
}

}  // namespace

class FamiliesTest : public QObject {
    Q_OBJECT
private slots:
    void few_files_outside_their_rooms_name_a_family() {
        QStringList naming, wrong;
        for (const QString& file :
             files_below(product_folders(), {"*.h", "*.cpp", "*.cu", "*.inl", "*.md", "*.txt", "*.js", "*.css"})) {
            if (!is_in_a_room(file) && names_a_family(lines_of(file))) naming << file;
        }
        for (const QString& file : naming) {
            if (!exceptions().contains(file)) wrong << file + " names a family: ask core/model/traits.h instead";
        }
        for (const QString& file : exceptions().keys()) {
            if (!naming.contains(file)) wrong << file + " needs no exception any more";
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
        QVERIFY2(naming.size() <= files_max, qPrintable(naming.join("\n")));
    }

    void a_name_is_seen_wherever_it_stands() {
        QVERIFY(names_a_family({"int a;", "if (spec.family == model::Family::opt) return;"}));
        QVERIFY(names_a_family({"// DALL-E's layers"}) && names_a_family({"spec.dalle.text"}));
        QVERIFY(names_a_family({"\"swav-tiny\""}) && names_a_family({"AlbertShape shape;"}));
        QVERIFY(!names_a_family({"const bool alone = model::reads_pictures(spec);", "// a family of models"}));
        QVERIFY(is_in_a_room("core/model/torchvision/torchvision_file.cpp") &&
                !is_in_a_room("core/training/service.cpp"));
    }
};

QTEST_APPLESS_MAIN(FamiliesTest)
#include "test_families.moc"
