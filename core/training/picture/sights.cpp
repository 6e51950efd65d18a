// Gathered attention is two attentions whose results are put together by their log-sum-exps: one of all rows to the
// caption's keys, causal as far as the caption goes, by LibTorch's fused kernel; one of each group of codes to the keys
// that it may see, by products and a softmax, for those groups are small.
//
//   out = sum over both of exp(lse_part - lse) out_part,   lse = log(sum over both of exp(lse_part))
//
// The backward pass of either part needs only the whole's `out` and `lse`: the probabilities are exp(score - lse),
// whichever part a key is in, and what a row's scores have in common is the product of dout and out (FlashAttention-2,
// Dao 2023, section 3.1; put together as in ring attention, Liu et al. 2023).
//
// Groups are a picture's lines; with Sight::column its columns; with Sight::near lines that see themselves and the two
// above, of which a mask leaves the five nearest columns. A prefix of a record ends within a line: its last line is
// filled up with zeros that no code sees, because they come after all codes.
//
// The plain version is the dense one: its mask is written cell by cell from `sees`, from which the groups' masks are
// made, too. A test holds results and gradients of both together.
#include "core/training/picture/sights.h"

#include <torch/csrc/autograd/custom_function.h>

#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace potluck::training {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Lines that a group of Sight::near sees: its own and those in reach above.
constexpr std::int64_t near_lines = model::dalle_reach + 1;

/// Whether a row sees another of the same record.
bool sees(const model::DalleShape& shape, model::Sight sight, std::uint32_t row, std::uint32_t other) {
    if (other > row) return false;
    const std::uint32_t first = shape.text + 1;  // row of the first code
    if (row < first || other < first) return true;
    const std::uint32_t y = (row - first) / shape.grid, x = (row - first) % shape.grid;
    const std::uint32_t other_y = (other - first) / shape.grid, other_x = (other - first) % shape.grid;
    switch (sight) {
        case model::Sight::row: return other_y == y;
        case model::Sight::column: return other_x == x;
        case model::Sight::near: break;
    }
    const std::uint32_t apart = other_x > x ? other_x - x : x - other_x;
    return y - other_y <= model::dalle_reach && apart <= model::dalle_reach;
}

/// Zero where `is_seen(group, query, key)`, else minus infinity.
template <class IsSeen>
Tensor mask_of(std::int64_t groups, std::int64_t queries, std::int64_t keys, const IsSeen& is_seen) {
    Tensor mask_GQK = at::full({groups, queries, keys}, -std::numeric_limits<float>::infinity(), at::kFloat);
    float* cell = mask_GQK.mutable_data_ptr<float>();
    for (std::int64_t group = 0; group < groups; ++group)
        for (std::int64_t query = 0; query < queries; ++query)
            for (std::int64_t key = 0; key < keys; ++key, ++cell)
                if (is_seen(group, query, key)) *cell = 0;
    return mask_GQK;
}

Tensor dense_mask(const model::ModelSpec& spec, model::Sight sight) {
    const std::int64_t rows = spec.context;
    return mask_of(1, rows, rows,
                   [&](std::int64_t, std::int64_t row, std::int64_t other) {
                       return sees(spec.dalle, sight, static_cast<std::uint32_t>(row),
                                   static_cast<std::uint32_t>(other));
                   })
        .squeeze(0);
}

/// What the queries of a group see of the group's keys; all lines and all columns do so alike.
Tensor group_mask(const model::ModelSpec& spec, model::Sight sight) {
    const std::int64_t grid = spec.dalle.grid;
    const auto row_of = [&](std::int64_t y, std::int64_t x) {
        return static_cast<std::uint32_t>(spec.dalle.text + 1 + y * grid + x);
    };
    if (sight == model::Sight::near) {
        return mask_of(grid, grid, near_lines * grid, [&](std::int64_t y, std::int64_t x, std::int64_t key) {
            const std::int64_t other_y = y + key / grid - model::dalle_reach;
            return other_y >= 0 && sees(spec.dalle, sight, row_of(y, x), row_of(other_y, key % grid));
        });
    }
    return mask_of(1, grid, grid, [&](std::int64_t, std::int64_t query, std::int64_t key) {
        return sight == model::Sight::row ? sees(spec.dalle, sight, row_of(0, query), row_of(0, key))
                                          : sees(spec.dalle, sight, row_of(query, 0), row_of(key, 0));
    });
}

/// Codes of B records and H heads in groups, and back. N is B H groups, Q queries of a group, K keys of a group.
struct Groups {
    model::Sight sight;
    std::int64_t batch, heads, codes, grid;

    [[nodiscard]] std::int64_t lines() const { return (codes + grid - 1) / grid; }
    [[nodiscard]] std::int64_t count() const { return sight == model::Sight::column ? grid : lines(); }

    /// (B, H, lines, grid, D), of which the last codes may be zeros.
    [[nodiscard]] Tensor lined(const Tensor& codes_BHPD) const {
        const std::int64_t missing = lines() * grid - codes;
        const Tensor whole = missing == 0 ? codes_BHPD : at::constant_pad_nd(codes_BHPD, {0, 0, 0, missing});
        return whole.unflatten(2, {lines(), grid});
    }
    [[nodiscard]] Tensor grouped(const Tensor& codes_BHPD) const {
        const Tensor lined_BHLGD = lined(codes_BHPD);
        return (sight == model::Sight::column ? lined_BHLGD.transpose(2, 3) : lined_BHLGD).flatten(0, 2);
    }
    [[nodiscard]] Tensor ungrouped(const Tensor& grouped_NQD) const {
        const Tensor x_BHGQD = grouped_NQD.unflatten(0, {batch, heads, count()});
        return (sight == model::Sight::column ? x_BHGQD.transpose(2, 3) : x_BHGQD).flatten(2, 3).narrow(2, 0, codes);
    }
    /// What each group may see of the codes.
    [[nodiscard]] Tensor seen(const Tensor& codes_BHPD) const {
        if (sight != model::Sight::near) return grouped(codes_BHPD);
        return at::constant_pad_nd(lined(codes_BHPD), {0, 0, 0, 0, model::dalle_reach, 0})
            .unfold(2, near_lines, 1)
            .permute({0, 1, 2, 5, 3, 4})
            .reshape({batch * heads * count(), near_lines * grid, codes_BHPD.size(3)});
    }
    /// The transpose of `seen`: sums over all groups that see a code.
    [[nodiscard]] Tensor unseen(const Tensor& seen_NKD) const {
        if (sight != model::Sight::near) return ungrouped(seen_NKD);
        const Tensor windows = seen_NKD.unflatten(0, {batch, heads, count()}).unflatten(3, {near_lines, grid});
        const Tensor sums =
            at::zeros({batch, heads, count() + model::dalle_reach, grid, seen_NKD.size(2)}, seen_NKD.options());
        for (std::int64_t line = 0; line < near_lines; ++line)
            sums.narrow(2, line, count()).add_(windows.select(3, line));
        return sums.narrow(2, model::dalle_reach, count()).flatten(2, 3).narrow(2, 0, codes);
    }
    /// Scores of each group, masked; `mask_GQK` is that of whole pictures.
    [[nodiscard]] Tensor scores(const Tensor& q_NQD, const Tensor& k_NKD, const Tensor& mask_GQK, double scale) const {
        const Tensor scores_NQK = at::bmm(q_NQD, k_NKD.transpose(1, 2)).mul_(scale);
        const std::int64_t groups = sight == model::Sight::near ? count() : 1;
        const std::int64_t keys = sight == model::Sight::near ? mask_GQK.size(2) : q_NQD.size(1);
        scores_NQK.unflatten(0, {batch * heads, count()})
            .add_(mask_GQK.narrow(0, 0, groups).narrow(1, 0, q_NQD.size(1)).narrow(2, 0, keys));
        return scores_NQK;
    }
};

/// Queries, keys and values of all rows; what of them is the caption's and what the codes'.
struct Rows {
    Tensor q_BHTD, k_BHTD, v_BHTD;
    std::int64_t text, codes;
    Groups groups;
    double scale;

    Rows(const Tensor& qkv_3BHTD, std::int64_t text_rows, std::int64_t grid, model::Sight sight)
        : q_BHTD(qkv_3BHTD[0]),
          k_BHTD(qkv_3BHTD[1]),
          v_BHTD(qkv_3BHTD[2]),
          text(std::min(text_rows, qkv_3BHTD.size(3))),
          codes(qkv_3BHTD.size(3) - text),
          groups{sight, qkv_3BHTD.size(1), qkv_3BHTD.size(2), codes, grid},
          scale(1 / std::sqrt(static_cast<double>(qkv_3BHTD.size(4)))) {}
    [[nodiscard]] Tensor of_text(const Tensor& x_BHTD) const { return x_BHTD.narrow(2, 0, text); }
    [[nodiscard]] Tensor of_codes(const Tensor& x_BHTD) const { return x_BHTD.narrow(2, text, codes); }
};

class Gathered : public torch::autograd::Function<Gathered> {
public:
    static Tensor forward(AutogradContext* context, const Tensor& qkv_3BHTD, const Tensor& mask_GQK,
                          std::int64_t text_rows, std::int64_t grid, std::int64_t sight) {
        const Rows rows(qkv_3BHTD, text_rows, grid, static_cast<model::Sight>(sight));
        const auto [out_BHTD, lse_BHT] = at::_scaled_dot_product_flash_attention_for_cpu(
            rows.q_BHTD, rows.of_text(rows.k_BHTD), rows.of_text(rows.v_BHTD), 0.0, /*is_causal=*/true);
        if (rows.codes > 0) {
            const Groups& groups = rows.groups;
            const Tensor scores_NQK = groups.scores(groups.grouped(rows.of_codes(rows.q_BHTD)),
                                                    groups.seen(rows.of_codes(rows.k_BHTD)), mask_GQK, rows.scale);
            const Tensor own_lse_NQ = at::logsumexp(scores_NQK, {2}, /*keepdim=*/true);
            const Tensor text_lse_BHP = rows.of_codes(lse_BHT);
            const Tensor whole_BHP = at::logaddexp(text_lse_BHP, groups.ungrouped(own_lse_NQ).squeeze(3));
            const Tensor shares_NQK = scores_NQK.sub_(groups.grouped(whole_BHP.unsqueeze(3))).exp_();
            rows.of_codes(out_BHTD)
                .mul_((text_lse_BHP - whole_BHP).exp_().unsqueeze(3))
                .add_(groups.ungrouped(at::bmm(shares_NQK, groups.seen(rows.of_codes(rows.v_BHTD)))));
            text_lse_BHP.copy_(whole_BHP);
        }
        context->save_for_backward({qkv_3BHTD, mask_GQK, out_BHTD, lse_BHT});
        context->saved_data["text_rows"] = text_rows;
        context->saved_data["grid"] = grid;
        context->saved_data["sight"] = sight;
        return out_BHTD.transpose(1, 2).flatten(2);
    }

    static variable_list backward(AutogradContext* context, const variable_list& douts) {
        const variable_list saved = context->get_saved_variables();
        const Tensor &qkv_3BHTD = saved[0], &mask_GQK = saved[1], &out_BHTD = saved[2], &lse_BHT = saved[3];
        const Rows rows(qkv_3BHTD, context->saved_data["text_rows"].toInt(), context->saved_data["grid"].toInt(),
                        static_cast<model::Sight>(context->saved_data["sight"].toInt()));
        const Tensor dout_BHTD = douts[0].unflatten(2, {qkv_3BHTD.size(2), qkv_3BHTD.size(4)}).transpose(1, 2);
        const auto [dq_BHTD, dk_BHFD, dv_BHFD] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
            dout_BHTD, rows.q_BHTD, rows.of_text(rows.k_BHTD), rows.of_text(rows.v_BHTD), out_BHTD, lse_BHT, 0.0,
            /*is_causal=*/true);
        const Tensor dqkv_3BHTD = at::empty_like(qkv_3BHTD);
        dqkv_3BHTD[0].copy_(dq_BHTD);
        rows.of_text(dqkv_3BHTD[1]).copy_(dk_BHFD);
        rows.of_text(dqkv_3BHTD[2]).copy_(dv_BHFD);
        if (rows.codes > 0) add_codes(rows, mask_GQK, out_BHTD, lse_BHT, dout_BHTD, dqkv_3BHTD);
        return {dqkv_3BHTD, {}, {}, {}, {}};
    }

private:
    /// What comes through the keys and values of codes.
    static void add_codes(const Rows& rows, const Tensor& mask_GQK, const Tensor& out_BHTD, const Tensor& lse_BHT,
                          const Tensor& dout_BHTD, const Tensor& dqkv_3BHTD) {
        const Groups& groups = rows.groups;
        const Tensor q_NQD = groups.grouped(rows.of_codes(rows.q_BHTD));
        const Tensor k_NKD = groups.seen(rows.of_codes(rows.k_BHTD));
        const Tensor lse_NQ1 = groups.grouped(rows.of_codes(lse_BHT).unsqueeze(3));
        const Tensor shares_NQK = groups.scores(q_NQD, k_NKD, mask_GQK, rows.scale).sub_(lse_NQ1).exp_();
        const Tensor dout_BHPD = rows.of_codes(dout_BHTD), dout_NQD = groups.grouped(dout_BHPD);
        const Tensor common_NQ1 = groups.grouped((dout_BHPD * rows.of_codes(out_BHTD)).sum(3, /*keepdim=*/true));
        rows.of_codes(dqkv_3BHTD[2]).copy_(groups.unseen(at::bmm(shares_NQK.transpose(1, 2), dout_NQD)));
        const Tensor dscores_NQK = at::bmm(dout_NQD, groups.seen(rows.of_codes(rows.v_BHTD)).transpose(1, 2))
                                       .sub_(common_NQ1)
                                       .mul_(shares_NQK)
                                       .mul_(rows.scale);
        rows.of_codes(dqkv_3BHTD[0]).add_(groups.ungrouped(at::bmm(dscores_NQK, k_NKD)));
        rows.of_codes(dqkv_3BHTD[1]).copy_(groups.unseen(at::bmm(dscores_NQK.transpose(1, 2), q_NQD)));
    }
};

}  // namespace

SightAttention::SightAttention(const model::ModelSpec& spec, at::Device device, SightKernel kernel)
    : m_spec(spec), m_kernel(kernel) {
    POTLUCK_CHECK(kernel == SightKernel::dense || device.is_cpu());
    for (const model::Sight sight : {model::Sight::row, model::Sight::column, model::Sight::near}) {
        const Tensor mask = kernel == SightKernel::dense ? dense_mask(spec, sight) : group_mask(spec, sight);
        m_masks[static_cast<std::size_t>(sight)] = mask.to(device);
    }
}

Tensor SightAttention::operator()(const Tensor& qkv_3BHTD, model::Sight sight) const {
    const Tensor& mask = m_masks[static_cast<std::size_t>(sight)];
    const std::int64_t rows = qkv_3BHTD.size(3);
    if (m_kernel == SightKernel::gathered) {
        return Gathered::apply(qkv_3BHTD, mask, std::int64_t{m_spec.dalle.text} + 1, std::int64_t{m_spec.dalle.grid},
                               static_cast<std::int64_t>(sight));
    }
    const Tensor mask_TT = mask.narrow(0, 0, rows).narrow(1, 0, rows);
    return at::scaled_dot_product_attention(qkv_3BHTD[0], qkv_3BHTD[1], qkv_3BHTD[2], mask_TT, 0.0, false)
        .transpose(1, 2)
        .flatten(2);
}

}  // namespace potluck::training
