#include "core/activity/system/programs.h"

#include <algorithm>

#include "core/base/system_handle.h"

namespace potluck::activity {

Sight ProgramsProbe::look() {
    Sight sight = seen(0);
    const bool readable = m_table->visit([&](const Process& process) {
        const auto found =
            std::ranges::find_if(m_programs, [&](const std::string& name) { return is_called(process, name); });
        if (found == m_programs.end()) return false;
        sight = seen(1, *found);
        return true;
    });
    return readable ? sight : blind(Blindness::other_system);
}

Sight SteamProbe::look() {
#ifdef _WIN32
    DWORD game = 0, size = sizeof game;
    const LSTATUS failed = ::RegGetValueW(HKEY_CURRENT_USER, L"Software\\Valve\\Steam", L"RunningAppID",
                                          RRF_RT_REG_DWORD, nullptr, &game, &size);
    if (failed != ERROR_SUCCESS || game == 0) return seen(0);  // without Steam there is no game of Steam
    return seen(1, "Steam app " + std::to_string(game));
#elif defined(__linux__)
    Sight sight = seen(0);
    const bool readable = m_table->visit([&](const Process& process) {
        const auto game = steam_game_of(process);
        if (game) sight = seen(1, "Steam app " + *game);
        return game.has_value();
    });
    return readable ? sight : blind(Blindness::other_system);
#else
    return blind(Blindness::other_system);
#endif
}

}  // namespace potluck::activity
