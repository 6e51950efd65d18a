#include "core/training/other_model.h"

#include <algorithm>
#include <vector>

#include "core/training/make_model.h"
#include "core/training/vector_file.h"

namespace potluck::training {

Result<OtherModel> OtherModel::create(const TrainerSetup& setup) {
    const Layout& layout = setup.layout;
    const DeviceId home = layout.state == Residency::device ? layout.device : DeviceId{};
    Result<FlatVector> values = FlatVector::zeros(setup.model.parameters(), layout.weights, home);
    if (!values.ok()) return values.error();
    auto model = make_model(setup.model, {.device = layout.device,
                                          .matmul = layout.matmul,
                                          .attention = setup.attention,
                                          .weights_flow = layout.weights_flow});
    return OtherModel(*std::move(values), std::move(model));
}

Status OtherModel::load(const control::VectorFile& state, const Change& change) {
    m_owner.check();
    std::vector<float> changed(std::min<std::uint64_t>(vector_piece, m_values.size()));
    const Status read = for_each_piece(state, m_values.size(), [&](std::uint64_t begin, std::span<const float> piece) {
        const std::span<float> values = std::span(changed).first(piece.size());
        std::ranges::copy(piece, values.begin());
        change(begin, values);
        return m_values.write(begin, values);
    });
    return read.ok() ? m_model->use_parameters(m_values.view()) : read;
}

}  // namespace potluck::training
