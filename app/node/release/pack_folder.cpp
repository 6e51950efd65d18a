#include "app/node/release/pack_folder.h"

#include <fstream>
#include <system_error>

#ifndef _WIN32
#include <sys/utsname.h>
#endif

#include "app/node/paths.h"
#include "core/base/check.h"
#include "core/base/files.h"

namespace potluck::node {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t place_digits = 16;
constexpr std::uint64_t record_bytes_max = 64 * 1024;
constexpr const char* record_name = "installed.json";

std::string architecture() {
#ifdef _WIN32
    return "x86_64";
#else
    utsname facts{};
    return ::uname(&facts) == 0 ? facts.machine : "";
#endif
}

constexpr const char* system_name() {
#if defined(_WIN32)
    return "windows";
#elif defined(__APPLE__)
    return "macos";
#else
    return "linux";
#endif
}

/// Every unpacked pack but the one at `kept`.
void remove_others(const fs::path& folder, const fs::path& kept) {
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        std::error_code ignored;
        if (entry.is_directory(ignored) && entry.path() != kept) fs::remove_all(entry.path(), ignored);
    }
}

}  // namespace

fs::path packs_folder(const fs::path& data_folder) { return data_folder / "packs"; }

fs::path pack_place(const fs::path& data_folder, const release::Pack& pack) {
    return packs_folder(data_folder) / pack.sha256.hex().substr(0, place_digits);
}

fs::path trainer_in(const fs::path& place) { return place / trainer_file(); }

std::optional<InstalledPack> installed_pack(const fs::path& data_folder, const release::Version& app) {
    const auto record = read_file(packs_folder(data_folder) / record_name, record_bytes_max);
    if (!record) return std::nullopt;
    auto pack = release::Pack::parse(as_text(*record));
    if (!pack || !pack->serves(app)) return std::nullopt;
    fs::path trainer = trainer_in(pack_place(data_folder, *pack));
    std::error_code failed;
    if (!fs::exists(trainer, failed)) return std::nullopt;
    return InstalledPack{*std::move(pack), std::move(trainer)};
}

Status record_pack(const fs::path& data_folder, const release::Pack& pack) {
    const std::string text = pack.to_text();
    const Status written = write_file_atomically(packs_folder(data_folder) / record_name, as_bytes(text));
    if (written) remove_others(packs_folder(data_folder), pack_place(data_folder, pack));
    return written;
}

Status remove_packs(const fs::path& data_folder) {
    std::error_code failed;
    fs::remove(packs_folder(data_folder) / record_name, failed);
    if (failed) return Error{ErrorCode::io, "The trainer cannot be removed; check who may write to the data folder."};
    remove_others(packs_folder(data_folder), {});
    return {};
}

release::Version own_version() {
    const auto version = release::Version::parse(POTLUCK_VERSION);
    POTLUCK_CHECK(version.has_value());
    return *version;
}

release::Computer this_computer() {
    std::ifstream driver("/proc/driver/nvidia/version");
    const std::string told{std::istreambuf_iterator<char>(driver), {}};
    return {system_name(), architecture(), own_version(), release::nvidia_driver_of(told)};
}

}  // namespace potluck::node
