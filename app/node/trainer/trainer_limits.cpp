#include "app/node/trainer/trainer_limits.h"

#include <cstdlib>
#include <system_error>

#include "core/confinement/confinement.h"

namespace potluck::node {

void confine_trainers(const std::filesystem::path& data_folder) {
    std::error_code unknown;
    const std::filesystem::path folder = std::filesystem::absolute(data_folder, unknown);
    const confinement::Variable told = confinement::hidden_variable(folder, {"runs", "packs", "network"});
#ifdef _WIN32
    (void)_putenv_s(told.name.c_str(), told.value.c_str());
#else
    (void)setenv(told.name.c_str(), told.value.c_str(), 1);
#endif
}

}  // namespace potluck::node
