// Every limit of these rooms is named by a test: one that stands on it. A limit that nobody tests is a promise only.
#include <QMap>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include "tests/tidy/source_tree.h"

using namespace potluck::tidy;

namespace {

QStringList rooms() { return {"core/data", "core/model", "core/numerics", "core/run"}; }

/// Limits that no test names, each with the reason. They bound nothing that a stranger sends.
const QMap<QString, QString>& untested() {
    static const QMap<QString, QString> reasons = {
        {"boundary_bytes_max", "chooses where a segment of the host's own text is cut"},
        {"column_method_max", "chooses between two methods with equal results, which test_sparse_codec compares"},
        {"gap_bytes_max", "sizes a buffer of the encoder for the longest gap there is"},
        {"held_out_share_max", "chooses how much of the host's own text is held out"},
        {"llmc_tokens_max", "is reached by writing four gibibytes of the host's own tokens"},
        {"picture_bytes_max", "is reached by a file of 64 MiB in the host's own folder"},
        {"picture_files_max", "is reached by ten million files in the host's own folder"},
        {"metadata_bytes_max", "is reached by 256 MiB of a person's own captions"},
        {"metadata_line_bytes_max", "is reached by a caption of 64 KiB in a person's own folder"},
        {"plain_max", "chooses between two methods with equal results, which test_byte_bpe compares"},
        {"scale_min", "is the least scale of 8-bit moments, below which they are zero"},
        {"segment_bytes_max", "sizes segments of the host's own text"},
        {"segment_bytes_min", "sizes segments of the host's own text"},
        {"segment_tokens_max", "sizes segments of the host's own tokens"},
        {"segment_tokens_min", "sizes segments of the host's own tokens"},
        {"square_max", "is where a gradient counts as not finite"},
        {"vocabulary_bytes_max", "is reached by more than 64 MiB of a person's own text"},
        {"text_files_max", "is reached by a million files in the host's own folder"},
        {"token_files_max", "is reached by a hundred thousand files in the host's own folder"},
    };
    return reasons;
}

/// The constants of these rooms that are named ..._max or ..._min.
QSet<QString> limits() {
    static const QRegularExpression constant("\\bconstexpr\\b[^=(]*\\b([a-z0-9_]+_(?:max|min))\\s*=");
    QSet<QString> names;
    for (const QString& file : files_below(rooms(), source_patterns())) {
        for (const QString& line : lines_of(file)) {
            const auto match = constant.match(line);
            if (match.hasMatch()) names.insert(match.captured(1));
        }
    }
    return names;
}

/// Every word of the tests, this one left out.
QSet<QString> words_of_tests() {
    static const QRegularExpression word("[a-z0-9_]+_(?:max|min)\\b");
    QSet<QString> words;
    for (const QString& file : files_below({"tests"}, {"*.cpp", "*.h"})) {
        if (file.endsWith("/test_limits.cpp")) continue;
        auto found = word.globalMatch(lines_of(file).join('\n'));
        while (found.hasNext()) words.insert(found.next().captured());
    }
    return words;
}

QStringList sorted(const QSet<QString>& names) {
    QStringList list = names.values();
    list.sort();
    return list;
}

}  // namespace

class LimitsTest : public QObject {
    Q_OBJECT
private slots:
    void every_limit_is_named_by_a_test_or_has_a_reason() {
        QSet<QString> missing = limits();
        QVERIFY(missing.size() > 50);
        missing.subtract(words_of_tests());
        for (const QString& name : untested().keys()) missing.remove(name);
        QVERIFY2(missing.isEmpty(), qPrintable("no test names " + sorted(missing).join(", ")));
    }

    void no_reason_is_left_for_what_is_tested_or_gone() {
        QSet<QString> needless;
        for (const QString& name : untested().keys()) {
            if (!limits().contains(name) || words_of_tests().contains(name)) needless.insert(name);
        }
        QVERIFY2(needless.isEmpty(), qPrintable("needs no reason: " + sorted(needless).join(", ")));
    }
};

QTEST_APPLESS_MAIN(LimitsTest)
#include "test_limits.moc"
