// A picture coder that was trained elsewhere: diffusers' VQModel, whose weights are its own. Convolutions halve a
// picture's side, the nearest row of a table is the code of a place, and a decoder makes the picture of those rows.
//
//   record := 3 side^2 values of 0..255, red, green and blue of each pixel, row by row, then 0
//
// It codes and draws, for a model that draws; it has no loss and no gradient. It reads no files. LibTorch stays inside
// the .cpp.
// Threads: one at a time; the convolutions use LibTorch's pool. Owns: copies of weights where L is not fp32 where the
// model computes.
#pragma once

#include <memory>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

class BookCoder final : public Model {
public:
    BookCoder(const model::ModelSpec& spec, const ModelOptions& options);
    ~BookCoder() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;
    /// Both are `invalid_argument`: such a coder is not trained here.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;
    /// The picture again after coding, as values of 0..255: `tokens` is a record without its last.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;
    /// The rows of each place, in the order of the places. Picture by picture, since such coders are wide.
    [[nodiscard]] Result<std::vector<std::uint32_t>> codes_of(std::span<const model::Token> records) override;
    [[nodiscard]] Result<std::vector<float>> picture_of(std::span<const std::uint32_t> codes) override;

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
