// The Windows half of files.h. Where it differs from the POSIX half:
//
//   folder sync  does not exist; MOVEFILE_WRITE_THROUGH makes the rename durable before the call returns
//   sync         needs FlushFileBuffers after FlushViewOfFile, which only hands the pages to the cache
//   create       truncates in place, which Windows refuses while the old content is mapped (POSIX: a fresh inode)
//   FileLock     is a handle that shares nothing, kept as a C descriptor so that the class looks the same
//   access       needs nothing for private files: those below a user's profile inherit a list that names the user
//
// Every other open shares reading, writing and deleting, as POSIX does without being asked.
#ifdef _WIN32

#include "core/base/system_handle.h"

#include <fcntl.h>
#include <io.h>

#include <algorithm>
#include <atomic>
#include <utility>

#include "core/base/files.h"

namespace potluck {

namespace fs = std::filesystem;

namespace {

std::string shown_path(const fs::path& path) {
    const std::u8string text = path.u8string();
    return std::string(text.begin(), text.end());
}

Error file_error(const char* verb, const fs::path& path, DWORD number) {
    const std::string what = std::string("Could not ") + verb + " " + shown_path(path);
    switch (number) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND: return {ErrorCode::not_found, what + ": it does not exist; check the path."};
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS:
            return {ErrorCode::already_exists, what + ": it exists already; choose another name."};
        case ERROR_ACCESS_DENIED:
        case ERROR_WRITE_PROTECT:
        case ERROR_SHARING_VIOLATION:
            return {ErrorCode::permission, what + ": permission denied; choose a folder you may write to."};
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL:
            return {ErrorCode::no_space, what + ": the disk is full; free some space and try again."};
        case ERROR_NOT_ENOUGH_MEMORY:
        case ERROR_OUTOFMEMORY:
            return {ErrorCode::out_of_memory, what + ": out of memory; close other programs and try again."};
        default:
            return {ErrorCode::io,
                    what + ": system error " + std::to_string(number) + "; check the disk and try again."};
    }
}

HANDLE open_handle(const fs::path& path, DWORD access, DWORD disposition) {
    constexpr DWORD sharing = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
    return CreateFileW(path.c_str(), access, sharing, nullptr, disposition, FILE_ATTRIBUTE_NORMAL, nullptr);
}

Result<std::uint64_t> size_of(const WindowsHandle& file, const fs::path& path) {
    LARGE_INTEGER size{};
    if (GetFileSizeEx(file.get(), &size) == 0) return file_error("examine", path, GetLastError());
    return static_cast<std::uint64_t>(size.QuadPart);
}

constexpr DWORD step_of(std::size_t size) { return static_cast<DWORD>(std::min<std::size_t>(size, 1U << 30U)); }

DWORD write_all(HANDLE file, ByteSpan bytes) {
    while (!bytes.empty()) {
        DWORD written = 0;
        if (WriteFile(file, bytes.data(), step_of(bytes.size()), &written, nullptr) == 0) return GetLastError();
        bytes = bytes.subspan(written);
    }
    return 0;
}

fs::path temporary_beside(const fs::path& path) {
    static std::atomic<unsigned> counter{0};
    fs::path name = path;
    name += ".part-" + std::to_string(GetCurrentProcessId()) + "-" + std::to_string(counter.fetch_add(1));
    return name;
}

/// Null on failure, with the system's error set. The view keeps the mapping alive after its handle is closed.
std::byte* map(HANDLE file, bool writable) {
    const WindowsHandle mapping(
        CreateFileMappingW(file, nullptr, writable ? PAGE_READWRITE : PAGE_READONLY, 0, 0, nullptr));
    if (!mapping.ok()) return nullptr;
    return static_cast<std::byte*>(MapViewOfFile(mapping.get(), writable ? FILE_MAP_WRITE : FILE_MAP_READ, 0, 0, 0));
}

/// Writes `size` bytes of zeros, since a sparse end would turn a full disk into a fault at the first write.
DWORD reserve(HANDLE file, std::uint64_t size) {
    const Bytes zeros(static_cast<std::size_t>(std::min<std::uint64_t>(size, 1U << 20U)));
    for (std::uint64_t done = 0; done < size; done += zeros.size()) {
        const std::uint64_t part = std::min<std::uint64_t>(zeros.size(), size - done);
        if (const DWORD failed = write_all(file, ByteSpan(zeros).first(static_cast<std::size_t>(part)))) return failed;
    }
    return 0;
}

}  // namespace

Result<Bytes> read_file(const fs::path& path, std::uint64_t limit) {
    const WindowsHandle file(open_handle(path, GENERIC_READ, OPEN_EXISTING));
    if (!file.ok()) return file_error("open", path, GetLastError());
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    if (*size > limit) {
        return Error{ErrorCode::malformed,
                     shown_path(path) + " is larger than " + std::to_string(limit) + " bytes; choose another file."};
    }
    Bytes bytes(static_cast<std::size_t>(*size));
    std::size_t filled = 0;
    while (filled < bytes.size()) {
        DWORD got = 0;
        if (ReadFile(file.get(), bytes.data() + filled, step_of(bytes.size() - filled), &got, nullptr) == 0) {
            return file_error("read", path, GetLastError());
        }
        if (got == 0) break;
        filled += got;
    }
    bytes.resize(filled);
    return bytes;
}

// Files under a user's profile are private to that user by inheritance, so `access` asks for nothing more here.
Status write_file_atomically(const fs::path& path, ByteSpan bytes, FileAccess) {
    const fs::path temporary = temporary_beside(path);
    DWORD failed = 0;
    {
        const WindowsHandle file(open_handle(temporary, GENERIC_WRITE, CREATE_ALWAYS));
        if (!file.ok()) return file_error("create", path, GetLastError());
        failed = write_all(file.get(), bytes);
        if (failed == 0 && FlushFileBuffers(file.get()) == 0) failed = GetLastError();
    }
    constexpr DWORD how = MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH;
    if (failed == 0 && MoveFileExW(temporary.c_str(), path.c_str(), how) == 0) failed = GetLastError();
    if (failed == 0) return {};
    DeleteFileW(temporary.c_str());
    return file_error("write", path, failed);
}

Status sync_file(const fs::path& path) {
    const WindowsHandle file(open_handle(path, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING));
    if (!file.ok()) return file_error("open", path, GetLastError());
    if (FlushFileBuffers(file.get()) == 0) return file_error("sync", path, GetLastError());
    return {};
}

MappedFile::MappedFile(MappedFile&& other) noexcept { *this = std::move(other); }

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
    if (this == &other) return *this;
    if (m_data != nullptr) UnmapViewOfFile(m_data);
    m_data = std::exchange(other.m_data, nullptr);
    m_size = std::exchange(other.m_size, 0);
    m_writable = std::exchange(other.m_writable, false);
    m_path = std::move(other.m_path);
    return *this;
}

MappedFile::~MappedFile() {
    if (m_data != nullptr) UnmapViewOfFile(m_data);
}

Result<MappedFile> MappedFile::open_read(const fs::path& path) {
    const WindowsHandle file(open_handle(path, GENERIC_READ, OPEN_EXISTING));
    if (!file.ok()) return file_error("open", path, GetLastError());
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_size = static_cast<std::size_t>(*size);
    if (*size > 0) mapped.m_data = map(file.get(), false);
    if (*size > 0 && mapped.m_data == nullptr) return file_error("map", path, GetLastError());
    return mapped;
}

Result<MappedFile> MappedFile::open_write(const fs::path& path) {
    const WindowsHandle file(open_handle(path, GENERIC_READ | GENERIC_WRITE, OPEN_EXISTING));
    if (!file.ok()) return file_error("open", path, GetLastError());
    const Result<std::uint64_t> size = size_of(file, path);
    if (!size) return size.error();
    MappedFile mapped;
    mapped.m_path = path;
    mapped.m_writable = true;
    mapped.m_size = static_cast<std::size_t>(*size);
    if (*size > 0) mapped.m_data = map(file.get(), true);
    if (*size > 0 && mapped.m_data == nullptr) return file_error("map", path, GetLastError());
    return mapped;
}

Result<MappedFile> MappedFile::create(const fs::path& path, std::uint64_t size) {
    {
        const WindowsHandle file(open_handle(path, GENERIC_READ | GENERIC_WRITE, CREATE_ALWAYS));
        if (!file.ok()) return file_error("create", path, GetLastError());
        if (const DWORD failed = reserve(file.get(), size)) return file_error("reserve space for", path, failed);
    }
    return open_write(path);
}

Status MappedFile::sync() {
    if (m_data == nullptr || !m_writable) return {};
    if (FlushViewOfFile(m_data, m_size) == 0) return file_error("sync", m_path, GetLastError());
    return sync_file(m_path);
}

FileLock::FileLock(FileLock&& other) noexcept : m_handle(std::exchange(other.m_handle, -1)) {}

FileLock::~FileLock() {
    if (m_handle >= 0) ::_close(m_handle);
}

Result<FileLock> FileLock::acquire(const fs::path& path) {
    // Sharing nothing is the lock: the system releases it when the process ends, however it ends.
    WindowsHandle file(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, 0, nullptr, OPEN_ALWAYS,
                                   FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!file.ok() && GetLastError() == ERROR_SHARING_VIOLATION) {
        return Error{ErrorCode::already_exists,
                     shown_path(path) + " is in use by another Potluck; close it or choose another folder."};
    }
    if (!file.ok()) return file_error("lock", path, GetLastError());
    const int handle = ::_open_osfhandle(reinterpret_cast<std::intptr_t>(file.release()), _O_RDWR | _O_NOINHERIT);
    if (handle < 0) return Error{ErrorCode::io, "Could not lock " + shown_path(path) + ": too many open files."};
    return FileLock(handle);
}

std::uint64_t free_disk_bytes(const fs::path& folder) {
    ULARGE_INTEGER available{};
    if (GetDiskFreeSpaceExW(folder.c_str(), &available, nullptr, nullptr) == 0) return 0;
    return available.QuadPart;
}

}  // namespace potluck

#endif
