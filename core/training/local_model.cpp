// Local parameters L and anchor M, moved in pieces of vector_piece values, so that neither a snapshot nor a rebase
// holds a third copy of the vector.
//
// snapshot() writes L to its file and closes it before M becomes L: a disk that is full leaves M where it was, and the
// movement since then is still M - L. rebase() checks the whole file before the first piece is changed, then does L +=
// next - M and M = next piece by piece in fp32. Where L is kept in bf16 the sum is rounded stochastically, keyed by the
// number of the rebase and the place, because a movement below half a bf16 step would vanish every time; the
// expectation of L stays right.
//
// Source: DiLoCo (2311.08105) for the anchor. Threads: the trainer's.
#include "core/training/local_model.h"

#include <algorithm>
#include <new>
#include <system_error>

#include "core/base/check.h"
#include "core/base/rng.h"
#include "core/training/kernels/flat.h"
#include "core/training/memory/memory_error.h"
#include "core/training/vector_file.h"

namespace potluck::training {

namespace {

/// Calls `each` with [begin, begin + length) of every piece of a vector.
Status in_pieces(std::uint64_t size, const std::function<Status(std::uint64_t begin, std::size_t length)>& each) {
    for (std::uint64_t begin = 0; begin < size; begin += vector_piece) {
        const Status status = each(begin, std::min<std::uint64_t>(vector_piece, size - begin));
        if (!status.ok()) return status;
    }
    return {};
}

}  // namespace

Result<Anchor> Anchor::create(std::uint64_t size, Residency place, const std::filesystem::path& scratch) {
    Anchor anchor;
    if (place != Residency::disk) {
        try {
            anchor.m_values.resize(size);
        } catch (const std::bad_alloc&) {
            return out_of_memory_error();
        }
        return anchor;
    }
    anchor.m_path = scratch / "anchor.f32";
    std::ofstream(anchor.m_path, std::ios::binary).flush();
    std::error_code failed;
    std::filesystem::resize_file(anchor.m_path, size * sizeof(float), failed);
    anchor.m_file.open(anchor.m_path, std::ios::binary | std::ios::in | std::ios::out);
    if (failed || !anchor.m_file.is_open()) return anchor.failure();
    return anchor;
}

Anchor::Anchor(Anchor&& other) noexcept
    : m_values(std::move(other.m_values)), m_path(std::exchange(other.m_path, {})), m_file(std::move(other.m_file)) {}

Anchor& Anchor::operator=(Anchor&& other) noexcept {
    std::swap(m_values, other.m_values);
    std::swap(m_path, other.m_path);
    std::swap(m_file, other.m_file);
    return *this;
}

Anchor::~Anchor() {
    if (m_path.empty()) return;
    m_file.close();
    std::error_code ignored;
    std::filesystem::remove(m_path, ignored);
}

Error Anchor::failure() const {
    return {ErrorCode::io, "The file " + m_path.string() + " cannot be used; check the disk and its free space."};
}

Status Anchor::read(std::uint64_t begin, std::span<float> out) {
    if (m_path.empty()) {
        std::copy_n(m_values.begin() + static_cast<std::ptrdiff_t>(begin), out.size(), out.begin());
        return {};
    }
    m_file.seekg(static_cast<std::streamoff>(begin * sizeof(float)));
    m_file.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(out.size_bytes()));
    if (!m_file) return failure();
    return {};
}

Status Anchor::write(std::uint64_t begin, std::span<const float> values) {
    if (m_path.empty()) {
        std::ranges::copy(values, m_values.begin() + static_cast<std::ptrdiff_t>(begin));
        return {};
    }
    m_file.seekp(static_cast<std::streamoff>(begin * sizeof(float)));
    m_file.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size_bytes()));
    if (!m_file) return failure();
    return {};
}

Result<LocalModel> LocalModel::create(std::uint64_t size, const Layout& layout, const std::filesystem::path& scratch,
                                      unsigned threads) {
    const DeviceId home = layout.state == Residency::device ? layout.device : DeviceId{};
    Result<FlatVector> values = FlatVector::zeros(size, layout.weights, home);
    if (!values.ok()) return values.error();
    Result<Anchor> anchor = Anchor::create(size, layout.anchor, scratch);
    if (!anchor.ok()) return anchor.error();
    return LocalModel(*std::move(values), *std::move(anchor), threads);
}

Status LocalModel::start_from(const control::VectorFile& file) {
    m_owner.check();
    return for_each_piece(file, m_values.size(), [&](std::uint64_t begin, std::span<const float> piece) {
        const Status marked = m_anchor.write(begin, piece);
        return marked.ok() ? m_values.write(begin, piece) : marked;
    });
}

Status LocalModel::start_from(std::span<const float> values) {
    m_owner.check();
    POTLUCK_CHECK(values.size() == m_values.size());
    const Status marked = m_anchor.write(0, values);
    return marked.ok() ? m_values.write(0, values) : marked;
}

Status LocalModel::snapshot(const control::VectorFile& target) {
    m_owner.check();
    Result<VectorWriter> writer = VectorWriter::open(target);
    if (!writer.ok()) return writer.error();
    std::vector<float> piece(std::min<std::uint64_t>(vector_piece, m_values.size()));
    const Status written = in_pieces(m_values.size(), [&](std::uint64_t begin, std::size_t length) {
        const Status read = m_values.read(begin, std::span(piece).first(length));
        return read.ok() ? writer->write(std::span(piece).first(length)) : read;
    });
    if (!written.ok()) return written;
    if (const Status closed = writer->close(); !closed.ok()) return closed;
    return in_pieces(m_values.size(), [&](std::uint64_t begin, std::size_t length) {
        const Status read = m_values.read(begin, std::span(piece).first(length));
        return read.ok() ? m_anchor.write(begin, std::span(piece).first(length)) : read;
    });
}

Status LocalModel::rebase(const control::VectorFile& next) {
    m_owner.check();
    if (const Status fine = check_vector(next, m_values.size()); !fine.ok()) return fine;
    ++m_rebases;
    return for_each_piece(next, m_values.size(), [&](std::uint64_t begin, std::span<const float> piece) {
        return rebase_piece(begin, piece);
    });
}

Status LocalModel::rebase_piece(std::uint64_t begin, std::span<const float> next) {
    std::vector<float> away;  // the anchor's piece, if the anchor is not in memory
    std::span<float> anchor = m_anchor.floats();
    if (anchor.empty()) {
        away.resize(next.size());
        if (const Status read = m_anchor.read(begin, away); !read.ok()) return read;
        anchor = away;
    } else {
        anchor = anchor.subspan(begin, next.size());
    }
    if (const std::span<float> values = m_values.floats(); !values.empty()) {
        training::rebase(values.subspan(begin, next.size()), anchor, next, m_threads);
    } else if (const std::span<std::uint16_t> bits = m_values.bf16_bits(); !bits.empty()) {
        const RoundingKey key{.seed = mix64(m_rebases), .first = begin};
        training::rebase(bits.subspan(begin, next.size()), anchor, next, key);
    } else {
        std::vector<float> local(next.size());
        if (const Status read = m_values.read(begin, local); !read.ok()) return read;
        training::rebase(local, anchor, next, m_threads);
        if (const Status written = m_values.write(begin, local); !written.ok()) return written;
    }
    return away.empty() ? Status() : m_anchor.write(begin, away);
}

Status LocalModel::follow(const Layout& layout, const std::filesystem::path& scratch) {
    m_owner.check();
    std::vector<float> piece(std::min<std::uint64_t>(vector_piece, m_values.size()));
    if (layout.anchor != m_anchor.place()) {
        Result<Anchor> anchor = Anchor::create(m_values.size(), layout.anchor, scratch);
        if (!anchor.ok()) return anchor.error();
        const Status moved = in_pieces(m_values.size(), [&](std::uint64_t begin, std::size_t length) {
            const Status read = m_anchor.read(begin, std::span(piece).first(length));
            return read.ok() ? anchor->write(begin, std::span(piece).first(length)) : read;
        });
        if (!moved.ok()) return moved;
        m_anchor = *std::move(anchor);
    }
    const DeviceId home = layout.state == Residency::device ? layout.device : DeviceId{};
    if (layout.weights == m_values.view().dtype && home == m_values.view().device) return {};
    Result<FlatVector> values = FlatVector::zeros(m_values.size(), layout.weights, home);
    if (!values.ok()) return values.error();
    const Status moved = in_pieces(m_values.size(), [&](std::uint64_t begin, std::size_t length) {
        const Status read = m_values.read(begin, std::span(piece).first(length));
        return read.ok() ? values->write(begin, std::span(piece).first(length)) : read;
    });
    if (moved.ok()) m_values = *std::move(values);
    return moved;
}

}  // namespace potluck::training
