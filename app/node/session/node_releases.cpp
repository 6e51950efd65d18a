// The node's part in releases: it says when to look, whose trainer counts, and what a run of a later protocol needs.
// What is believed and how it is fetched is app/node/release's.
//
// Threads: the loop's.
#include "app/node/session/node.h"
#include "core/base/log.h"
#include "core/run/manifest.h"

namespace potluck::node {

namespace fs = std::filesystem;

void Node::open_releases() {
    m_own_trainer = m_options.trainer_program;
    m_releases = std::make_unique<Releases>(
        m_loop, *m_network,
        Releases::Settings{m_options.data_folder, m_options.release_source, this_computer(), m_settings.proxy});
    m_releases->pass_on(m_settings.passes_on);
    use_installed_trainer();
}

void Node::use_installed_trainer() {
    if (m_options.trainer_from == NodeOptions::TrainerFrom::named) return;
    const fs::path packed = m_releases->trainer();
    m_options.trainer_program = packed.empty() ? m_own_trainer : packed;
    m_devices.reset();  // another trainer may see more of them
    if (m_session) m_session->use_trainer(m_options.trainer_program);
}

Status Node::check_releases() {
    m_owner.check();
    return m_releases->check([](const Status&) {});
}

Status Node::install_trainer(const control::InstallTrainer& call) {
    m_owner.check();
    const auto installed = [this](const Status& done) {
        if (!done) return;
        use_installed_trainer();
        log::of("node").info("a trainer was installed: {}", m_options.trainer_program.string());
        // A run that waits for it goes on at once.
        if (m_session && m_session->trainer() && !m_session->trainer()->failure().empty() && !m_settings.paused)
            static_cast<void>(resume());
    };
    return call.file.empty() ? m_releases->install(call.kind, installed)
                             : m_releases->install_file(call.file, installed);
}

Status Node::remove_trainer() {
    m_owner.check();
    const Status removed = m_releases->remove();
    if (removed) use_installed_trainer();
    return removed;
}

Status Node::set_releases(const control::SetReleases& call) {
    m_owner.check();
    m_settings.looks = call.looks;
    m_settings.passes_on = call.passes_on;
    m_releases->pass_on(call.passes_on);
    return save_settings();
}

/// Once a day where its owner wants that, and an hour after an attempt that failed.
void Node::look_for_releases() {
    if (!m_settings.looks || m_releases->busy()) return;
    if (m_looked_for_releases && m_now - *m_looked_for_releases < look_again_after) return;
    m_looked_for_releases = m_now;
    if (unix_seconds() - m_releases->checked() < look_every) return;
    if (const Status begun = m_releases->check([](const Status&) {}); !begun)
        log::of("node").debug("{}", begun.error().message);
}

control::ReleaseState Node::release_state() const {
    control::ReleaseState state = m_releases ? m_releases->view() : control::ReleaseState{};
    std::error_code failed;
    state.has_trainer = fs::exists(m_options.trainer_program, failed);
    state.looks = m_settings.looks;
    state.passes_on = m_settings.passes_on;
    return state;
}

/// " Potluck 0.4.0 can.", for a run whose protocol is later than ours; else nothing.
std::string Node::newer_protocol(const Result<Bytes>& manifest_file) const {
    const auto protocol = manifest_file ? run::protocol_of(*manifest_file) : std::nullopt;
    if (!protocol || *protocol <= run::protocol_version()) return {};
    const auto version = m_releases->version_for(*protocol);
    if (version) return " Potluck " + version->text() + " is the first that can join it.";
    return " It speaks protocol " + std::to_string(*protocol) + ", this one " +
           std::to_string(run::protocol_version()) + ".";
}

}  // namespace potluck::node
