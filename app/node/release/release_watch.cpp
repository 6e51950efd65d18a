#include "app/node/release/release_watch.h"

#include <utility>

#include "core/base/log.h"
#include "core/run/manifest.h"

namespace potluck::node {

namespace fs = std::filesystem;

ReleaseWatch::ReleaseWatch(boost::asio::io_context& loop, Plan plan, Listener listener)
    : m_loop(loop), m_plan(std::move(plan)), m_listener(std::move(listener)), m_trainer(m_plan.own_trainer) {}

void ReleaseWatch::open(net::Session& network, const net::Proxy& proxy) {
    m_owner.check();
    m_releases = std::make_unique<Releases>(
        m_loop, network, Releases::Settings{m_plan.data_folder, m_plan.source, this_computer(), proxy});
    use_installed_trainer();
}

void ReleaseWatch::close() {
    m_owner.check();
    m_releases.reset();
    m_trainer = m_plan.own_trainer;
}

void ReleaseWatch::use_installed_trainer() {
    if (m_plan.trainer_from == TrainerFrom::named) return;
    const fs::path packed = m_releases->trainer();
    m_trainer = packed.empty() ? m_plan.own_trainer : packed;
    m_listener.on_trainer();
}

Status ReleaseWatch::check() {
    m_owner.check();
    return m_releases->check([](const Status&) {});
}

Status ReleaseWatch::install(const control::InstallTrainer& call) {
    m_owner.check();
    const auto installed = [this](const Status& done) {
        if (!done) return;
        use_installed_trainer();
        log::of("node").info("a trainer was installed: {}", m_trainer.string());
        m_listener.on_installed();
    };
    return call.file.empty() ? m_releases->install(call.kind, installed)
                             : m_releases->install_file(call.file, installed);
}

Status ReleaseWatch::remove() {
    m_owner.check();
    const Status removed = m_releases->remove();
    if (removed) use_installed_trainer();
    return removed;
}

void ReleaseWatch::pass_on(bool wanted) {
    m_owner.check();
    m_releases->pass_on(wanted);
}

void ReleaseWatch::look(TimePoint now, std::int64_t unix_time) {
    m_owner.check();
    if (m_releases->busy()) return;
    if (m_looked_at && now - *m_looked_at < look_again_after) return;
    m_looked_at = now;
    if (unix_time - m_releases->checked() < look_every) return;
    if (const Status begun = check(); !begun) log::of("node").debug("{}", begun.error().message);
}

const fs::path& ReleaseWatch::trainer() const {
    m_owner.check();
    return m_trainer;
}

std::string ReleaseWatch::newer_protocol(ByteSpan manifest_file) const {
    m_owner.check();
    const auto protocol = run::protocol_of(manifest_file);
    if (!protocol || *protocol <= run::protocol_version()) return {};
    const auto version = m_releases->version_for(*protocol);
    if (version) return " Potluck " + version->text() + " is the first that can join it.";
    return " It speaks protocol " + std::to_string(*protocol) + ", this one " +
           std::to_string(run::protocol_version()) + ".";
}

control::ReleaseState ReleaseWatch::view() const {
    m_owner.check();
    control::ReleaseState state = m_releases ? m_releases->view() : control::ReleaseState{};
    std::error_code failed;
    state.has_trainer = fs::exists(m_trainer, failed);
    return state;
}

}  // namespace potluck::node
