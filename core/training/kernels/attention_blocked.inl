// Attention for one instruction set (per_isa.inl). Sixteen query rows at a time, against the keys up to their diagonal,
// or those of them that they see:
//
//   forward    S = Q K^T / sqrt(D),  P = softmax(S),  O = P V
//   backward   P from S and the saved log of its sum;  dP = dO V^T;  dS = P (dP - dO.O) / sqrt(D)
//              dQ = dS K,  dK += dS^T Q,  dV += P^T dO                       (Dao et al. 2022)
//
// With dropout, M P stands for P in O and dV, and M dP for dP, where M is drawn anew from the seed each time. A head is
// gathered into fp32 first, in the order of its places, K and V also transposed, in panels of a few keys one behind the
// other, so that products with a row of Q or dO run along keys. Heads that share keys follow each other: keys and
// values are gathered once for them, and their gradients add up in one place.
//
// All five products have one shape: four rows (of queries, or of keys for dK and dV) times two or four vectors are kept
// in registers, eight sums at least, because that many multiply-adds are under way at a time; each vector that is
// loaded is used four times, each number that is spread over a vector twice or more. Sixteen rows share what they load
// from the second cache; a row of scores stays as it is for all of them.

constexpr int rows = 4;         // that are kept in registers
constexpr int block_rows = 16;  // that are passed together
constexpr int groups_max = block_rows / rows;
constexpr std::int64_t key_step = 2 * lanes;
constexpr std::int64_t chunk = 64;  // keys whose rows of K or V stay in the nearest cache for all rows of a block
constexpr float never = -1e30F;

static_assert(chunk % key_step == 0);

/// The keys that some rows look at, in parts of key_step: one span, or the caption's and the picture's.
struct Spans {
    std::int64_t from[2] = {}, to[2] = {};
    int count = 1;
    [[nodiscard]] bool has(std::int64_t key) const {
        return (key >= from[0] && key < to[0]) || (count == 2 && key >= from[1] && key < to[1]);
    }
};

constexpr std::int64_t rounded_up(std::int64_t keys) { return (keys + key_step - 1) / key_step * key_step; }

Spans spans_of(const Head& head, std::int64_t first, std::int64_t end) {
    Spans spans;
    spans.to[0] = rounded_up(end);
    if (head.seen.begin == nullptr || end <= head.seen.text) return spans;
    const std::int64_t begin = head.seen.begin[std::max(first, head.seen.text)] / key_step * key_step;
    const std::int64_t caption = rounded_up(head.seen.text);
    if (begin <= caption) return spans;
    return {.from = {0, begin}, .to = {caption, spans.to[0]}, .count = 2};
}

/// The rows of a block: from `first` up to `end`, in groups of four, each with the keys that it looks at.
struct RowBlock {
    std::int64_t first = 0, end = 0;
    Spans all = {}, of_group[groups_max] = {};
    int groups = 0;
    [[nodiscard]] std::int64_t group_end(int group) const { return std::min(end, first + (group + 1) * rows); }
};

RowBlock block_of(const Head& head, std::int64_t first) {
    RowBlock block{.first = first, .end = std::min(first + block_rows, head.time)};
    block.groups = static_cast<int>((block.end - first + rows - 1) / rows);
    block.all = spans_of(head, first, block.end);
    for (int group = 0; group < block.groups; ++group)
        block.of_group[group] = spans_of(head, first + group * rows, block.group_end(group));
    return block;
}

/// Memory of one call. Rows of scores begin a cache line further on than a power of two would put them, because rows at
/// such distances push each other out of the nearest cache.
struct Scratch {
    std::int64_t padded = 0, score_stride = 0;
    AlignedFloats q, k, v, dout, key_panels, value_panels, scores, gradients, sums, dk, dv;
};

Scratch forward_scratch(const BlockedShape& shape) {
    Scratch made;
    made.padded = rounded_up(shape.time);
    made.score_stride = made.padded + 16;
    for (AlignedFloats* part : {&made.q, &made.k, &made.v, &made.key_panels}) part->resize(made.padded * shape.depth);
    made.scores.resize(block_rows * made.score_stride);
    made.sums.resize(block_rows * shape.depth);
    return made;
}

Scratch backward_scratch(const BlockedShape& shape) {
    Scratch made = forward_scratch(shape);
    for (AlignedFloats* part : {&made.dout, &made.value_panels, &made.dk, &made.dv})
        part->resize(made.padded * shape.depth);
    made.gradients.resize(block_rows * made.score_stride);
    return made;
}

POTLUCK_INLINE const Lanes& lanes_at(const float* from) { return *reinterpret_cast<const Lanes*>(from); }
POTLUCK_INLINE Lanes& lanes_at(float* from) { return *reinterpret_cast<Lanes*>(from); }

/// Writes `value` over what place `place` of a row of scores does not see.
POTLUCK_INLINE void hide(float* row, const Head& head, std::int64_t place, const Spans& spans, float value) {
    const SeenRows& seen = head.seen;
    const bool pictured = seen.begin != nullptr && place >= seen.text;
    for (int i = 0; i < spans.count; ++i) {
        const std::int64_t from = spans.from[i], to = spans.to[i];
        const std::int64_t after = std::max(from, place + 1);
        if (after < to) std::fill(row + after, row + to, value);
        if (!pictured) continue;
        const std::int64_t gap_from = std::max(from, seen.text), gap_to = std::min<std::int64_t>(to, seen.begin[place]);
        if (gap_from < gap_to) std::fill(row + gap_from, row + gap_to, value);
    }
    if (!pictured || seen.line == 0) return;
    const std::int64_t column = (place - seen.text) % seen.line;
    for (std::int64_t key = seen.begin[place]; key <= place; ++key) {
        if (std::abs((key - seen.text) % seen.line - column) > seen.reach) row[key] = value;
    }
}

/// Zero where the block looks and this group of its rows does not.
POTLUCK_INLINE void clear_between(float* row, const Spans& group, const Spans& block) {
    for (int i = 0; i < block.count; ++i)
        for (std::int64_t key = block.from[i]; key < block.to[i]; key += key_step) {
            if (!group.has(key)) std::fill(row + key, row + key + key_step, 0.0F);
        }
}

template <int depth, class Dtype>
POTLUCK_INLINE void gather(const Head& head, const Dtype* from, std::int64_t stride, float* to) {
    for (std::int64_t t = 0; t < head.time; ++t) {
        const Dtype* row = from + head.row_at(t) * stride;
        for (int d = 0; d < depth; d += lanes) {
            Lanes value;
            load(value, row + d, All{});
            store(value, to + t * depth + d, All{});
        }
    }
}

/// Places `first` to `end`, of which `from` has the first one.
template <int depth, class Dtype>
POTLUCK_INLINE void scatter(const Head& head, const float* from, Dtype* to, std::int64_t stride, std::int64_t first,
                            std::int64_t end) {
    for (std::int64_t t = first; t < end; ++t) {
        Dtype* row = to + head.row_at(t) * stride;
        for (int d = 0; d < depth; d += lanes) {
            Lanes value;
            load(value, from + (t - first) * depth + d, All{});
            store(value, row + d, All{});
        }
    }
}

/// (a, b) become the rows i and i + step of a matrix whose blocks of step x step beside the diagonal are swapped.
template <int step>
POTLUCK_INLINE void swap_blocks(Lanes& a, Lanes& b) {
    [&]<int... i>(std::integer_sequence<int, i...>) POTLUCK_INLINE_LAMBDA {
        const Lanes upper = __builtin_shufflevector(a, b, ((i & step) != 0 ? lanes + i - step : i)...);
        b = __builtin_shufflevector(a, b, ((i & step) != 0 ? lanes + i : i + step)...);
        a = upper;
    }
    (std::make_integer_sequence<int, lanes>());
}

template <int step>
POTLUCK_INLINE void transpose_steps(Lanes (&block)[lanes]) {
    for (int i = 0; i < lanes; ++i) {
        if ((i & step) == 0) swap_blocks<step>(block[i], block[i + step]);
    }
    if constexpr (step > 1) transpose_steps<step / 2>(block);
}

/// panels[p][d][i] = x[p key_step + i][d], for all keys that there are room for.
template <int depth>
POTLUCK_INLINE void transpose(const float* x, std::int64_t padded, float* panels) {
    for (std::int64_t first = 0; first < padded; first += lanes) {
        float* panel = panels + first / key_step * key_step * depth + first % key_step;
        for (int d = 0; d < depth; d += lanes) {
            Lanes block[lanes];
            for (int i = 0; i < lanes; ++i) block[i] = lanes_at(x + (first + i) * depth + d);
            transpose_steps<lanes / 2>(block);
            for (int i = 0; i < lanes; ++i) lanes_at(panel + (d + i) * key_step) = block[i];
        }
    }
}

/// out[r][j] = sum over d of x[r][d] panel[d][j], for four rows and the keys of a panel; the block's last row again
/// beyond its end.
template <int depth>
POTLUCK_INLINE void score_panel(const float* x, std::int64_t row_count, const float* panel, float* out,
                                std::int64_t stride) {
    const float* at[rows];
    for (int r = 0; r < rows; ++r) at[r] = x + std::min<std::int64_t>(r, row_count - 1) * depth;
    Lanes sums[rows][2] = {};
    for (int d = 0; d < depth; ++d) {
        const Lanes low = lanes_at(panel + d * key_step), high = lanes_at(panel + d * key_step + lanes);
        for (int r = 0; r < rows; ++r) {
            sums[r][0] += low * at[r][d];
            sums[r][1] += high * at[r][d];
        }
    }
    for (int r = 0; r < rows; ++r) {
        lanes_at(out + r * stride) = sums[r][0];
        lanes_at(out + r * stride + lanes) = sums[r][1];
    }
}

/// Scores of a block's rows of `x` (its first one first), where its groups look.
template <int depth>
POTLUCK_INLINE void block_scores(const RowBlock& block, const float* x, const float* panels, float* scores,
                                 std::int64_t stride) {
    for (int i = 0; i < block.all.count; ++i)
        for (std::int64_t key = block.all.from[i]; key < block.all.to[i]; key += key_step)
            for (int group = 0; group < block.groups; ++group) {
                if (!block.of_group[group].has(key)) continue;
                const std::int64_t row = group * rows;
                score_panel<depth>(x + row * depth, block.end - block.first - row, panels + key * depth,
                                   scores + row * stride + key, stride);
            }
}

/// Of a row's `depth` entries, how many vectors of four rows are summed at a time.
template <int depth>
constexpr int parts_of = std::min(depth / lanes, lanes == 16 ? 4 : 2);

/// out[r] += sum over from <= j < to of weights[r][j] x[j], for four rows.
template <int depth>
POTLUCK_INLINE void weighted_sum(const float* weights, std::int64_t stride, const float* x, std::int64_t from,
                                 std::int64_t to, float* out) {
    constexpr int parts = parts_of<depth>;
    for (int first = 0; first < depth; first += parts * lanes) {
        Lanes sums[rows][parts];
        for (int r = 0; r < rows; ++r)
            for (int part = 0; part < parts; ++part) sums[r][part] = lanes_at(out + r * depth + first + part * lanes);
        for (std::int64_t j = from; j < to; ++j) {
            for (int part = 0; part < parts; ++part) {
                const Lanes value = lanes_at(x + j * depth + first + part * lanes);
                for (int r = 0; r < rows; ++r) sums[r][part] += value * weights[r * stride + j];
            }
        }
        for (int r = 0; r < rows; ++r)
            for (int part = 0; part < parts; ++part) lanes_at(out + r * depth + first + part * lanes) = sums[r][part];
    }
}

/// out[r] = sum over the keys of weights[r][j] x[j], for the rows of a block.
template <int depth>
POTLUCK_INLINE void block_weighted_sum(const RowBlock& block, const float* weights, std::int64_t stride, const float* x,
                                       float* out) {
    std::fill(out, out + block_rows * depth, 0.0F);
    for (std::int64_t begin = 0; begin < block.end; begin += chunk)
        for (int group = 0; group < block.groups; ++group) {
            const Spans& spans = block.of_group[group];
            const std::int64_t row = group * rows;
            for (int i = 0; i < spans.count; ++i) {
                const std::int64_t from = std::max(begin, spans.from[i]);
                const std::int64_t to = std::min({begin + chunk, spans.to[i], block.group_end(group)});
                if (from >= to) continue;
                weighted_sum<depth>(weights + row * stride, stride, x, from, to, out + row * depth);
            }
        }
}

/// gradient[j] += sum over the block's rows r of weights[r][j] x[r].
template <int depth>
POTLUCK_INLINE void spread(const RowBlock& block, const float* weights, std::int64_t stride, const float* x,
                           float* gradient) {
    constexpr int parts = parts_of<depth>;
    const std::int64_t count = block.end - block.first;
    for (int i = 0; i < block.all.count; ++i)
        for (std::int64_t j = block.all.from[i]; j < std::min(block.all.to[i], block.end); j += rows)
            for (int first = 0; first < depth; first += parts * lanes) {
                float* out = gradient + j * depth + first;
                Lanes sums[rows][parts];
                for (int k = 0; k < rows; ++k)
                    for (int part = 0; part < parts; ++part) sums[k][part] = lanes_at(out + k * depth + part * lanes);
                for (std::int64_t r = 0; r < count; ++r) {
                    for (int part = 0; part < parts; ++part) {
                        const Lanes value = lanes_at(x + r * depth + first + part * lanes);
                        for (int k = 0; k < rows; ++k) sums[k][part] += value * weights[r * stride + j + k];
                    }
                }
                for (int k = 0; k < rows; ++k)
                    for (int part = 0; part < parts; ++part) lanes_at(out + k * depth + part * lanes) = sums[k][part];
            }
}

/// From scores to e^(scores - peak), zero where the row does not see; returns the log of their softmax's sum, and 1 /
/// sum.
struct RowSum {
    float log = 0, inverse = 0;
};
POTLUCK_INLINE void softmax_row(RowSum& out, float* row, const Head& head, std::int64_t place, const Spans& spans) {
    hide(row, head, place, spans, never);
    const auto each = [&](auto&& body) POTLUCK_INLINE_LAMBDA {
        for (int i = 0; i < spans.count; ++i)
            for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += lanes) body(lanes_at(row + j));
    };
    Lanes most = lanes_at(row);
    each([&](const Lanes& value) POTLUCK_INLINE_LAMBDA { most = value > most ? value : most; });
    const float shift = largest_of(most) * head.scale;
    Lanes sums = {};
    each([&](Lanes& value) POTLUCK_INLINE_LAMBDA {
        Lanes power = value * head.scale - shift;
        exp_approx<Lanes, LaneBits>(power);
        value = power;
        sums += power;
    });
    const float sum = sum_of(sums);
    hide(row, head, place, spans, 0.0F);
    out = {shift + std::log(sum), 1.0F / sum};
}

/// Multiplies row `place` of probabilities by their dropout factors.
POTLUCK_INLINE void drop_row(float* p, const Head& head, std::int64_t place, const Spans& spans) {
    const std::uint32_t seed = dropout_row(head.seed, static_cast<std::uint64_t>(place));
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += lanes) {
            Lanes factors;
            dropout_factors(factors, seed, j, head.dropout);
            lanes_at(p + j) *= factors;
        }
}

template <int depth, class Dtype>
POTLUCK_INLINE void forward_head(const Head& head, const HeadForward<Dtype>& f, Scratch& scratch) {
    gather<depth>(head, f.q, head.stride, scratch.q.data());
    if (f.keys == Keys::gathered_now) {
        gather<depth>(head, f.k, head.stride, scratch.k.data());
        gather<depth>(head, f.v, head.stride, scratch.v.data());
        transpose<depth>(scratch.k.data(), scratch.padded, scratch.key_panels.data());
    }
    const std::int64_t stride = scratch.score_stride;
    float *scores = scratch.scores.data(), *sums = scratch.sums.data();
    for (std::int64_t first = 0; first < head.time; first += block_rows) {
        const RowBlock block = block_of(head, first);
        block_scores<depth>(block, scratch.q.data() + first * depth, scratch.key_panels.data(), scores, stride);
        float inverses[block_rows];
        for (std::int64_t place = first; place < block.end; ++place) {
            const std::int64_t r = place - first;
            const Spans& spans = block.of_group[r / rows];
            RowSum sum;
            softmax_row(sum, scores + r * stride, head, place, spans);
            f.logsumexp[place] = sum.log;
            inverses[r] = sum.inverse;
            if (head.dropout > 0) drop_row(scores + r * stride, head, place, spans);
        }
        block_weighted_sum<depth>(block, scores, stride, scratch.v.data(), sums);
        for (std::int64_t r = 0; r < block.end - first; ++r)
            for (int d = 0; d < depth; d += lanes) lanes_at(sums + r * depth + d) *= inverses[r];
        scatter<depth>(head, sums, f.out, head.out_stride, first, block.end);
    }
}

/// From raw scores and dP, both of row `place`, to M P and dS in their places. `inner`: dO.O of the row.
POTLUCK_INLINE void score_gradient_row(float* p, float* dp, const Head& head, std::int64_t place, float logsumexp,
                                       float inner, const Spans& spans) {
    const std::uint32_t seed = dropout_row(head.seed, static_cast<std::uint64_t>(place));
    for (int i = 0; i < spans.count; ++i)
        for (std::int64_t j = spans.from[i]; j < spans.to[i]; j += lanes) {
            Lanes& probability = lanes_at(p + j);
            Lanes& gradient = lanes_at(dp + j);
            Lanes value = probability * head.scale - logsumexp;
            exp_approx<Lanes, LaneBits>(value);
            if (head.dropout > 0) {
                Lanes factors;
                dropout_factors(factors, seed, j, head.dropout);
                probability = value * factors;
                gradient *= factors;
            } else {
                probability = value;
            }
            gradient = value * (gradient - inner) * head.scale;
        }
    hide(p, head, place, spans, 0.0F);
    hide(dp, head, place, spans, 0.0F);
}

template <int depth, class Dtype>
POTLUCK_INLINE void gather_gradient(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) {
    gather<depth>(head, g.q, head.stride, scratch.q.data());
    gather<depth>(head, g.dout, head.out_stride, scratch.dout.data());
    if (g.keys == Keys::gathered_before) return;
    gather<depth>(head, g.k, head.stride, scratch.k.data());
    gather<depth>(head, g.v, head.stride, scratch.v.data());
    transpose<depth>(scratch.k.data(), scratch.padded, scratch.key_panels.data());
    transpose<depth>(scratch.v.data(), scratch.padded, scratch.value_panels.data());
    scratch.dk.clear();
    scratch.dv.clear();
}

/// The sum of dO O of one place.
template <int depth, class Dtype>
POTLUCK_INLINE float inner_of(const Head& head, const HeadGradient<Dtype>& g, const float* dout, std::int64_t place) {
    const Dtype* out = g.out + head.row_at(place) * head.out_stride;
    Lanes products = {};
    for (int d = 0; d < depth; d += lanes) {
        Lanes value;
        load(value, out + d, All{});
        products += value * lanes_at(dout + d);
    }
    return sum_of(products);
}

template <int depth, class Dtype>
POTLUCK_INLINE void backward_head(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) {
    gather_gradient<depth>(head, g, scratch);
    const std::int64_t stride = scratch.score_stride;
    float *p = scratch.scores.data(), *dp = scratch.gradients.data(), *sums = scratch.sums.data();
    for (std::int64_t first = 0; first < head.time; first += block_rows) {
        const RowBlock block = block_of(head, first);
        const float *queries = scratch.q.data() + first * depth, *douts = scratch.dout.data() + first * depth;
        block_scores<depth>(block, queries, scratch.key_panels.data(), p, stride);
        block_scores<depth>(block, douts, scratch.value_panels.data(), dp, stride);
        for (std::int64_t place = first; place < block.end; ++place) {
            const std::int64_t r = place - first;
            const Spans& spans = block.of_group[r / rows];
            score_gradient_row(p + r * stride, dp + r * stride, head, place, g.logsumexp[place],
                               inner_of<depth>(head, g, douts + r * depth, place), spans);
            clear_between(p + r * stride, spans, block.all);
            clear_between(dp + r * stride, spans, block.all);
        }
        block_weighted_sum<depth>(block, dp, stride, scratch.k.data(), sums);
        scatter<depth>(head, sums, g.dq, head.stride, first, block.end);
        spread<depth>(block, dp, stride, queries, scratch.dk.data());
        spread<depth>(block, p, stride, douts, scratch.dv.data());
    }
    if (!g.is_last) return;
    scatter<depth>(head, scratch.dk.data(), g.dk, head.stride, 0, head.time);
    scatter<depth>(head, scratch.dv.data(), g.dv, head.stride, 0, head.time);
}

template <int depth, class Dtype>
POTLUCK_TARGET void forward_of(const Head& head, const HeadForward<Dtype>& f, Scratch& scratch) {
    forward_head<depth>(head, f, scratch);
}
template <int depth, class Dtype>
POTLUCK_TARGET void backward_of(const Head& head, const HeadGradient<Dtype>& g, Scratch& scratch) {
    backward_head<depth>(head, g, scratch);
}

template <class Dtype>
void forward_groups(const BlockedShape& shape, const BlockedForward<Dtype>& forward, GroupRange groups) {
    Scratch scratch = forward_scratch(shape);
    for_each_head(shape, groups, [&](const Head& head, const Places& at) {
        const HeadForward<Dtype> part{forward.qkv + at.q,
                                      forward.qkv + at.k,
                                      forward.qkv + at.v,
                                      forward.out + at.out,
                                      forward.logsumexp + at.pair * shape.time,
                                      at.keys};
        if (shape.depth == 16) forward_of<16>(head, part, scratch);
        if (shape.depth == 32) forward_of<32>(head, part, scratch);
        if (shape.depth == 64) forward_of<64>(head, part, scratch);
    });
}

template <class Dtype>
void backward_groups(const BlockedShape& shape, const BlockedGradient<Dtype>& gradient, GroupRange groups) {
    Scratch scratch = backward_scratch(shape);
    for_each_head(shape, groups, [&](const Head& head, const Places& at) {
        const HeadGradient<Dtype> part{.q = gradient.qkv + at.q,
                                       .k = gradient.qkv + at.k,
                                       .v = gradient.qkv + at.v,
                                       .out = gradient.out + at.out,
                                       .dout = gradient.dout + at.out,
                                       .logsumexp = gradient.logsumexp + at.pair * shape.time,
                                       .dq = gradient.dqkv + at.q,
                                       .dk = gradient.dqkv + at.k,
                                       .dv = gradient.dqkv + at.v,
                                       .keys = at.keys,
                                       .is_last = at.is_last};
        if (shape.depth == 16) backward_of<16>(head, part, scratch);
        if (shape.depth == 32) backward_of<32>(head, part, scratch);
        if (shape.depth == 64) backward_of<64>(head, part, scratch);
    });
}
