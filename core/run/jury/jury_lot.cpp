#include "core/run/jury/jury_lot.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/base/sha256.h"

namespace potluck::run {

namespace {

Digest lot_of(const Digest& list, const PeerId& juror, const PeerId& contributor) {
    ByteWriter out;
    out.raw(list.bytes);
    out.raw(juror.bytes);
    out.raw(contributor.bytes);
    return sha256(out.bytes());
}

/// One in each of up to `count` equal parts of [from, until).
std::vector<std::uint64_t> spread(std::uint64_t from, std::uint64_t until, std::size_t count, Rng& rng) {
    const std::uint64_t all = until - from;
    const std::uint64_t parts = std::min<std::uint64_t>(count, all);
    std::vector<std::uint64_t> drawn;
    for (std::uint64_t i = 0; i < parts; ++i) {
        const std::uint64_t begin = all / parts * i + std::min(i, all % parts);
        const std::uint64_t size = all / parts + (i < all % parts ? 1 : 0);
        drawn.push_back(from + begin + rng.below(size));
    }
    return drawn;
}

}  // namespace

std::vector<std::size_t> draw_subjects(const Digest& list, const PeerId& juror,
                                       const std::vector<Candidate>& candidates, std::size_t count) {
    std::vector<std::tuple<Turn, Digest, std::size_t>> lots;
    for (std::size_t i = 0; i < candidates.size(); ++i)
        lots.emplace_back(candidates[i].turn, lot_of(list, juror, candidates[i].contributor), i);
    std::sort(lots.begin(), lots.end());
    const auto others =
        std::find_if(lots.begin(), lots.end(), [](const auto& lot) { return std::get<0>(lot) == Turn::other; });
    const auto first = std::min<std::ptrdiff_t>(references, lots.end() - others);
    std::rotate(lots.begin(), others, others + first);
    std::vector<std::size_t> drawn;
    for (std::size_t i = 0; i < std::min(count, lots.size()); ++i) drawn.push_back(std::get<2>(lots[i]));
    return drawn;
}

JudgedPositions draw_positions(const Digest& list, const PeerId& juror, const PeerId& contributor,
                               std::uint64_t claimed, std::uint64_t records, std::size_t count) {
    POTLUCK_CHECK(claimed > 0 && records > 0);
    const Digest lot = lot_of(list, juror, contributor);
    ByteReader words(lot.bytes);
    Rng rng(words.u64());
    JudgedPositions positions;
    positions.own = spread(0, claimed, count, rng);
    if (claimed < records) positions.other = spread(claimed, records, count, rng);
    return positions;
}

}  // namespace potluck::run
