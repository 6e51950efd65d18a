// Parses in two passes over at most `limit` bytes. The first, without building anything, refuses nesting deeper than 16
// levels and a key that occurs twice, both of which nlohmann's parser accepts (of equal keys it keeps the last, so two
// programs could read one signed text differently). The second builds the value; exceptions are off.
//
// A Fields reader keeps the first error only. After it every read still returns a value within its bounds, and the
// shared null value stands for a missing object, so that a parser of a stranger's text needs no branch per field and
// never indexes beyond what it asked for. `finish` compares the names that were asked for with those present: the set
// of fields is closed.
#include "core/base/json.h"

#include <cmath>
#include <vector>

#include "core/base/text.h"

namespace potluck {

namespace {

constexpr int levels_max = 16;
const nlohmann::json null_value;

/// Reads ahead of the parser for what it would let pass: deep nesting and a key that comes twice. It is a pass of its
/// own, because a parser with a callback searches the whole outer object whenever an inner one ends.
class Guard final : public nlohmann::json_sax<nlohmann::json> {
public:
    bool start_object(std::size_t) override {
        m_keys.emplace_back();
        return enter();
    }
    bool key(string_t& name) override {
        if (!m_keys.back().insert(name).second) note("has the same key twice");
        return true;
    }
    bool end_object() override {
        m_keys.pop_back();
        return leave();
    }
    bool start_array(std::size_t) override { return enter(); }
    bool end_array() override { return leave(); }

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

    [[nodiscard]] const char* fault() const { return m_fault; }

private:
    bool enter() {
        if (m_depth++ >= levels_max) note("is nested too deeply");
        return true;
    }
    bool leave() {
        --m_depth;
        return true;
    }
    void note(const char* fault) {
        if (m_fault == nullptr) m_fault = fault;
    }
    std::vector<std::set<std::string>> m_keys;
    int m_depth = 0;
    const char* m_fault = nullptr;
};

Error malformed(std::string message) { return {ErrorCode::malformed, std::move(message)}; }

/// `name` as it may appear in a message: a peer chose it.
std::string shown(std::string_view name) { return '"' + printable_ascii(name, 40) + '"'; }

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, std::size_t limit) {
    if (text.size() > limit) return malformed("This JSON text is larger than " + std::to_string(limit) + " bytes.");
    Guard guard;
    if (!nlohmann::json::sax_parse(text, &guard)) return malformed("This text is not valid JSON.");
    if (guard.fault() != nullptr) return malformed(std::string("This JSON text ") + guard.fault() + ".");
    return nlohmann::json::parse(text, nullptr, false);
}

Fields::Fields(const nlohmann::json& object, std::string_view what) : m_object(object), m_what(what) {
    if (!m_object.is_object()) fail("is not a JSON object");
}

bool Fields::has(std::string_view name) const { return m_object.is_object() && m_object.contains(name); }

const nlohmann::json* Fields::find(std::string_view name) {
    m_asked.emplace(name);
    if (!m_object.is_object()) return nullptr;
    const auto found = m_object.find(name);
    if (found != m_object.end()) return &*found;
    fail("lacks " + shown(name));
    return nullptr;
}

std::string Fields::text(std::string_view name, std::size_t limit) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return {};
    const auto* text = value->get_ptr<const std::string*>();
    if (text == nullptr) {
        fail(shown(name) + " is not a text");
        return {};
    }
    if (text->size() > limit) {
        fail(shown(name) + " is longer than " + std::to_string(limit) + " bytes");
        return {};
    }
    return *text;
}

std::uint64_t Fields::integer(std::string_view name, std::uint64_t low, std::uint64_t high) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return low;
    // A parsed non-negative integer is unsigned; one that a program put there may be signed.
    const bool natural = value->is_number_unsigned() || (value->is_number_integer() && value->get<std::int64_t>() >= 0);
    const std::uint64_t number = natural ? value->get<std::uint64_t>() : 0;
    if (natural && number >= low && number <= high) return number;
    fail(shown(name) + " is not a whole number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
}

double Fields::number(std::string_view name, double low, double high) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return low;
    const double number = value->is_number() ? value->get<double>() : std::nan("");
    if (number >= low && number <= high) return number;
    fail(shown(name) + " is not a number from " + std::to_string(low) + " to " + std::to_string(high));
    return low;
}

bool Fields::flag(std::string_view name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return false;
    if (value->is_boolean()) return value->get<bool>();
    fail(shown(name) + " is neither true nor false");
    return false;
}

std::string Fields::text_or(std::string_view name, std::size_t limit, std::string_view fallback) {
    m_asked.emplace(name);
    return has(name) ? text(name, limit) : std::string(fallback);
}

std::uint64_t Fields::integer_or(std::string_view name, std::uint64_t low, std::uint64_t high, std::uint64_t fallback) {
    m_asked.emplace(name);
    return has(name) ? integer(name, low, high) : fallback;
}

double Fields::number_or(std::string_view name, double low, double high, double fallback) {
    m_asked.emplace(name);
    return has(name) ? number(name, low, high) : fallback;
}

bool Fields::flag_or(std::string_view name, bool fallback) {
    m_asked.emplace(name);
    return has(name) ? flag(name) : fallback;
}

const nlohmann::json& Fields::object(std::string_view name) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return null_value;
    if (value->is_object()) return *value;
    fail(shown(name) + " is not an object");
    return null_value;
}

const nlohmann::json& Fields::array(std::string_view name, std::size_t count_max) {
    const nlohmann::json* value = find(name);
    if (value == nullptr) return null_value;
    if (value->is_array() && value->size() <= count_max) return *value;
    fail(shown(name) + " is not a list of at most " + std::to_string(count_max) + " entries");
    return null_value;
}

void Fields::fail(std::string message) {
    if (!m_error) m_error = malformed("The " + m_what + " is unusable: " + std::move(message) + ".");
}

Status Fields::finish() {
    if (!m_error && m_object.is_object()) {
        for (const auto& [name, value] : m_object.items()) {
            if (!m_asked.contains(name)) fail(shown(name) + " is an unknown field");
        }
    }
    if (m_error) return *m_error;
    return {};
}

}  // namespace potluck
