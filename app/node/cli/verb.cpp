#include "app/node/cli/verb.h"

#include <CLI/CLI.hpp>

namespace potluck::node {

void Verb::add(CLI::App& app) { static_cast<void>(app); }

Status Verb::read() { return m_texts.read(); }

void Verb::add_json(CLI::App& app, const std::string& json_help) { app.add_flag("--json", m_json, json_help); }

}  // namespace potluck::node
