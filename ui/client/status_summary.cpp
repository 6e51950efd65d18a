#include "ui/client/status_summary.h"

#include <algorithm>

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include "ui/client/activity_words.h"
#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

constexpr int reason_characters_max = 300;

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::StatusSummary)
};

QString pausedTitle(std::int64_t until) {
    if (until <= 0) return Tr::tr("Paused until you resume");
    const QTime time = QDateTime::fromSecsSinceEpoch(until).time();
    return Tr::tr("Paused until %1").arg(QLocale().toString(time, QLocale::ShortFormat));
}

QString pausedMemory(const control::TrainerSnapshot& trainer) {
    return trainer.state == control::TrainerState::absent
               ? Tr::tr("GPU and trainer memory is free.")
               : Tr::tr("The trainer is stopping; its memory is free in a moment.");
}

QString titleOf(const control::NodeSnapshot& node) {
    using control::Activity;
    switch (node.activity) {
        case Activity::idle: return Tr::tr("Ready");
        case Activity::connecting: return Tr::tr("Connecting");
        case Activity::downloading: return Tr::tr("Downloading");
        case Activity::preparing: return Tr::tr("Preparing");
        case Activity::training: return Tr::tr("Training");
        case Activity::sharing: return Tr::tr("Sharing");
        case Activity::paused: return node.yield ? Tr::tr("Paused by itself") : pausedTitle(node.paused_until);
        case Activity::finished: return Tr::tr("Finished");
        case Activity::failed: return Tr::tr("Needs attention");
        case Activity::not_running: return Tr::tr("Node not running");
    }
    return {};
}

/// The node's own sentence is English; what it says of giving way is said here in the person's language.
QString reasonOf(const control::NodeSnapshot& node) {
    const QString said = plainText(node.reason, reason_characters_max);
    if (!node.yield) return said;
    const QString why = whyYielding(node.yield->signal, node.yield->detail);
    if (node.activity == control::Activity::paused)
        return why + QLatin1Char(' ') + Tr::tr("Training comes back by itself.");
    return why + QLatin1Char(' ') + Tr::tr("Training goes on at half speed.");
}

StatusSummary summarizeNode(const control::NodeSnapshot& node) {
    const bool paused = node.activity == control::Activity::paused;
    return {iconFor(node.activity), titleOf(node), reasonOf(node), paused ? pausedMemory(node.trainer) : QString(),
            node.progress};
}

}  // namespace

StatusSummary summarize(const NodeView& view) {
    switch (view.link.state) {
        case Link::State::down:
        case Link::State::silent: {
            control::NodeSnapshot none;
            none.activity = control::Activity::not_running;
            return {iconFor(none.activity), titleOf(none), view.link.sentence, {}, -1};
        }
        case Link::State::stopping:
            return {
                StatusIcon::idle, Tr::tr("Stopping"), Tr::tr("The node writes its state to disk, then ends."), {}, -1};
        case Link::State::starting:
            return {StatusIcon::idle,
                    Tr::tr("Starting"),
                    Tr::tr("The node is starting; this takes a few seconds."),
                    {},
                    -1};
        case Link::State::up: break;
    }
    return summarizeNode(view.snapshot);
}

StatusIcon iconFor(control::Activity activity) {
    using control::Activity;
    switch (activity) {
        case Activity::idle:
        case Activity::finished: return StatusIcon::idle;
        case Activity::connecting:
        case Activity::downloading:
        case Activity::preparing:
        case Activity::sharing: return StatusIcon::sharing;
        case Activity::training: return StatusIcon::training;
        case Activity::paused: return StatusIcon::paused;
        case Activity::failed:
        case Activity::not_running: return StatusIcon::problem;
    }
    return StatusIcon::problem;
}

QString nameOf(StatusIcon icon) {
    switch (icon) {
        case StatusIcon::idle: return QStringLiteral("state-idle");
        case StatusIcon::training: return QStringLiteral("state-training");
        case StatusIcon::sharing: return QStringLiteral("state-sharing");
        case StatusIcon::paused: return QStringLiteral("state-paused");
        case StatusIcon::problem: return QStringLiteral("state-problem");
    }
    return {};
}

bool isPaused(const NodeView& view) { return view.heard && view.snapshot.activity == control::Activity::paused; }

bool isInRun(const NodeView& view) { return view.heard && view.snapshot.run.has_value(); }

int volunteersOnline(const control::RunSnapshot& run) {
    return static_cast<int>(std::count_if(run.members.begin(), run.members.end(),
                                          [](const auto& member) { return member.role == run::Role::volunteer; }));
}

}  // namespace potluck::ui
