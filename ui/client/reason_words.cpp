// Sentences are whole, one for each reason, because languages differ in how they put values into a sentence. What a
// sentence says is not said again by the title above it or the button below it.
//
// A detail comes from the node in English (what a library or the system said) or from the network (a run's name): it is
// cut to a length and made plain text, and the sentence around it stands without it, too.
//
// Pure, but for locale and time zone.
#include "ui/client/reason_words.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QLocale>

#include "core/base/clock.h"
#include "ui/client/activity_words.h"
#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

using status::Activity;
using status::Reason;
using status::Why;

constexpr int detail_characters_max = 240;
constexpr int name_characters_max = 60;

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::ReasonWords)
};

QString detailOf(const Why& why) { return plainText(why.detail, detail_characters_max); }
QString nameIn(const Why& why) {
    return why.detail.empty() ? Tr::tr("this run") : Tr::tr("“%1”").arg(plainText(why.detail, name_characters_max));
}
QString sinceIn(const Why& why) { return timeText(why.since, unix_seconds()); }

QString activityTitle(Activity activity) {
    switch (activity) {
        case Activity::idle: return Tr::tr("Ready");
        case Activity::connecting: return Tr::tr("Connecting");
        case Activity::downloading: return Tr::tr("Downloading");
        case Activity::preparing: return Tr::tr("Preparing");
        case Activity::training: return Tr::tr("Training");
        case Activity::sharing: return Tr::tr("Sharing");
        case Activity::waiting: return Tr::tr("Waiting");
        case Activity::alone: return Tr::tr("Alone");
        case Activity::offline: return Tr::tr("Offline");
        case Activity::paused: return Tr::tr("Paused");
        case Activity::finished: return Tr::tr("Finished");
        case Activity::failed: return Tr::tr("Needs attention");
        case Activity::not_running: return Tr::tr("Not running");
    }
    return {};
}

QString searchSentence(const Why& why) {
    switch (why.reason) {
        case Reason::searching_network: return Tr::tr("Connecting to the network, to look for %1.").arg(nameIn(why));
        case Reason::searching_run: return Tr::tr("Looking for members of %1 since %2.").arg(nameIn(why), sinceIn(why));
        case Reason::asking_run: return Tr::tr("A member of %1 is asked for the run's description.").arg(nameIn(why));
        case Reason::fetching_run: return Tr::tr("The description of %1 is on its way.").arg(nameIn(why));
        case Reason::run_unreachable:
            return Tr::tr(
                       "Nobody in %1 has been reachable since %2; the search goes on. Its members may be away, or the "
                       "invite is too old: ask for a new one.")
                .arg(nameIn(why), sinceIn(why));
        case Reason::search_offline:
            return Tr::tr(
                       "The network has been out of reach since %2, and so has everybody in %1; check this computer's "
                       "connection. The search goes on.")
                .arg(nameIn(why), sinceIn(why));
        case Reason::search_proxy_shut:
            return Tr::tr("The proxy %1 lets nothing through, and nothing goes around it. The search goes on.")
                .arg(detailOf(why));
        case Reason::run_refused: return Tr::tr("This run cannot be joined: %1").arg(detailOf(why));
        default: return {};
    }
}

QString joiningSentence(const Why& why) {
    switch (why.reason) {
        case Reason::checking_model: return Tr::tr("The model on disk is checked.");
        case Reason::searching_members: return Tr::tr("Looking for other members of the run.");
        case Reason::members_unreachable:
            return Tr::tr(
                       "Nobody else in the run has been reachable since %1, and the model comes from them; training "
                       "begins when they are back.")
                .arg(sinceIn(why));
        case Reason::fetching_model: return Tr::tr("The model comes from other members.");
        case Reason::fetching_history: return Tr::tr("The history of the run comes from other members.");
        case Reason::catching_up: return Tr::tr("Catching up with the others.");
        case Reason::fetching_data: return Tr::tr("The text to train on comes from other members.");
        case Reason::starting_trainer: return Tr::tr("Training is starting.");
        case Reason::repairing_model: return Tr::tr("A damaged copy of the model is repaired.");
        case Reason::not_admitted:
            return Tr::tr("This run admits only people its host has listed; send the host your id %1.")
                .arg(detailOf(why));
        default: return {};
    }
}

QString trainingSentence(const Why& why) {
    const auto seconds = static_cast<int>(std::min<std::uint64_t>(why.seconds, 1'000'000));
    const QString open = Tr::tr("Round %1 is open for %n more second(s).", nullptr, seconds).arg(fullCount(why.round));
    if (why.tokens_per_second == 0) return open;
    return open + QLatin1Char(' ') +
           Tr::tr("This computer trains at %1 tokens per second.").arg(shortCount(why.tokens_per_second));
}

QString workSentence(const Why& why) {
    switch (why.reason) {
        case Reason::training: return trainingSentence(why);
        case Reason::exchanging: return Tr::tr("This round's contributions are exchanged; training goes on meanwhile.");
        case Reason::collecting: return Tr::tr("This round's contributions are collected.");
        case Reason::keeping: return Tr::tr("The rounds are kept, and others get what they need.");
        case Reason::window_reopened: return Tr::tr("Nobody contributed to this round yet; it stays open.");
        case Reason::waiting_for_committee:
            return Tr::tr(
                       "Of the computers that confirm rounds, %1 of the %2 needed are online. Training goes on, and "
                       "nothing is lost.")
                .arg(fullCount(why.here), fullCount(why.needed));
        case Reason::alone:
            return Tr::tr(
                       "Nobody else has been here since %1; this computer decides the rounds by itself, and "
                       "what it trains counts.")
                .arg(sinceIn(why));
        case Reason::alone_waiting:
            return Tr::tr(
                       "Nobody else has been reachable since %1, and of the computers that confirm rounds, %2 of "
                       "the %3 needed are online. This computer's training is kept, and counts when they are back.")
                .arg(sinceIn(why), fullCount(why.here), fullCount(why.needed));
        case Reason::offline:
            return Tr::tr(
                       "The network has been out of reach since %1; check this computer's connection. Its training "
                       "is kept, and counts when it is back.")
                .arg(sinceIn(why));
        case Reason::proxy_shut:
            return Tr::tr(
                       "The proxy %1 lets nothing through, and nothing goes around it. This computer's training is "
                       "kept, and counts when it is back.")
                .arg(detailOf(why));
        default: return {};
    }
}

QString suspendedSentence(const Why& why) {
    return why.round == 0 ? Tr::tr(
                                "The contributions of your computers do not help the model; the run takes none until "
                                "its host lifts that. Test memory and GPU first.")
                          : Tr::tr(
                                "The contributions of your computers do not help the model; the run takes none until "
                                "round %1. Test memory and GPU first.")
                                .arg(why.round);
}

/// What the seats have measured: "theirs / others'", or nothing where the lists that say so are not kept.
QString lowersError(const Why& why) {
    const QStringList figures = detailOf(why).split(QStringLiteral(" / "));
    if (figures.size() != 2) return {};
    return QLatin1Char(' ') + Tr::tr("Yours lower the model's error by %1, others' by %2.").arg(figures[0], figures[1]);
}

QString troubleSentence(const Why& why) {
    switch (why.reason) {
        case Reason::trainer_restarting: return Tr::tr("Training ended (%1) and is started again.").arg(detailOf(why));
        case Reason::trainer_changed: return Tr::tr("The plan of training has changed: %1").arg(detailOf(why));
        case Reason::trouble: return Tr::tr("Something went wrong, and training goes on: %1").arg(detailOf(why));
        case Reason::hindered: return Tr::tr("Nothing can be trained: %1").arg(detailOf(why));
        case Reason::disk_too_small:
            return Tr::tr("The disk limit is too small for this run: about %1 needed, %2 allowed.")
                .arg(sizeText(why.needed), sizeText(why.here));
        case Reason::diverging:
            return Tr::tr(
                       "The model gets worse: its best was round %1. Go back to an earlier round; if it happens again, "
                       "start the run anew and let it learn more slowly.")
                .arg(fullCount(why.round));
        case Reason::trainer_failed:
            return Tr::tr("Training failed three times (%1); the log says more.").arg(detailOf(why));
        case Reason::trainer_missing:
            return Tr::tr("This computer cannot train yet: the part of Potluck that trains is missing.");
        case Reason::identity_in_use:
            return Tr::tr(
                "Another process uses this computer's key; only what one of them does counts. Stop Potluck on one of "
                "them, or import your identity there, which makes it a key of its own.");
        case Reason::calculates_differently:
            return Tr::tr(
                "This computer calculates differently; its memory may be faulty. It contributes nothing more "
                "until Potluck is started again; test its memory first.");
        case Reason::suspended: return suspendedSentence(why) + lowersError(why);
        default: return {};
    }
}

QString restSentence(const Why& why) {
    switch (why.reason) {
        case Reason::paused:
            return why.until == 0 ? Tr::tr("Until you resume.")
                                  : Tr::tr("Until %1; then training goes on.").arg(timeText(why.until, unix_seconds()));
        case Reason::yielding:
            return whyYielding(why.signal.value_or(activity::Signal::person), why.detail) + QLatin1Char(' ') +
                   (why.seconds == 0 ? Tr::tr("Training resumes automatically.")
                                     : Tr::tr("Training resumes in %1 s.").arg(why.seconds));
        case Reason::finishing: return Tr::tr("This computer trains to the end of this round, and then no more.");
        case Reason::finishing_to_leave:
            return Tr::tr(
                "This computer trains to the end of this round and leaves when its contribution is accepted.");
        case Reason::finished: return Tr::tr("This computer trains no more; it stays a member and relays.");
        case Reason::run_complete: return Tr::tr("The run is complete; the finished model is being shared.");
        case Reason::leaving: return Tr::tr("Another member takes over from this computer in confirming rounds.");
        default: return {};
    }
}

QString nodeSentence(const Why& why) {
    switch (why.reason) {
        case Reason::no_run: return Tr::tr("Not in a run; choose one of those that were found, or paste an invite.");
        case Reason::node_starting:
            return Tr::tr("Potluck's background program is starting; this takes a few seconds.");
        case Reason::node_stopping: return Tr::tr("Potluck writes its state to disk, then ends.");
        case Reason::node_silent:
            return Tr::tr(
                "Potluck's background program has not answered for a while; if this lasts, quit Potluck and start it "
                "again.");
        case Reason::node_down: return Tr::tr("Potluck's background program stopped.");
        case Reason::not_running: return Tr::tr("Potluck does not run for this data folder.");
        default: return {};
    }
}

}  // namespace

QString titleOf(Reason reason, bool trains) {
    switch (reason) {
        case Reason::searching_network:
        case Reason::searching_run:
        case Reason::asking_run:
        case Reason::fetching_run:
        case Reason::run_unreachable: return Tr::tr("Joining");
        case Reason::not_admitted: return Tr::tr("Not admitted");
        case Reason::yielding: return Tr::tr("Paused automatically");
        case Reason::finishing:
        case Reason::finishing_to_leave: return Tr::tr("Finishing the round");
        case Reason::run_complete: return Tr::tr("Run complete");
        case Reason::leaving: return Tr::tr("Leaving");
        case Reason::trainer_restarting: return Tr::tr("Starting again");
        case Reason::node_starting: return Tr::tr("Starting");
        case Reason::node_stopping: return Tr::tr("Stopping");
        default: return activityTitle(status::activity_of(reason, trains));
    }
}

QString sentenceOf(const Why& why) {
    for (const auto& part :
         {searchSentence, joiningSentence, workSentence, troubleSentence, restSentence, nodeSentence}) {
        if (QString text = part(why); !text.isEmpty()) return text;
    }
    return detailOf(why);
}

QString timeText(std::int64_t unixTime, std::int64_t now) {
    const QDateTime time = QDateTime::fromSecsSinceEpoch(unixTime);
    const QLocale locale;
    const QString clock = locale.toString(time.time(), QLocale::ShortFormat);
    if (time.date() == QDateTime::fromSecsSinceEpoch(now).date()) return clock;
    return locale.toString(time.date(), Tr::tr("ddd d MMM")) + QStringLiteral(", ") + clock;
}

}  // namespace potluck::ui
