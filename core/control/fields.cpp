// What every field of every struct would otherwise compile anew.
#include "core/control/fields.h"

namespace potluck::control {

void Writer::set(const char* name, nlohmann::json&& value) { (*m_object)[name] = std::move(value); }

void Writer::add(nlohmann::json& array, nlohmann::json&& value) { array.push_back(std::move(value)); }

void Reader::fail_at(const char* name, const char* fault) { m_fields.fail('"' + std::string(name) + "\" " + fault); }

void Reader::fail_entry(const Text& rule) {
    m_fields.fail("an entry is not a text of at most " + std::to_string(rule.bytes_max) + " bytes");
}

void Reader::fail_entry(const Whole& rule) {
    m_fields.fail("an entry is not a whole number from " + std::to_string(rule.low) + " to " +
                  std::to_string(rule.high));
}

}  // namespace potluck::control
