// The passes of flat.h for one instruction set (per_isa.inl), for the compiler to vectorise.

template <class Dtype>
POTLUCK_TARGET double squares_of(const Dtype* values, std::size_t size) {
    constexpr std::size_t parts = 16;  // independent sums, so that the loop can be vectorised without reordering
    std::array<double, parts> sums{};
    const std::size_t whole = size / parts * parts;
    for (std::size_t i = 0; i < whole; i += parts) {
        for (std::size_t part = 0; part < parts; ++part) {
            const double value = static_cast<double>(to_number(values[i + part]));
            sums[part] += value * value;
        }
    }
    double total = 0;
    for (std::size_t i = whole; i < size; ++i) {
        const double value = static_cast<double>(to_number(values[i]));
        total += value * value;
    }
    for (const double sum : sums) total += sum;
    return total;
}

POTLUCK_TARGET void rebase_span(float* local, float* anchor, const float* next, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        local[i] += next[i] - anchor[i];
        anchor[i] = next[i];
    }
}
