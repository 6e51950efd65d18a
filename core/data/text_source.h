// The readable text below a path, cut into segments. A folder is walked in the order of its paths' bytes; files and
// folders whose name begins with a dot, links, and files that are not UTF-8 text are left out and counted.
//
// Packing reads the text twice: scan_text() checks every byte, then for_each_segment() hands it out.
// Does not: hold more than one segment in memory, or look at what the text means.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace potluck::data {

inline constexpr std::uint64_t text_bytes_min = 100'000;
inline constexpr std::uint64_t text_bytes_max = 1ULL << 40U;  // 1 TiB
inline constexpr std::size_t text_files_max = 1'000'000;
inline constexpr int folder_depth_max = 64;
inline constexpr std::size_t segment_bytes_max = 64 * 1024;
inline constexpr std::size_t segment_bytes_min = 1024;

struct TextFile {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
};

struct TextScan {
    std::vector<TextFile> files;  // in order
    std::uint64_t bytes = 0;
    std::uint64_t files_left_out = 0;
    std::size_t segment_bytes = 0;  // chosen from the size of the text: small texts have small segments
    std::uint64_t segments = 0;     // every file begins a new one
};

/// Told how many bytes were read so far; false asks to stop, and the call returns `cancelled`.
using ReadProgress = std::function<bool(std::uint64_t bytes_done)>;

/// Errors, one sentence each: the path does not exist or cannot be read, there is no text, it is binary, too little.
[[nodiscard]] Result<TextScan> scan_text(const std::filesystem::path& path, const ReadProgress& progress);

struct Segment {
    std::uint64_t index = 0;  // from 0, over all files
    std::size_t file = 0;     // of scan.files
    std::string_view text;
};

/// Calls `take` for every segment. A segment never spans two files. It ends before a blank between two ASCII letters or
/// digits if one is near, where no tokenizer would join anything, and else at a character's end. An error if a file
/// changed its size since the scan.
[[nodiscard]] Status for_each_segment(const TextScan& scan, const std::function<Status(const Segment& segment)>& take);

/// Checks a stream for UTF-8 without NULs: shortest form, no surrogates, nothing beyond U+10FFFF.
class Utf8Check {
public:
    /// False for good once something was wrong.
    [[nodiscard]] bool feed(std::string_view bytes);
    /// Whether the stream may end here.
    [[nodiscard]] bool complete() const { return m_valid && m_missing == 0; }

private:
    bool lead(unsigned char byte);
    bool m_valid = true;
    int m_missing = 0;                          // continuation bytes that must follow
    unsigned char m_low = 0x80, m_high = 0xBF;  // range of the next one
};

}  // namespace potluck::data
