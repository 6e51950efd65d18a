// Writing a header must be canonical, since the digest of a state covers it: keys are sorted by the JSON library, there
// are no blanks but the padding, and the padding fills the last 16 KiB block, so that the parameters begin at a block
// of the Merkle tree. A state is therefore recognised by comparing its header's bytes; it is never parsed.
//
// Reading any other safetensors header is for a stranger's file and bounded by its bytes: the length field by the file,
// ranks and names by limits, sizes by division before they are multiplied. Sorted by their beginning, the tensors must
// tile the content without a hole or an overlap, as the format demands.
#include "core/model/state_layout.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/base/json.h"
#include "core/base/merkle.h"

namespace potluck::model {

namespace {

constexpr std::size_t length_bytes = 8;
constexpr std::size_t rank_max = 16;
constexpr std::size_t tensor_name_max = 1024;
constexpr const char* metadata_name = "__metadata__";  // the one key of a header that is no tensor

/// One sentence from `fault`, which may be a sentence already.
Error malformed(const std::string& fault) {
    const std::string clause = fault.substr(0, fault.find_last_not_of('.') + 1);
    return Error{ErrorCode::malformed, "This safetensors header is unusable: " + clause + "."};
}

Error bad_state(const std::string& part) {
    return {ErrorCode::malformed, "This state file does not have the " + part + " of the run's model; fetch it again."};
}

/// Bytes per element; zero for a type this version does not know.
std::uint64_t width_of(std::string_view dtype) {
    struct Width {
        std::string_view dtype;
        std::uint64_t bytes;
    };
    static constexpr Width widths[] = {{"F64", 8}, {"I64", 8},  {"U64", 8},     {"C64", 8},    {"F32", 4}, {"I32", 4},
                                       {"U32", 4}, {"F16", 2},  {"BF16", 2},    {"I16", 2},    {"U16", 2}, {"I8", 1},
                                       {"U8", 1},  {"BOOL", 1}, {"F8_E4M3", 1}, {"F8_E5M2", 1}};
    for (const Width& width : widths) {
        if (width.dtype == dtype) return width.bytes;
    }
    return 0;
}

/// Product of the shape and the element's width; nothing if it passes `limit`.
std::optional<std::uint64_t> bytes_of(const std::vector<std::uint64_t>& shape, std::uint64_t width,
                                      std::uint64_t limit) {
    if (std::find(shape.begin(), shape.end(), 0U) != shape.end()) return 0;
    std::uint64_t bytes = width;
    for (const std::uint64_t dimension : shape) {
        if (dimension > limit / bytes) return std::nullopt;
        bytes *= dimension;
    }
    return bytes;
}

/// An array of at most `most` integers that are not negative.
std::optional<std::vector<std::uint64_t>> counts_of(const nlohmann::json& array, std::size_t most) {
    if (!array.is_array() || array.size() > most) return std::nullopt;
    std::vector<std::uint64_t> counts;
    for (const nlohmann::json& item : array) {
        if (!item.is_number_unsigned()) return std::nullopt;
        counts.push_back(item.get<std::uint64_t>());
    }
    return counts;
}

Result<SafetensorsEntry> parse_entry(const std::string& name, const nlohmann::json& object, std::uint64_t content) {
    Fields fields(object, "tensor");
    SafetensorsEntry entry;
    entry.name = name;
    entry.dtype = fields.text("dtype", 16);
    const auto shape = counts_of(fields.array("shape", rank_max), rank_max);
    const auto range = counts_of(fields.array("data_offsets", 2), 2);
    if (const Status status = fields.finish(); !status) return malformed(status.error().message);
    if (!shape || !range || range->size() != 2) return malformed("a shape or range is not made of whole numbers");
    entry.shape = *shape;
    entry.begin = range->front();
    entry.end = range->back();
    if (entry.begin > entry.end || entry.end > content) return malformed("a tensor lies outside the file");
    const std::uint64_t width = width_of(entry.dtype);
    if (width == 0) return malformed("a tensor has a type this version does not know");
    const std::optional<std::uint64_t> bytes = bytes_of(entry.shape, width, content);
    if (!bytes || *bytes != entry.end - entry.begin) return malformed("a tensor's range does not fit its shape");
    return entry;
}

bool is_metadata(const nlohmann::json& object) {
    if (!object.is_object()) return false;
    return std::all_of(object.begin(), object.end(), [](const nlohmann::json& value) { return value.is_string(); });
}

/// The JSON object between the length field and the content.
Result<nlohmann::json> header_object(ByteSpan start, std::uint64_t file_size) {
    ByteReader in(start);
    const std::uint64_t length = in.u64();
    if (in.failed() || file_size < length_bytes) return malformed("the file is shorter than eight bytes");
    if (length > safetensors_header_max) return malformed("it is larger than 16 MiB");
    if (length > file_size - length_bytes || length > in.remaining()) return malformed("it is cut short");
    std::string_view text = as_text(in.raw(length));
    if (text.empty() || text.front() != '{') return malformed("it does not begin with an object");
    text = text.substr(0, text.find_last_not_of(' ') + 1);
    Result<nlohmann::json> json = parse_json(text, safetensors_header_max);
    if (!json) return malformed(json.error().message);
    if (!json->is_object()) return malformed("it is not an object");
    const std::size_t metadata = json->contains(metadata_name) ? 1 : 0;
    if (json->size() - metadata > safetensors_tensors_max) return malformed("it names more than 65,536 tensors");
    return json;
}

}  // namespace

StateLayout state_layout(const ModelSpec& spec) {
    nlohmann::json header = {{metadata_name, {{"format", "pt"}}}};
    StateLayout layout;
    for (const TensorSpec& tensor : tensors_of(spec)) {
        const std::uint64_t end = tensor.offset + tensor.elements();
        header[tensor.name] = {
            {"dtype", "F32"}, {"shape", tensor.shape}, {"data_offsets", {4 * tensor.offset, 4 * end}}};
        layout.parameters = end;
    }
    std::string text = header.dump();
    const std::size_t blocks = (length_bytes + text.size() + merkle_block_size - 1) / merkle_block_size;
    text.resize(blocks * merkle_block_size - length_bytes, ' ');
    ByteWriter out;
    out.u64(text.size());
    out.raw(as_bytes(text));
    layout.header = out.take();
    return layout;
}

Result<std::span<const float>> parameters_of(const StateLayout& layout, ByteSpan file) {
    if (file.size() != layout.file_size()) {
        return bad_state("size");
    }
    if (!std::equal(layout.header.begin(), layout.header.end(), file.begin())) {
        return bad_state("header");
    }
    const std::byte* first = file.data() + layout.header.size();
    POTLUCK_CHECK(reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0);
    return std::span(reinterpret_cast<const float*>(first), static_cast<std::size_t>(layout.parameters));
}

Result<std::vector<SafetensorsEntry>> parse_safetensors_header(ByteSpan start, std::uint64_t file_size) {
    const Result<nlohmann::json> header = header_object(start, file_size);
    if (!header) return header.error();
    ByteReader in(start);
    const std::uint64_t content = file_size - length_bytes - in.u64();
    std::vector<SafetensorsEntry> entries;
    for (const auto& [name, object] : header->items()) {
        if (name == metadata_name) {
            if (!is_metadata(object)) return malformed("its metadata are not strings");
            continue;
        }
        if (name.empty() || name.size() > tensor_name_max) return malformed("a tensor's name is empty or too long");
        Result<SafetensorsEntry> entry = parse_entry(name, object, content);
        if (!entry) return entry.error();
        entries.push_back(std::move(*entry));
    }
    std::sort(entries.begin(), entries.end(), [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
    });
    std::uint64_t next = 0;  // the format allows neither holes nor overlaps
    for (const SafetensorsEntry& entry : entries) {
        if (entry.begin != next) return malformed("tensors overlap or leave a hole");
        next = entry.end;
    }
    if (next != content) return malformed("the tensors do not fill the file");
    return entries;
}

}  // namespace potluck::model
