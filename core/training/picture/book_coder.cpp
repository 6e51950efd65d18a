// A coder with a code book, top to bottom. Tensor names end in their shape: B pictures, S side, P side of the code, C
// channels, W width of a row of the table, K rows.
//
//   2 picture - 1 --conv, (blocks, conv of stride 2) for each side but the last, blocks, middle, norm, silu, conv,
//   conv-->
//       W --nearest row--> code
//   code --row, conv, conv, middle, (blocks, doubled, conv) for each side but the last, blocks, norm, silu, conv-->
//   drawn block(x) = shortcut(x) + conv(silu(norm(conv(silu(norm(x)))))) middle(x) = block(attention(block(x))),
//   attention(x) = x + out(softmax(q k^T / sqrt(C)) v) of the normed places
//
// The shortcut is a convolution of 1 x 1 where the channels change. A convolution of stride 2 reads one more row and
// column of zeros behind the picture and none before it. The decoder has one block more at each side than the encoder.
//
// The passes take their weights from the list of tensors in its order (core/model/coder.cpp). Source: diffusers,
// vq_model.py, vae.py, attention_processor.py; van den Oord et al. 2017, Esser et al. 2021.
#include "core/training/picture/book_coder.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <vector>

#include "core/base/check.h"
#include "core/training/compute/tensor_guard.h"
#include "core/training/picture/flat_views.h"
#include "core/training/picture/picture_values.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr double book_norm_epsilon = 1e-6;

Error not_trained() {
    return {ErrorCode::invalid_argument,
            "A picture coder with a code book is not trained here; give it to a model that draws, with --coder."};
}

/// The passes over a cursor of weights.
class BookPasses {
public:
    BookPasses(const model::ModelSpec& spec, const std::vector<Tensor>& tensors, std::size_t first = 0)
        : m_spec(spec), m_book(spec.coder.book), m_tensors(tensors), m_next(first) {}

    [[nodiscard]] std::size_t next() const { return m_next; }

    Tensor encoded(const Tensor& pictures_B3SS) {
        Tensor x_BCSS = convolved(2 * pictures_B3SS - 1);
        const std::size_t sides = m_book.widths.size();
        for (std::size_t i = 0; i < sides; ++i) {
            x_BCSS = level(x_BCSS, m_spec.layers, m_book.widths[i]);
            if (i + 1 < sides) x_BCSS = convolved(at::constant_pad_nd(x_BCSS, {0, 1, 0, 1}), 2, 0);
        }
        x_BCSS = convolved(normed(middle(x_BCSS)));
        return convolved(x_BCSS, 1, 0);
    }
    Tensor decoded(const Tensor& rows_BWPP) {
        Tensor x_BCSS = middle(convolved(convolved(rows_BWPP, 1, 0)));
        const std::size_t sides = m_book.widths.size();
        for (std::size_t i = 0; i < sides; ++i) {
            x_BCSS = level(x_BCSS, m_spec.layers + 1, m_book.widths[sides - 1 - i]);
            const std::int64_t side = 2 * x_BCSS.size(2);
            if (i + 1 < sides) x_BCSS = convolved(at::upsample_nearest2d(x_BCSS, {side, side}));
        }
        const Tensor drawn_B3SS = convolved(normed(x_BCSS));
        POTLUCK_CHECK(m_next == m_tensors.size());
        return 0.5 * drawn_B3SS + 0.5;
    }
    const Tensor& take() { return m_tensors.at(m_next++); }

private:
    Tensor convolved(const Tensor& x, std::int64_t stride = 1, std::int64_t padding = 1) {
        const Tensor& w = take();
        return at::conv2d(x, w, take(), stride, padding);
    }
    Tensor grouped(const Tensor& x_BCSS) {
        const Tensor& gain_C = take();
        return at::group_norm(x_BCSS, m_book.groups, gain_C, take(), book_norm_epsilon);
    }
    Tensor normed(const Tensor& x_BCSS) { return at::silu(grouped(x_BCSS)); }
    Tensor block(const Tensor& x_BCSS, std::int64_t channels) {
        const Tensor inner_BCSS = convolved(normed(x_BCSS));
        const Tensor added_BCSS = convolved(normed(inner_BCSS));
        return (x_BCSS.size(1) == channels ? x_BCSS : convolved(x_BCSS, 1, 0)) + added_BCSS;
    }
    Tensor level(Tensor x_BCSS, std::uint32_t blocks, std::int64_t channels) {
        for (std::uint32_t j = 0; j < blocks; ++j) x_BCSS = block(x_BCSS, channels);
        return x_BCSS;
    }
    Tensor mapped(const Tensor& x) {
        const Tensor& w = take();
        return at::linear(x, w, take());
    }
    Tensor middle(const Tensor& x_BCPP) {
        const std::int64_t channels = x_BCPP.size(1), side = x_BCPP.size(2);
        Tensor y_BCPP = block(x_BCPP, channels);
        if (m_book.attention) {
            const Tensor places_BPC = grouped(y_BCPP).flatten(2).transpose(1, 2);
            const Tensor q_BPC = mapped(places_BPC), k_BPC = mapped(places_BPC), v_BPC = mapped(places_BPC);
            const Tensor seen_BPC =
                at::scaled_dot_product_attention(q_BPC.unsqueeze(1), k_BPC.unsqueeze(1), v_BPC.unsqueeze(1)).squeeze(1);
            y_BCPP = y_BCPP + mapped(seen_BPC).transpose(1, 2).unflatten(2, {side, side});
        }
        return block(y_BCPP, channels);
    }

    const model::ModelSpec& m_spec;
    const model::CodeBook& m_book;
    const std::vector<Tensor>& m_tensors;
    std::size_t m_next = 0;
};

}  // namespace

struct BookCoder::Network {
    model::ModelSpec spec;
    at::Device device;
    Tensor flat;
    std::vector<Tensor> tensors;
    std::size_t table = 0;  // which of the tensors is it

    Network(const model::ModelSpec& model, const ModelOptions& options)
        : spec(model), device(device_of(options.device)) {
        const std::vector<model::TensorSpec> list = model::tensors_of(spec);
        const auto found = std::ranges::find(list, model::Role::embedding, &model::TensorSpec::role);
        POTLUCK_CHECK(found != list.end());
        table = static_cast<std::size_t>(found - list.begin());
    }
    void bind(const FlatView& local) { take_tensors(spec, local, device, flat, tensors); }
    /// The nearest row of each place, as |z - row|^2 less |z|^2, which all rows have in common.
    [[nodiscard]] Tensor nearest(const Tensor& z_BWPP) const {
        const Tensor& table_KW = tensors[table];
        const Tensor z_NW = z_BWPP.permute({0, 2, 3, 1}).flatten(0, 2);
        return (table_KW.square().sum(1) - 2 * at::matmul(z_NW, table_KW.t())).argmin(1).to(at::kCPU);
    }
};

BookCoder::BookCoder(const model::ModelSpec& spec, const ModelOptions& options)
    : m_network(std::make_unique<Network>(spec, options)) {}
BookCoder::~BookCoder() = default;

Status BookCoder::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        m_network->bind(local);
        return {};
    });
}

Result<Model::Evaluation> BookCoder::evaluate(std::span<const model::Token> /*records*/, std::uint64_t /*first*/) {
    return not_trained();
}

Result<double> BookCoder::add_gradient(const BackwardRequest& /*request*/) { return not_trained(); }

Result<std::vector<float>> BookCoder::next_logits(std::span<const std::uint32_t> tokens) {
    if (tokens.size() != m_network->spec.context) {
        return Error{ErrorCode::invalid_argument, "A picture coder goes on with no text; it codes pictures of " +
                                                      std::to_string(m_network->spec.context) + " values."};
    }
    std::vector<model::Token> record(tokens.begin(), tokens.end());
    record.push_back(0);
    const Result<std::vector<std::uint32_t>> codes = codes_of(record);
    if (!codes.ok()) return codes.error();
    return picture_of(*codes);
}

Result<std::vector<std::uint32_t>> BookCoder::codes_of(std::span<const model::Token> records) {
    return guarded([&]() -> Result<std::vector<std::uint32_t>> {
        const at::NoGradGuard nothing_kept;
        const std::size_t size = m_network->spec.context + std::size_t{1};
        std::vector<std::uint32_t> codes;
        for (std::size_t begin = 0; begin < records.size(); begin += size) {
            const Result<Tensor> picture_13SS =
                pictures_in(m_network->spec, records.subspan(begin, size), m_network->device);
            if (!picture_13SS.ok()) return picture_13SS.error();
            BookPasses passes(m_network->spec, m_network->tensors);
            const Tensor codes_N = m_network->nearest(passes.encoded(*picture_13SS)).contiguous();
            POTLUCK_CHECK(passes.next() == m_network->table);
            const auto* first = codes_N.const_data_ptr<std::int64_t>();
            std::transform(first, first + codes_N.numel(), std::back_inserter(codes),
                           [](std::int64_t code) { return static_cast<std::uint32_t>(code); });
        }
        return codes;
    });
}

Result<std::vector<float>> BookCoder::picture_of(std::span<const std::uint32_t> codes) {
    const model::CoderShape& shape = m_network->spec.coder;
    const std::int64_t places = shape.side >> shape.halvings;
    const bool fine = codes.size() == static_cast<std::size_t>(places * places) &&
                      std::ranges::all_of(codes, [&](std::uint32_t one) { return one < shape.book.codes; });
    if (!fine) return Error{ErrorCode::invalid_argument, "These are not the codes of one picture of this coder's."};
    return guarded([&]() -> Result<std::vector<float>> {
        const at::NoGradGuard nothing_kept;
        const Tensor codes_PP = at::empty({places, places}, at::kLong);
        std::ranges::copy(codes, codes_PP.mutable_data_ptr<std::int64_t>());
        BookPasses passes(m_network->spec, m_network->tensors, m_network->table);
        const Tensor rows_PPW = at::embedding(passes.take(), codes_PP.to(m_network->device));
        return values_of(passes.decoded(rows_PPW.permute({2, 0, 1}).unsqueeze(0).contiguous()));
    });
}

}  // namespace potluck::training
