// What the trainer sees of a model, whatever its family: parameters in, losses and gradients out. `make_model` in
// core/training/make_model.h is the only switch over families.
//
// Every loss is a sum over a record's positions, so that a batch's mean divides by records * context for all families.
// Threads: one at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/model/token.h"
#include "core/training/memory/layout.h"

namespace potluck::training {

/// What of a Layout concerns the model. Residual stream, norms, softmax and accumulated gradients are fp32 whatever
/// `matmul` is; in an embedder's residual network only gradients and the norms' sums are.
struct ModelOptions {
    DeviceId device = {};
    Dtype matmul = Dtype::fp32;
    AttentionKernel attention = AttentionKernel::blocked;
    Checkpointing checkpointing = Checkpointing::none;
    Streaming weights_flow = Streaming::resident;
    Kernels kernels = Kernels::own;
};

class Model {
public:
    Model() = default;
    Model(const Model&) = delete;
    Model& operator=(const Model&) = delete;
    virtual ~Model() = default;

    /// Takes L, spec.parameters() numbers in fp32 or bf16, as the weights. They stay the caller's and must outlive
    /// their use here; after they change, call this again (it refreshes copies).
    [[nodiscard]] virtual Status use_parameters(const FlatView& local) = 0;

    /// An encoder's losses summed over records: each one's mean over its gaps, its order's, and the orders told
    /// rightly.
    struct PairSums {
        double gaps = 0, order = 0;  // nats
        std::uint64_t right_orders = 0;
    };
    /// A picture coder's: the mean squared error of each picture's values, of 0..1, summed over records, and which
    /// codes occurred.
    struct PictureSums {
        double squared_error = 0;
        std::vector<bool> codes_used;
    };
    /// A drawer's: each record's mean over its caption and over its codes, summed over records.
    struct CaptionSums {
        double text = 0, codes = 0;  // nats
    };
    /// An embedder's: how many pictures each cluster is the nearest of.
    struct ClusterSums {
        std::vector<std::uint64_t> chosen;
    };
    struct Evaluation {
        double loss_sum = 0;  // nats; of pictures, their errors
        std::optional<PairSums> pairs = {};
        std::optional<PictureSums> pictures = {};
        std::optional<CaptionSums> captions = {};
        std::optional<ClusterSums> clusters = {};
    };
    /// The losses of whole records of context + 1 tokens each. `first`: the number of the first of them, from which
    /// follows what is drawn for each.
    [[nodiscard]] virtual Result<Evaluation> evaluate(std::span<const model::Token> records, std::uint64_t first) = 0;

    /// Shares of pictures whose class their nearest others tell, by embeddings and by the pictures' own values.
    struct Neighbours {
        double embeddings = 0, pixels = 0;
    };
    /// Takes whole records with labels; returns nothing for families that embed no pictures, or without labels.
    [[nodiscard]] virtual Result<std::optional<Neighbours>> neighbours(std::span<const model::Token> /*records*/) {
        return std::optional<Neighbours>{};
    }

    struct BackwardRequest {
        std::span<const model::Token> records;  // (B, T+1)
        FlatView gradient;                      // fp32 or bf16; added to
        double scale = 1;                       // gradient += scale * d(loss sum)/d(parameters)
        std::uint64_t dropout_seed = 0;
        std::uint64_t record_seed = 0;  // with the number of a record: of what is drawn for it
        std::uint64_t first = 0;        // number of the first record
        std::uint64_t round = 0;        // of the run, by which parts of a model begin to be used
    };
    /// Loss sum of the records, and its gradient. Leaves `gradient` as it was if the loss is not finite. 16-bit numbers
    /// may overflow in the backward pass all the same: then `gradient` holds infinities or NaN, which its norm shows.
    [[nodiscard]] virtual Result<double> add_gradient(const BackwardRequest& request) = 0;

    /// Scores of every token behind the last of `tokens` (1..context); of an encoder, of every token in the first gap;
    /// of a picture coder, the picture that `tokens` are, as it is after coding.
    [[nodiscard]] virtual Result<std::vector<float>> next_logits(std::span<const std::uint32_t> tokens) = 0;

    /// What a picture coder does: the codes of whole records of pictures, those of each row by row, and the picture of
    /// such codes as 3 side^2 values of 0..255. `invalid_argument` of all others, and of codes that it has not.
    [[nodiscard]] virtual Result<std::vector<std::uint32_t>> codes_of(std::span<const model::Token> /*records*/) {
        return no_coder();
    }
    [[nodiscard]] virtual Result<std::vector<float>> picture_of(std::span<const std::uint32_t> /*codes*/) {
        return no_coder();
    }

    /// What the norms of a residual network would have remembered of whole pictures: of each norm in the order of the
    /// passes the means, then the unbiased variances of its channels. `invalid_argument` of all other models.
    [[nodiscard]] virtual Result<std::vector<float>> norms_of(std::span<const model::Token> /*records*/) {
        return Error{ErrorCode::invalid_argument,
                     "Only a model that embeds pictures has norms that remember; load one first."};
    }

    /// How alike whole pictures are to a model that embeds them: cosines, (N, N), row by row. `invalid_argument` of all
    /// other models.
    [[nodiscard]] virtual Result<std::vector<float>> similarities_of(std::span<const model::Token> /*records*/) {
        return Error{ErrorCode::invalid_argument, "Only a model that embeds pictures compares them; load one first."};
    }

private:
    static Error no_coder() {
        return {ErrorCode::invalid_argument, "Only a picture coder codes pictures; load one before that is asked."};
    }
};

}  // namespace potluck::training
