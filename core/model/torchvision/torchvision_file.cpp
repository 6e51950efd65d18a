#include "core/model/torchvision/torchvision_file.h"

#include <string>

#include "core/base/json.h"

namespace potluck::model {

namespace {

bool is_of_head(const TensorSpec& tensor) {
    return tensor.name.starts_with("projection_head.") || tensor.name.starts_with("prototypes.");
}

/// Tensors one behind the other, in 32 bits.
class SafetensorsWriter {
public:
    void add(const std::string& name, const std::vector<std::uint64_t>& shape, std::span<const float> values) {
        const ByteSpan bytes = std::as_bytes(values);
        const std::size_t begin = m_content.size(), end = begin + bytes.size();
        m_content.insert(m_content.end(), bytes.begin(), bytes.end());
        m_header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, end}}};
    }
    [[nodiscard]] Bytes file() const {
        std::string header = m_header.dump();
        header.resize((header.size() + 7) / 8 * 8, ' ');  // so that numbers are aligned
        ByteWriter out;
        out.u64(header.size());
        out.raw(as_bytes(header));
        out.raw(m_content);
        return out.take();
    }

private:
    nlohmann::json m_header = nlohmann::json::object();
    Bytes m_content;
};

}  // namespace

std::uint64_t norm_values(const ModelSpec& spec) {
    std::uint64_t channels = 0;
    for (const TensorSpec& tensor : tensors_of(spec))
        if (tensor.role == Role::gain && !is_of_head(tensor)) channels += tensor.elements();
    return 2 * channels;
}

Result<Bytes> torchvision_file(const ModelSpec& spec, std::span<const float> parameters, std::span<const float> norms) {
    if (parameters.size() != spec.parameters() || norms.size() != norm_values(spec))
        return Error{ErrorCode::malformed, "The trainer has measured other norms than the model has."};
    SafetensorsWriter file;
    for (const TensorSpec& tensor : tensors_of(spec)) {
        if (is_of_head(tensor)) continue;
        const std::size_t size = tensor.elements();
        file.add(tensor.name, tensor.shape, parameters.subspan(tensor.offset, size));
        if (tensor.role != Role::gain) continue;
        const std::string norm = tensor.name.substr(0, tensor.name.rfind('.'));
        file.add(norm + ".running_mean", {size}, norms.first(size));
        file.add(norm + ".running_var", {size}, norms.subspan(size, size));
        norms = norms.subspan(2 * size);
    }
    return file.file();
}

}  // namespace potluck::model
