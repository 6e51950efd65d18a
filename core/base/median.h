// The middle of some numbers. Threads: any.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/base/check.h"

namespace potluck {

/// The lower of both where two are in the middle. `values` are not empty.
template <class Number>
[[nodiscard]] Number lower_median(std::vector<Number> values) {
    POTLUCK_CHECK(!values.empty());
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

}  // namespace potluck
