#include "core/base/check.h"

#include <cstdio>
#include <cstdlib>

namespace potluck {

void check_failed(std::string_view expression, std::string_view file, int line) {
    std::fprintf(stderr, "potluck: check failed: %.*s (%.*s:%d)\n", static_cast<int>(expression.size()),
                 expression.data(), static_cast<int>(file.size()), file.data(), line);
    std::fflush(stderr);
    std::abort();
}

}  // namespace potluck
