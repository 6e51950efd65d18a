// Writing: every piece is hashed, written and synced, so that the time a disk takes is known while there is still time
// to give up. The last sync comes before the rename: under its name the file is always whole.
//
// Reading trusts nothing but the bytes that it has compared: the header field by field, the size, then the numbers,
// then the hash. A hash finds what a disk or a crash did; that numbers are also looked at is for a writer that was
// wrong, since one negative variance would turn the whole model into NaN. Only a stream is used, no map: a disk that
// cannot read its own sectors is an error then, not a signal.
#include "core/training/moments/moments_file.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <string>
#include <system_error>
#include <type_traits>

#include "core/base/bytes.h"
#include "core/base/files.h"
#include "core/base/sha256.h"

namespace potluck::training {

static_assert(std::endian::native == std::endian::little, "files of moments are little-endian and copied as they are");

namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Moments = numerics::OptimizerState::Moments;

constexpr std::uint64_t magic = 0x544E'4D4D'4B4C'5450;  // "PTLKMMNT"
constexpr std::uint32_t version = 1;
constexpr std::size_t digest_bytes = sizeof(Digest::bytes);
constexpr std::size_t header_bytes = 8 + 3 * 4 + 2 * digest_bytes + 3 * 8;
/// Written between two looks at the clock: a tenth of a second on a slow disk.
constexpr std::size_t piece_bytes = 16U << 20U;
/// More steps than anybody takes: t is counted on from here.
constexpr std::uint64_t steps_max = 1ULL << 53U;

/// Where each tensor begins and ends: codes and scales of another layout would fall on other parameters.
Digest layout_digest(std::span<const numerics::ParameterSlice> slices) {
    ByteWriter writer;
    for (const numerics::ParameterSlice& slice : slices) {
        writer.u64(slice.begin);
        writer.u64(slice.end);
    }
    return sha256(writer.bytes());
}

std::uint64_t body_bytes(std::span<const numerics::ParameterSlice> slices, numerics::StateBits bits) {
    return numerics::OptimizerState::bytes_for(slices, bits);
}

Bytes header_of(const MomentsStamp& stamp, std::span<const numerics::ParameterSlice> slices, numerics::StateBits bits) {
    ByteWriter writer;
    writer.u64(magic);
    writer.u32(version);
    writer.u32(static_cast<std::uint32_t>(stamp.optimizer));
    writer.u32(static_cast<std::uint32_t>(bits));
    writer.raw(stamp.run.bytes);
    writer.raw(layout_digest(slices).bytes);
    writer.u64(stamp.round.value);
    writer.u64(stamp.steps);
    writer.u64(body_bytes(slices, bits));
    return writer.take();
}

fs::path partial_of(const fs::path& file) {
    fs::path partial = file;
    partial += ".partial";
    return partial;
}

/// Calls `with` with each array of a slice, in the file's order.
template <class With>
void for_each_array(const Moments& moments, const With& with) {
    with(moments.mean_codes);
    with(moments.variance_codes);
    with(moments.mean_scales);
    with(moments.variance_scales);
    with(moments.mean);
    with(moments.variance);
}

/// The temporary file while it is written; gone with the object unless it was renamed.
class PartialFile {
public:
    PartialFile(const fs::path& file, std::uint64_t total, std::chrono::milliseconds patience)
        : m_file(file),
          m_partial(partial_of(file)),
          m_stream(m_partial, std::ios::binary | std::ios::trunc),
          m_total(total),
          m_patience(patience) {}
    PartialFile(const PartialFile&) = delete;
    PartialFile& operator=(const PartialFile&) = delete;
    ~PartialFile() {
        m_stream.close();
        std::error_code ignored;
        fs::remove(m_partial, ignored);
    }

    [[nodiscard]] Status write(ByteSpan bytes) {
        while (!bytes.empty()) {
            const ByteSpan piece = bytes.first(std::min(bytes.size(), piece_bytes - m_unsynced));
            m_hash.update(piece);
            if (const Status put = append(piece); !put.ok()) return put;
            bytes = bytes.subspan(piece.size());
        }
        return {};
    }
    [[nodiscard]] Status finish() {
        if (const Status put = append(m_hash.finish().bytes); !put.ok()) return put;
        if (const Status synced = sync(); !synced.ok()) return synced;
        m_stream.close();
        std::error_code failed;
        fs::rename(m_partial, m_file, failed);
        return failed ? failure() : sync_file(m_file);
    }

private:
    [[nodiscard]] Error failure() const {
        return {ErrorCode::io, "The file " + m_partial.string() + " cannot be written; check the disk and its space."};
    }
    [[nodiscard]] Status append(ByteSpan bytes) {
        m_stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        if (!m_stream) return failure();
        m_written += bytes.size();
        m_unsynced += bytes.size();
        return m_unsynced < piece_bytes ? Status() : sync();
    }
    [[nodiscard]] Status sync() {
        m_unsynced = 0;
        m_stream.flush();
        if (!m_stream) return failure();
        if (const Status synced = sync_file(m_partial); !synced.ok()) return synced;
        const auto elapsed = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - m_began);
        if (writes_in_time(elapsed, m_patience, m_written, m_total)) return {};
        return Error{ErrorCode::timed_out, "the disk takes too long to write them"};
    }

    fs::path m_file, m_partial;
    std::ofstream m_stream;
    std::uint64_t m_total, m_written = 0;
    std::chrono::milliseconds m_patience;
    Clock::time_point m_began = Clock::now();
    std::size_t m_unsynced = 0;
    Sha256 m_hash;
};

Error unusable(ErrorCode code, const std::string& why) { return {code, "they are " + why}; }

/// What the header says, if it is one that `wanted` and these slices can have.
Result<MomentsStamp> check_header(ByteSpan bytes, const MomentsWanted& wanted, const numerics::OptimizerState& into) {
    ByteReader reader(bytes);
    if (reader.u64() != magic) return unusable(ErrorCode::malformed, "not a file of moments");
    if (reader.u32() != version) return unusable(ErrorCode::malformed, "of another version of Potluck");
    const std::uint32_t optimizer = reader.u32(), bits = reader.u32();
    MomentsStamp stamp;
    Digest layout;
    reader.array(stamp.run.bytes);
    reader.array(layout.bytes);
    stamp.round.value = reader.u64();
    stamp.steps = reader.u64();
    const std::uint64_t body = reader.u64();
    if (!reader.finished()) return unusable(ErrorCode::malformed, "cut short");
    if (stamp.run != wanted.run) return unusable(ErrorCode::malformed, "of another run");
    if (layout != layout_digest(into.slices()) || body != body_bytes(into.slices(), into.bits()))
        return unusable(ErrorCode::malformed, "of another model");
    if (optimizer != static_cast<std::uint32_t>(wanted.optimizer) || bits != static_cast<std::uint32_t>(into.bits()))
        return unusable(ErrorCode::malformed, "of another optimizer");
    stamp.optimizer = wanted.optimizer;
    if (stamp.steps == 0 || stamp.steps > steps_max) return unusable(ErrorCode::malformed, "of no possible step");
    if (stamp.round > wanted.round || wanted.round.value - stamp.round.value > wanted.rounds_max) {
        return unusable(ErrorCode::cancelled, "of round " + std::to_string(stamp.round.value) +
                                                  " and the state is that of round " +
                                                  std::to_string(wanted.round.value));
    }
    return stamp;
}

bool fills(std::ifstream& stream, std::span<std::byte> out) {
    stream.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size()));
    return static_cast<bool>(stream);
}

bool all_finite(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value); });
}
/// Scales are magnitudes, and variances are means of squares.
bool all_magnitudes(std::span<const float> values) {
    return std::ranges::all_of(values, [](float value) { return std::isfinite(value) && value >= 0; });
}

bool plausible(const Moments& moments) {
    return all_magnitudes(moments.mean_scales) && all_magnitudes(moments.variance_scales) && all_finite(moments.mean) &&
           all_magnitudes(moments.variance);
}

Status read_body(std::ifstream& stream, Sha256& hash, numerics::OptimizerState& into) {
    bool whole = true, sound = true;
    for (std::size_t slice = 0; whole && slice < into.slices().size(); ++slice) {
        const Moments moments = into.moments(slice);
        for_each_array(moments, [&](auto array) {
            for (auto rest = std::as_writable_bytes(array); whole && !rest.empty();) {
                const auto piece = rest.first(std::min(rest.size(), piece_bytes));
                whole = fills(stream, piece);
                hash.update(piece);
                rest = rest.subspan(piece.size());
            }
        });
        sound = sound && plausible(moments);
    }
    std::array<std::byte, digest_bytes> digest{};
    if (!whole || !fills(stream, digest)) return unusable(ErrorCode::io, "on a disk that cannot read them");
    if (hash.finish().bytes != digest || !sound) return unusable(ErrorCode::untrusted, "damaged");
    return {};
}

}  // namespace

std::uint64_t moments_file_bytes(std::span<const numerics::ParameterSlice> slices, numerics::StateBits bits) {
    return header_bytes + body_bytes(slices, bits) + digest_bytes;
}

bool writes_in_time(std::chrono::milliseconds elapsed, std::chrono::milliseconds patience, std::uint64_t written,
                    std::uint64_t total) {
    if (elapsed > patience) return false;
    if (4 * elapsed < patience) return true;
    return static_cast<double>(elapsed.count()) * static_cast<double>(total) <=
           static_cast<double>(patience.count()) * static_cast<double>(written);
}

Status keep_moments(const fs::path& file, const MomentsStamp& stamp, const MomentsSource& source,
                    std::chrono::milliseconds patience) {
    remove_moments(file);
    const std::uint64_t total = moments_file_bytes(source.slices, source.bits);
    if (free_disk_bytes(folder_of(file)) < total + moments_disk_reserve)
        return Error{ErrorCode::no_space, "the disk is nearly full"};
    PartialFile out(file, total, patience);
    if (const Status put = out.write(header_of(stamp, source.slices, source.bits)); !put.ok()) return put;
    for (std::size_t slice = 0; slice < source.slices.size(); ++slice) {
        const Result<Moments> moments = source.read(slice);
        if (!moments.ok()) return moments.error();
        Status put;
        for_each_array(*moments, [&](auto array) {
            if (put.ok()) put = out.write(std::as_bytes(array));
        });
        if (!put.ok()) return put;
    }
    return out.finish();
}

Result<MomentsStamp> read_moments(const fs::path& file, const MomentsWanted& wanted, numerics::OptimizerState& into) {
    std::error_code failed;
    const fs::file_status status = fs::status(file, failed);
    if (!fs::exists(status)) return Error{ErrorCode::not_found, "there are none"};
    if (!fs::is_regular_file(status)) return unusable(ErrorCode::malformed, "not in a file");
    if (fs::file_size(file, failed) != moments_file_bytes(into.slices(), into.bits()) || failed)
        return unusable(ErrorCode::malformed, "not of this model's size");
    std::ifstream stream(file, std::ios::binary);
    Bytes header(header_bytes);
    if (!fills(stream, header)) return unusable(ErrorCode::io, "on a disk that cannot read them");
    const Result<MomentsStamp> stamp = check_header(header, wanted, into);
    if (!stamp.ok()) return stamp.error();
    Sha256 hash;
    hash.update(header);
    if (const Status read = read_body(stream, hash, into); !read.ok()) {
        into.reset();
        return read.error();
    }
    return stamp;
}

void remove_moments(const fs::path& file) {
    std::error_code ignored;
    fs::remove(file, ignored);
    fs::remove(partial_of(file), ignored);
}

}  // namespace potluck::training
