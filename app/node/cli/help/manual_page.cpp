#include "app/node/cli/help/manual_page.h"

#include <CLI/CLI.hpp>

#include "app/node/cli/help/help_text.h"
#include "app/node/exit_code.h"

namespace potluck::node {

namespace {

/// Text of ours for roff: no line begins with a request, a dash stays a dash, a backslash a backslash.
std::string roff(const std::string& text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '\\') {
            out += "\\e";
        } else if (letter == '-') {
            out += "\\-";
        } else if ((letter == '.' || letter == '\'') && (out.empty() || out.back() == '\n')) {
            out += "\\&";
            out += letter;
        } else {
            out += letter;
        }
    }
    return out;
}

std::string option_names(const CLI::Option& option) {
    if (option.get_positional()) return "\\fI" + roff(option.get_name()) + "\\fR";
    std::string names;
    for (const std::string& name : option.get_snames()) names += "\\fB\\-" + roff(name) + "\\fR, ";
    for (const std::string& name : option.get_lnames()) names += "\\fB\\-\\-" + roff(name) + "\\fR, ";
    names.resize(names.size() - 2);
    return option.get_items_expected_max() > 0 ? names + " \\fIVALUE\\fR" : names;
}

std::string options_section(const CLI::App& app) {
    std::string page;
    for (const CLI::Option* option : app.get_options()) {
        page += ".TP\n" + option_names(*option) + "\n" + roff(full_description(*option)) + ".\n";
    }
    return page;
}

void add_verbs(const CLI::App& app, const std::string& above, std::string& page) {
    for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
        const std::string name = above + verb->get_name();
        page += ".SS " + roff(name) + "\n" + roff(verb->get_description()) + ".\n" + options_section(*verb);
        add_verbs(*verb, name + " ", page);
    }
}

std::string exit_statuses() {
    std::string list;
    for (const auto& [code, meaning] : exit_meanings)
        list += ".TP\n\\fB" + std::to_string(static_cast<int>(code)) + "\\fR\n" + roff(meaning) + "\n";
    return list + ".TP\n\\fB128 + N\\fR\na second signal, of number N, ended it before it was done\n";
}

}  // namespace

std::string manual_page(const CLI::App& app, const std::string& version) {
    std::string page = ".TH POTLUCK\\-NODE 1 \"\" \"potluck " + roff(version) +
                       "\" \"User Commands\"\n"
                       ".SH NAME\npotluck\\-node \\- train a neural network together with others\n"
                       ".SH SYNOPSIS\n.B potluck\\-node\n[\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n"
                       ".SH DESCRIPTION\n" +
                       roff(app.get_description()) + "\n.SH OPTIONS\nThey may stand before or after the command.\n" +
                       options_section(app) + ".SH COMMANDS\n";
    add_verbs(app, "", page);
    page += ".SH EXIT STATUS\nWhatever is not 0 comes with a sentence on standard error.\n" + exit_statuses() +
            ".SH FILES\n.TP\n\\fI~/.local/share/potluck\\fR\n"
            "Identity, ledger and runs, unless \\fB\\-\\-data\\-dir\\fR, \\fBPOTLUCK_HOME\\fR or \\fBXDG_DATA_HOME\\fR "
            "names another folder.\n"
            ".SH SEE ALSO\n.BR potluck (1),\n.BR potluck\\-trainer (1)\n";
    return page;
}

}  // namespace potluck::node
