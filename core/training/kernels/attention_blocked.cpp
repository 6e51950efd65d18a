#include "core/training/kernels/attention_blocked.h"

#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/training/kernels/per_isa.h"

namespace potluck::training {

namespace {

/// One head of queries of one sequence.
struct Head {
    std::int64_t time = 0;
    std::int64_t stride = 0, out_stride = 0;  // between rows of qkv and of out
    float scale = 0;
    float dropout = 0;
    std::uint64_t seed = 0;  // of this head's dropout
    SeenRows seen = {};
    [[nodiscard]] std::int64_t row_at(std::int64_t place) const {
        return seen.order == nullptr ? place : seen.order[place];
    }
};

Head head_of(const BlockedShape& shape, std::int64_t pair) {
    return {.time = shape.time,
            .stride = (shape.heads + 2 * shape.kv_heads) * shape.depth,
            .out_stride = shape.heads * shape.depth,
            .scale = 1.0F / std::sqrt(static_cast<float>(shape.depth)),
            .dropout = shape.dropout.rate,
            .seed = shape.dropout.seed + static_cast<std::uint64_t>(pair) * 0xd1342543de82ef95ULL,
            .seen = shape.seen};
}

/// What a head shares with the others of its group.
enum class Keys { gathered_now, gathered_before };

template <class Dtype>
struct HeadForward {
    const Dtype *q, *k, *v;
    Dtype* out;
    float* logsumexp;
    Keys keys;
};

template <class Dtype>
struct HeadGradient {
    const Dtype *q, *k, *v, *out, *dout;
    const float* logsumexp;
    Dtype *dq, *dk, *dv;
    Keys keys;
    bool is_last = true;  // of its group: then dk and dv are whole
};

/// Floats that begin where a cache line does, zero at first: a vector that lies across two lines takes twice the time.
class AlignedFloats {
public:
    void resize(std::int64_t count) { m_lines.resize(static_cast<std::size_t>((count + 15) / 16)); }
    [[nodiscard]] float* data() { return m_lines.front().floats; }
    void clear() { std::fill(m_lines.begin(), m_lines.end(), Line{}); }

private:
    struct alignas(64) Line {
        float floats[16] = {};
    };
    std::vector<Line> m_lines;
};

/// Where one query head reads and writes: its number, and the first entry of each of its parts.
struct Places {
    std::int64_t pair = 0, q = 0, k = 0, v = 0, out = 0;
    Keys keys = Keys::gathered_now;
    bool is_last = true;
};

/// Calls `body(head, places)` for the query heads of the groups, those that share keys one behind the other.
template <class Body>
void for_each_head(const BlockedShape& shape, GroupRange groups, const Body& body) {
    const std::int64_t sharing = shape.heads / shape.kv_heads;
    for (std::int64_t group = groups.begin; group < groups.end; ++group) {
        const std::int64_t sequence = group / shape.kv_heads, kv_head = group % shape.kv_heads;
        for (std::int64_t i = 0; i < sharing; ++i) {
            const std::int64_t query_head = kv_head * sharing + i;
            const std::int64_t pair = sequence * shape.heads + query_head;
            const Head head = head_of(shape, pair);
            const std::int64_t row = sequence * shape.time, in = row * head.stride;
            body(head, Places{.pair = pair,
                              .q = in + query_head * shape.depth,
                              .k = in + head.out_stride + kv_head * shape.depth,
                              .v = in + head.out_stride + (shape.kv_heads + kv_head) * shape.depth,
                              .out = row * head.out_stride + query_head * shape.depth,
                              .keys = i == 0 ? Keys::gathered_now : Keys::gathered_before,
                              .is_last = i + 1 == sharing});
        }
    }
}

#define POTLUCK_KERNELS "core/training/kernels/attention_blocked.inl"
#include "core/training/kernels/per_isa.inl"

}  // namespace

bool blocked_attention_takes(std::int64_t depth) { return depth == 16 || depth == 32 || depth == 64; }

template <class Dtype>
void blocked_attention(const BlockedShape& shape, const BlockedForward<Dtype>& forward, GroupRange groups) {
    POTLUCK_CHECK(blocked_attention_takes(shape.depth) && shape.heads % shape.kv_heads == 0);
    POTLUCK_DISPATCH(forward_groups, shape, forward, groups);
}

template <class Dtype>
void blocked_attention_backward(const BlockedShape& shape, const BlockedGradient<Dtype>& gradient, GroupRange groups) {
    POTLUCK_CHECK(blocked_attention_takes(shape.depth) && shape.heads % shape.kv_heads == 0);
    POTLUCK_DISPATCH(backward_groups, shape, gradient, groups);
}

template void blocked_attention<float>(const BlockedShape&, const BlockedForward<float>&, GroupRange);
template void blocked_attention<Bf16>(const BlockedShape&, const BlockedForward<Bf16>&, GroupRange);
template void blocked_attention_backward<float>(const BlockedShape&, const BlockedGradient<float>&, GroupRange);
template void blocked_attention_backward<Bf16>(const BlockedShape&, const BlockedGradient<Bf16>&, GroupRange);

}  // namespace potluck::training
