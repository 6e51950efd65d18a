#include "core/identity/key_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include <fcntl.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

namespace potluck::identity {

namespace {

constexpr std::string_view header_line = "potluck identity 1\n";
constexpr std::string_view seed_word = "seed ";
constexpr std::string_view check_word = "check ";
constexpr std::size_t check_digits = 16;
constexpr std::size_t file_bytes =
    header_line.size() + seed_word.size() + 64 + 1 + check_word.size() + check_digits + 1;

class Descriptor {
public:
    explicit Descriptor(int handle) : m_handle(handle) {}
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (m_handle >= 0) ::close(m_handle);
    }
    [[nodiscard]] int get() const { return m_handle; }
    [[nodiscard]] bool valid() const { return m_handle >= 0; }

private:
    int m_handle;
};

std::string quoted(const std::filesystem::path& path) {
    return std::string("'").append(path.string()).append("'");
}

ErrorCode code_of(int number) {
    switch (number) {
        case ENOENT: case ENOTDIR: return ErrorCode::not_found;
        case EEXIST: return ErrorCode::already_exists;
        case EACCES: case EPERM: case EROFS: return ErrorCode::permission;
        case ENOSPC: case EDQUOT: return ErrorCode::no_space;
        default: return ErrorCode::io;
    }
}

/// `what` begins the sentence, for example "Cannot read the identity".
Error system_error(std::string_view what, const std::filesystem::path& path, int number) {
    std::string advice = "check the disk and try again.";
    if (code_of(number) == ErrorCode::no_space) advice = "free some space and try again.";
    if (code_of(number) == ErrorCode::permission) advice = "choose a place that belongs to you.";
    if (code_of(number) == ErrorCode::not_found) advice = "check the path.";
    return {code_of(number),
            std::string(what) + " " + quoted(path) + " (" + std::strerror(number) + "): " + advice};
}

std::string check_line(std::string_view body) {
    start_sodium();
    std::array<std::byte, crypto_hash_sha256_BYTES> hash{};
    crypto_hash_sha256(raw(hash.data()), reinterpret_cast<const unsigned char*>(body.data()), body.size());
    return std::string(check_word) + to_hex(hash).substr(0, check_digits) + "\n";
}

/// The exact text of the file for `seed`.
std::string text_of(const SecretSeed& seed) {
    std::string digits = to_hex(seed.bytes);
    std::string text;
    text.reserve(file_bytes);  // never moves, so that no unwiped copy stays behind
    text += header_line;
    text += seed_word;
    text += digits;
    text += '\n';
    wipe(digits);
    text += check_line(text);
    return text;
}

/// Strict inverse of text_of: one seed has one spelling.
std::optional<SecretSeed> parse(std::string_view text) {
    constexpr std::size_t digits_at = header_line.size() + seed_word.size();
    if (text.size() != file_bytes) return std::nullopt;
    SecretSeed seed;
    if (!from_hex(text.substr(digits_at, 64), seed.bytes)) return std::nullopt;
    std::string expected = text_of(seed);
    const bool same = expected == text;
    wipe(expected);
    if (!same) return std::nullopt;
    return seed;
}

Error damaged(const std::filesystem::path& file) {
    return {ErrorCode::malformed, "The identity file " + quoted(file) +
                                      " is damaged or not an identity: move it away, then import your copy or your "
                                      "recovery words."};
}

bool write_all(int handle, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(handle, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
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

std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

bool sync_folder(const std::filesystem::path& folder) {
    const Descriptor handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    // Some file systems cannot sync folders and say EINVAL; there is nothing more to be done on them.
    return handle.valid() && (::fsync(handle.get()) == 0 || errno == EINVAL);
}

std::filesystem::path temporary_beside(const std::filesystem::path& file) {
    start_sodium();
    std::array<std::byte, 8> random{};
    randombytes_buf(random.data(), random.size());
    return folder_of(file) / std::string(".").append(file.filename().string()).append(".").append(to_hex(random));
}

/// Writes `text` to the new file `path`, synced; the file is gone again if anything fails.
Status write_new(const std::filesystem::path& path, std::string_view text) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC;
    const Descriptor handle(::open(path.c_str(), flags, S_IRUSR | S_IWUSR));
    if (!handle.valid()) return system_error("Cannot write the identity to", path.parent_path(), errno);
    if (!write_all(handle.get(), text) || ::fsync(handle.get()) != 0) {
        const int number = errno;
        ::unlink(path.c_str());
        return system_error("Cannot write the identity to", path.parent_path(), number);
    }
    return {};
}

}  // namespace

Result<SecretSeed> read_key_file(const std::filesystem::path& file) {
    // O_NONBLOCK: a pipe in this place is refused below instead of waited for.
    const Descriptor handle(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!handle.valid()) return system_error("Cannot read the identity file", file, errno);
    struct stat facts {};
    if (::fstat(handle.get(), &facts) != 0) return system_error("Cannot read the identity file", file, errno);
    if (!S_ISREG(facts.st_mode)) return damaged(file);
    if ((facts.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
        return Error{ErrorCode::permission, "The identity file " + quoted(file) +
                                                " is open to other users of this computer: run chmod 600 " +
                                                quoted(file) + " (on a disk without permissions, on a copy in your "
                                                "home folder)."};
    }
    std::array<char, file_bytes + 1> buffer{};  // one more than fits, to notice a file that goes on
    const std::optional<std::size_t> size = read_up_to(handle.get(), buffer.data(), buffer.size());
    if (!size) return system_error("Cannot read the identity file", file, errno);
    const std::optional<SecretSeed> seed = parse({buffer.data(), *size});
    sodium_memzero(buffer.data(), buffer.size());
    if (!seed) return damaged(file);
    return *seed;
}

Status write_key_file(const std::filesystem::path& file, const SecretSeed& seed) {
    std::string text = text_of(seed);
    const std::filesystem::path temporary = temporary_beside(file);
    const Status written = write_new(temporary, text);
    wipe(text);
    if (!written.ok()) return written;
    // A hard link appears whole or not at all and, unlike a rename, fails where the name is taken.
    const bool linked = ::link(temporary.c_str(), file.c_str()) == 0;
    const int number = errno;
    ::unlink(temporary.c_str());
    if (!linked && number == EEXIST) {
        return Error{ErrorCode::already_exists,
                     quoted(file) + " exists already and is not replaced: choose another name or move it away."};
    }
    if (!linked) return system_error("Cannot write the identity file", file, number);
    if (!sync_folder(folder_of(file))) return system_error("Cannot write the identity file", file, errno);
    return {};
}

Status make_private_folder_of(const std::filesystem::path& file) {
    std::filesystem::path folder;
    for (const std::filesystem::path& part : folder_of(file)) {
        folder /= part;
        struct stat facts {};
        if (::stat(folder.c_str(), &facts) == 0) continue;
        if (::mkdir(folder.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
            return system_error("Cannot make the folder", folder, errno);
        }
        if (!sync_folder(folder_of(folder))) return system_error("Cannot make the folder", folder, errno);
    }
    return {};
}

}  // namespace potluck::identity
