#include "core/activity/words.h"

namespace potluck::activity {

namespace {

const char* words_of(Signal signal) {
    switch (signal) {
        case Signal::person: return "because you paused it";
        case Signal::program: return "while a program of your list runs";
        case Signal::launcher: return "while a game runs";
        case Signal::game_mode: return "while a game asks for the whole computer (GameMode)";
        case Signal::full_screen: return "while a program fills the screen";
        case Signal::gpu_use: return "while another program uses the GPU";
        case Signal::gpu_memory: return "while GPU memory is short";
        case Signal::heat: return "while the computer is hot";
        case Signal::battery: return "while the computer runs on battery";
        case Signal::power_saver: return "while power is to be saved";
        case Signal::metered: return "while the connection is metered";
        case Signal::load: return "while other programs use the processor";
        case Signal::input: return "while you use the computer";
        case Signal::schedule: return "as your hours say";
    }
    return "";
}

}  // namespace

std::string reason(Signal signal, const std::string& detail) {
    const std::string words = words_of(signal);
    return detail.empty() ? words : words + " (" + detail + ")";
}

std::string sentence(const Decision& decision) {
    const std::string head = decision.level == Level::quiet ? "Training quietly " : "Paused ";
    return head + reason(decision.signal, decision.detail);
}

}  // namespace potluck::activity
