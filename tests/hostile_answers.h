// A node's answers in which every text that may be anything is a hostile one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/control/fields.h"
#include "tests/hostile_strings.h"

namespace potluck::tests {

/// A text of an answer that may be anything of so many bytes.
struct FreeText {
    nlohmann::json::json_pointer path;
    std::size_t bytes_max;
};

/// Where in `answer` texts stand that may be anything: ids, names of states and the like refuse what is none.
template <class Reply>
const std::vector<FreeText>& free_texts(const nlohmann::json& answer) {
    static std::map<std::string, std::vector<FreeText>> known;
    const auto [entry, is_new] = known.try_emplace(answer.dump());
    if (!is_new) return entry->second;
    const nlohmann::json flat = answer.flatten();
    for (auto leaf = flat.begin(); leaf != flat.end(); ++leaf) {
        if (!leaf->is_string()) continue;
        const nlohmann::json::json_pointer path(leaf.key());
        nlohmann::json changed = answer;
        for (const std::size_t bytes : {4'000, 250, 120, 60, 30, 4}) {
            changed[path] = "<b>" + std::string(bytes - 3, '?');
            Reply reply;
            if (!control::from_json(changed, reply).ok()) continue;
            entry->second.push_back({path, bytes});
            break;
        }
    }
    return entry->second;
}

template <class Reply>
nlohmann::json hostile_answer(const nlohmann::json& answer, const std::string& text) {
    nlohmann::json changed = answer;
    for (const FreeText& one : free_texts<Reply>(answer)) {
        std::string fitted = text;
        // Bytes that are no text become U+FFFD, as on their way from the node, which is up to three times as much.
        do {
            const std::string replaced =
                nlohmann::json(fitted).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
            changed[one.path] = nlohmann::json::parse(replaced);
            fitted.resize(fitted.size() * 3 / 4);
        } while (changed[one.path].template get_ref<const std::string&>().size() > one.bytes_max);
    }
    return changed;
}

}  // namespace potluck::tests
