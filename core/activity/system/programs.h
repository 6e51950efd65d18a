// The programs of the owner's list, and Steam's games: both are found in the list of processes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/activity/probe.h"
#include "core/activity/system/processes.h"

namespace potluck::activity {

class ProgramsProbe final : public Probe {
public:
    ProgramsProbe(std::shared_ptr<ProcessTable> table, std::vector<std::string> programs)
        : m_table(std::move(table)), m_programs(std::move(programs)) {}

    Signal signal() const override { return Signal::program; }
    Sight look() override;

private:
    std::shared_ptr<ProcessTable> m_table;
    std::vector<std::string> m_programs;
};

/// Linux: the launcher's arguments, since the RunningAppID of Steam's registry file stays 0 there (steam-for-linux's
/// issue 9672). Windows: that value in the registry, which Steam keeps for each user.
class SteamProbe final : public Probe {
public:
    explicit SteamProbe(std::shared_ptr<ProcessTable> table) : m_table(std::move(table)) {}

    Signal signal() const override { return Signal::launcher; }
    Sight look() override;

private:
    std::shared_ptr<ProcessTable> m_table;
};

}  // namespace potluck::activity
