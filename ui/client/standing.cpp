#include "ui/client/standing.h"

#include <algorithm>

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

constexpr int reason_characters_max = 300;

struct Say {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::Standing)
};

QString pausedTitle(std::int64_t until) {
    if (until <= 0) return Say::tr("Paused until you resume");
    const QTime time = QDateTime::fromSecsSinceEpoch(until).time();
    return Say::tr("Paused until %1").arg(QLocale().toString(time, QLocale::ShortFormat));
}

QString pausedMemory(const control::TrainerSnapshot& trainer) {
    const bool gone = trainer.process == 0 && (trainer.state == "stopped" || trainer.state == "absent");
    return gone ? Say::tr("GPU and trainer memory is free.")
                : Say::tr("The trainer is stopping; its memory is free in a moment.");
}

Standing standingOfNode(const control::NodeSnapshot& node) {
    using control::Activity;
    Standing standing;
    standing.reason = plainText(node.reason, reason_characters_max);
    standing.progress = node.progress;
    switch (node.activity) {
        case Activity::idle: standing.title = Say::tr("Ready"); break;
        case Activity::connecting:
            standing.sign = Sign::sharing;
            standing.title = Say::tr("Connecting");
            break;
        case Activity::downloading:
            standing.sign = Sign::sharing;
            standing.title = Say::tr("Downloading");
            break;
        case Activity::preparing:
            standing.sign = Sign::sharing;
            standing.title = Say::tr("Preparing");
            break;
        case Activity::training:
            standing.sign = Sign::training;
            standing.title = Say::tr("Training");
            break;
        case Activity::sharing:
            standing.sign = Sign::sharing;
            standing.title = Say::tr("Sharing");
            break;
        case Activity::finished: standing.title = Say::tr("Finished"); break;
        case Activity::failed:
            standing.sign = Sign::problem;
            standing.title = Say::tr("Needs attention");
            break;
        case Activity::paused:
            standing.sign = Sign::paused;
            standing.title = pausedTitle(node.paused_until);
            standing.memory = pausedMemory(node.trainer);
            break;
    }
    return standing;
}

}  // namespace

Standing standingOf(const NodeView& view) {
    switch (view.link.state) {
        case Link::State::down:
        case Link::State::silent: return {Sign::problem, Say::tr("Node not running"), view.link.sentence, {}, -1};
        case Link::State::stopping:
            return {Sign::idle, Say::tr("Stopping"), Say::tr("The node writes its state to disk, then ends."), {}, -1};
        case Link::State::starting:
            return {
                Sign::idle, Say::tr("Starting"), Say::tr("The node is starting; this takes a few seconds."), {}, -1};
        case Link::State::up: break;
    }
    return standingOfNode(view.snapshot);
}

QString iconOf(Sign sign) {
    switch (sign) {
        case Sign::idle: return QStringLiteral("state-idle");
        case Sign::training: return QStringLiteral("state-training");
        case Sign::sharing: return QStringLiteral("state-sharing");
        case Sign::paused: return QStringLiteral("state-paused");
        case Sign::problem: return QStringLiteral("state-problem");
    }
    return {};
}

bool isPaused(const NodeView& view) { return view.heard && view.snapshot.activity == control::Activity::paused; }

bool isInRun(const NodeView& view) { return view.heard && view.snapshot.run.has_value(); }

int volunteersOnline(const control::RunSnapshot& run) {
    return static_cast<int>(std::count_if(run.members.begin(), run.members.end(),
                                          [](const auto& member) { return member.role == "volunteer"; }));
}

}  // namespace potluck::ui
