#include "ui/client/measure_words.h"

#include <QCoreApplication>
#include <QLocale>
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

}  // namespace potluck::ui
