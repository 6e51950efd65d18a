#include "ui/hosting/succession_words.h"

#include <algorithm>

#include <QCoreApplication>
#include <QStringList>

#include "ui/client/plain_text.h"
#include "ui/client/status_summary.h"

namespace potluck::ui {

namespace {

/// As a run keeps them if it has that many members (run::shard_copies_min).
constexpr std::uint64_t copies_wanted = 3;

struct SuccessionWords {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::SuccessionWords)
};

}  // namespace

SuccessionText carriersText(const control::Succession& succession) {
    QStringList here;
    for (const control::SeatRow& seat : succession.seats) {
        if (seat.here) here << displayName(seat.name, seat.id);
    }
    if (here.isEmpty() || static_cast<std::uint64_t>(here.size()) < succession.needed) {
        return {SuccessionWords::tr("Nobody could carry the run on now: it waits until you are back. Trust a "
                                    "computer that is often here as your deputy."),
                false};
    }
    const QString names = here.join(QStringLiteral(", "));
    return {SuccessionWords::tr("You may leave. The run is carried on by %1.").arg(names), true};
}

int othersThatWouldStop(const NodeView& view) {
    if (!isInRun(view) || view.snapshot.activity == control::Activity::finished) return 0;
    const auto& succession = view.snapshot.run->succession;
    if (!succession || carriersText(*succession).safe) return 0;
    const auto& members = view.snapshot.run->members;
    return static_cast<int>(std::ranges::count_if(
        members, [](const control::MemberRow& one) { return !one.self && one.role == run::Role::volunteer; }));
}

SuccessionText holdersText(const control::Succession& succession) {
    const bool kept = succession.shard_copies >= copies_wanted && succession.checkpoint_holders > 0;
    if (succession.shard_copies == 0 && succession.checkpoint_holders == 0)
        return {SuccessionWords::tr("Nobody else has the data yet. Stay until another computer does."), false};
    const QString holders = SuccessionWords::tr("Other computers keep %1 copies of the data and %2 of the model.")
                                .arg(fullCount(succession.shard_copies), fullCount(succession.checkpoint_holders));
    if (kept) return {holders, true};
    const QString stay = SuccessionWords::tr("Stay until there are more, or some may be lost.");
    return {holders + QLatin1Char(' ') + stay, false};
}

}  // namespace potluck::ui
