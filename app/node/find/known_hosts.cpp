#include "app/node/find/known_hosts.h"

#include <optional>
#include <string>
#include <system_error>

#include "app/node/member/view.h"
#include "app/node/paths.h"
#include "core/base/files.h"
#include "core/run/manifest.h"

namespace potluck::node {

namespace fs = std::filesystem;

std::set<PeerId> known_hosts(const fs::path& data_folder, const ledger::Ledger& ledger, const PeerId& person) {
    std::set<PeerId> hosts;
    std::size_t looked_at = 0;
    std::error_code failed;
    for (fs::directory_iterator at(data_folder / "runs", failed), end; !failed && at != end; at.increment(failed)) {
        const auto run = RunId::parse(at->path().filename().string());
        if (!run || ledger.credit_of(*run, person).rounds == 0) continue;
        if (++looked_at > known_runs_max) break;
        const auto file = read_file(run_folder(data_folder, *run) / "manifest", run::manifest_bytes_max);
        if (!file) continue;
        const auto manifest = check_manifest(*file);
        if (manifest && manifest->manifest.host != person) hosts.insert(manifest->manifest.host);
    }
    return hosts;
}

}  // namespace potluck::node
