// A model names its normalization rules in NormalizerSpec.precompiled_charsmap (sentencepiece_model.proto):
//
//   u32 bytes of the trie | trie: darts-clone units of 32 bits | replacements: strings that end with a zero byte
//
// A unit (darts-clone, Susumu Yata) holds the label of the edge that led to it in bits 0-7, "a key ends here" in bit 8
// and the distance to its children in bits 10-30, shifted by eight if bit 9 is set. The child for a byte lies at
// (position ^ distance) ^ byte, and counts if its label is that byte. Where a key ends, the unit at position ^ distance
// is a value instead: bit 31 is set and the rest says where the replacement begins.
//
// A walk is safe if every child of every unit that can be reached lies in the trie, no unit leads back to itself, no
// more keys end on one path than the library has room for, and every value points into the replacements.
#include "core/data/charsmap.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/bytes.h"

namespace potluck::data {

namespace {

constexpr std::uint32_t labels = 256;

enum WireType : unsigned { varint = 0, eight_bytes = 1, delimited = 2, four_bytes = 5 };
constexpr std::uint64_t normalizer_field = 3;    // ModelProto.normalizer_spec
constexpr std::uint64_t denormalizer_field = 5;  // ModelProto.denormalizer_spec
constexpr std::uint64_t charsmap_field = 2;      // NormalizerSpec.precompiled_charsmap

struct Field {
    std::uint64_t number = 0;
    std::string_view content;  // of a delimited field
};

/// The fields of a protobuf message, one after the other. Groups are refused: the format gave them up.
class Fields {
public:
    explicit Fields(std::string_view message) : m_rest(message) {}

    bool at_end() const { return m_rest.empty(); }
    std::optional<Field> next() {
        const auto tag = number();
        if (!tag || *tag > UINT32_MAX || *tag >> 3U == 0) return std::nullopt;
        std::optional<std::uint64_t> size = 0;
        switch (*tag & 7U) {
            case varint:
                if (!number()) return std::nullopt;
                break;
            case eight_bytes: size = 8; break;
            case four_bytes: size = 4; break;
            case delimited: size = number(); break;
            default: return std::nullopt;
        }
        if (!size || *size > m_rest.size()) return std::nullopt;
        const Field field{*tag >> 3U, (*tag & 7U) == delimited ? m_rest.substr(0, *size) : std::string_view()};
        m_rest.remove_prefix(*size);
        return field;
    }

private:
    std::optional<std::uint64_t> number() {
        std::uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_rest.empty(); shift += 7) {
            const auto byte = static_cast<std::uint8_t>(m_rest.front());
            m_rest.remove_prefix(1);
            value |= static_cast<std::uint64_t>(byte & 0x7fU) << shift;
            if ((byte & 0x80U) == 0) return value;
        }
        return std::nullopt;
    }

    std::string_view m_rest;
};

class Trie {
public:
    Trie(std::string_view bytes, std::string_view replacements)
        : m_units(bytes.size() / 4), m_replacement_bytes(static_cast<std::uint32_t>(replacements.size())) {
        ByteReader reader(as_bytes(bytes));
        for (std::uint32_t& unit : m_units) unit = reader.u32();
        m_keys_below.assign(m_units.size(), unseen);
    }

    /// Depth first from the root, without recursion: the depth is the stranger's choice.
    bool every_walk_is_safe() {
        if (m_units.empty() || !enter(0)) return false;
        while (!m_path.empty()) {
            Step& step = m_path.back();
            if (step.next_label == labels) {
                if (!leave()) return false;
                continue;
            }
            const std::uint32_t label = step.next_label++;
            const std::uint32_t child = step.children ^ label;
            if (label_of(m_units[child]) != label) continue;
            if (m_keys_below[child] == on_path) return false;
            if (m_keys_below[child] != unseen) {
                step.keys = std::max(step.keys, m_keys_below[child]);
            } else if (!enter(child)) {
                return false;
            }
        }
        return true;
    }

private:
    struct Step {
        std::uint32_t position;
        std::uint32_t children;
        std::uint32_t next_label;
        unsigned keys;  // the most that end on a path below this unit
    };
    static constexpr unsigned unseen = UINT32_MAX;
    static constexpr unsigned on_path = UINT32_MAX - 1;

    static std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000ffU; }
    static bool ends_key(std::uint32_t unit) { return (unit & 0x100U) != 0; }
    static std::uint32_t distance(std::uint32_t unit) { return unit >> 10U << ((unit & 0x200U) >> 6U); }

    bool enter(std::uint32_t position) {
        const std::uint32_t unit = m_units[position];
        const std::uint32_t children = position ^ distance(unit);
        if ((children | (labels - 1)) >= m_units.size()) return false;
        // A key that ends at the root would be empty; the library does not look there.
        if (position != 0 && ends_key(unit) && (m_units[children] & 0x7fffffffU) >= m_replacement_bytes) return false;
        m_keys_below[position] = on_path;
        m_path.push_back({position, children, 0, 0});
        return true;
    }

    bool leave() {
        const Step step = m_path.back();
        m_path.pop_back();
        const unsigned keys = step.keys + (step.position != 0 && ends_key(m_units[step.position]) ? 1 : 0);
        m_keys_below[step.position] = keys;
        if (!m_path.empty()) m_path.back().keys = std::max(m_path.back().keys, keys);
        return keys <= keys_on_path_max;
    }

    std::vector<std::uint32_t> m_units;
    std::uint32_t m_replacement_bytes;
    std::vector<unsigned> m_keys_below;  // or unseen, or on_path
    std::vector<Step> m_path;
};

bool charsmap_is_sound(std::string_view map) {
    if (map.empty()) return true;
    if (map.size() > charsmap_bytes_max || map.size() < 4) return false;
    const std::uint32_t trie_bytes = ByteReader(as_bytes(map)).u32();
    map.remove_prefix(4);
    if (trie_bytes >= map.size() || trie_bytes % 4 != 0 || map.back() != '\0') return false;
    return Trie(map.substr(0, trie_bytes), map.substr(trie_bytes)).every_walk_is_safe();
}

bool spec_is_sound(std::string_view spec) {
    Fields fields(spec);
    while (!fields.at_end()) {
        const auto field = fields.next();
        if (!field || (field->number == charsmap_field && !charsmap_is_sound(field->content))) return false;
    }
    return true;
}

}  // namespace

bool charsmaps_are_sound(std::string_view model) {
    Fields fields(model);
    while (!fields.at_end()) {
        const auto field = fields.next();
        if (!field) return false;
        const bool is_spec = field->number == normalizer_field || field->number == denormalizer_field;
        if (is_spec && !spec_is_sound(field->content)) return false;
    }
    return true;
}

}  // namespace potluck::data
