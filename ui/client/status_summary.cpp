#include "ui/client/status_summary.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/client/activity_words.h"
#include "ui/client/reason_words.h"
#include "ui/client/trainer_words.h"

namespace potluck::ui {

namespace {

using status::Reason;

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::StatusSummary)
};

Reason reasonOf(const NodeView& view) {
    switch (view.link.state) {
        case Link::State::starting: return Reason::node_starting;
        case Link::State::stopping: return Reason::node_stopping;
        case Link::State::silent: return Reason::node_silent;
        case Link::State::down: return Reason::node_down;
        case Link::State::up: break;
    }
    return view.snapshot.why.reason;
}

QString memoryOf(const control::TrainerSnapshot& trainer) {
    return trainer.state == control::TrainerState::absent
               ? Tr::tr("Training has ended and its memory is free.")
               : Tr::tr("Training is ending; its memory is free in a moment.");
}

bool trains(const control::NodeSnapshot& node) { return node.activity != control::Activity::sharing; }

/// Quiet training says first why it is quiet.
QString quietly(const control::NodeSnapshot& node, const QString& sentence) {
    const bool quiet =
        node.yield && node.yield->level == activity::Level::quiet && node.activity == control::Activity::training;
    if (!quiet) return sentence;
    return whyYielding(node.yield->signal, node.yield->detail) + QLatin1Char(' ') +
           Tr::tr("Training goes on at half speed.");
}

/// What this computer contributes helps nobody, as far as it has measured itself.
QString withoutUse(const control::NodeSnapshot& node, const QString& sentence) {
    const bool helps = !node.run || !node.run->findings.jury || node.run->findings.jury->helps;
    if (helps || node.activity != control::Activity::training) return sentence;
    return sentence + QLatin1Char(' ') +
           Tr::tr(
               "Your contributions do not seem to help the model: test this computer's memory and GPU, and undo any "
               "overclocking.");
}

QString sentenceIn(const control::NodeSnapshot& node) {
    const QString missing = node.why.reason == Reason::trainer_missing ? noTrainerText(node) : QString();
    return missing.isEmpty() ? sentenceOf(node.why) : missing;
}

}  // namespace

StatusSummary summarize(const NodeView& view) {
    const Reason reason = reasonOf(view);
    const status::Row& row = status::row_of(reason);
    if (view.link.state != Link::State::up) {
        const QString said = view.link.sentence.isEmpty() ? sentenceOf({reason}) : view.link.sentence;
        return {row.sign, titleOf(reason, true), said, {}, -1, row.actions};
    }
    const control::NodeSnapshot& node = view.snapshot;
    const bool told = row.memory == status::TrainerMemory::free_and_told;
    return {status::sign_of(reason, node.activity),
            titleOf(reason, trains(node)),
            withoutUse(node, quietly(node, sentenceIn(node))),
            told ? memoryOf(node.trainer) : QString(),
            node.progress,
            row.actions};
}

status::Actions actionsOf(const NodeView& view) { return status::row_of(reasonOf(view)).actions; }

QString nameOf(StatusIcon icon) {
    switch (icon) {
        case StatusIcon::idle: return QStringLiteral("state-idle");
        case StatusIcon::training: return QStringLiteral("state-training");
        case StatusIcon::sharing: return QStringLiteral("state-sharing");
        case StatusIcon::waiting: return QStringLiteral("state-waiting");
        case StatusIcon::paused: return QStringLiteral("state-paused");
        case StatusIcon::problem: return QStringLiteral("state-problem");
    }
    return {};
}

bool isInRun(const NodeView& view) { return view.heard && view.snapshot.run.has_value(); }

bool isOver(const NodeView& view) { return isInRun(view) && view.snapshot.why.reason == Reason::run_complete; }

bool comparesPictures(const NodeView& view) {
    return isInRun(view) && view.snapshot.run->baseline == model::Baseline::chance;
}

int volunteersOnline(const control::RunSnapshot& run) {
    return static_cast<int>(std::count_if(run.members.begin(), run.members.end(),
                                          [](const auto& member) { return member.role == run::Role::volunteer; }));
}

}  // namespace potluck::ui
