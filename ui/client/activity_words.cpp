// Sentences are whole, one for each signal, because languages differ in how they put a reason into a sentence. The
// details that a probe adds (a program's name) stand in parentheses behind it and are cut to a length.
//
// A history that says how long a person did what must not guess: it says played only where a launcher or GameMode has
// said that it is a game.
//
// Pure, but for the locale.
#include "ui/client/activity_words.h"

#include <algorithm>

#include <QCoreApplication>

#include "ui/client/plain_text.h"

namespace potluck::ui {

namespace {

using activity::Blindness;
using activity::Signal;

constexpr int detail_characters_max = 40;

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(potluck::ui::ActivityWords)
};

QString noticed(Signal signal) {
    switch (signal) {
        case Signal::person: return Tr::tr("You paused it");
        case Signal::program: return Tr::tr("A program of your list runs");
        case Signal::launcher: return Tr::tr("A game runs");
        case Signal::game_mode: return Tr::tr("A game asks for the whole computer");
        case Signal::full_screen: return Tr::tr("A program fills the screen");
        case Signal::gpu_use: return Tr::tr("Another program uses the GPU");
        case Signal::gpu_memory: return Tr::tr("GPU memory is short");
        case Signal::heat: return Tr::tr("The computer is hot");
        case Signal::battery: return Tr::tr("The computer runs on battery");
        case Signal::power_saver: return Tr::tr("Power is to be saved");
        case Signal::metered: return Tr::tr("The connection is metered");
        case Signal::load: return Tr::tr("Other programs use the processor");
        case Signal::input: return Tr::tr("You use the computer");
        case Signal::schedule: return Tr::tr("Your hours say so");
    }
    return {};
}

/// With %1 for how long it lasted.
QString lasted(Signal signal) {
    switch (signal) {
        case Signal::person: return Tr::tr("Paused by you for %1.");
        case Signal::program: return Tr::tr("A program of your list ran for %1; nothing was trained.");
        case Signal::launcher:
        case Signal::game_mode: return Tr::tr("You played for %1; nothing was trained.");
        case Signal::full_screen: return Tr::tr("A program filled the screen for %1; nothing was trained.");
        case Signal::gpu_use: return Tr::tr("Another program used the GPU for %1; nothing was trained.");
        case Signal::gpu_memory: return Tr::tr("GPU memory was short for %1; nothing was trained.");
        case Signal::heat: return Tr::tr("The computer was hot for %1; nothing was trained.");
        case Signal::battery: return Tr::tr("The computer ran on battery for %1; nothing was trained.");
        case Signal::power_saver: return Tr::tr("Power was saved for %1; nothing was trained.");
        case Signal::metered: return Tr::tr("The connection was metered for %1; nothing was trained.");
        case Signal::load: return Tr::tr("Other programs used the processor for %1; nothing was trained.");
        case Signal::input: return Tr::tr("You used the computer for %1; nothing was trained.");
        case Signal::schedule: return Tr::tr("Your hours paused training for %1.");
    }
    return {};
}

QString withDetail(const QString& sentence, const std::string& detail) {
    const QString shown = plainText(std::string_view(detail), detail_characters_max);
    return shown.isEmpty() ? sentence : sentence + QStringLiteral(" (%1)").arg(shown);
}

}  // namespace

QString whyYielding(Signal signal, const std::string& detail) {
    return withDetail(noticed(signal), detail) + QLatin1Char('.');
}

QString ruleText(Signal signal) {
    switch (signal) {
        case Signal::person: return {};
        case Signal::program: return Tr::tr("A program of my list runs");
        case Signal::launcher: return Tr::tr("Steam runs a game");
        case Signal::game_mode: return Tr::tr("A game uses GameMode");
        case Signal::full_screen: return Tr::tr("A program fills the screen");
        case Signal::gpu_use: return Tr::tr("Another program uses the GPU");
        case Signal::gpu_memory: return Tr::tr("GPU memory is short");
        case Signal::heat: return Tr::tr("The computer is hot");
        case Signal::battery: return Tr::tr("The computer runs on battery");
        case Signal::power_saver: return Tr::tr("The system saves power");
        case Signal::metered: return Tr::tr("The connection is metered");
        case Signal::load: return Tr::tr("Other programs use half of the processor");
        case Signal::input: return Tr::tr("I use the computer (then at half speed)");
        case Signal::schedule: return Tr::tr("Outside my hours");
    }
    return {};
}

QString blindText(Blindness blindness) {
    switch (blindness) {
        case Blindness::none: return {};
        case Blindness::partial: return Tr::tr("Only of programs that use X11: Wayland does not tell.");
        case Blindness::other_system: return Tr::tr("Cannot be detected on this system.");
        case Blindness::no_display: return Tr::tr("Cannot be detected here: there is no X11 display.");
        case Blindness::no_service: return Tr::tr("Cannot be detected here: the service that knows does not run.");
        case Blindness::no_device: return Tr::tr("Cannot be detected here: there is no such device.");
        case Blindness::no_answer: return Tr::tr("Cannot be detected now: it does not answer.");
    }
    return {};
}

QString lastedText(std::int64_t seconds) {
    const std::int64_t minutes = (seconds + 30) / 60;
    if (minutes < 1) return Tr::tr("less than a minute");
    if (minutes < 60) return Tr::tr("%1 min").arg(minutes);
    return Tr::tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
}

QString episodeText(const control::EpisodeRow& episode, std::int64_t now) {
    const std::int64_t end = episode.ended == 0 ? now : episode.ended;
    const QString time = lastedText(std::max<std::int64_t>(end - episode.began, 0));
    if (episode.ended == 0) return Tr::tr("%1 For %2 so far.").arg(whyYielding(episode.signal, episode.detail), time);
    if (episode.level == activity::Level::quiet) return Tr::tr("Trained at half speed for %1.").arg(time);
    return lasted(episode.signal).arg(time);
}

}  // namespace potluck::ui
