#include "app/node/cli/text_options.h"

#include <CLI/CLI.hpp>

namespace potluck::node {

TextOptions::Texts& TextOptions::keep(Read read) {
    m_texts.push_back({{}, {}, std::move(read)});
    return m_texts.back();
}

CLI::Option* TextOptions::add(CLI::App& app, const std::string& name, const std::string& help, Read read) {
    return app.add_option(name, keep(std::move(read)).one, help);
}

CLI::Option* TextOptions::add_list(CLI::App& app, const std::string& name, const std::string& help, Read read) {
    return app.add_option(name, keep(std::move(read)).many, help);
}

Status TextOptions::read() const {
    for (const Texts& texts : m_texts) {
        if (!texts.one.empty()) {
            if (Status done = texts.read(texts.one); !done) return done;
        }
        for (const std::string& text : texts.many) {
            if (Status done = texts.read(text); !done) return done;
        }
    }
    return {};
}

}  // namespace potluck::node
