// libarchive reads; writing is ours, because its own writer knows of links, owners, access lists and absolute paths,
// and everything that is not known here cannot be got wrong. What a header claims is checked before a byte of it is
// written, and what really comes is counted again, because a header may lie about its size.
//
// A bomb is bounded three times: by the signed size of what is unpacked, by the number of members, and by the disk.
//
// The archive is hashed as libarchive reads it, through one descriptor: a file that is swapped, or written to, after
// it was hashed yields another hash here, and nothing becomes the folder.
#include "core/release/unpack.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <archive.h>
#include <archive_entry.h>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/base/sha256.h"
#include "core/base/text.h"

namespace potluck::release {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t member_name_max = 200;
constexpr std::size_t block_bytes = 64 * 1024;
constexpr std::uint64_t disk_reserve_bytes = 64ULL << 20U;  // is left to the owner
constexpr std::uint64_t contents_bytes_max = 64ULL << 30U, contents_files_max = 2'000;

struct Close {
    void operator()(archive* open) const { archive_read_free(open); }
};
using Reader = std::unique_ptr<archive, Close>;

Error damaged(const std::string& why) {
    return {ErrorCode::malformed, "The pack cannot be unpacked (" + why + "); download it again."};
}

Error refused(const char* name, const char* why) {
    return damaged("its member " + printable_ascii(name == nullptr ? "" : name, member_name_max) + " " + why);
}

Error of_archive(archive* reader) {
    const char* why = archive_error_string(reader);
    return damaged(printable_ascii(why == nullptr ? "it is cut short" : why, member_name_max));
}

/// The archive's file, from its beginning to its end, once.
class Source {
public:
    explicit Source(const fs::path& file) : m_file(file, std::ios::binary) {}
    [[nodiscard]] bool is_open() const { return m_file.is_open(); }
    [[nodiscard]] ByteSpan next() {
        m_file.read(reinterpret_cast<char*>(m_block.data()), static_cast<std::streamsize>(m_block.size()));
        const ByteSpan block = ByteSpan(m_block).first(static_cast<std::size_t>(m_file.gcount()));
        m_hash.update(block);
        return block;
    }
    /// Hash of all of it; what the archive did not need is read now.
    [[nodiscard]] Digest sha256() {
        while (!next().empty()) {
        }
        return m_hash.finish();
    }

private:
    std::ifstream m_file;
    std::vector<std::byte> m_block = std::vector<std::byte>(block_bytes);
    Sha256 m_hash;
};

la_ssize_t read_block(archive*, void* source, const void** data) {
    const ByteSpan block = static_cast<Source*>(source)->next();
    *data = block.data();
    return static_cast<la_ssize_t>(block.size());
}

/// `source` outlives it.
Result<Reader> open_archive(Source& source, const fs::path& file) {
    if (!source.is_open()) return damaged(file.filename().string() + " cannot be opened");
    Reader reader(archive_read_new());
    archive_read_support_filter_xz(reader.get());
    archive_read_support_filter_zstd(reader.get());
    archive_read_support_format_tar(reader.get());
    if (archive_read_open(reader.get(), &source, nullptr, &read_block, nullptr) != ARCHIVE_OK)
        return of_archive(reader.get());
    return reader;
}

/// Removes what was begun, unless it became what was wanted.
class Begun {
public:
    explicit Begun(fs::path folder) : m_folder(std::move(folder)) { clear(); }
    ~Begun() { clear(); }
    Begun(const Begun&) = delete;
    Begun& operator=(const Begun&) = delete;
    [[nodiscard]] const fs::path& folder() const { return m_folder; }

private:
    void clear() const {
        std::error_code failed;
        fs::remove_all(m_folder, failed);
    }
    fs::path m_folder;
};

enum class Member { file, folder };

/// Checks a header, and counts it.
Result<Member> admitted(archive_entry* entry, const UnpackLimits& limits, Contents& so_far) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr || !is_member_name(name)) return refused(name, "has a name that is not allowed");
    const auto type = archive_entry_filetype(entry);
    const bool link = archive_entry_hardlink(entry) != nullptr || archive_entry_symlink(entry) != nullptr;
    if (link || (type != AE_IFREG && type != AE_IFDIR)) return refused(name, "is neither a file nor a folder");
    const std::int64_t size = type == AE_IFREG ? archive_entry_size(entry) : 0;
    if (size < 0) return refused(name, "has no size");
    so_far.files += 1;
    so_far.bytes += static_cast<std::uint64_t>(size);
    if (so_far.files > limits.files_max || so_far.bytes > limits.bytes_max)
        return refused(name, "is more than the signed index allows");
    return type == AE_IFDIR ? Member::folder : Member::file;
}

/// Hands the content to `take` block by block; never more than the header said.
template <class Take>
Status read_content(archive* reader, archive_entry* entry, const std::stop_token& stop, const Take& take) {
    auto left = static_cast<std::uint64_t>(archive_entry_size(entry));
    while (true) {
        if (stop.stop_requested()) return Error{ErrorCode::cancelled, "Unpacking was stopped; begin again."};
        const void* data = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int read = archive_read_data_block(reader, &data, &size, &offset);
        if (read == ARCHIVE_EOF) break;
        if (read != ARCHIVE_OK) return of_archive(reader);
        if (size > left) return refused(archive_entry_pathname(entry), "is longer than its header says");
        left -= size;
        if (const Status taken = take(static_cast<const char*>(data), size); !taken) return taken;
    }
    return left == 0 ? Status() : Status(refused(archive_entry_pathname(entry), "is shorter than its header says"));
}

Error not_written(const fs::path& file) {
    return {ErrorCode::io, "The file " + file.string() + " cannot be written; check the disk and its free space."};
}

Status write_member(archive* reader, archive_entry* entry, const fs::path& file, const std::stop_token& stop) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    const Status written = read_content(reader, entry, stop, [&](const char* data, std::size_t size) -> Status {
        if (!out.write(data, static_cast<std::streamsize>(size))) return not_written(file);
        return {};
    });
    if (!written) return written;
    out.close();
    if (!out) return not_written(file);
    using fs::perms;
    constexpr perms readable = perms::owner_read | perms::owner_write | perms::group_read | perms::others_read;
    constexpr perms runnable = perms::owner_exec | perms::group_exec | perms::others_exec;
    std::error_code failed;
    fs::permissions(file, (archive_entry_perm(entry) & 0100U) != 0 ? readable | runnable : readable, failed);
    return failed ? Status(not_written(file)) : sync_file(file);
}

Status write_members(archive* reader, const fs::path& folder, const UnpackLimits& limits, const std::stop_token& stop) {
    Contents so_far;
    archive_entry* entry = nullptr;
    int read = ARCHIVE_OK;
    while ((read = archive_read_next_header(reader, &entry)) == ARCHIVE_OK) {
        const Result<Member> member = admitted(entry, limits, so_far);
        if (!member) return member.error();
        const fs::path path = folder / archive_entry_pathname(entry);
        std::error_code failed;
        fs::create_directories(*member == Member::folder ? path : path.parent_path(), failed);
        if (failed) return not_written(path);
        if (*member == Member::folder) continue;
        if (fs::exists(path, failed)) return refused(archive_entry_pathname(entry), "is there twice");
        if (const Status written = write_member(reader, entry, path, stop); !written) return written;
    }
    return read == ARCHIVE_EOF ? Status() : Status(of_archive(reader));
}

}  // namespace

bool is_member_name(std::string_view name) {
    if (name.ends_with('/')) name.remove_suffix(1);
    if (name.empty() || name.size() > member_name_max) return false;
    bool begins = true;  // a part of the name
    for (const char c : name) {
        const bool slash = c == '/';
        const bool letter = is_letter(c) || is_digit(c) || std::string_view("._+-").find(c) != std::string_view::npos;
        if (!slash && !letter) return false;
        if (begins && (slash || c == '.')) return false;
        begins = slash;
    }
    return !begins;
}

Status unpack(const fs::path& archive, const fs::path& folder, const UnpackLimits& limits,
              const std::stop_token& stop) {
    Source source(archive);
    const Result<Reader> reader = open_archive(source, archive);
    if (!reader) return reader.error();
    const Begun begun(folder.string() + ".part");
    std::error_code failed;
    fs::create_directories(begun.folder(), failed);
    if (failed) return not_written(begun.folder());
    if (free_disk_bytes(begun.folder()) < limits.bytes_max + disk_reserve_bytes) {
        return Error{ErrorCode::no_space, "The disk is too full to unpack " + std::to_string(limits.bytes_max >> 20U) +
                                              " MiB; free some space, then try again."};
    }
    if (const Status written = write_members(reader->get(), begun.folder(), limits, stop); !written) return written;
    if (limits.sha256 && source.sha256() != *limits.sha256) {
        return Error{ErrorCode::untrusted,
                     archive.filename().string() + " is not the pack that was signed for; download it again."};
    }
    fs::remove_all(folder, failed);
    fs::rename(begun.folder(), folder, failed);
    return failed ? Status(not_written(folder)) : sync_file(folder);
}

Result<Contents> contents_of(const fs::path& file) {
    Source source(file);
    const Result<Reader> reader = open_archive(source, file);
    if (!reader) return reader.error();
    const UnpackLimits limits{contents_bytes_max, contents_files_max};
    Contents contents;
    archive_entry* entry = nullptr;
    int read = ARCHIVE_OK;
    while ((read = archive_read_next_header(reader->get(), &entry)) == ARCHIVE_OK) {
        if (const auto member = admitted(entry, limits, contents); !member) return member.error();
    }
    if (read != ARCHIVE_EOF) return of_archive(reader->get());
    return contents;
}

}  // namespace potluck::release
