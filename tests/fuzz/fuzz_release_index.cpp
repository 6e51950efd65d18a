// A release index after its signature was believed, and the names in an archive. What parses is bounded, says the same
// when it is written and parsed again, and no name leaves its folder.
#include <filesystem>

#include "core/release/release_index.h"
#include "core/release/unpack.h"
#include "tests/fuzz/fuzz_target.h"

using namespace potluck;
using namespace potluck::release;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = as_text(fuzz::input(data, size));
    if (is_member_name(text)) {
        const std::filesystem::path path = std::filesystem::path("folder") / text;
        POTLUCK_CHECK(path.lexically_normal() == path && text.find("..") != 0);
        POTLUCK_CHECK(path.begin()->string() == "folder");
    }
    const Result<Index> index = Index::parse(text);
    if (!index.ok()) return 0;
    POTLUCK_CHECK(index->packs.size() <= packs_max && index->releases.size() <= releases_max);
    for (const Pack& pack : index->packs) {
        POTLUCK_CHECK(std::filesystem::path(pack.name).filename().string() == pack.name);
        POTLUCK_CHECK(pack.size <= pack_bytes_max && pack.unpacked <= unpacked_bytes_max);
    }
    const Result<Index> again = Index::parse(index->to_text());
    POTLUCK_CHECK(again.ok() && *again == *index);
    return 0;
}
