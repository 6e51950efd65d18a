// The column method, included by select.cpp once per `Isa`, inside a namespace that has `Simd`, with POTLUCK_TARGET
// naming the instruction set: a helper can only be inlined into a function that is compiled for the same one.

/// Patterns that reach `threshold`, which is above zero; `count` is a multiple of 16.
POTLUCK_TARGET inline std::size_t count_reaching(const Pattern* patterns, std::size_t count, std::uint32_t threshold) {
    std::size_t reached = 0;
    for (std::size_t i = 0; i < count; i += step) {
        reached += static_cast<std::size_t>(std::popcount(Simd::reach(patterns + i, threshold)));
    }
    return reached;
}

/// A threshold that at least `keep` patterns reach, and at most `keep + slack` unless equal patterns prevent it: then
/// it is the largest that `keep` reach. At least `keep` patterns reach `low`, none reaches `high`.
POTLUCK_TARGET inline std::uint32_t bisect(const Pattern* patterns, std::size_t count, std::size_t keep,
                                           std::size_t slack, std::uint32_t low, std::uint32_t high) {
    while (high - low > 1) {
        const std::uint32_t middle = low + (high - low) / 2;
        const std::size_t reached = count_reaching(patterns, count, middle);
        if (reached < keep) {
            high = middle;
        } else {
            low = middle;
            if (reached <= keep + slack) break;
        }
    }
    return low;
}

POTLUCK_TARGET inline void find_maxima(const Pattern* POTLUCK_RESTRICT patterns, Maxima& maxima) {
    // Four rows at once, so that the running maxima are not stored and loaded for each.
    for (std::size_t c = 0; c < columns; ++c) maxima.of[c] = 0;
    for (std::size_t row = 0; row < chunk_size; row += 4 * columns) {
        for (std::size_t c = 0; c < columns; ++c) {
            auto most = static_cast<std::int32_t>(maxima.of[c]);
            for (std::size_t r = 0; r < 4; ++r) {
                const auto x = static_cast<std::int32_t>(patterns[row + r * columns + c] & magnitude_mask);
                most = x > most ? x : most;
            }
            maxima.of[c] = static_cast<std::uint32_t>(most);
        }
    }
    std::int32_t least = 0x7fffffff;
    std::int32_t largest = 0;
    for (std::size_t c = 0; c < columns; ++c) {
        const auto x = static_cast<std::int32_t>(maxima.of[c]);
        least = x < least ? x : least;
        largest = x > largest ? x : largest;
    }
    maxima.least = static_cast<std::uint32_t>(least);
    maxima.largest = static_cast<std::uint32_t>(largest);
}

/// Writes the places of the `keep` largest of the `count` gathered patterns.
POTLUCK_TARGET inline void narrow(SelectScratch& scratch, std::size_t count, std::size_t keep, std::uint32_t low,
                                  std::uint32_t high, std::uint16_t* out) {
    const std::size_t whole = (count + step - 1) / step * step;
    for (std::size_t i = count; i < whole; ++i) scratch.patterns[i] = 0;
    const Pattern* patterns = scratch.patterns.data();
    const std::uint32_t threshold = count == keep ? low : bisect(patterns, whole, keep, 0, low, high);
    // Equal patterns at the threshold: the first ones fill what the larger leave.
    const std::size_t larger = count_reaching(patterns, whole, threshold + 1);
    std::size_t equal_left = keep - (larger < keep ? larger : keep);
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t pattern = patterns[i];
        const bool equal = pattern == threshold && equal_left > 0;
        *out = static_cast<std::uint16_t>(scratch.places[i]);
        out += pattern > threshold || equal ? 1 : 0;
        equal_left -= equal ? 1 : 0;
    }
}

POTLUCK_TARGET void select(std::span<float> chunk, std::size_t keep, std::uint16_t* out, SelectScratch& scratch) {
    const Pattern* patterns = patterns_of(chunk, scratch);
    Maxima maxima;
    find_maxima(patterns, maxima);
    if (maxima.largest >= infinite) {
        zero_infinite(chunk);
        patterns = patterns_of(chunk, scratch);
        find_maxima(patterns, maxima);
    }
    const std::uint32_t high = maxima.largest + 1;
    const std::uint32_t low = keep > column_method_max ? threshold_by_digits(patterns, keep)
                                                       : bisect(maxima.of, columns, keep, keep / 8, maxima.least, high);
    std::size_t count = 0;
    for (std::size_t i = 0; i < chunk_size; i += step) {
        count = Simd::gather(patterns + i, static_cast<std::uint32_t>(i), low, scratch, count);
    }
    narrow(scratch, count, keep, low, high, out);
}
