#include "app/demo/alone/run_files.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include "core/base/files.h"
#include "core/data/text_packer.h"

namespace potluck::node {

namespace fs = std::filesystem;

Result<run::Manifest> manifest_in(const fs::path& run_folder) {
    const auto file = read_file(run_folder / "manifest", run::manifest_bytes_max + 1024);
    if (!file) return file.error();
    auto parsed = run::parse_manifest_file(*file);
    if (!parsed) return parsed.error();
    return std::move(parsed->manifest);
}

std::vector<fs::path> shard_files(const fs::path& run_folder, const run::Manifest& manifest) {
    std::vector<fs::path> files;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run_folder / "data", ignored)) {
        if (entry.path().filename().string().starts_with("shard-")) files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    files.resize(std::min(files.size(), manifest.shards.size()));
    return files;
}

fs::path newest_state_in(const fs::path& run_folder) {
    fs::path newest;
    std::uint64_t best = 0;
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(run_folder / "states", ignored)) {
        if (entry.path().extension() != ".safetensors") continue;
        const std::uint64_t round = std::strtoull(entry.path().stem().c_str(), nullptr, 10);
        if (newest.empty() || round > best) {
            newest = entry.path();
            best = round;
        }
    }
    return newest;
}

control::EvaluateRequest validation_question(const fs::path& run_folder, const run::Manifest& manifest) {
    return {{},
            (run_folder / "data" / data::validation_file_name).string(),
            manifest.validation.records,
            manifest.records_measured()};
}

}  // namespace potluck::node
