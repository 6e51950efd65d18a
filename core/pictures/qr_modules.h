// A text as the modules of a QR code (ISO/IEC 18004), error correction M.
// Does not: draw. Threads: functions of values.
#pragma once

#include <string_view>
#include <vector>

namespace potluck::pictures {

inline constexpr int quiet_modules = 4;  // that readers need, light, on each side of a code

/// Row by row; no side if the text is empty or longer than a code holds (2,331 bytes).
struct QrModules {
    int side = 0;
    std::vector<bool> dark;
};
[[nodiscard]] QrModules qr_modules(std::string_view text);

}  // namespace potluck::pictures
