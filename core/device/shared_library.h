// A library that may or may not be on this computer, opened while the program runs. It stays open until the program
// ends: drivers start threads that outlive any object of ours.
#pragma once

#include <filesystem>
#include <string>

namespace potluck::device {

class SharedLibrary {
public:
    /// `visible`: other libraries that are opened later find its functions, as those of linked libraries.
    enum class Symbols { hidden, visible };

    /// Look at failure() afterwards.
    explicit SharedLibrary(const std::filesystem::path& file, Symbols symbols = Symbols::hidden);

    [[nodiscard]] bool open() const { return m_handle != nullptr; }
    /// What the system says about why it is not open.
    [[nodiscard]] const std::string& failure() const { return m_failure; }

    /// The function called `name`; null if there is none. `Function` is a pointer type.
    template <class Function>
    [[nodiscard]] Function find(const char* name) const {
        return reinterpret_cast<Function>(address_of(name));
    }

private:
    [[nodiscard]] void* address_of(const char* name) const;
    void* m_handle = nullptr;
    std::string m_failure;
};

/// The file that the code at `address` was loaded from; empty if that cannot be told.
[[nodiscard]] std::filesystem::path file_of_code(const void* address);

}  // namespace potluck::device
