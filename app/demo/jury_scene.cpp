#include "app/demo/jury_scene.h"

#include <algorithm>
#include <iterator>

#include "app/demo/liar/spoiler.h"

namespace potluck::node {

void JuryScene::vouch(ChildNode& host, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) {
        control::Moderate call;
        call.kind = control::ModerationKind::allow;
        call.key = key;
        host.call(call, [say = m_say](const Result<control::ModerationNumber>& answer) {
            if (!answer) say("the host cannot vouch for a juror: " + answer.error().message);
        });
    }
}

void JuryScene::add_liar(const std::string& volunteer, const std::string& program, const std::string& trainer,
                         std::vector<std::string>& arguments, Environment& environment) {
    const char* lie = name_of(lies[m_found.liars.size() % std::size(lies)]);
    arguments.insert(arguments.end(), {"--trainer", program});
    environment.emplace_back("POTLUCK_LIE", lie);
    environment.emplace_back("POTLUCK_LIAR_TRAINER", trainer);
    m_found.liars.push_back({volunteer, lie});
    m_say(volunteer + " will lie: " + lie);
}

void JuryScene::look(const std::vector<std::unique_ptr<ChildNode>>& nodes) {
    const auto& first = nodes.front()->snapshot();
    if (!first || !first->run || !first->run->findings.jury) return;
    for (const control::JudgedRow& row : first->run->findings.jury->suspended) {
        const auto node = std::ranges::find_if(nodes, [&](const auto& one) {
            return one->snapshot() && (one->snapshot()->person_id == row.id || one->snapshot()->peer_id == row.id);
        });
        if (node == nodes.end()) continue;
        const std::string& name = (*node)->name();
        const auto liar = std::ranges::find(m_found.liars, name, &JuryFound::Liar::name);
        if (liar == m_found.liars.end() && std::ranges::find(m_found.wronged, name) == m_found.wronged.end()) {
            m_found.wronged.push_back(name);
            m_say(name + " is suspended, though it works");
        } else if (liar != m_found.liars.end() && liar->suspended == 0) {
            liar->suspended = std::max<std::uint64_t>(1, row.since);
            m_say(name + " (" + liar->lie + ") is suspended by the list of round " + std::to_string(row.since));
        }
    }
}

bool JuryScene::is_settled() const {
    return std::ranges::all_of(m_found.liars, [](const JuryFound::Liar& liar) { return liar.suspended > 0; });
}

}  // namespace potluck::node
