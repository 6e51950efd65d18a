#include "core/data/tokenizer_json.h"

#include "core/base/json.h"
#include "core/run/manifest.h"

namespace potluck::data {

namespace {

using nlohmann::json;

Error unreadable(const std::string& fault) {
    return {ErrorCode::malformed, "The tokenizer.json is not one this version reads: " + fault + "."};
}

/// The member of `object`, or null.
const json& member(const json& object, const char* name) {
    static const json none;
    if (!object.is_object()) return none;
    const auto found = object.find(name);
    return found == object.end() ? none : *found;
}

bool says(const json& object, const char* name, const json& value) { return member(object, name) == value; }

/// GPT-2's own way to cut text.
bool is_byte_level(const json& step) {
    const json& regex = member(step, "use_regex");
    return says(step, "type", "ByteLevel") && says(step, "add_prefix_space", false) &&
           (regex.is_null() || regex == true);
}

bool is_single_digits(const json& step) {
    return says(step, "type", "Digits") && says(step, "individual_digits", true);
}

/// Bytes as their symbols, without GPT-2's way to cut.
bool is_bytes_only(const json& step) {
    return says(step, "type", "ByteLevel") && says(step, "add_prefix_space", false) && says(step, "use_regex", false);
}

bool is_split(const json& step, WordPattern pattern) {
    return says(step, "type", "Split") && says(member(step, "pattern"), "Regex", pattern_in_files(pattern)) &&
           says(step, "behavior", "Isolated") && says(step, "invert", false);
}

Result<WordPattern> pattern_of(const json& step) {
    if (is_byte_level(step)) return WordPattern::gpt2;
    const json& steps = member(step, "pretokenizers");
    const bool is_sequence = says(step, "type", "Sequence") && steps.is_array();
    if (is_sequence && steps.size() == 1 && is_byte_level(steps[0])) return WordPattern::gpt2;
    if (is_sequence && steps.size() == 2 && is_single_digits(steps[0]) && is_byte_level(steps[1])) {
        return WordPattern::gpt2_single_digits;
    }
    for (const WordPattern pattern : {WordPattern::llama3, WordPattern::qwen2}) {
        if (is_sequence && steps.size() == 2 && is_split(steps[0], pattern) && is_bytes_only(steps[1])) return pattern;
    }
    return unreadable("its pre_tokenizer is none of GPT-2's, single digits before GPT-2's, Llama 3's and Qwen2's");
}

/// What a model may say of itself and still be the BPE that ByteBpe applies.
Status check_model(const json& model) {
    if (!says(model, "type", "BPE")) return unreadable("its model is not a BPE");
    for (const char* name : {"dropout", "continuing_subword_prefix", "end_of_word_suffix"}) {
        const json& value = member(model, name);
        if (!value.is_null() && value != "") return unreadable("its model has a " + std::string(name));
    }
    if (says(model, "byte_fallback", true)) return unreadable("its model has byte_fallback");
    return {};
}

/// Tokens that stand beside the model's vocabulary, or in it under the same number.
Status take_added(const json& added, json& vocabulary, std::vector<std::string>& names) {
    if (added.is_null()) return {};
    if (!added.is_array()) return unreadable("its added_tokens are not a list");
    for (const json& token : added) {
        const json &content = member(token, "content"), &id = member(token, "id");
        if (!content.is_string() || !id.is_number_unsigned()) return unreadable("an added token has no content or id");
        const auto [place, is_new] = vocabulary.emplace(content.get<std::string>(), id);
        if (!is_new && place.value() != id) return unreadable("an added token has two ids");
        names.push_back(content.get<std::string>());
    }
    return {};
}

/// Each merge is "a b" or, since version 0.20 of the library, ["a", "b"].
Result<std::string> merges_text(const json& merges) {
    if (!merges.is_array()) return unreadable("its model has no merges");
    std::string text;
    for (const json& merge : merges) {
        if (merge.is_string()) {
            text += merge.get<std::string>();
        } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
            text += merge[0].get<std::string>() + " " + merge[1].get<std::string>();
        } else {
            return unreadable("a merge is not two tokens");
        }
        text += '\n';
    }
    return text;
}

}  // namespace

Result<BytePairFiles> parse_tokenizer_json(std::string_view text) {
    const auto file = parse_json(text, run::tokenizer_json_bytes_max);
    if (!file || !file->is_object()) return unreadable("it is no JSON object");
    BytePairRules rules;
    const json& normalizer = member(*file, "normalizer");
    if (!normalizer.is_null() && !says(normalizer, "type", "NFC")) return unreadable("it has a normalizer but NFC");
    if (!normalizer.is_null()) rules.normalization = Normalization::nfc;
    const auto pattern = pattern_of(member(*file, "pre_tokenizer"));
    if (!pattern) return pattern.error();
    rules.pattern = *pattern;
    const json& model = member(*file, "model");
    if (const Status fits = check_model(model); !fits) return fits.error();
    if (says(model, "ignore_merges", true)) rules.whole_words = WholeWords::taken;
    json vocabulary = member(model, "vocab");
    if (!vocabulary.is_object()) return unreadable("its model has no vocab");
    if (const Status taken = take_added(member(*file, "added_tokens"), vocabulary, rules.added); !taken)
        return taken.error();
    auto merges = merges_text(member(model, "merges"));
    if (!merges) return merges.error();
    return BytePairFiles{vocabulary.dump(-1, ' ', false, json::error_handler_t::replace), *std::move(merges),
                         std::move(rules)};
}

}  // namespace potluck::data
