// The POSIX half of files.h. An atomic write is: temporary file beside the target, fsync (F_FULLFSYNC on macOS, where
// fsync leaves the data in the drive's cache), rename, fsync of the folder. Skipping the last one would let a power cut
// undo the rename although the caller was told that the file is there.
//
// Files are opened with O_CLOEXEC, so that the trainer and other children inherit none, and for reading with
// O_NONBLOCK, so that a FIFO put in a file's place is refused by fstat instead of hanging the caller. Space for a new
// map is reserved, because a full disk would otherwise show as SIGBUS at the first write to a page. A FileLock is
// flock(2) on an open descriptor: it ends with the process, however that ends.
#ifndef _WIN32

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/system_handle.h"

namespace potluck {

namespace fs = std::filesystem;

namespace {

/// What `number` (an errno) means for the person who owns the file.
Error file_error(const char* verb, const fs::path& path, int number) {
    const std::string what = std::string("Could not ") + verb + " " + path.string();
    switch (number) {
        case ENOENT:
        case ENOTDIR: return {ErrorCode::not_found, what + ": it does not exist; check the path."};
        case EEXIST: return {ErrorCode::already_exists, what + ": it exists already; choose another name."};
        case EACCES:
        case EPERM:
        case EROFS: return {ErrorCode::permission, what + ": permission denied; choose a folder you may write to."};
        case ENOSPC:
        case EDQUOT:
        case EFBIG: return {ErrorCode::no_space, what + ": the disk is full; free some space and try again."};
        case ENOMEM: return {ErrorCode::out_of_memory, what + ": out of memory; close other programs and try again."};
        default: return {ErrorCode::io, what + ": " + std::strerror(number) + "; check the disk and try again."};
    }
}

Status sync_folder_of(const fs::path& file) {
    const fs::path folder = folder_of(file);
    const int failed = sync_folder(folder);
    return failed == 0 ? Status() : Status(file_error("sync the folder", folder, failed));
}

/// Size of an open regular file.
Result<std::uint64_t> size_of(const Descriptor& file, const fs::path& path) {
    struct stat facts {};
    if (::fstat(file.get(), &facts) != 0) return file_error("examine", path, errno);
    if (!S_ISREG(facts.st_mode)) return Error{ErrorCode::io, path.string() + " is not a file; choose a file."};
    return static_cast<std::uint64_t>(facts.st_size);
}

int reserve(int handle, std::uint64_t size) {
    if (size == 0) return 0;
#ifdef __APPLE__
    fstore_t store{};
    store.fst_flags = F_ALLOCATEALL;
    store.fst_posmode = F_PEOFPOSMODE;
    store.fst_length = static_cast<off_t>(size);
    if (::fcntl(handle, F_PREALLOCATE, &store) != 0) return errno;
    return ::ftruncate(handle, static_cast<off_t>(size)) == 0 ? 0 : errno;
#else
    int outcome = EINTR;
    while (outcome == EINTR) outcome = ::posix_fallocate(handle, 0, static_cast<off_t>(size));
    return outcome;
#endif
}

/// A name beside `path` that no other thread or process uses.
fs::path temporary_beside(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    fs::path name = path;
    name += ".part-" + std::to_string(::getpid()) + "-" + std::to_string(counter.fetch_add(1));
    return name;
}

/// Null with errno set on failure; `size` > 0.
std::byte* map(int handle, std::size_t size, int protection) {
    void* const data = ::mmap(nullptr, size, protection, MAP_SHARED, handle, 0);
    return data == MAP_FAILED ? nullptr : static_cast<std::byte*>(data);
}

}  // namespace

Result<Bytes> read_file(const fs::path& path, std::uint64_t limit) {
    const Descriptor file(path, O_RDONLY | O_NONBLOCK);
    if (!file.ok()) return file_error("open", path, errno);
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    if (*size > limit) {
        return Error{ErrorCode::malformed,
                     path.string() + " is larger than " + std::to_string(limit) + " bytes; choose another file."};
    }
    Bytes bytes(static_cast<std::size_t>(*size));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        const ssize_t got = ::read(file.get(), bytes.data() + filled, bytes.size() - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return file_error("read", path, errno);
        if (got == 0) break;  // another process shortened it meanwhile
        filled += static_cast<std::size_t>(got);
    }
    bytes.resize(filled);
    return bytes;
}

Status write_file_atomically(const fs::path& path, ByteSpan bytes, FileAccess access) {
    const fs::path temporary = temporary_beside(path);
    const mode_t mode = access == FileAccess::private_to_owner ? 0600 : 0666;
    int failed = 0;
    {
        ::unlink(temporary.c_str());
        const Descriptor file(temporary, O_WRONLY | O_CREAT | O_EXCL, mode);
        if (!file.ok()) return file_error("create", path, errno);
        failed = write_all(file.get(), bytes);
        if (failed == 0) failed = flush_to_disk(file.get());
    }
    if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
    if (failed != 0) {
        ::unlink(temporary.c_str());
        return file_error("write", path, failed);
    }
    return sync_folder_of(path);
}

Status sync_file(const fs::path& path) {
    {
        const Descriptor file(path, O_RDONLY);
        if (!file.ok()) return file_error("open", path, errno);
        if (const int failed = flush_to_disk(file.get()); failed != 0) return file_error("sync", path, failed);
    }
    return sync_folder_of(path);
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    if (this == &other) return *this;
    if (m_data != nullptr) ::munmap(m_data, m_size);
    m_data = std::exchange(other.m_data, nullptr);
    m_size = std::exchange(other.m_size, 0);
    m_writable = std::exchange(other.m_writable, false);
    m_path = std::move(other.m_path);
    return *this;
}

MappedFile::~MappedFile() {
    if (m_data != nullptr) ::munmap(m_data, m_size);
}

Result<MappedFile> MappedFile::open_read(const fs::path& path) {
    const Descriptor file(path, O_RDONLY | O_NONBLOCK);
    if (!file.ok()) return file_error("open", path, errno);
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_size = static_cast<std::size_t>(*size);
    if (*size > 0) mapped.m_data = map(file.get(), mapped.m_size, PROT_READ);
    if (*size > 0 && mapped.m_data == nullptr) return file_error("map", path, errno);
    return mapped;
}

Result<MappedFile> MappedFile::open_write(const fs::path& path) {
    const Descriptor file(path, O_RDWR | O_NONBLOCK);
    if (!file.ok()) return file_error("open", path, errno);
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_writable = true;
    mapped.m_size = static_cast<std::size_t>(*size);
    if (*size > 0) mapped.m_data = map(file.get(), mapped.m_size, PROT_READ | PROT_WRITE);
    if (*size > 0 && mapped.m_data == nullptr) return file_error("map", path, errno);
    return mapped;
}

Result<MappedFile> MappedFile::create(const fs::path& path, std::uint64_t size) {
    // A fresh inode: maps of the old file stay whole.
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return file_error("replace", path, errno);
    const Descriptor file(path, O_RDWR | O_CREAT | O_EXCL);
    if (!file.ok()) return file_error("create", path, errno);
    const int failed = reserve(file.get(), size);
    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_writable = true;
    mapped.m_size = static_cast<std::size_t>(size);
    if (failed == 0 && size > 0) mapped.m_data = map(file.get(), mapped.m_size, PROT_READ | PROT_WRITE);
    if (failed == 0 && (size == 0 || mapped.m_data != nullptr)) return mapped;
    const Error error = file_error("reserve space for", path, failed != 0 ? failed : errno);
    ::unlink(path.c_str());
    return error;
}

Status MappedFile::sync() {
    if (m_data == nullptr || !m_writable) return {};
    if (::msync(m_data, m_size, MS_SYNC) != 0) return file_error("sync", m_path, errno);
    return {};
}

FileLock::FileLock(FileLock&& other) noexcept : m_handle(std::exchange(other.m_handle, -1)) {}

FileLock::~FileLock() {
    if (m_handle >= 0) ::close(m_handle);
}

Result<FileLock> FileLock::acquire(const fs::path& path) {
    Descriptor file(path, O_RDWR | O_CREAT, 0600);
    if (!file.ok()) return file_error("open", path, errno);
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK) return file_error("lock", path, errno);
        char owner[16] = {};
        const ssize_t size = ::read(file.get(), owner, sizeof owner - 1);
        std::string holder(owner, owner + std::max<ssize_t>(size, 0));
        if (holder.empty() || holder.find_first_not_of("0123456789") != std::string::npos) holder = "unknown";
        return Error{ErrorCode::already_exists, path.string() + " is in use by another Potluck (process " + holder +
                                                    "); close it or choose another folder."};
    }
    // The number is for the message above only; the lock itself does not depend on it.
    const std::string owner = std::to_string(::getpid());
    if (::ftruncate(file.get(), 0) != 0) return file_error("write", path, errno);
    const int failed = write_all(file.get(), as_bytes(owner));
    if (failed != 0) return file_error("write", path, failed);
    return FileLock(file.release());
}

std::uint64_t free_disk_bytes(const fs::path& folder) {
    struct statvfs facts {};
    if (::statvfs(folder.c_str(), &facts) != 0) return 0;
    return static_cast<std::uint64_t>(facts.f_bavail) * static_cast<std::uint64_t>(facts.f_frsize);
}

}  // namespace potluck

#endif
