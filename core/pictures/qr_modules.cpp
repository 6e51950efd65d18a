#include "core/pictures/qr_modules.h"

#include <memory>

#include <qrencode.h>

namespace potluck::pictures {

QrModules qr_modules(std::string_view text) {
    constexpr std::size_t code_bytes_max = 2331;  // of version 40; libqrencode takes an int
    if (text.empty() || text.size() > code_bytes_max) return {};
    const std::unique_ptr<QRcode, decltype(&QRcode_free)> code(
        QRcode_encodeData(static_cast<int>(text.size()), reinterpret_cast<const unsigned char*>(text.data()), 0,
                          QR_ECLEVEL_M),
        &QRcode_free);
    if (!code) return {};
    QrModules modules{code->width, {}};
    const auto count = static_cast<std::size_t>(code->width) * static_cast<std::size_t>(code->width);
    for (std::size_t i = 0; i < count; ++i) modules.dark.push_back((code->data[i] & 1U) != 0);
    return modules;
}

}  // namespace potluck::pictures
