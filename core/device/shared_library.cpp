#include "core/device/shared_library.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace potluck::device {

#ifdef _WIN32

SharedLibrary::SharedLibrary(const std::filesystem::path& file, Symbols) {
    // A library with a folder brings others that lie beside it.
    const DWORD flags = file.is_absolute() ? LOAD_WITH_ALTERED_SEARCH_PATH : LOAD_LIBRARY_SEARCH_SYSTEM32;
    m_handle = LoadLibraryExW(file.c_str(), nullptr, flags);
    if (m_handle == nullptr) m_failure = "Windows error " + std::to_string(GetLastError());
}

void* SharedLibrary::address_of(const char* name) const {
    if (m_handle == nullptr) return nullptr;
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(m_handle), name));
}

std::filesystem::path file_of_code(const void* address) {
    HMODULE module = nullptr;
    const DWORD flags = GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS | GET_MODULE_HANDLE_EX_FLAG_UNCHANGED_REFCOUNT;
    if (!GetModuleHandleExW(flags, static_cast<LPCWSTR>(address), &module)) return {};
    wchar_t path[4096];
    const DWORD length = GetModuleFileNameW(module, path, 4096);
    return length > 0 && length < 4096 ? std::filesystem::path(path, path + length) : std::filesystem::path();
}

#else

SharedLibrary::SharedLibrary(const std::filesystem::path& file, Symbols symbols) {
    const int scope = symbols == Symbols::visible ? RTLD_GLOBAL : RTLD_LOCAL;
    m_handle = dlopen(file.c_str(), RTLD_NOW | scope);
    if (m_handle != nullptr) return;
    const char* reason = dlerror();
    m_failure = reason != nullptr ? reason : "unknown reason";
}

void* SharedLibrary::address_of(const char* name) const {
    return m_handle != nullptr ? dlsym(m_handle, name) : nullptr;
}

std::filesystem::path file_of_code(const void* address) {
    Dl_info info{};
    if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
    std::error_code unknown;
    const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, unknown);
    return unknown ? std::filesystem::path(info.dli_fname) : file;
}

#endif

}  // namespace potluck::device
