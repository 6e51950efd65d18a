#include "ui/client/measure_words.h"

#include <algorithm>

#include <QCoreApplication>
#include <QLocale>
#include <QStringList>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::MeasureWords)
};

QString number(double value, int digits) { return QLocale().toString(value, 'f', digits); }

}  // namespace

QString measuresText(const control::RunSnapshot& run) {
    QStringList parts;
    if (run.order_accuracy) parts << Tr::tr("%1 of orders told rightly").arg(percent(*run.order_accuracy));
    if (run.pictures) parts << Tr::tr("%1 dB after coding").arg(number(run.pictures->psnr, 1));
    if (run.captions) {
        parts << Tr::tr("captions %1, codes of pictures %2")
                     .arg(number(run.captions->text_loss, 3), number(run.captions->code_loss, 3));
    }
    if (run.clusters && run.clusters->collapsed) {
        return Tr::tr(
            "Collapsed: all pictures look alike to the model. If that stays so for some rounds, the host had "
            "better begin a new run with more pictures, fewer prototypes or a lower learning rate.");
    }
    if (run.clusters)
        parts << Tr::tr("%1 of %2 clusters in use").arg(number(run.clusters->used, 0)).arg(run.clusters->clusters);
    if (run.neighbours) {
        parts << Tr::tr("neighbours tell %1 of classes, %2 by pixels alone")
                     .arg(percent(run.neighbours->embeddings), percent(run.neighbours->pixels));
    }
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

}  // namespace potluck::ui
