// DALL-E over one flat parameter vector, as Training Transformers Together trained it: a decoder whose layers apply a
// few sets of weights in turn, two streams that add to each other as in reversible networks, tokens that are shifted,
// rotary positions of caption, rows and columns, and attention of codes to the caption and to a part of the picture.
// Gradients are written out and summed straight into the flat gradient.
//
//   record := 0, `text` tokens of a caption, then `text_vocabulary` + code of each place of the picture, row by row
//
// It does not own parameters or gradients, steps no optimizer, draws no pictures of codes (coder.h does) and reads no
// files. Nor does it keep keys and values from one token to the next: each code that is drawn costs a pass over all
// before it. LibTorch stays inside the .cpp.
// Threads: one at a time; the products use LibTorch's pool. Owns: copies of weights where L is not fp32 where the model
// computes.
#pragma once

#include <memory>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

class Dalle final : public Model {
public:
    Dalle(const model::ModelSpec& spec, const ModelOptions& options);
    ~Dalle() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;
    /// The loss is context * model::dalle_loss_of the means over a record's caption and its codes, summed over records.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;
    /// Scores of the whole vocabulary; those of the other kind are minus infinity. `tokens` is the beginning of a
    /// record.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
