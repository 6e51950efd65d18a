// The Windows half of key_file.h. A key is written as: temporary file created with an access list that names the owner
// alone (so that there is no moment at which the folder's list applies), written through and flushed, then moved to its
// name by a move that fails where the name is taken. The list moves along with the file.
//
// Before a key is read, its list is examined through the opened handle, not through the path, so that the file cannot
// be exchanged in between. Every entry must surely keep others out: an unknown kind of entry counts as open, and so
// does a disk without lists. The system and its administrators are allowed, because no list keeps them from reading.
// Buffers that held the seed are wiped.
//
// Source: Microsoft's documentation of security descriptor strings and of MoveFileEx.
#ifdef _WIN32

#include "core/base/system_handle.h"

#include <aclapi.h>
#include <sddl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/files.h"
#include "core/identity/key_file.h"
#include "core/identity/key_file_text.h"

namespace potluck::identity {

namespace {

namespace fs = std::filesystem;

// Protected from what the folder would add (P); everything (FA) for the owner (OW), for a folder also in what it holds.
constexpr const wchar_t* private_file = L"D:P(A;;FA;;;OW)";
constexpr const wchar_t* private_folder = L"D:P(A;OICI;FA;;;OW)";

/// A security descriptor of the system's making.
class Protection {
public:
    Protection() = default;
    explicit Protection(const wchar_t* text) {
        if (ConvertStringSecurityDescriptorToSecurityDescriptorW(text, SDDL_REVISION_1, &m_descriptor, nullptr) == 0)
            m_descriptor = nullptr;
    }
    Protection(const Protection&) = delete;
    Protection& operator=(const Protection&) = delete;
    ~Protection() { LocalFree(m_descriptor); }
    [[nodiscard]] bool valid() const { return m_descriptor != nullptr; }
    [[nodiscard]] PSECURITY_DESCRIPTOR* out() { return &m_descriptor; }
    [[nodiscard]] SECURITY_ATTRIBUTES attributes() const {
        return {.nLength = sizeof(SECURITY_ATTRIBUTES), .lpSecurityDescriptor = m_descriptor, .bInheritHandle = FALSE};
    }

private:
    PSECURITY_DESCRIPTOR m_descriptor = nullptr;
};

ErrorCode code_of(DWORD number) {
    switch (number) {
        case ERROR_FILE_NOT_FOUND:
        case ERROR_PATH_NOT_FOUND:
        case ERROR_INVALID_NAME: return ErrorCode::not_found;
        case ERROR_FILE_EXISTS:
        case ERROR_ALREADY_EXISTS: return ErrorCode::already_exists;
        case ERROR_ACCESS_DENIED:
        case ERROR_WRITE_PROTECT:
        case ERROR_SHARING_VIOLATION: return ErrorCode::permission;
        case ERROR_DISK_FULL:
        case ERROR_HANDLE_DISK_FULL: return ErrorCode::no_space;
        default: return ErrorCode::io;
    }
}

Error system_error(KeyFileTask task, const fs::path& path, DWORD number) {
    return key_file_error(task, path, {.code = code_of(number), .reason = "system error " + std::to_string(number)});
}

/// The user this process runs as; the bytes hold what `user()` points to.
class CurrentUser {
public:
    CurrentUser() {
        HANDLE token = nullptr;
        if (OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token) == 0) return;
        const WindowsHandle closing(token);
        DWORD size = 0;
        m_known = GetTokenInformation(token, TokenUser, m_bytes.data(), static_cast<DWORD>(m_bytes.size()), &size) != 0;
    }
    [[nodiscard]] bool is(PSID sid) const {
        return m_known && EqualSid(reinterpret_cast<const TOKEN_USER*>(m_bytes.data())->User.Sid, sid) != 0;
    }

private:
    alignas(TOKEN_USER) std::array<std::byte, sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE> m_bytes{};
    bool m_known = false;
};

/// True for us, and for the system and its administrators, who can read every file whatever its list says.
bool may_read(PSID sid, const CurrentUser& user) {
    return user.is(sid) || IsWellKnownSid(sid, WinLocalSystemSid) != 0 ||
           IsWellKnownSid(sid, WinBuiltinAdministratorsSid) != 0;
}

/// True unless the entry surely grants no other user the right to read.
bool opens_to_others(const ACE_HEADER& header, PSID owner, const CurrentUser& user) {
    if ((header.AceFlags & INHERIT_ONLY_ACE) != 0 || header.AceType == ACCESS_DENIED_ACE_TYPE) return false;
    if (header.AceType != ACCESS_ALLOWED_ACE_TYPE) return true;
    const auto& entry = reinterpret_cast<const ACCESS_ALLOWED_ACE&>(header);
    if ((entry.Mask & (FILE_READ_DATA | GENERIC_READ | GENERIC_ALL | WRITE_DAC | WRITE_OWNER)) == 0) return false;
    const PSID sid = const_cast<DWORD*>(&entry.SidStart);
    return !may_read(IsWellKnownSid(sid, WinCreatorOwnerRightsSid) != 0 ? owner : sid, user);
}

/// 0 or the system's error. A disk without access lists is open to everybody.
DWORD find_readers(HANDLE file, bool& open_to_others) {
    PACL list = nullptr;
    PSID owner = nullptr;
    Protection protection;
    const DWORD failed = GetSecurityInfo(file, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
                                         &owner, nullptr, &list, nullptr, protection.out());
    if (failed != ERROR_SUCCESS) return failed;
    const CurrentUser user;
    open_to_others = list == nullptr || owner == nullptr;
    for (DWORD i = 0; !open_to_others && i < list->AceCount; ++i) {
        void* entry = nullptr;
        if (GetAce(list, i, &entry) == 0) return GetLastError();
        open_to_others = opens_to_others(*static_cast<const ACE_HEADER*>(entry), owner, user);
    }
    return ERROR_SUCCESS;
}

DWORD write_all(HANDLE file, std::string_view text) {
    while (!text.empty()) {
        const auto size = static_cast<DWORD>(text.size());
        DWORD written = 0;
        if (WriteFile(file, text.data(), size, &written, nullptr) == 0) return GetLastError();
        text.remove_prefix(written);
    }
    return FlushFileBuffers(file) == 0 ? GetLastError() : ERROR_SUCCESS;
}

/// Up to `size` bytes; nothing on a read error.
std::optional<std::size_t> read_up_to(HANDLE file, char* to, std::size_t size) {
    std::size_t filled = 0;
    while (filled < size) {
        DWORD got = 0;
        if (ReadFile(file, to + filled, static_cast<DWORD>(size - filled), &got, nullptr) == 0) return std::nullopt;
        if (got == 0) break;
        filled += got;
    }
    return filled;
}

/// Writes `text` to the new file `path`, synced; the file is gone again if anything fails.
Status write_new(const fs::path& path, std::string_view text) {
    const Protection protection(private_file);
    if (!protection.valid()) return system_error(KeyFileTask::write_into, path.parent_path(), GetLastError());
    SECURITY_ATTRIBUTES attributes = protection.attributes();
    DWORD failed = ERROR_SUCCESS;
    {
        // Not for the search index either, which keeps the words of the files it reads.
        const WindowsHandle file(CreateFileW(path.c_str(), GENERIC_WRITE, 0, &attributes, CREATE_NEW,
                                             FILE_ATTRIBUTE_NOT_CONTENT_INDEXED | FILE_FLAG_WRITE_THROUGH, nullptr));
        if (!file.ok()) return system_error(KeyFileTask::write_into, path.parent_path(), GetLastError());
        failed = write_all(file.get(), text);
    }
    if (failed == ERROR_SUCCESS) return {};
    DeleteFileW(path.c_str());
    return system_error(KeyFileTask::write_into, path.parent_path(), failed);
}

}  // namespace

Result<SecretSeed> read_key_file(const fs::path& file, KeyReaders readers) {
    const DWORD attributes = GetFileAttributesW(file.c_str());
    if (attributes == INVALID_FILE_ATTRIBUTES) return system_error(KeyFileTask::read, file, GetLastError());
    if ((attributes & FILE_ATTRIBUTE_DIRECTORY) != 0) return damaged_key_file(file);
    const WindowsHandle handle(CreateFileW(file.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE, nullptr,
                                           OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr));
    if (!handle.ok()) return system_error(KeyFileTask::read, file, GetLastError());
    if (GetFileType(handle.get()) != FILE_TYPE_DISK) return damaged_key_file(file);
    bool open_to_others = true;
    if (const DWORD failed = find_readers(handle.get(), open_to_others); failed != ERROR_SUCCESS) {
        return system_error(KeyFileTask::read, file, failed);
    }
    if (open_to_others && readers == KeyReaders::owner_only) {
        return Error{ErrorCode::permission,
                     "The identity file " + quoted(file) +
                         " is open to other users of this computer: remove them under Properties, Security, or use a "
                         "copy in your user folder."};
    }
    KeyFileBuffer buffer{};
    const std::optional<std::size_t> size = read_up_to(handle.get(), buffer.data(), buffer.size());
    if (!size) return system_error(KeyFileTask::read, file, GetLastError());
    return take_key_file(file, buffer, *size);
}

Status write_key_file(const fs::path& file, const SecretSeed& seed) {
    std::string text = key_file_text(seed);
    const fs::path temporary = temporary_beside(file);
    const Status written = write_new(temporary, text);
    wipe(text);
    if (!written.ok()) return written;
    // Without MOVEFILE_REPLACE_EXISTING the move fails where the name is taken; the access list moves along.
    if (MoveFileExW(temporary.c_str(), file.c_str(), MOVEFILE_WRITE_THROUGH) != 0) return {};
    const DWORD number = GetLastError();
    DeleteFileW(temporary.c_str());
    if (code_of(number) == ErrorCode::already_exists) return key_file_exists(file);
    return system_error(KeyFileTask::write, file, number);
}

Status make_private_folder_of(const fs::path& file) {
    const Protection protection(private_folder);
    if (!protection.valid()) return system_error(KeyFileTask::make_folder, folder_of(file), GetLastError());
    SECURITY_ATTRIBUTES attributes = protection.attributes();
    const fs::path whole = folder_of(file);
    fs::path folder = whole.root_path();
    for (const fs::path& part : whole.relative_path()) {
        folder /= part;
        if (GetFileAttributesW(folder.c_str()) != INVALID_FILE_ATTRIBUTES) continue;
        if (CreateDirectoryW(folder.c_str(), &attributes) == 0 && GetLastError() != ERROR_ALREADY_EXISTS) {
            return system_error(KeyFileTask::make_folder, folder, GetLastError());
        }
    }
    return {};
}

}  // namespace potluck::identity

#endif
