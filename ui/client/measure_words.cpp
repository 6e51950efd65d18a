#include "ui/client/measure_words.h"

#include <algorithm>

#include <QCoreApplication>
#include <QLocale>
#include <QRegularExpression>
#include <QStringList>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::MeasureWords)
};

/// Labels that have a translation; those of core/model/traits.h, which a test compares.
constexpr const char* knownLabels[] = {QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "gap loss"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "order loss"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "orders predicted"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "PSNR"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "codes used"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "caption loss"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "code loss"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "clusters in use"),
                                       QT_TRANSLATE_NOOP("potluck::ui::MeasureWords", "classes told by neighbours")};

QString labelText(const std::string& label) {
    for (const char* known : knownLabels)
        if (label == known) return Tr::tr(known);
    return QString::fromStdString(label);
}

QString numberText(double value, const std::string& unit) {
    if (unit == "%") return percent(value / 100);
    const QString number = QLocale().toString(value, 'f', control::digits_of(unit));
    return unit.empty() ? number : number + QLatin1Char(' ') + QString::fromStdString(unit);
}

QString figureText(const control::Figure& figure) {
    const QString text = labelText(figure.title) + QLatin1Char(' ') + numberText(figure.value, figure.unit);
    if (!figure.baseline) return text;
    return Tr::tr("%1 (baseline %2)").arg(text, numberText(*figure.baseline, figure.unit));
}

}  // namespace

QStringList knownMeasures() {
    QStringList all;
    for (const char* known : knownLabels) all << QString::fromLatin1(known);
    return all;
}

QString measuresText(const control::RunSnapshot& run) {
    if (run.collapsed) {
        return Tr::tr(
            "Collapsed: all pictures look alike to the model. If that stays so for some rounds, the host had "
            "better begin a new run with more pictures, fewer prototypes or a lower learning rate.");
    }
    QStringList parts;
    for (const control::Figure& figure : run.figures) parts << figureText(figure);
    return parts.join(QStringLiteral(" · "));
}

QString spanText(double days) {
    if (!(days > 0)) return {};
    if (days * 24 < 2) return Tr::tr("%n minute(s)", nullptr, std::max(1, static_cast<int>(days * 24 * 60)));
    if (days < 2) return Tr::tr("%n hour(s)", nullptr, static_cast<int>(days * 24));
    return Tr::tr("%n day(s)", nullptr, static_cast<int>(std::min(days, 1e9)));
}

QString timeLeft(const control::RunSnapshot& run) {
    if (run.total_rounds <= run.round) return {};
    constexpr double seconds_per_day = 86'400;
    const double round = run.window_seconds + std::max(0.0, run.last_round_overhead_seconds);
    return spanText(static_cast<double>(run.total_rounds - run.round) * round / seconds_per_day);
}

QString modelText(const std::string& model) {
    const QString text = plainText(model, 120);
    static const QRegularExpression sentence(
        QStringLiteral("^(.+) shape, (\\d+) layers?, width (\\d+): ([\\d.]+) ([kM]) parameters$"));
    const QRegularExpressionMatch told = sentence.match(text);
    if (!told.hasMatch()) return text;
    const QString count = QLocale().toString(told.captured(4).toDouble(), 'f', 1);
    const QString parameters = told.captured(5) == QLatin1Char('M') ? Tr::tr("%1 M parameters").arg(count)
                                                                    : Tr::tr("%1 k parameters").arg(count);
    return Tr::tr("%1 shape, %2, width %3: %4")
        .arg(told.captured(1), Tr::tr("%n layer(s)", nullptr, told.captured(2).toInt()), told.captured(3), parameters);
}

}  // namespace potluck::ui
