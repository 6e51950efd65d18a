// The node's part in this computer: what there is to train on, which a trainer of its own finds, what of it trains,
// and which programs run.
//
// Looking takes seconds and may end in a driver, so it is done for who asks and in a process of its own; what was found
// is kept until another trainer is installed. A change ends the trainer as a pause does, and the next one goes on.
//
// Threads: the loop's.
#include <algorithm>
#include <utility>

#include "app/node/session/node.h"
#include "app/node/trainer/own_programs.h"
#include "app/node/trainer/trainer_task.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::size_t askers_max = 16;  // windows and command lines that wait for one look

/// Whether these devices, in whatever order, are those of a choice.
bool is_choice(std::vector<std::string> devices, const std::string& choice) {
    auto chosen = control::devices_of_choice(choice);
    if (!chosen) return false;
    std::ranges::sort(devices);
    std::ranges::sort(*chosen);
    return devices == *chosen;
}

}  // namespace

void Node::find_devices(const control::ReadDevices& call, DevicesFound done) {
    m_owner.check();
    if (m_devices && !call.again) return done(device_rows(*m_devices, training_devices()));
    if (m_device_askers.size() >= askers_max)
        return done(Error{ErrorCode::unavailable, "This computer is being looked at already; ask again in a moment."});
    m_device_askers.push_back(std::move(done));
    if (m_device_askers.size() > 1) return;
    TrainerQuestion question;
    question.program = m_options.trainer_program;
    question.error_file = m_options.data_folder / "trainer.log";
    question.patience = detect_patience;
    ask_trainer(m_loop, std::move(question), control::DetectRequest{},
                [this, alive = m_alive](const Result<control::DetectReply>& found) {
                    if (*alive) devices_found(found);
                });
}

void Node::devices_found(const Result<control::DetectReply>& found) {
    if (found) m_devices = *found;
    for (const DevicesFound& done : std::exchange(m_device_askers, {}))
        done(found ? Result<control::DetectReply>(device_rows(*found, training_devices())) : found.error());
}

/// Empty while none trains.
std::vector<std::string> Node::training_devices() const {
    const TrainerProcess* trainer = m_session ? m_session->trainer() : nullptr;
    return trainer != nullptr ? trainer->view().devices : std::vector<std::string>();
}

Status Node::set_device(const control::SetDevice& call) {
    m_owner.check();
    const auto device = parse_device_choice(call.device);
    if (!device) return device.error();
    m_settings.budget.device = *device;
    if (Status saved = save_settings(); !saved) return saved;
    log::of("node").info("{} is to train", device->empty() ? "what the trainer chooses" : *device);
    if (!m_session || m_session->trainer() == nullptr) return {};
    m_session->use_budget(m_settings.budget);
    TrainerProcess& trainer = *m_session->trainer();
    const bool trains_there = !device->empty() && is_choice(training_devices(), *device);
    if (trains_there || m_obeyed == activity::Level::pause || m_settings.run->finishing) return {};
    trainer.reset_failures();
    m_session->peer().restart_trainer();
    return {};
}

control::DeviceChoice Node::device_choice() const {
    control::DeviceChoice choice{.chosen = m_settings.budget.device};
    const TrainerProcess* trainer = m_session ? m_session->trainer() : nullptr;
    if (trainer != nullptr && !choice.chosen.empty()) choice.obstacle = trainer->device_obstacle();
    return choice;
}

/// The trainer of a run that is being left is told as the trainer until it has ended.
control::ProgramList Node::programs() const {
    TrainerFacts facts{.program = m_options.trainer_program, .process = 0, .version = {}};
    for (const RunSession* session : {m_retiring.get(), m_session.get()}) {
        const TrainerProcess* trainer = session != nullptr ? session->trainer() : nullptr;
        if (trainer == nullptr || trainer->gone()) continue;
        facts.process = trainer->view().process;
        facts.version = trainer->program_version();
    }
    return program_rows(facts, this_process());
}

}  // namespace potluck::node
