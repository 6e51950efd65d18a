// The middle of many values of one coordinate is found for 64 coordinates at a time: values are ranks in a sorted
// table, as each payload has only four in a group, and the bits of the wanted rank are tried from the highest down,
// each with one count of the ranks below (a binary search that all coordinates do in step). Blocks in which no more
// than half of the payloads agree on a sign, nearly all of them where few values are sent, need no search.
//
// A squared distance is |v|^2 plus x * (x - 2v) of the entries that were sent, so only |v|^2 touches all coordinates.
// Products and sums are exact (ProductSum): neither threads nor order show.
//
// Source: docs/payload-format.md, "CenteredClip".
#include "core/numerics/outer/centered_clip.h"

#include <algorithm>
#include <bit>
#include <mutex>

#include "core/numerics/codec/payload_layout.h"
#include "core/numerics/outer/exact_double.h"
#include "core/numerics/parallel.h"
#include "core/numerics/require.h"

namespace potluck::numerics {

namespace {

using Centre = ChunkCentre::Centre;
using Sums = ChunkCentre::Sums;
using Votes = ChunkCentre::Votes;

constexpr std::size_t block = 64;
using Counts = std::array<std::int16_t, block>;

/// Finds of each coordinate j the vote at place `order[j]`, counted from the lowest: the largest rank with no more
/// votes than that below it.
POTLUCK_INLINE void select_ranks(const std::int16_t* votes, std::size_t count, int highest_bit, const Counts& order,
                                 Counts& rank) {
    rank.fill(0);
    for (int bit = highest_bit; bit > 0; bit >>= 1) {
        Counts tried, below{};
        for (std::size_t j = 0; j < block; ++j) tried[j] = static_cast<std::int16_t>(rank[j] | bit);
        for (std::size_t i = 0; i < count; ++i) {
            const std::int16_t* const row = votes + i * Votes::row;
            for (std::size_t j = 0; j < block; ++j)
                below[j] = static_cast<std::int16_t>(below[j] + (row[j] < tried[j]));
        }
        for (std::size_t j = 0; j < block; ++j) rank[j] = below[j] <= order[j] ? tried[j] : rank[j];
    }
}

POTLUCK_INLINE void start_body(const Votes& votes, Centre& centre) {
    const auto majority = static_cast<std::int16_t>(votes.count / 2 + 1);
    const auto lower = static_cast<std::int16_t>((votes.count - 1) / 2);
    const auto upper = static_cast<std::int16_t>(votes.count / 2);
    const int highest_bit = static_cast<int>(std::bit_floor(votes.table.size() - 1));
    for (std::size_t at = 0; at < chunk_size; at += block) {
        Counts above{}, below{};
        for (std::size_t i = 0; i < votes.count; ++i) {
            const std::int16_t* const row = votes.ranks.data() + i * Votes::row + at;
            for (std::size_t j = 0; j < block; ++j) {
                above[j] = static_cast<std::int16_t>(above[j] + (row[j] > votes.zero));
                below[j] = static_cast<std::int16_t>(below[j] + (row[j] < votes.zero));
            }
        }
        Counts order;
        int agreed = 0;
        for (std::size_t j = 0; j < block; ++j) {
            order[j] = above[j] >= majority ? lower : upper;
            agreed += (above[j] >= majority) + (below[j] >= majority);
        }
        std::fill_n(centre.begin() + static_cast<std::ptrdiff_t>(at), block, 0);
        if (agreed == 0) continue;
        Counts rank;
        select_ranks(votes.ranks.data() + at, votes.count, highest_bit, order, rank);
        for (std::size_t j = 0; j < block; ++j) {
            if (above[j] < majority && below[j] < majority) continue;
            centre[at + j] = votes.table[static_cast<std::size_t>(rank[j])];
        }
    }
}

/// v = (sums + rest * v) / total, and clears the sums.
POTLUCK_INLINE void move_body(Sums& sums, Centre& centre, std::uint32_t rest, std::uint32_t total) {
    const double divisor = as_double(total);
    for (std::size_t j = 0; j < chunk_size; ++j) {
        const std::int64_t sum = sums[j] + std::int64_t{rest} * centre[j];
        centre[j] = nearest(as_double(sum) / divisor);
        sums[j] = 0;
    }
}

POTLUCK_INLINE void add_body(std::int64_t* POTLUCK_RESTRICT value, const Centre& centre, std::uint32_t rest) {
    for (std::size_t j = 0; j < chunk_size; ++j) value[j] += std::int64_t{rest} * centre[j];
}

POTLUCK_INLINE ProductSum square_body(const Centre& centre) {
    std::uint64_t high = 0, low = 0;
    for (std::size_t j = 0; j < chunk_size; ++j) {
        const auto square = static_cast<std::uint64_t>(std::int64_t{centre[j]} * centre[j]);
        high += square >> 32U;
        low += square & 0xffffffffU;
    }
    return {.high = static_cast<std::int64_t>(high), .low = low};
}

#define POTLUCK_CENTRE_KERNELS(TARGET, ISA)                                                       \
    TARGET void start_##ISA(const Votes& votes, Centre& centre) { start_body(votes, centre); }    \
    TARGET void move_##ISA(Sums& sums, Centre& centre, std::uint32_t rest, std::uint32_t total) { \
        move_body(sums, centre, rest, total);                                                     \
    }                                                                                             \
    TARGET void add_##ISA(std::int64_t* value, const Centre& centre, std::uint32_t rest) {        \
        add_body(value, centre, rest);                                                            \
    }                                                                                             \
    TARGET ProductSum square_##ISA(const Centre& centre) { return square_body(centre); }

POTLUCK_CENTRE_KERNELS(, baseline)
#if POTLUCK_X86_ISAS
POTLUCK_CENTRE_KERNELS(POTLUCK_AVX2, avx2)
POTLUCK_CENTRE_KERNELS(POTLUCK_AVX512, avx512)
#endif
#undef POTLUCK_CENTRE_KERNELS

/// One pass over all payloads for the distances of an iteration; each thread has its own part, and adds it to all.
class SquarePass {
public:
    struct Shared {
        std::mutex mutex;
        std::vector<ProductSum> squares;
    };
    SquarePass(Isa isa, const StepPlan& plan, std::uint64_t size, std::size_t iteration, Shared& shared)
        : m_centre(isa, plan), m_size(size), m_iteration(iteration), m_shared(shared) {}

    void operator()(std::size_t group) {
        m_centre.open(group);
        m_squares.assign(m_shared.squares.size(), {});
        const layout::GroupShape shape = layout::shape_of(group, m_size, 1);
        for (std::size_t at = 0; at < shape.length; at += chunk_size) {
            m_centre.add_squares(std::min(chunk_size, shape.length - at), m_iteration, m_squares);
        }
        const std::scoped_lock lock(m_shared.mutex);
        for (std::size_t i = 0; i < m_squares.size(); ++i) {
            m_shared.squares[i].add(m_squares[i]);
            m_shared.squares[i].carry();
        }
    }

private:
    ChunkCentre m_centre;
    std::uint64_t m_size;
    std::size_t m_iteration;
    Shared& m_shared;
    std::vector<ProductSum> m_squares;
};

}  // namespace

ChunkCentre::Kernels ChunkCentre::kernels_for(Isa isa) {
#if POTLUCK_X86_ISAS
    if (isa == Isa::avx512) return {start_avx512, move_avx512, add_avx512, square_avx512};
    if (isa == Isa::avx2) return {start_avx2, move_avx2, add_avx2, square_avx2};
#endif
    static_cast<void>(isa);
    return {start_baseline, move_baseline, add_baseline, square_baseline};
}

ChunkCentre::ChunkCentre(Isa isa, const StepPlan& plan)
    : m_kernels(kernels_for(isa)),
      m_plan(plan),
      m_centre(std::make_unique<Centre>()),
      m_sums(std::make_unique<Sums>()) {
    for (const StepPlan::Share& share : plan.shares) m_votes.count += share.has_say ? 1 : 0;
    m_votes.ranks.resize(m_votes.count * Votes::row);
    m_streams.reserve(plan.shares.size());
}

void ChunkCentre::open(std::size_t group) {
    m_streams.clear();
    for (const StepPlan::Share& share : m_plan.shares) {
        const std::span<const std::byte> from = share.payload->group_from(group);
        const GroupCursor cursor(from, layout::shape_of(group, share.payload->size(), share.payload->k()));
        std::array<float, 4> means{};
        for (std::size_t c = 0; c < 4; ++c) means[c] = layout::load_mean(from.data(), c);
        m_streams.push_back(
            {.cursor = cursor, .next = cursor, .values = m_plan.values(share, means), .k = share.payload->k()});
    }
    rank_values();
}

void ChunkCentre::rank_values() {
    std::vector<std::int32_t>& table = m_votes.table;
    table.assign(1, 0);
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        if (m_plan.shares[i].has_say) table.insert(table.end(), m_streams[i].values.begin(), m_streams[i].values.end());
    }
    std::ranges::sort(table);
    table.erase(std::unique(table.begin(), table.end()), table.end());
    const auto rank_of = [&](std::int32_t value) {
        return static_cast<std::int16_t>(std::ranges::lower_bound(table, value) - table.begin());
    };
    m_votes.zero = rank_of(0);
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        if (!m_plan.shares[i].has_say) continue;
        std::ranges::transform(m_streams[i].values, m_streams[i].ranks.begin(), rank_of);
    }
}

template <class Take>
void ChunkCentre::walk(Stream& stream, std::size_t length, const Take& take) {
    stream.next = stream.cursor;
    stream.next.walk_chunk(layout::kept(length, stream.k), take);
}

void ChunkCentre::vote(std::size_t length) {
    std::ranges::fill(m_votes.ranks, m_votes.zero);
    std::int16_t* row = m_votes.ranks.data();
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        if (!m_plan.shares[i].has_say) continue;
        const std::array<std::int16_t, 4> ranks = m_streams[i].ranks;
        walk(m_streams[i], length, [&](std::uint32_t place, unsigned code) { row[place] = ranks[code]; });
        row += Votes::row;
    }
    m_kernels.start(m_votes, *m_centre);
}

void ChunkCentre::find(std::size_t length, std::size_t iteration) {
    vote(length);
    std::int64_t* POTLUCK_RESTRICT sums = m_sums->data();
    for (std::size_t before = 0; before < iteration; ++before) {
        for (std::size_t i = 0; i < m_streams.size(); ++i) {
            const std::int64_t pull = m_plan.shares[i].pull[before];
            const std::array<std::int32_t, 4> value = m_streams[i].values;
            const std::array<std::int64_t, 4> addends = {value[0] * pull, value[1] * pull, value[2] * pull,
                                                         value[3] * pull};
            walk(m_streams[i], length, [&](std::uint32_t place, unsigned code) { sums[place] += addends[code]; });
        }
        m_kernels.move(*m_sums, *m_centre, m_plan.rest[before], m_plan.total);
    }
}

void ChunkCentre::advance() {
    for (Stream& stream : m_streams) stream.cursor = stream.next;
}

void ChunkCentre::add_squares(std::size_t length, std::size_t iteration, std::span<ProductSum> squares) {
    find(length, iteration);
    const ProductSum own = m_kernels.square(*m_centre);
    const std::int32_t* const centre = m_centre->data();
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        ProductSum sum = own;
        const std::array<std::int32_t, 4> values = m_streams[i].values;
        walk(m_streams[i], length, [&](std::uint32_t place, unsigned code) {
            const std::int64_t x = values[code];
            sum.add(x * (x - 2 * std::int64_t{centre[place]}));
        });
        squares[i].add(sum);
        squares[i].carry();
    }
    advance();
}

void ChunkCentre::add_rest(std::size_t length, std::span<std::int64_t, chunk_size> value) {
    find(length, clip_iterations - 1);
    m_kernels.add(value.data(), *m_centre, m_plan.rest.back());
    advance();
}

void set_pulls(Isa isa, StepPlan& plan, std::uint64_t size, unsigned threads) {
    if (!plan.centred) return;
    const auto groups = static_cast<std::size_t>(layout::group_count(size));
    for (std::size_t iteration = 0; iteration < clip_iterations; ++iteration) {
        SquarePass::Shared shared;
        shared.squares.resize(plan.shares.size());
        exact_parallel_for(groups, threads, [&] { return SquarePass(isa, plan, size, iteration, shared); });
        plan.set_pulls(iteration, shared.squares);
    }
}

}  // namespace potluck::numerics
