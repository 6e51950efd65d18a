// The decoder, top to bottom. Tensor names end in their shape: B sequences, T time, N = B*T rows, C width, F = 4C,
// V vocabulary, H heads, D = C/H. A residual stream x_NC passes through the layers:
//
//   x = tokens[id] + positions        per layer:  x += merge(attention(qkv(norm1(x))))
//   logits = norm_f(x) tokens^T                   x += down(activation(up(norm2(x))))
//
// Every forward function has its backward beside it; what the backward needs again is in a cache struct.
#include "core/training/decoder.h"

#include <cmath>

#include <ATen/Parallel.h>

#include "core/base/check.h"
#include "core/training/attention.h"
#include "core/training/attention_blocked.h"
#include "core/training/elementwise.h"
#include "core/training/tensor_guard.h"
#include "core/training/weights.h"

namespace potluck::training {

namespace {

using at::Tensor;

constexpr double norm_epsilon = 1e-5;
constexpr std::int64_t logits_at_once = 1 << 24;  // floats held at a time by the loss

std::span<float> floats_of(const Tensor& tensor) {
    return {tensor.data_ptr<float>(), static_cast<std::size_t>(tensor.numel())};
}

/// A tensor over somebody else's vector.
Tensor tensor_of(const FlatView& view) {
    POTLUCK_CHECK(view.device.kind == DeviceKind::cpu && view.number != Number::fp16);
    return at::from_blob(view.data, {static_cast<std::int64_t>(view.size)},
                         view.number == Number::bf16 ? at::kBFloat16 : at::kFloat);
}

struct NormCache { Tensor x_NC, mean_N1, rstd_N1; };

Tensor norm(const Tensor& x_NC, const Tensor& gain_C, const Tensor& bias_C, NormCache& cache) {
    Tensor y_NC;
    cache.x_NC = x_NC;
    std::tie(y_NC, cache.mean_N1, cache.rstd_N1) =
        at::native_layer_norm(x_NC, {x_NC.size(1)}, gain_C, bias_C, norm_epsilon);
    return y_NC;
}

struct NormGradients { const Tensor& gain_C; const Tensor& bias_C; };

Tensor norm_backward(const Tensor& dy_NC, const NormCache& cache, const Tensor& gain_C, const NormGradients& out) {
    const auto [dx_NC, dgain_C, dbias_C] = at::native_layer_norm_backward(
        dy_NC, cache.x_NC, {dy_NC.size(1)}, cache.mean_N1, cache.rstd_N1, gain_C, gain_C, {true, true, true});
    out.gain_C.add_(dgain_C);
    out.bias_C.add_(dbias_C);
    return dx_NC;
}

/// y_NO = x_NI w_IO + b_O. `x_NI` and the weights are in the compute type, the result in fp32.
Tensor linear(const Tensor& x_NI, const Tensor& w_IO, const Tensor& b_O) {
    return at::addmm(b_O, x_NI, w_IO).to(at::kFloat);
}

struct LinearGradients { const Tensor& w_IO; const Tensor& b_O; };

/// Adds to the gradients of weight and bias and gives that of x (fp32). `x_NI` is the forward's input, `dy_NO` fp32.
Tensor linear_backward(const Tensor& dy_NO, const Tensor& x_NI, const Tensor& w_IO, const LinearGradients& out) {
    const Tensor dyc_NO = dy_NO.to(x_NI.scalar_type());
    out.b_O.add_(dy_NO.sum(0));
    if (x_NI.scalar_type() == at::kFloat) {
        Tensor(out.w_IO).addmm_(x_NI.t(), dyc_NO);
    } else {
        out.w_IO.add_(at::mm(x_NI.t(), dyc_NO));
    }
    return at::mm(dyc_NO, w_IO.t()).to(at::kFloat);
}

/// Everything of one layer's forward pass that its backward pass reads.
struct LayerCache {
    NormCache norm1, norm2;
    Tensor normed1_NC, attended_NC, normed2_NC, activated_NF;  // compute type
    AttentionCache attention;
    Tensor up_NF;
    Tensor merge_mask_NC, down_mask_NC;  // dropout, if any
};

struct Targets { Tensor ids_N, targets_N; std::int64_t batch = 0, time = 0; };

}  // namespace

struct Decoder::Network {
    run::ModelSpec spec;
    DecoderOptions options;
    Weights weights;          // fp32 views of the caller's vector
    Weights products;         // what the matrix products read: the same, or a bf16 copy
    Tensor fp32_flat, compute_flat;
    FlatView bound;
    double dropout = 0;       // of the pass under way

    [[nodiscard]] at::ScalarType compute_type() const {
        return options.products == Number::bf16 ? at::kBFloat16 : at::kFloat;
    }
    [[nodiscard]] AttentionKernel kernel() const {
        if (dropout > 0) return AttentionKernel::plain;
        if (options.attention != AttentionKernel::blocked) return options.attention;
        const bool fits = at::get_num_threads() == 1 && blocked_attention_takes(spec.width / spec.heads);
        return fits ? AttentionKernel::blocked : AttentionKernel::fused;
    }
    [[nodiscard]] AttentionShape attention_shape(const Targets& in) const {
        return {in.batch, in.time, spec.heads, spec.width, dropout};
    }

    void bind(const FlatView& local);
    [[nodiscard]] Targets targets_of(std::span<const Token> records) const;
    [[nodiscard]] Tensor dropped(const Tensor& y_NC, Tensor& mask_NC) const;

    [[nodiscard]] Tensor embed(const Targets& in) const;
    void embed_backward(const Tensor& dx_NC, const Targets& in, const Weights& gradients) const;
    [[nodiscard]] Tensor layer(std::size_t index, const Tensor& x_NC, const Targets& in, LayerCache& cache) const;
    [[nodiscard]] Tensor layer_backward(std::size_t index, const Tensor& dy_NC, const Targets& in,
                                        const LayerCache& cache, const LayerWeights& gradients) const;
    [[nodiscard]] Tensor activate(const Tensor& up_NF) const;
    [[nodiscard]] Tensor activate_backward(const Tensor& dy_NF, const Tensor& up_NF) const;
    [[nodiscard]] double cross_entropy(const Tensor& normed_NC, const Tensor& targets_N) const;
    [[nodiscard]] Tensor head_backward(const Tensor& normed_NC, const Tensor& targets_N, const Tensor& dtokens_VC,
                                       double scale, double& loss) const;

    [[nodiscard]] double loss(std::span<const Token> records);
    [[nodiscard]] double add_gradient(const BackwardRequest& request);
    [[nodiscard]] Tensor scores(std::span<const std::uint32_t> tokens, std::int64_t rows_wanted);
};

void Decoder::Network::bind(const FlatView& local) {
    POTLUCK_CHECK(local.size == spec.parameters());
    const Tensor flat = tensor_of(local);
    const at::ScalarType type = compute_type();
    if (bound.data != local.data || bound.number != local.number) {
        bound = local;
        fp32_flat = local.number == Number::fp32 ? flat : at::empty_like(flat, at::kFloat);
        compute_flat = type == at::kFloat ? fp32_flat : local.number == Number::bf16 ? flat : at::empty_like(flat, type);
        weights = views_of(spec, fp32_flat);
        products = views_of(spec, compute_flat);
    }
    if (fp32_flat.data_ptr() != local.data) fp32_flat.copy_(flat);
    if (compute_flat.data_ptr() != local.data && type != at::kFloat) compute_flat.copy_(flat);
}

Targets Decoder::Network::targets_of(std::span<const Token> records) const {
    const std::int64_t time = spec.context;
    const std::int64_t batch = static_cast<std::int64_t>(records.size()) / (time + 1);
    POTLUCK_CHECK(batch > 0 && batch * (time + 1) == static_cast<std::int64_t>(records.size()));
    const Tensor all_BS = at::empty({batch, time + 1}, at::kLong);
    std::int64_t* ids = all_BS.data_ptr<std::int64_t>();
    for (std::size_t i = 0; i < records.size(); ++i) ids[i] = records[i];
    return {all_BS.narrow(1, 0, time).reshape(-1), all_BS.narrow(1, 1, time).reshape(-1), batch, time};
}

Tensor Decoder::Network::dropped(const Tensor& y_NC, Tensor& mask_NC) const {
    if (dropout <= 0) return y_NC;
    mask_NC = at::empty_like(y_NC).bernoulli_(1 - dropout).div_(1 - dropout);
    return y_NC * mask_NC;
}

Tensor Decoder::Network::embed(const Targets& in) const {
    const Tensor tokens_BTC = weights.tokens_VC.index_select(0, in.ids_N).view({in.batch, in.time, spec.width});
    return tokens_BTC.add(weights.positions_TC.narrow(0, 0, in.time)).view({-1, spec.width});
}

void Decoder::Network::embed_backward(const Tensor& dx_NC, const Targets& in, const Weights& gradients) const {
    Tensor(gradients.tokens_VC).index_add_(0, in.ids_N, dx_NC);
    gradients.positions_TC.narrow(0, 0, in.time).add_(dx_NC.view({in.batch, in.time, spec.width}).sum(0));
}

Tensor Decoder::Network::activate(const Tensor& up_NF) const {
    if (spec.activation == run::Activation::relu) return at::relu(up_NF);
    const Tensor y_NF = at::empty_like(up_NF);
    gelu_tanh(floats_of(up_NF), floats_of(y_NF));
    return y_NF;
}

Tensor Decoder::Network::activate_backward(const Tensor& dy_NF, const Tensor& up_NF) const {
    if (spec.activation == run::Activation::relu) return dy_NF * (up_NF > 0);
    gelu_tanh_backward(floats_of(up_NF), floats_of(dy_NF));
    return dy_NF;
}

Tensor Decoder::Network::layer(std::size_t index, const Tensor& x_NC, const Targets& in, LayerCache& cache) const {
    const LayerWeights& w = weights.layers[index];
    const LayerWeights& p = products.layers[index];
    cache.normed1_NC = norm(x_NC, w.ln1_gain_C, w.ln1_bias_C, cache.norm1).to(compute_type());
    const Tensor qkv_N3C = linear(cache.normed1_NC, p.qkv_C3C, p.qkv_bias_3C);
    cache.attended_NC = attend(qkv_N3C, attention_shape(in), kernel(), cache.attention).to(compute_type());
    const Tensor merged_NC = linear(cache.attended_NC, p.merge_CC, p.merge_bias_C);
    const Tensor middle_NC = x_NC + dropped(merged_NC, cache.merge_mask_NC);

    cache.normed2_NC = norm(middle_NC, w.ln2_gain_C, w.ln2_bias_C, cache.norm2).to(compute_type());
    cache.up_NF = linear(cache.normed2_NC, p.up_CF, p.up_bias_F);
    cache.activated_NF = activate(cache.up_NF).to(compute_type());
    const Tensor down_NC = linear(cache.activated_NF, p.down_FC, p.down_bias_C);
    return middle_NC + dropped(down_NC, cache.down_mask_NC);
}

Tensor Decoder::Network::layer_backward(std::size_t index, const Tensor& dy_NC, const Targets& in,
                                        const LayerCache& cache, const LayerWeights& gradients) const {
    const LayerWeights& w = weights.layers[index];
    const LayerWeights& p = products.layers[index];
    const auto undropped = [](const Tensor& d_NC, const Tensor& mask_NC) {
        return mask_NC.defined() ? d_NC * mask_NC : d_NC;
    };
    const Tensor dactivated_NF = linear_backward(undropped(dy_NC, cache.down_mask_NC), cache.activated_NF, p.down_FC,
                                                 {gradients.down_FC, gradients.down_bias_C});
    const Tensor dup_NF = activate_backward(dactivated_NF, cache.up_NF);
    const Tensor dnormed2_NC =
        linear_backward(dup_NF, cache.normed2_NC, p.up_CF, {gradients.up_CF, gradients.up_bias_F});
    const Tensor dmiddle_NC =
        norm_backward(dnormed2_NC, cache.norm2, w.ln2_gain_C, {gradients.ln2_gain_C, gradients.ln2_bias_C}).add_(dy_NC);

    const Tensor dattended_NC = linear_backward(undropped(dmiddle_NC, cache.merge_mask_NC), cache.attended_NC,
                                                p.merge_CC, {gradients.merge_CC, gradients.merge_bias_C});
    const Tensor dqkv_N3C = attend_backward(dattended_NC, attention_shape(in), kernel(), cache.attention);
    const Tensor dnormed1_NC =
        linear_backward(dqkv_N3C, cache.normed1_NC, p.qkv_C3C, {gradients.qkv_C3C, gradients.qkv_bias_3C});
    return norm_backward(dnormed1_NC, cache.norm1, w.ln1_gain_C, {gradients.ln1_gain_C, gradients.ln1_bias_C})
        .add_(dmiddle_NC);
}

/// Sum of -ln p(target); the logits of a large vocabulary are held a few rows at a time.
double Decoder::Network::cross_entropy(const Tensor& normed_NC, const Tensor& targets_N) const {
    double sum = 0;
    const std::int64_t rows = std::max<std::int64_t>(1, logits_at_once / spec.vocabulary);
    for (std::int64_t i = 0; i < normed_NC.size(0); i += rows) {
        const std::int64_t n = std::min(rows, normed_NC.size(0) - i);
        const Tensor logits_nV = at::mm(normed_NC.narrow(0, i, n), products.tokens_VC.t()).to(at::kFloat);
        const Tensor log_p_nV = at::log_softmax(logits_nV, -1);
        sum -= log_p_nV.gather(1, targets_N.narrow(0, i, n).unsqueeze(1)).sum(at::kDouble).item<double>();
    }
    return sum;
}

/// Gradient of the normed stream (fp32); adds to that of the tied weight. The derivative of the loss by the logits is
/// softmax - onehot. Gives an undefined tensor, and adds nothing, when the loss is not finite.
Tensor Decoder::Network::head_backward(const Tensor& normed_NC, const Tensor& targets_N, const Tensor& dtokens_VC,
                                   double scale, double& loss) const {
    const std::int64_t rows = std::max<std::int64_t>(1, logits_at_once / spec.vocabulary);
    std::vector<Tensor> pieces_nC;
    loss = 0;
    const Tensor sum_VC = normed_NC.size(0) > rows ? at::zeros_like(dtokens_VC) : Tensor();
    Tensor only_VC;
    for (std::int64_t i = 0; i < normed_NC.size(0); i += rows) {
        const std::int64_t n = std::min(rows, normed_NC.size(0) - i);
        const Tensor x_nC = normed_NC.narrow(0, i, n);
        const Tensor targets_n1 = targets_N.narrow(0, i, n).unsqueeze(1);
        const Tensor logits_nV = at::mm(x_nC, products.tokens_VC.t()).to(at::kFloat);
        Tensor d_nV = at::log_softmax(logits_nV, -1);
        loss -= d_nV.gather(1, targets_n1).sum(at::kDouble).item<double>();
        if (!std::isfinite(loss)) return {};
        d_nV.exp_();
        d_nV.scatter_add_(1, targets_n1, at::full({n, 1}, -1.0F)).mul_(scale);
        const Tensor dc_nV = d_nV.to(compute_type());
        pieces_nC.push_back(at::mm(dc_nV, products.tokens_VC).to(at::kFloat));
        const Tensor dtokens = at::mm(dc_nV.t(), x_nC);
        if (sum_VC.defined()) {
            sum_VC.add_(dtokens);
        } else {
            only_VC = dtokens;
        }
    }
    dtokens_VC.add_(sum_VC.defined() ? sum_VC : only_VC);
    return pieces_nC.size() == 1 ? pieces_nC.front() : at::cat(pieces_nC, 0);
}

double Decoder::Network::loss(std::span<const Token> records) {
    dropout = 0;
    const Targets in = targets_of(records);
    Tensor x_NC = embed(in);
    for (std::size_t i = 0; i < spec.layers; ++i) {
        LayerCache cache;
        x_NC = layer(i, x_NC, in, cache);
    }
    NormCache cache;
    const Tensor normed_NC = norm(x_NC, weights.lnf_gain_C, weights.lnf_bias_C, cache).to(compute_type());
    return cross_entropy(normed_NC, in.targets_N);
}

double Decoder::Network::add_gradient(const BackwardRequest& request) {
    POTLUCK_CHECK(request.gradient.size == spec.parameters());
    dropout = static_cast<double>(spec.dropout);
    if (dropout > 0) at::manual_seed(request.dropout_seed);
    const Tensor target = tensor_of(request.gradient);
    const bool direct = target.scalar_type() == at::kFloat;
    const Tensor sums = direct ? target : at::zeros_like(target, at::kFloat);
    const Weights gradients = views_of(spec, sums);

    const Targets in = targets_of(request.records);
    Tensor embed_mask_NC;
    Tensor x_NC = dropped(embed(in), embed_mask_NC);
    std::vector<LayerCache> caches(spec.layers);
    for (std::size_t i = 0; i < spec.layers; ++i) x_NC = layer(i, x_NC, in, caches[i]);
    NormCache final_norm;
    const Tensor normed_NC = norm(x_NC, weights.lnf_gain_C, weights.lnf_bias_C, final_norm).to(compute_type());

    double loss = 0;
    const Tensor dnormed_NC = head_backward(normed_NC, in.targets_N, gradients.tokens_VC, request.scale, loss);
    if (!dnormed_NC.defined()) return loss;
    Tensor dx_NC =
        norm_backward(dnormed_NC, final_norm, weights.lnf_gain_C, {gradients.lnf_gain_C, gradients.lnf_bias_C});
    for (std::size_t i = spec.layers; i-- > 0;) {
        dx_NC = layer_backward(i, dx_NC, in, caches[i], gradients.layers[i]);
        caches[i] = {};
    }
    embed_backward(embed_mask_NC.defined() ? dx_NC * embed_mask_NC : dx_NC, in, gradients);
    if (!direct) target.add_(sums);
    return loss;
}

/// Scores of the last `rows_wanted` positions of one sequence: (rows, V), fp32.
Tensor Decoder::Network::scores(std::span<const std::uint32_t> tokens, std::int64_t rows_wanted) {
    dropout = 0;
    const std::int64_t time = static_cast<std::int64_t>(tokens.size());
    const Tensor ids_N = at::empty({time}, at::kLong);
    for (std::size_t i = 0; i < tokens.size(); ++i) ids_N.data_ptr<std::int64_t>()[i] = tokens[i];
    const Targets in{ids_N, {}, 1, time};
    Tensor x_NC = embed(in);
    for (std::size_t i = 0; i < spec.layers; ++i) {
        LayerCache cache;
        x_NC = layer(i, x_NC, in, cache);
    }
    NormCache cache;
    const Tensor last_NC = x_NC.narrow(0, time - rows_wanted, rows_wanted);
    const Tensor normed_NC = norm(last_NC, weights.lnf_gain_C, weights.lnf_bias_C, cache).to(compute_type());
    return at::mm(normed_NC, products.tokens_VC.t()).to(at::kFloat).contiguous();
}

Decoder::Decoder(const run::ModelSpec& spec, const DecoderOptions& options) : m_network(std::make_unique<Network>()) {
    m_network->spec = spec;
    m_network->options = options;
}
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;
Decoder::~Decoder() = default;

Status Decoder::use_parameters(const FlatView& local) {
    return guarded([&]() -> Status {
        const c10::InferenceMode inference;
        m_network->bind(local);
        return {};
    });
}

Result<double> Decoder::loss_sum(std::span<const Token> records) {
    return guarded([&]() -> Result<double> {
        const c10::InferenceMode inference;
        return m_network->loss(records);
    });
}

Result<double> Decoder::add_gradient(const BackwardRequest& request) {
    return guarded([&]() -> Result<double> {
        const c10::InferenceMode inference;
        return m_network->add_gradient(request);
    });
}

Result<std::vector<float>> Decoder::logits(std::span<const std::uint32_t> tokens) {
    return guarded([&]() -> Result<std::vector<float>> {
        const c10::InferenceMode inference;
        const Tensor scores_TV = m_network->scores(tokens, static_cast<std::int64_t>(tokens.size()));
        const std::span<float> values = floats_of(scores_TV);
        return std::vector<float>(values.begin(), values.end());
    });
}

Result<std::vector<float>> Decoder::next_logits(std::span<const std::uint32_t> tokens) {
    return guarded([&]() -> Result<std::vector<float>> {
        const c10::InferenceMode inference;
        const Tensor scores_1V = m_network->scores(tokens, 1);
        const std::span<float> values = floats_of(scores_1V);
        return std::vector<float>(values.begin(), values.end());
    });
}

}  // namespace potluck::training
