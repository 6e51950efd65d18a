// Reads the headers of all files into one map from canonical tensor name to bytes, then walks the model's own list of
// tensors: each is taken out of the map, its shape compared, its values converted into their place in `out`. What is
// left in the map at the end is an error, so on success every value of the model was written once and no tensor of the
// checkpoint was overlooked.
//
// Two tensors differ from the model's list. Positions may have more rows than the model's context; the first ones are
// used. Where the output head is tied to the embedding, a checkpoint may hold it under either name, and a head of its
// own is accepted only if it equals the embedding value by value.
//
// Source: the safetensors format. A family's names are in its row (families.h).
#include "core/model/hf_checkpoint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "core/base/half.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/families.h"
#include "core/model/state_layout.h"

namespace potluck::model {

namespace {

constexpr std::size_t file_name_max = 255;
constexpr std::size_t shown_name = 80;

Error unusable(std::string message) { return {ErrorCode::malformed, std::move(message)}; }

std::string shown(std::string_view text) { return printable_ascii(text, shown_name); }

std::string shown(const std::vector<std::uint64_t>& shape) {
    std::string out = "[";
    for (const std::uint64_t dimension : shape) out += (out.size() > 1 ? ", " : "") + std::to_string(dimension);
    return out + "]";
}

/// The name as tensors_of() has it.
std::string canonical_name(const HuggingFaceNames& names, std::string_view name) {
    return name == head_name || names.canonical == nullptr ? std::string(name) : names.canonical(name);
}

/// One tensor of one file.
struct Found {
    SafetensorsEntry entry;
    ByteSpan bytes;
};
using FoundTensors = std::map<std::string, Found, std::less<>>;

template <class Bits>
Bits bits_at(ByteSpan bytes, std::size_t index) {
    Bits bits;
    std::memcpy(&bits, bytes.data() + index * sizeof(Bits), sizeof(Bits));
    return bits;
}

bool is_known_type(std::string_view dtype) { return dtype == "F32" || dtype == "F16" || dtype == "BF16"; }

/// Calls `use(i, value)` for the first `count` values of a tensor of a known type.
template <class Use>
void each_value(const Found& found, std::size_t count, const Use& use) {
    const ByteSpan bytes = found.bytes;
    if (found.entry.dtype == "F32") {
        for (std::size_t i = 0; i < count; ++i) use(i, std::bit_cast<float>(bits_at<std::uint32_t>(bytes, i)));
    } else if (found.entry.dtype == "F16") {
        for (std::size_t i = 0; i < count; ++i) use(i, fp16_to_fp32(bits_at<std::uint16_t>(bytes, i)));
    } else {
        for (std::size_t i = 0; i < count; ++i) {
            use(i, to_fp32(Bf16{bits_at<std::uint16_t>(bytes, i)}));
        }
    }
}

Status take_entries(const HuggingFaceNames& names, const CheckpointFile& file, FoundTensors& tensors) {
    auto entries = parse_safetensors_header(file.bytes, file.bytes.size());
    if (!entries) return Error{entries.error().code, shown(file.name) + ": " + entries.error().message};
    ByteReader in(file.bytes);
    const std::size_t header = 8 + static_cast<std::size_t>(in.u64());
    for (SafetensorsEntry& entry : *entries) {
        std::string name = canonical_name(names, entry.name);
        if (names.is_left_out != nullptr && names.is_left_out(name)) continue;
        const auto begin = static_cast<std::size_t>(entry.begin);
        const ByteSpan bytes = file.bytes.subspan(header + begin, static_cast<std::size_t>(entry.end) - begin);
        if (tensors.contains(name)) return unusable("The checkpoint holds the tensor " + shown(entry.name) + " twice.");
        if (!is_known_type(entry.dtype)) {
            return unusable("The tensor " + shown(entry.name) + " of the checkpoint is " + shown(entry.dtype) +
                            "; take a checkpoint in fp32, bf16 or fp16.");
        }
        tensors.emplace(std::move(name), Found{std::move(entry), bytes});
    }
    return {};
}

/// Does the shape fit? Of a tensor of positions the checkpoint may hold more rows.
Status check_shape(const TensorSpec& wanted, const Found& found, std::uint64_t more_rows) {
    std::vector<std::uint64_t> shape = wanted.shape;
    shape.front() += more_rows;
    if (found.entry.shape == shape) return {};
    return unusable("The tensor " + wanted.name + " of the checkpoint is " + shown(found.entry.shape) +
                    " where config.json says " + shown(shape) + ".");
}

Status take_values(const TensorSpec& wanted, const Found& found, std::span<float> out) {
    bool finite = true;
    each_value(found, out.size(), [&](std::size_t i, float value) {
        out[i] = value;
        finite = finite && std::isfinite(value);
    });
    if (finite) return {};
    return unusable("The tensor " + wanted.name + " of the checkpoint holds a value that is not a finite number.");
}

/// The head is the embedding in such models; a head of its own would be lost.
Status check_head(const Found& head, const TensorSpec& embedding, std::span<const float> values) {
    bool equal = head.entry.shape == embedding.shape;
    if (equal)
        each_value(head, values.size(), [&](std::size_t i, float value) { equal = equal && value == values[i]; });
    if (equal) return {};
    const std::string what = embedding.role == Role::embedding ? "embedding " : "";
    return unusable("The checkpoint's head " + shown(head.entry.name) + " is not its " + what + embedding.name +
                    ", which this version cannot train.");
}

bool is_file_name(const std::string& name) {
    return name.size() <= file_name_max && name.ends_with(".safetensors") && !name.starts_with('.') &&
           name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos;
}

}  // namespace

Result<std::vector<std::string>> checkpoint_files(ByteSpan index) {
    const auto unusable_index = [](const std::string& fault) {
        return unusable("The checkpoint's model.safetensors.index.json is unusable: " + fault);
    };
    const auto json = parse_json(as_text(index), checkpoint_index_bytes_max);
    if (!json) return unusable_index(json.error().message);
    const auto map = json->is_object() ? json->find("weight_map") : json->end();
    if (map == json->end() || !map->is_object()) return unusable_index("it has no weight_map.");
    std::set<std::string> names;
    for (const nlohmann::json& value : *map) {
        const auto* name = value.get_ptr<const std::string*>();
        if (name == nullptr || !is_file_name(*name))
            return unusable_index("its weight_map names something that is no file.");
        names.insert(*name);
        if (names.size() > checkpoint_files_max) return unusable_index("it names more than 4,096 files.");
    }
    if (names.empty()) return unusable_index("it names no file.");
    return std::vector<std::string>(names.begin(), names.end());
}

Status read_checkpoint(const ModelSpec& model, std::uint32_t stored_context, std::span<const CheckpointFile> files,
                       std::span<float> out) {
    POTLUCK_CHECK(out.size() == model.parameters() && stored_context >= model.context);
    const HuggingFaceNames& names = row_of(model.family).hugging_face;
    FoundTensors tensors;
    for (const CheckpointFile& file : files) {
        if (const Status taken = take_entries(names, file, tensors); !taken) return taken;
    }
    const std::vector<TensorSpec> wanted = tensors_of(model);
    const bool own_head = std::ranges::any_of(wanted, [](const TensorSpec& one) { return one.role == Role::head; });
    auto head = own_head ? FoundTensors::node_type() : tensors.extract(std::string(head_name));
    if (head && !tensors.contains(wanted.front().name)) {  // tied tensors are stored once, under either name
        head.key() = wanted.front().name;
        tensors.insert(std::move(head));
        head = {};
    }
    for (const TensorSpec& tensor : wanted) {
        const auto found = tensors.extract(tensor.name);
        if (!found) return unusable("The checkpoint lacks the tensor " + tensor.name + ".");
        const std::uint64_t more_rows = tensor.role == Role::positions ? stored_context - model.context : 0;
        if (const Status fits = check_shape(tensor, found.mapped(), more_rows); !fits) return fits;
        const std::span<float> values = out.subspan(tensor.offset, tensor.elements());
        if (const Status taken = take_values(tensor, found.mapped(), values); !taken) return taken;
    }
    const auto twin =
        names.twin_of_last.empty() ? FoundTensors::node_type() : tensors.extract(std::string(names.twin_of_last));
    if (twin) {
        const TensorSpec& bias = wanted.back();
        const Status same = check_head(twin.mapped(), bias, out.subspan(bias.offset, bias.elements()));
        if (!same) return same;
    }
    if (!tensors.empty()) {
        return unusable("The checkpoint holds the tensor " + shown(tensors.begin()->second.entry.name) +
                        ", which its config.json does not lead to.");
    }
    if (!head) return {};
    const TensorSpec& embedding = wanted.front();
    return check_head(head.mapped(), embedding, out.subspan(embedding.offset, embedding.elements()));
}

}  // namespace potluck::model
