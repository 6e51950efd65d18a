#include "app/node/cli/help/help_text.h"

#include <CLI/CLI.hpp>

namespace potluck::node {

namespace {

bool has_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

bool is_number(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    return type.starts_with("UINT") || type.starts_with("INT") || type.starts_with("FLOAT");
}

/// The description says what holds without the option.
bool says_default(const CLI::Option& option) {
    const std::string& text = option.get_description();
    return text.find("default") != std::string::npos || text.find("instead of") != std::string::npos;
}

std::string default_of(const CLI::Option& option) {
    const std::string text = option.get_default_str();
    if (!has_value(option) || option.get_required() || text.empty() || text == "[]" || says_default(option)) return {};
    return "default: " + text;
}

std::string environment_of(const CLI::Option& option) {
    return option.get_envname().empty() ? "" : "environment: " + option.get_envname();
}

class HelpText : public CLI::Formatter {
public:
    /// With one empty line between groups, of which CLI11 makes two.
    std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
        const std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
        return CLI::detail::find_and_replace(text, "\n\n\n", "\n\n");
    }
    std::string make_option_opts(const CLI::Option* option) const override {
        if (!has_value(*option)) return {};
        return std::string(is_number(*option) ? " NUMBER" : " TEXT") + (option->get_required() ? " (required)" : "");
    }
    std::string make_option_desc(const CLI::Option* option) const override { return full_description(*option); }
};

}  // namespace

/// CLI11 writes a range as "INT:INT in [2 - 16]".
std::string range_text(const CLI::Option& option) {
    const std::string type = option.get_type_name(), opening = " in [", dash = " - ";
    const std::size_t from = type.find(opening);
    const std::size_t middle = from == std::string::npos ? from : type.find(dash, from);
    const std::size_t end = middle == std::string::npos ? middle : type.find(']', middle);
    if (end == std::string::npos) return {};
    const std::size_t first = from + opening.size(), second = middle + dash.size();
    return "from " + type.substr(first, middle - first) + " to " + type.substr(second, end - second);
}

std::string full_description(const CLI::Option& option) {
    std::string more;
    for (const std::string& one : {range_text(option), default_of(option), environment_of(option)})
        if (!one.empty()) more += (more.empty() ? " (" : "; ") + one;
    const std::string& text = option.get_description();
    if (more.empty()) return text;
    const std::size_t last = text.rfind(" (default: ");
    if (last != std::string::npos && text.find(')', last) + 1 == text.size())
        return text.substr(0, text.size() - 1) + "; " + more.substr(2) + ")";
    return text + more + ")";
}

std::shared_ptr<CLI::FormatterBase> help_formatter() {
    auto formatter = std::make_shared<HelpText>();
    constexpr std::size_t names_width = 30;  // of the column before the descriptions
    formatter->column_width(names_width);
    formatter->label("SUBCOMMAND", "COMMAND");
    formatter->label("Subcommands", "Commands");
    return formatter;
}

}  // namespace potluck::node
