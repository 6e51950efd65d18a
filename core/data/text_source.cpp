// The text is read twice. scan_text() checks every byte once and decides which files are text; for_each_segment()
// trusts that and only notices a file that became shorter.
//
// A file is cut at multiples of segment_bytes, each cut moved forward by at most 256 bytes to a place where no
// tokenizer joins what stands on both sides, or to the end of a character if there is none. Where a cut moves to
// depends on the bytes behind its nominal place alone (boundary_from), so the end of one segment and the beginning of
// the next are computed apart and agree: segments tile the file, and any of them can be read without its neighbours.
//
// UTF-8 is checked by ranges of the next byte, as table 3-7 of the Unicode standard lists them.
#include "core/data/text_source.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "core/base/files.h"
#include "core/base/text.h"

namespace potluck::data {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t read_bytes = 256 * 1024;
constexpr std::uint64_t segments_wanted = 256;
constexpr std::size_t boundary_bytes_max = 256;  // how far a segment may reach into the next one

Error unreadable(const fs::path& path, const std::string& why) {
    return {ErrorCode::io, "The text " + path.string() + " cannot be read (" + why +
                               "); check that it exists and that you may read it."};
}

bool is_ascii_word(char byte) { return is_letter(byte) || is_digit(byte); }

/// The first good place to cut at or after `from`; it depends on nothing but the bytes from there on.
std::size_t boundary_from(std::string_view text, std::size_t from) {
    const std::size_t last = std::min(text.size(), from + boundary_bytes_max);
    for (std::size_t at = from + 1; at + 1 < last; ++at) {
        if (text[at] == ' ' && is_ascii_word(text[at - 1]) && is_ascii_word(text[at + 1])) return at;
    }
    while (from < last && is_continuation(text[from])) ++from;
    return from;
}

enum class Content { text, binary, empty };

/// Reads the whole file once. `progress` is told of every block.
Result<Content> inspect(const fs::path& path, const std::function<bool(std::size_t)>& progress) {
    std::ifstream in(path, std::ios::binary);
    if (!in) return unreadable(path, "opening failed");
    std::vector<char> block(read_bytes);
    Utf8Check check;
    bool any = false;
    while (in) {
        in.read(block.data(), static_cast<std::streamsize>(block.size()));
        const auto got = static_cast<std::size_t>(in.gcount());
        if (in.bad()) return unreadable(path, "reading failed");
        if (got == 0) break;
        any = true;
        if (!check.feed({block.data(), got})) return Content::binary;
        if (!progress(got)) return Error{ErrorCode::cancelled, "Reading the text was stopped."};
    }
    if (!any) return Content::empty;
    return check.complete() ? Content::text : Content::binary;
}

/// Regular files below `folder`, in the order of their paths' bytes.
Result<std::vector<fs::path>> files_below(const fs::path& folder, std::uint64_t& left_out) {
    std::vector<fs::path> found;
    std::error_code failed;
    fs::recursive_directory_iterator walk(folder, failed);
    if (failed) return unreadable(folder, failed.message());
    for (; walk != fs::recursive_directory_iterator(); walk.increment(failed)) {
        if (failed) return unreadable(folder, failed.message());
        const bool hidden = walk->path().filename().native().front() == '.';
        if (walk->is_directory(failed) && (hidden || walk.depth() >= folder_depth_max)) {
            walk.disable_recursion_pending();
        } else if (walk->is_symlink(failed) || !walk->is_regular_file(failed)) {
            continue;
        } else if (hidden) {
            ++left_out;
        } else {
            found.push_back(walk->path());
        }
        if (found.size() > text_files_max) {
            return Error{ErrorCode::invalid_argument, folder.string() + " holds more than " +
                                                          std::to_string(text_files_max) +
                                                          " files; give a smaller folder or one large file."};
        }
    }
    if (failed) return unreadable(folder, failed.message());
    std::sort(found.begin(), found.end(),
              [](const fs::path& a, const fs::path& b) { return a.generic_string() < b.generic_string(); });
    return found;
}

std::size_t segment_bytes_for(std::uint64_t bytes) {
    return static_cast<std::size_t>(
        std::clamp<std::uint64_t>(bytes / segments_wanted, segment_bytes_min, segment_bytes_max));
}

Status check_amount(const TextScan& scan, const fs::path& path) {
    if (scan.files.empty() && scan.files_left_out > 0) {
        return Error{ErrorCode::malformed, path.string() + " holds no text, only binary files; give UTF-8 text."};
    }
    if (scan.files.empty()) {
        return Error{ErrorCode::malformed, path.string() + " is empty; give UTF-8 text of at least 100 KB."};
    }
    if (scan.bytes < text_bytes_min) {
        return Error{ErrorCode::invalid_argument, path.string() + " holds only " + std::to_string(scan.bytes) +
                                                      " bytes of text; at least 100 KB are needed."};
    }
    if (scan.bytes > text_bytes_max) {
        return Error{ErrorCode::invalid_argument, path.string() + " holds more than 1 TiB of text; give a part of it."};
    }
    return {};
}

}  // namespace

bool Utf8Check::lead(unsigned char byte) {
    m_low = 0x80;
    m_high = 0xBF;
    if (byte == 0) return false;
    if (byte < 0x80) return true;
    if (byte < 0xC2 || byte > 0xF4) return false;
    m_missing = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    if (byte == 0xE0) m_low = 0xA0;
    if (byte == 0xED) m_high = 0x9F;
    if (byte == 0xF0) m_low = 0x90;
    if (byte == 0xF4) m_high = 0x8F;
    return true;
}

bool Utf8Check::feed(std::string_view bytes) {
    for (const char character : bytes) {
        if (!m_valid) return false;
        const auto byte = static_cast<unsigned char>(character);
        if (m_missing == 0) {
            m_valid = lead(byte);
        } else {
            m_valid = byte >= m_low && byte <= m_high;
            m_low = 0x80;
            m_high = 0xBF;
            --m_missing;
        }
    }
    return m_valid;
}

Result<TextScan> scan_text(const fs::path& path, const ReadProgress& progress) {
    std::error_code failed;
    const fs::file_status status = fs::status(path, failed);
    if (failed || !fs::exists(status)) return unreadable(path, failed ? failed.message() : "it does not exist");

    TextScan scan;
    std::vector<fs::path> candidates{path};
    if (fs::is_directory(status)) {
        auto found = files_below(path, scan.files_left_out);
        if (!found) return found.error();
        candidates = std::move(*found);
    } else if (!fs::is_regular_file(status)) {
        return unreadable(path, "it is neither a file nor a folder");
    }

    std::uint64_t read = 0;
    for (const fs::path& candidate : candidates) {
        const auto content = inspect(candidate, [&](std::size_t got) {
            read += got;
            return !progress || progress(read);
        });
        if (!content) return content.error();
        if (*content == Content::binary) ++scan.files_left_out;
        if (*content != Content::text) continue;
        const std::uint64_t bytes = fs::file_size(candidate, failed);
        if (failed) return unreadable(candidate, failed.message());
        scan.files.push_back({candidate, bytes});
        scan.bytes += bytes;
    }
    if (const Status enough = check_amount(scan, path); !enough) return enough.error();
    scan.segment_bytes = segment_bytes_for(scan.bytes);
    for (const TextFile& file : scan.files) scan.segments += (file.bytes + scan.segment_bytes - 1) / scan.segment_bytes;
    return scan;
}

Status for_each_segment(const TextScan& scan, const std::function<Status(const Segment& segment)>& take) {
    // A segment is read with some bytes more: its end moves forward to the next good place, and so does the beginning
    // of the segment after it.
    std::vector<char> block(scan.segment_bytes + boundary_bytes_max);
    Segment segment;
    for (; segment.file < scan.files.size(); ++segment.file) {
        const TextFile& file = scan.files[segment.file];
        std::ifstream in(file.path, std::ios::binary);
        if (!in) return unreadable(file.path, "opening failed");
        for (std::uint64_t at = 0; at < file.bytes; at += scan.segment_bytes, ++segment.index) {
            const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(block.size(), file.bytes - at));
            in.seekg(static_cast<std::streamoff>(at));
            in.read(block.data(), static_cast<std::streamsize>(wanted));
            if (static_cast<std::size_t>(in.gcount()) != wanted) return unreadable(file.path, "it changed meanwhile");
            const std::string_view text(block.data(), wanted);
            const std::size_t begin = at == 0 ? 0 : boundary_from(text, 0);
            const std::size_t end = wanted <= scan.segment_bytes ? wanted : boundary_from(text, scan.segment_bytes);
            segment.text = text.substr(begin, end - begin);
            if (Status taken = take(segment); !taken) return taken;
        }
    }
    return {};
}

}  // namespace potluck::data
