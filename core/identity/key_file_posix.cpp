// The POSIX half of key_file.h: mode 0600, and a hard link so that nothing is ever replaced.
#ifndef _WIN32

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/files.h"
#include "core/base/system_handle.h"
#include "core/identity/key_file.h"
#include "core/identity/key_file_text.h"

namespace potluck::identity {

namespace {

ErrorCode code_of(int number) {
    switch (number) {
        case ENOENT:
        case ENOTDIR: return ErrorCode::not_found;
        case EEXIST: return ErrorCode::already_exists;
        case EACCES:
        case EPERM:
        case EROFS: return ErrorCode::permission;
        case ENOSPC:
        case EDQUOT: return ErrorCode::no_space;
        default: return ErrorCode::io;
    }
}

Error system_error(KeyFileTask task, const std::filesystem::path& path, int number) {
    return key_file_error(task, path, {.code = code_of(number), .reason = std::strerror(number)});
}

/// Up to `size` bytes; nothing on a read error.
std::optional<std::size_t> read_up_to(int handle, char* to, std::size_t size) {
    std::size_t filled = 0;
    while (filled < size) {
        const ssize_t got = ::read(handle, to + filled, size - filled);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return std::nullopt;
        if (got == 0) break;
        filled += static_cast<std::size_t>(got);
    }
    return filled;
}

/// Writes `text` to the new file `path`, synced; the file is gone again if anything fails.
Status write_new(const std::filesystem::path& path, std::string_view text) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL;
    const Descriptor handle(path, flags, S_IRUSR | S_IWUSR);
    if (!handle.ok()) return system_error(KeyFileTask::write_into, path.parent_path(), errno);
    int number = write_all(handle.get(), as_bytes(text));
    if (number == 0) number = flush_to_disk(handle.get());
    if (number != 0) {
        ::unlink(path.c_str());
        return system_error(KeyFileTask::write_into, path.parent_path(), number);
    }
    return {};
}

}  // namespace

Result<SecretSeed> read_key_file(const std::filesystem::path& file, KeyReaders readers) {
    // O_NONBLOCK: a pipe in this place is refused below instead of waited for.
    const Descriptor handle(file, O_RDONLY | O_NONBLOCK);
    if (!handle.ok()) return system_error(KeyFileTask::read, file, errno);
    struct stat facts {};
    if (::fstat(handle.get(), &facts) != 0) return system_error(KeyFileTask::read, file, errno);
    if (!S_ISREG(facts.st_mode)) return damaged_key_file(file);
    if (readers == KeyReaders::owner_only && (facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{ErrorCode::permission, "The identity file " + quoted(file) +
                                                " is open to other users of this computer: run chmod 600 " +
                                                quoted(file) +
                                                " (on a disk without permissions, on a copy in your "
                                                "home folder)."};
    }
    KeyFileBuffer buffer{};
    const std::optional<std::size_t> size = read_up_to(handle.get(), buffer.data(), buffer.size());
    if (!size) return system_error(KeyFileTask::read, file, errno);
    return take_key_file(file, buffer, *size);
}

Status write_key_file(const std::filesystem::path& file, const SecretSeed& seed) {
    std::string text = key_file_text(seed);
    const std::filesystem::path temporary = temporary_beside(file);
    const Status written = write_new(temporary, text);
    wipe(text);
    if (!written.ok()) return written;
    // A hard link appears whole or not at all and, unlike a rename, fails where the name is taken.
    const bool linked = ::link(temporary.c_str(), file.c_str()) == 0;
    const int number = errno;
    ::unlink(temporary.c_str());
    if (!linked && number == EEXIST) return key_file_exists(file);
    if (!linked) return system_error(KeyFileTask::write, file, number);
    const int failed = sync_folder(folder_of(file));
    return failed == 0 ? Status() : Status(system_error(KeyFileTask::write, file, failed));
}

Status make_private_folder_of(const std::filesystem::path& file) {
    std::filesystem::path folder;
    for (const std::filesystem::path& part : folder_of(file)) {
        folder /= part;
        struct stat facts {};
        if (::stat(folder.c_str(), &facts) == 0) continue;
        if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
            return system_error(KeyFileTask::make_folder, folder, errno);
        }
        const int failed = sync_folder(folder_of(folder));
        if (failed != 0) return system_error(KeyFileTask::make_folder, folder, failed);
    }
    return {};
}

}  // namespace potluck::identity

#endif
