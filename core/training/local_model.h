// The local parameters and the anchor, the parameters from which the pseudo-gradient is measured (DiLoCo's outer
// parameters; core/control/trainer_protocol.h says what snapshot and rebase mean). Local parameters are fp32 or bf16.
// The anchor is in memory, or in a scratch file on machines with little memory: it is only read at a snapshot or
// rebase. Everything passes through in pieces, so no third copy of the vector is ever held.
// Threads: one. Owns: local parameters, anchor and the scratch file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/trainer_protocol.h"
#include "core/training/compute/flat_vector.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// M. Numbers are fp32 wherever it lies: a difference to the next state must not hold rounding of our own.
class Anchor {
public:
    /// On disk: `scratch` is a folder; the file is removed with the anchor.
    [[nodiscard]] static Result<Anchor> create(std::uint64_t size, Residency place,
                                               const std::filesystem::path& scratch);
    Anchor(Anchor&& other) noexcept;
    Anchor& operator=(Anchor&& other) noexcept;
    Anchor(const Anchor&) = delete;
    Anchor& operator=(const Anchor&) = delete;
    ~Anchor();

    [[nodiscard]] Status read(std::uint64_t begin, std::span<float> out);
    [[nodiscard]] Status write(std::uint64_t begin, std::span<const float> values);
    [[nodiscard]] Residency place() const { return m_path.empty() ? Residency::host : Residency::disk; }
    /// M itself if it is in memory; else empty.
    [[nodiscard]] std::span<float> floats() { return m_values; }

private:
    Anchor() = default;
    [[nodiscard]] Error failure() const;
    std::vector<float> m_values;
    std::filesystem::path m_path;  // empty: in memory
    std::fstream m_file;
};

class LocalModel {
public:
    /// L and M all zeros: fill them by start_from. `scratch` is needed for an anchor on disk only.
    [[nodiscard]] static Result<LocalModel> create(std::uint64_t size, const Layout& layout,
                                                   const std::filesystem::path& scratch, unsigned threads);

    [[nodiscard]] const FlatVector& values() const {
        m_owner.check();
        return m_values;
    }
    [[nodiscard]] FlatVector& values() {
        m_owner.check();
        return m_values;
    }

    /// M = the vector, L = the same, rounded to nearest where it is kept in bf16.
    [[nodiscard]] Status start_from(const control::VectorFile& file);
    [[nodiscard]] Status start_from(std::span<const float> values);
    /// Writes L to the file, M = L. If the file cannot be written, M stays.
    [[nodiscard]] Status snapshot(const control::VectorFile& target);
    /// L += next - M, M = next. bf16 is rounded stochastically, because what moves is small beside what it moves.
    [[nodiscard]] Status rebase(const control::VectorFile& next);

    /// Moves what the two layouts keep differently; L and M keep their values, but for L's rounding to bf16.
    [[nodiscard]] Status follow(const Layout& layout, const std::filesystem::path& scratch);

private:
    LocalModel(FlatVector values, Anchor anchor, unsigned threads)
        : m_values(std::move(values)), m_anchor(std::move(anchor)), m_threads(threads) {}
    [[nodiscard]] Status rebase_piece(std::uint64_t begin, std::span<const float> next);

    ThreadOwner m_owner;
    FlatVector m_values;
    Anchor m_anchor;
    unsigned m_threads;
    std::uint64_t m_rebases = 0;
};

}  // namespace potluck::training
