#include "app/node/session/change_report.h"

#include <utility>

namespace potluck::node {

std::string change_key(const control::NodeSnapshot& now) {
    std::string key = std::string(name_of(now.activity)) + "|" + now.reason + "|" + std::to_string(now.paused_until) +
                      "|" + name_of(now.proxy->answer) + "|" + std::to_string(now.network.peers) + "|" +
                      name_of(now.trainer.state) + "|" + now.name + "|" + now.device->chosen + now.device->obstacle +
                      "|" + control::choice_of(now.trainer.devices);
    if (now.releases) {
        key += std::string("|") + control::name_of(now.releases->stage) + now.releases->error +
               now.releases->installed + std::to_string(now.releases->packs.size());
    }
    if (now.preparation) {
        const auto percent = static_cast<int>(100 * now.preparation->fraction);
        key += std::string("|") + control::name_of(now.preparation->stage) + std::to_string(percent);
    }
    if (now.run)
        key += "|" + now.run->id + "|" + std::to_string(now.run->round) + "|" + control::name_of(now.run->phase);
    return key;
}

void ChangeReport::on_change(std::function<void()> listener) {
    m_owner.check();
    m_changed = std::move(listener);
}

void ChangeReport::tick(const std::function<control::NodeSnapshot()>& look) {
    m_owner.check();
    if (!m_changed || ++m_ticks % ticks_per_look != 0) return;
    std::string key = change_key(look());
    if (key != std::exchange(m_last_reported, key)) m_changed();
}

}  // namespace potluck::node
