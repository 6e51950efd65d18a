// The parser throws an error with a kind and a text. The text is for programmers ("Check loud value in {quiet->0, ...}
// FAILED"), but it names the option: what that option takes is read from its own definition, as --help does, so that a
// new option is explained without being named here.
//
// What a person typed is repeated, but for a proxy, which may hold a password; control characters go. An example is the
// whole line with the name of each required value.
#include "app/node/cli/verbs/usage_text.h"

#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>

#include "app/node/cli/complain.h"
#include "app/node/cli/help/help_text.h"
#include "app/node/cli/help/nearest.h"

namespace potluck::node {

namespace {

/// The verb that was given, or its part, or the program if none was.
const CLI::App& innermost(const CLI::App& app) {
    const CLI::App* inner = &app;
    while (!inner->get_subcommands().empty()) inner = inner->get_subcommands().front();
    return *inner;
}

/// What could have been meant by a word.
std::string not_understood(const CLI::App& app, const std::string& word) {
    std::vector<std::string> known;
    const bool is_option = word.starts_with("-");
    const CLI::App& inner = innermost(app);
    for (const CLI::App* one : {&inner, &app}) {
        for (const CLI::Option* option : one->get_options())
            for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
        if (one == &app) break;
    }
    if (!is_option) {
        known.clear();
        for (const CLI::App* sub : inner.get_subcommands([](const CLI::App*) { return true; }))
            known.push_back(sub->get_name());
    }
    const std::string typed = word.substr(0, word.find('='));
    const std::string said = (is_option ? "There is no option " : "There is no command ") + clean(typed);
    const std::string meant = nearest(typed, known);
    if (!meant.empty()) return said + "; did you mean " + meant + "?";
    const std::string where = &inner == &app ? "" : inner.get_name() + " ";
    return said + "; potluck-node " + where + "--help lists what there is.";
}

/// "potluck-node receipt export": the words that lead to `app`.
std::string path_of(const CLI::App& app) {
    return app.get_parent() == nullptr ? app.get_name() : path_of(*app.get_parent()) + " " + app.get_name();
}

/// "quiet, balanced or full".
std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (std::size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    return text;
}

std::vector<std::string> parts_of(const CLI::App& app) {
    std::vector<std::string> names;
    for (const CLI::App* part : app.get_subcommands([](const CLI::App*) { return true; }))
        names.push_back(part->get_name());
    return names;
}

/// "<file>" of a value that stands alone, "--serial <value>" of an option.
std::string name_of_value(const CLI::Option& option) {
    if (option.get_positional()) return "<" + option.get_name() + ">";
    return option.get_name() + " <value>";
}

/// A verb without its verb or value, with the line that has them.
std::string incomplete(const CLI::App& inner) {
    const std::string path = path_of(inner);
    if (inner.get_parent() == nullptr)
        return "Say what to do, for example " + path + " join <invite>; " + path + " --help lists the commands.";
    const std::vector<std::string> parts = parts_of(inner);
    if (!parts.empty()) {
        return "After " + inner.get_name() + " comes " + listed(parts) + ", for example " + path + " " + parts.front() +
               ".";
    }
    std::string missing, example = path;
    for (const CLI::Option* option : inner.get_options()) {
        if (!option->get_required()) continue;
        if (option->count() == 0) missing += (missing.empty() ? "" : " and ") + name_of_value(*option);
        example += " " + name_of_value(*option);
    }
    return inner.get_name() + " takes " + missing + ", for example " + example + ".";
}

/// The words of "{a,b}" or "{a->0,b->1}" in a check's description; none if it has no such list.
std::vector<std::string> choices_in(const std::string& text) {
    std::vector<std::string> choices;
    const std::size_t open = text.find('{'), close = text.find('}', open);
    if (open == std::string::npos || close == std::string::npos) return choices;
    for (std::size_t from = open + 1; from < close;) {
        const std::size_t to = std::min(text.find(',', from), close);
        const std::string word = text.substr(from, to - from);
        choices.push_back(word.substr(0, word.find("->")));
        from = to + 1;
    }
    return choices;
}

/// "8 or 32", "a number from 1 to 65535", "a number".
std::string accepted(const CLI::Option& option) {
    const std::vector<std::string> choices = choices_in(option.get_type_name());
    if (!choices.empty()) return listed(choices);
    const std::string range = range_text(option);
    return range.empty() ? "a number" : "a number " + range;
}

/// The option that an error of the parser is about, whose name its text holds.
const CLI::Option* option_in(const CLI::App& app, const std::string& text) {
    const CLI::Option* found = nullptr;
    for (const CLI::App* one : {&innermost(app), &app}) {
        for (const CLI::Option* option : one->get_options()) {
            const std::size_t at = text.find(option->get_name());
            const std::size_t end = at + option->get_name().size();
            const bool whole = at != std::string::npos && (end == text.size() || text[end] == ':' || text[end] == ' ');
            const bool longer = found == nullptr || option->get_name().size() > found->get_name().size();
            if (whole && longer) found = option;
        }
    }
    return found;
}

/// A value that an option does not take.
std::string wrong_value(const CLI::App& app, const std::string& text) {
    if (text.ends_with(".")) return text.substr(text.find(": ") + 2);  // a sentence of ours
    const CLI::Option* option = option_in(app, text);
    if (option == nullptr || option->results().empty())
        return "A value is not understood; " + path_of(innermost(app)) + " --help says what each option takes.";
    return option->get_name() + " takes " + accepted(*option) + ", not " + clean(option->results().back()) + ".";
}

}  // namespace

std::optional<std::string> unknown_word(const CLI::App& app) {
    const std::vector<std::string> left = app.remaining(true);
    if (left.empty()) return std::nullopt;
    return left.front();
}

std::string usage_text(const CLI::App& app, const CLI::ParseError& outcome) {
    if (const auto unknown = unknown_word(app)) return not_understood(app, *unknown);
    const std::string text = outcome.what(), kind = outcome.get_name();
    const std::string help = path_of(innermost(app)) + " --help";
    if (kind == "RequiredError") return incomplete(innermost(app));
    if (kind == "ValidationError" || kind == "ConversionError") return wrong_value(app, text);
    if (kind == "ArgumentMismatch") {
        const CLI::Option* option = option_in(app, text);
        return (option == nullptr ? "An option" : option->get_name()) + " needs a value; " + help + " says which.";
    }
    if (const std::size_t at = text.find(" excludes "); at != std::string::npos)
        return text.substr(0, at) + " and " + text.substr(at + 10) + " exclude each other; give one of them.";
    if (const std::size_t at = text.find(" requires "); at != std::string::npos)
        return text.substr(0, at) + " counts together with " + text.substr(at + 10) + "; give both.";
    return "This line is not understood; " + help + " says how it is written.";
}

}  // namespace potluck::node
