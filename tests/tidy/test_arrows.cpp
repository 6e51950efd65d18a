// The house's arrows, read from the includes: which room may use which, and where each library lives.
#include <QMap>
#include <QRegularExpression>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

/// What each room may include besides itself. A room below another (core/numerics/codec) is a room of its own.
const QMap<QString, QStringList>& allowed_rooms() {
    static const QMap<QString, QStringList> allowed = {
        {"core/base", {}},
        {"core/base/wire", {"core/base"}},
        {"core/numerics", {"core/base"}},
        {"core/numerics/codec", {"core/numerics", "core/base"}},
        {"core/numerics/outer", {"core/numerics", "core/numerics/codec", "core/base"}},
        {"core/numerics/optimizer", {"core/numerics", "core/base"}},
        {"core/numerics/cuda", {"core/numerics/optimizer"}},
        {"core/model", {"core/numerics", "core/base"}},
        {"core/model/torchvision", {"core/model", "core/base"}},
        {"core/run",
         {"core/run/curve", "core/run/jury", "core/model", "core/numerics/outer", "core/base/wire", "core/base"}},
        {"core/run/curve", {"core/base/wire", "core/base"}},
        {"core/run/jury", {"core/base/wire", "core/base"}},
        {"core/run/agreement", {"core/run", "core/identity", "core/base/wire", "core/base"}},
        {"core/identity", {"core/base"}},
        {"core/confinement", {"core/base"}},
        {"core/release", {"core/identity", "core/base"}},
        {"core/find", {"core/release", "core/run/agreement", "core/run", "core/identity", "core/base"}},
        {"core/ledger", {"core/run/agreement", "core/run", "core/identity", "core/base/wire", "core/base"}},
        {"core/proof",
         {"core/run/agreement", "core/run", "core/identity", "core/model", "core/numerics/outer", "core/base/wire",
          "core/base"}},
        {"core/peer/seams", {"core/run/agreement", "core/run", "core/base"}},
        {"core/peer/presence",
         {"core/peer/seams", "core/run/agreement", "core/run", "core/model", "core/identity", "core/ledger",
          "core/base"}},
        {"core/peer/payloads", {"core/peer/seams", "core/run", "core/numerics/codec", "core/base"}},
        {"core/peer/chain",
         {"core/peer/payloads", "core/peer/presence", "core/run/agreement", "core/run", "core/identity", "core/ledger",
          "core/numerics/codec", "core/base"}},
        {"core/peer/states",
         {"core/peer/chain", "core/peer/payloads", "core/peer/presence", "core/peer/seams", "core/proof",
          "core/run/agreement", "core/run", "core/identity", "core/numerics/outer", "core/base"}},
        {"core/peer/jury",
         {"core/peer/chain", "core/peer/payloads", "core/peer/presence", "core/peer/seams", "core/proof", "core/run",
          "core/run/jury", "core/base"}},
        {"core/peer",
         {"core/peer/chain", "core/peer/jury", "core/peer/states", "core/peer/payloads", "core/peer/presence",
          "core/peer/seams", "core/run/agreement", "core/run", "core/model", "core/identity", "core/ledger",
          "core/status", "core/numerics/codec", "core/numerics/outer", "core/base"}},
        {"core/activity", {"core/base"}},
        {"core/activity/system", {"core/activity", "core/base"}},
        {"core/status", {"core/activity", "core/activity/system", "core/base"}},
        {"core/control", {"core/status", "core/activity", "core/run", "core/model", "core/base"}},
        {"core/device", {"core/base"}},
        {"core/device/diagnosis", {"core/device", "core/control", "core/base"}},
        {"core/pictures", {"core/base"}},
        {"core/data", {"core/model", "core/run", "core/base"}},
        {"core/data/pictures", {"core/data", "core/pictures", "core/model", "core/base"}},
        {"core/data/vocabulary", {"core/data", "core/base"}},
        {"core/training/kernels", {"core/base"}},
        {"core/training/cuda", {"core/numerics/cuda"}},
        {"core/training/memory", {"core/numerics/optimizer", "core/model", "core/run", "core/control", "core/base"}},
        {"core/training/moments", {"core/numerics/optimizer", "core/base"}},
        {"core/training/compute",
         {"core/training/memory", "core/training/kernels", "core/training/cuda", "core/device/diagnosis", "core/device",
          "core/numerics/optimizer", "core/numerics/cuda", "core/model", "core/control", "core/base"}},
        {"core/training/decoder",
         {"core/training/compute", "core/training/memory", "core/training/kernels", "core/model", "core/base"}},
        {"core/training/encoder", {"core/training/compute", "core/training/memory", "core/model", "core/base"}},
        {"core/training/picture",
         {"core/training/compute", "core/training/memory", "core/training/kernels", "core/model", "core/base"}},
        {"core/training",
         {"core/numerics/codec", "core/training/decoder", "core/training/encoder", "core/training/picture",
          "core/training/compute", "core/training/memory", "core/training/moments", "core/training/kernels",
          "core/device/diagnosis", "core/device", "core/numerics/optimizer", "core/model", "core/run", "core/control",
          "core/base"}},
        {"net/addresses", {"core/run", "core/base"}},
        {"net/links", {"core/run", "core/identity", "core/base"}},
        {"net/proxy", {"core/base"}},
        {"net",
         {"net/addresses", "net/links", "net/proxy", "core/peer/seams", "core/run", "core/identity", "core/base"}},
        {"ui/client", {"core/status", "core/control", "core/activity", "core/run", "core/base"}},
        {"ui/activity", {"ui/client", "core/activity", "core/activity/system", "core/control", "core/base"}},
        {"ui/session", {"ui/client", "core/control"}},
        {"ui/widgets",
         {"ui/client", "core/status", "core/control", "core/activity", "core/pictures", "core/run", "core/base"}},
        {"ui/members", {"ui/widgets", "ui/client", "core/control", "core/run"}},
        {"ui/share", {"ui/widgets", "ui/client", "core/base"}},
        {"ui/hosting", {"ui/share", "ui/join", "ui/widgets", "ui/client", "core/control", "core/run", "core/base"}},
        {"ui/records", {"ui/share", "ui/widgets", "ui/client", "core/control", "core/run", "core/base"}},
        {"ui/join", {"ui/widgets", "ui/client", "core/control", "core/base"}},
        {"ui/find", {"ui/join", "ui/widgets", "ui/client", "core/control", "core/base"}},
        {"ui/log", {"ui/widgets", "ui/client", "core/control", "core/base"}},
        {"ui/model", {"ui/widgets", "ui/client", "core/control", "core/base"}},
        {"ui/resources", {"ui/widgets", "ui/client", "core/control", "core/base"}},
        {"ui/pages",
         {"ui/members", "ui/hosting", "ui/records", "ui/resources", "ui/join", "ui/find", "ui/log", "ui/model",
          "ui/widgets", "ui/client", "core/status", "core/control", "core/activity", "core/run", "core/base"}},
        {"app/potluck",
         {"ui/pages", "ui/widgets", "ui/activity", "ui/session", "ui/client", "core/activity/system", "core/control",
          "core/base"}},
        {"app/node", {"app/node/cli/verbs", "app/node/trainer", "core/base"}},
        {"app/node/release",
         {"app/node", "net", "net/proxy", "core/release", "core/identity", "core/control", "core/run", "core/base"}},
        {"app/node/trainer",
         {"app/node", "core/peer/seams", "core/activity/system", "core/confinement", "core/control", "core/base"}},
        {"app/node/owner", {"core/device", "core/activity", "core/activity/system", "core/control", "core/base"}},
        {"app/node/member",
         {"app/node", "app/node/owner", "app/node/trainer", "net", "core/peer", "core/peer/states",
          "core/peer/presence", "core/peer/seams", "core/ledger", "core/proof", "core/identity", "core/control",
          "core/run", "core/run/agreement", "core/run/jury", "core/model", "core/base"}},
        {"app/node/find",
         {"app/node/member", "app/node", "net", "core/find", "core/ledger", "core/identity", "core/peer/seams",
          "core/control", "core/run", "core/model", "core/base"}},
        {"app/node/session",
         {"app/node", "app/node/find", "app/node/owner", "app/node/member", "app/node/release", "app/node/trainer",
          "net", "net/addresses", "net/proxy", "core/release", "core/peer", "core/ledger", "core/identity",
          "core/status", "core/activity", "core/control", "core/find", "core/run", "core/base"}},
        {"app/node/models",
         {"app/node", "app/node/member", "app/node/session", "app/node/trainer", "net", "core/data",
          "core/data/pictures", "core/pictures", "core/identity", "core/ledger", "core/control", "core/proof",
          "core/run", "core/model", "core/model/torchvision", "core/base"}},
        {"app/node/starting",
         {"app/node", "app/node/models", "app/node/member", "app/node/session", "app/node/trainer", "net", "core/data",
          "core/data/pictures", "core/data/vocabulary", "core/identity", "core/control", "core/run", "core/model",
          "core/base"}},
        {"app/node/records",
         {"app/node", "app/node/owner", "app/node/member", "app/node/session", "core/ledger", "core/identity",
          "core/control", "core/run", "core/model", "core/base"}},
        {"app/node/control",
         {"app/node/session", "app/node/models", "app/node/starting", "app/node/records", "core/control", "core/run",
          "core/base"}},
        {"app/node/page", {"core/pictures", "core/control", "core/run", "core/model", "core/base"}},
        {"app/node/cli/help", {"app/node", "core/base"}},
        {"app/node/cli/options",
         {"app/node/starting", "core/activity", "core/control", "core/run", "core/model", "core/base"}},
        {"app/node/cli",
         {"app/node", "app/node/cli/options", "app/node/control", "app/node/models", "app/node/starting",
          "app/node/member", "app/node/session", "app/node/release", "net/proxy", "core/release", "core/control",
          "core/status", "core/run", "core/numerics", "core/base"}},
        {"app/node/cli/verbs",
         {"app/node/cli", "app/node/cli/help", "app/node/cli/verbs/take_part", "app/node/cli/verbs/host",
          "app/node/cli/verbs/model", "app/node/cli/verbs/computer", "app/node/cli/verbs/programs"}},
        {"app/node/cli/verbs/take_part",
         {"app/node", "app/node/cli", "app/node/cli/options", "app/node/models", "app/node/starting", "app/node/member",
          "app/node/find", "app/node/records", "app/node/release", "app/node/session", "core/find", "core/identity",
          "core/run", "core/status", "core/activity", "core/control", "core/model", "core/base"}},
        {"app/node/cli/verbs/host",
         {"app/node", "app/node/cli", "app/node/cli/options", "app/node/page", "app/node/models", "app/node/starting",
          "app/node/member", "app/node/session", "core/data", "core/pictures", "core/control", "core/find",
          "core/run/agreement", "core/model", "core/base"}},
        {"app/node/cli/verbs/model",
         {"app/node/cli", "app/node/models", "app/node/starting", "app/node/member", "app/node/session", "core/base"}},
        {"app/node/cli/verbs/computer",
         {"app/node", "app/node/cli", "app/node/cli/options", "app/node/models", "app/node/starting", "app/node/member",
          "app/node/session", "app/node/release", "app/node/trainer", "core/confinement", "core/identity",
          "core/control", "core/run", "core/model", "core/base"}},
        {"app/node/cli/verbs/programs",
         {"app/node/cli", "app/node/cli/help", "app/node/models", "app/node/starting", "app/node/member",
          "app/node/release", "core/base"}},
        {"app/demo",
         {"app/node", "app/node/cli", "app/node/cli/help", "app/node/cli/options", "app/node/member",
          "app/node/session", "app/node/trainer", "core/data", "core/data/pictures", "core/pictures", "core/identity",
          "core/ledger", "core/control", "core/run", "core/model", "core/base"}},
        {"app/trainer", {"core/training", "core/training/compute", "core/confinement", "core/control", "core/base"}},
    };
    return allowed;
}

/// Room of a path or include: its longest prefix among the rooms; empty for what is outside.
QString room_of(const QString& path) {
    for (QString folder = path.section('/', 0, -2); !folder.isEmpty(); folder = folder.section('/', 0, -2)) {
        if (allowed_rooms().contains(folder)) return folder;
    }
    return {};
}

struct Library {
    QString name;
    QRegularExpression include;
    QStringList homes;
};

const QList<Library>& libraries() {
    static const QList<Library> all = {
        {"libsodium", QRegularExpression("^sodium"), {"core/identity", "net/links"}},
        {"libarchive", QRegularExpression("^archive"), {"core/release"}},
        {"SQLite", QRegularExpression("^sqlite3"), {"core/ledger"}},
        {"LibTorch",
         QRegularExpression("^(torch|ATen|c10)/"),
         {"core/training/compute", "core/training/decoder", "core/training/encoder", "core/training/picture"}},
        {"CUDA", QRegularExpression("^(cuda|cublas)"), {"core/numerics/cuda", "core/training/cuda"}},
        {"libtorrent", QRegularExpression("^libtorrent/"), {"net", "net/addresses", "net/links"}},
        {"Boost",
         QRegularExpression("^boost/"),
         {"net", "net/addresses", "net/links", "net/proxy", "app/node/trainer", "app/node/session", "app/node/models",
          "app/node/starting", "app/node/member", "app/node/records", "app/node/control", "app/node/cli",
          "app/node/cli/verbs/take_part", "app/node/cli/verbs/host", "app/node/cli/verbs/model",
          "app/node/cli/verbs/computer", "app/demo", "app/node/release"}},
        {"libcurl", QRegularExpression("^curl/"), {"app/node/release"}},
        {"Qt",
         QRegularExpression("^(Q[A-Z]|Qt)"),
         {"ui/client", "ui/activity", "ui/session", "ui/widgets", "ui/members", "ui/hosting", "ui/records", "ui/share",
          "ui/resources", "ui/join", "ui/find", "ui/log", "ui/model", "ui/pages", "app/potluck"}},
        {"libqrencode", QRegularExpression("^qrencode"), {"core/pictures"}},
        {"XCB", QRegularExpression("^xcb/"), {"ui/activity"}},
        {"CLI11",
         QRegularExpression("^CLI/"),
         {"app/node/cli", "app/node/cli/help", "app/node/cli/options", "app/node/cli/verbs",
          "app/node/cli/verbs/take_part", "app/node/cli/verbs/host", "app/node/cli/verbs/model",
          "app/node/cli/verbs/computer", "app/node/cli/verbs/programs", "app/demo", "app/trainer", "app/potluck"}},
        {"sentencepiece", QRegularExpression("^sentencepiece"), {"core/data", "core/data/vocabulary"}},
        {"libpng", QRegularExpression("^png"), {"core/pictures"}},
        {"PCRE2", QRegularExpression("^pcre2"), {"core/data"}},
        {"utf8proc", QRegularExpression("^utf8proc"), {"core/data"}},
        {"spdlog", QRegularExpression("^(spdlog|fmt)/"), {"core/base"}},
        {"nlohmann-json",
         QRegularExpression("^nlohmann/"),
         {"core/base", "core/model", "core/run", "core/find", "core/release", "core/control", "core/training/memory",
          "app/node/trainer", "app/node/session", "app/node/models", "app/node/starting", "app/node/member",
          "app/node/control", "app/node/cli", "app/node/cli/verbs/model", "app/node/cli/verbs/computer", "app/demo",
          "app/trainer"}},
    };
    return all;
}

struct Include {
    QString file;
    QString target;
};

QList<Include> includes() {
    static const QRegularExpression line_pattern("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    QList<Include> found;
    for (const QString& file : files_below(product_folders(), source_patterns())) {
        for (const QString& line : lines_of(file)) {
            const auto match = line_pattern.match(line);
            if (match.hasMatch()) found.append({file, match.captured(1)});
        }
    }
    return found;
}

}  // namespace

class ArrowsTest : public QObject {
    Q_OBJECT
private slots:
    void every_file_stands_in_a_room() {
        for (const QString& file : files_below(product_folders(), source_patterns())) {
            QVERIFY2(!room_of(file).isEmpty(), qPrintable(file));
        }
    }

    void rooms_include_only_what_the_design_allows() {
        QStringList wrong;
        for (const Include& include : includes()) {
            const QString from = room_of(include.file);
            const QString to = room_of(include.target);
            if (to.isEmpty() || to == from) continue;
            if (!allowed_rooms().value(from).contains(to)) wrong << include.file + " includes " + include.target;
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void libraries_stay_in_their_homes() {
        QStringList wrong;
        for (const Include& include : includes()) {
            for (const Library& library : libraries()) {
                if (library.include.match(include.target).hasMatch() &&
                    !library.homes.contains(room_of(include.file))) {
                    wrong << include.file + " includes " + include.target + " of " + library.name;
                }
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    /// Bit-exact arithmetic depends on the standard library alone, so that one can check it by reading one room. Of the
    /// base it shares four headers, which include nothing of ours and need nothing linked.
    void numerics_shares_only_headers_that_stand_alone() {
        const QStringList leaves = {"core/base/parallel.h", "core/base/half.h", "core/base/mix.h",
                                    "core/base/processor/isa.h"};
        QStringList wrong;
        for (const Include& include : includes()) {
            const bool numeric = include.file.startsWith("core/numerics/");
            if (numeric && include.target.startsWith("core/base/") && !leaves.contains(include.target)) {
                wrong << include.file + " includes " + include.target;
            }
            if (leaves.contains(include.file) && include.target.contains('/')) {
                wrong << include.file + " includes " + include.target;
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void gpl_only_qt_modules_are_absent() {
        static const QRegularExpression forbidden(
            "QtCharts|QtGraphs|QtHttpServer|QChart|Qt6::(Charts|Graphs|HttpServer)");
        QStringList wrong;
        const QStringList files =
            files_below({"core", "net", "ui", "app", "cmake"}, {"*.h", "*.cpp", "CMakeLists.txt", "*.cmake"});
        for (const QString& file : files) {
            for (const QString& line : lines_of(file)) {
                if (forbidden.match(line).hasMatch()) wrong << file + ": " + line;
            }
        }
        QVERIFY2(wrong.isEmpty(), qPrintable(wrong.join("\n")));
    }

    void the_check_sees_includes_at_all() { QVERIFY(includes().size() > 100); }
};

QTEST_APPLESS_MAIN(ArrowsTest)
#include "test_arrows.moc"
