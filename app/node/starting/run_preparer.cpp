#include "app/node/starting/run_preparer.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/member/own_keys.h"
#include "app/node/paths.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::chrono::milliseconds progress_every{200};  // as often as a snapshot is looked at

Announcing announcing_of(const control::RunChoices& choices) {
    return {.on_board = choices.announces && choices.admission == control::Admission::anybody,
            .language = choices.language,
            .page = choices.page};
}

}  // namespace

struct RunPreparer::Made {
    run::Invite invite;
    PeerId host;
};

void RunPreparer::host(const control::RunChoices& choices, Done done) {
    m_owner.check();
    if (m_making) return done(Error{ErrorCode::already_exists, "This node is making a run already."});
    if (m_node.settings().run)
        return done(Error{ErrorCode::already_exists, "This node is in a run; leave it before you start another."});
    m_making = std::make_shared<std::stop_source>();
    m_node.show_preparation(control::Preparation{choices.run_name, control::MakingStage::model, 0});
    if (!m_worker) {
        m_worker = std::make_unique<Worker>(
            [&loop = m_loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); });
    }
    // The end of the node ends the job as well, whose own token is what the person's wish sets.
    const std::stop_token asked = m_making->get_token(), ending = m_worker->stopping();
    m_worker->run(
        [choices, folder = m_node.options().data_folder, progress = progress_to(choices.run_name, asked), asked,
         ending] {
            const MakingProgress goes_on = [&](control::MakingStage stage, double fraction) {
                return !ending.stop_requested() && progress(stage, fraction);
            };
            return make(choices, folder, goes_on, asked);
        },
        [this, choices, done = std::move(done)](const Result<Made>& made) { done(take_up(made, choices)); });
}

/// Tells the node at most five times a second, from the worker's thread through the loop.
MakingProgress RunPreparer::progress_to(const std::string& name, const std::stop_token& stop) {
    using Clock = std::chrono::steady_clock;
    struct Told {
        std::optional<control::MakingStage> stage;
        Clock::time_point at;
    };
    const std::weak_ptr<std::stop_source> making = m_making;
    return [&loop = m_loop, &node = m_node, name, stop, making, told = std::make_shared<Told>()](
               control::MakingStage stage, double fraction) {
        const Clock::time_point now = Clock::now();
        if (told->stage != stage || now - told->at >= progress_every) {
            *told = {stage, now};
            boost::asio::post(loop, [&node, name, stage, fraction, making] {
                if (!making.expired()) node.show_preparation(control::Preparation{name, stage, fraction});
            });
        }
        return !stop.stop_requested();
    };
}

/// On the worker's thread.
Result<RunPreparer::Made> RunPreparer::make(const control::RunChoices& choices,
                                            const std::filesystem::path& data_folder, const MakingProgress& progress,
                                            const std::stop_token& stop) {
    ChosenRun chosen = look_at(choices, stop);
    if (!chosen.problems.empty()) return Error{ErrorCode::invalid_argument, chosen.problems.front().sentence};
    const auto keys = OwnKeys::open(data_folder);
    if (!keys) return keys.error();
    if (choices.role == run::Role::backbone) chosen.plan.backbones = {keys->person.id()};
    const auto hosted = host_run(chosen.plan, keys->person, keys->device(), data_folder, progress);
    if (!hosted) return hosted.error();
    return Made{hosted->invite, keys->device_key().id()};
}

/// The node joins what was made, unless it went elsewhere meanwhile; then the run goes again.
Status RunPreparer::take_up(const Result<Made>& made, const control::RunChoices& choices) {
    m_making.reset();
    m_node.show_preparation(std::nullopt);
    if (!made) return made.error();
    Status joined;
    if (m_node.settings().run) {
        joined = Error{ErrorCode::already_exists,
                       "This node joined a run while it made another, which is gone; leave that run and start again."};
    } else if (made->host != m_node.keys().device_key().id()) {
        joined = Error{ErrorCode::already_exists,
                       "The identity was replaced while the run was made; start it again with the new one."};
    } else {
        joined = m_node.join(made->invite, choices.role, control::OtherRun::keep, announcing_of(choices));
    }
    if (joined) return {};
    std::error_code ignored;
    std::filesystem::remove_all(run_folder(m_node.options().data_folder, made->invite.run), ignored);
    return joined;
}

Status RunPreparer::cancel() {
    m_owner.check();
    if (!m_making) return Error{ErrorCode::not_found, "No run is being made here."};
    m_making->request_stop();
    return {};
}

}  // namespace potluck::node
