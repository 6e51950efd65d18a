// SwAV over one flat parameter vector: a residual network and a head make embeddings of several crops of each picture;
// a crop must tell, from its scores against the prototypes, the cluster that another crop of the same picture was
// assigned to (Caron et al. 2020, arXiv 2006.09882). Nothing is labelled. Gradients come from LibTorch's autograd and
// are summed straight into the flat gradient.
//
//   record := 3 side^2 values of 0..255, red, green, blue of each pixel, row by row, then 0 or its class from 1 on
//
// Norms use the statistics of the pictures that are computed together and nothing else, so there are no running
// averages to share; who evaluates embeddings computes them then, over the pictures at hand. The queue of embeddings
// that balances assignments is this computer's own and dies with the object.
//
// It does not own parameters or gradients, steps no optimizer and reads no files. LibTorch stays inside the .cpp.
// Threads: one at a time; the convolutions use LibTorch's pool. Owns: the queue, and copies of weights where L is not
// fp32 where the model computes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model/model_spec.h"
#include "core/training/compute/model.h"

namespace potluck::training {

/// A batch norm's statistics, as torchvision's BatchNorm2d remembers them: "<name>.running_mean" and ".running_var".
struct NormStatistics {
    std::string name;
    std::vector<float> mean, variance;
};

class Swav final : public Model {
public:
    Swav(const model::ModelSpec& spec, const ModelOptions& options);
    ~Swav() override;

    [[nodiscard]] Status use_parameters(const FlatView& local) override;
    /// The loss is context * a picture's, summed over records, which are computed together. The queue is not used.
    [[nodiscard]] Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) override;
    [[nodiscard]] Result<double> add_gradient(const BackwardRequest& request) override;
    /// `invalid_argument`: there is no text to go on with.
    [[nodiscard]] Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) override;

    /// By what the residual network makes of whole pictures, with norm_statistics over the same pictures.
    [[nodiscard]] Result<std::vector<float>> similarities_of(std::span<const model::Token> records) override;
    /// By those similarities.
    [[nodiscard]] Result<std::optional<Neighbours>> neighbours(std::span<const model::Token> records) override;

    /// norm_statistics as one row of numbers.
    [[nodiscard]] Result<std::vector<float>> norms_of(std::span<const model::Token> records) override;

    /// Statistics of every norm of the residual network over whole pictures, in the order of the passes ("precise BN",
    /// Wu and Johnson 2021, arXiv 2105.07576, section 3): mean of means and mean of unbiased variances of batches of
    /// the shape's `together`.
    [[nodiscard]] Result<std::vector<NormStatistics>> norm_statistics(std::span<const model::Token> records);
    /// What the residual network makes of whole pictures, with those statistics: (records, swav_features).
    [[nodiscard]] Result<std::vector<float>> features(std::span<const model::Token> records,
                                                      std::span<const NormStatistics> statistics);

private:
    struct Network;
    std::unique_ptr<Network> m_network;
};

}  // namespace potluck::training
