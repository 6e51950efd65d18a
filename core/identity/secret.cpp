#include "core/identity/secret.h"

#include <sodium.h>

#include "core/base/check.h"

namespace potluck::identity {

void start_sodium() {
    // A local static is initialised by exactly one thread; sodium_init returns 1 if another thread was first.
    static const bool started = sodium_init() >= 0;
    POTLUCK_CHECK(started);
}

void wipe(std::span<std::byte> bytes) { sodium_memzero(bytes.data(), bytes.size()); }

void wipe(std::string& text) {
    sodium_memzero(text.data(), text.size());
    text.clear();
}

}  // namespace potluck::identity
