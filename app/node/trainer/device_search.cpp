#include "app/node/trainer/device_search.h"

#include <utility>

#include "app/node/trainer/trainer_task.h"

namespace potluck::node {

void DeviceSearch::find(const std::filesystem::path& trainer, Freshness freshness, Done done) {
    m_owner.check();
    if (m_found && freshness == Freshness::found_earlier) return done(*m_found);
    if (m_askers.size() >= askers_max)
        return done(Error{ErrorCode::unavailable, "This computer is being looked at already; ask again in a moment."});
    m_askers.push_back(std::move(done));
    if (m_askers.size() > 1) return;
    TrainerQuestion question;
    question.program = trainer;
    question.error_file = m_error_file;
    question.patience = detect_patience;
    ask_trainer(m_loop, std::move(question), control::DetectRequest{},
                [this, alive = m_alive](const Result<control::DetectReply>& found) {
                    if (*alive) answer(found);
                });
}

void DeviceSearch::forget() {
    m_owner.check();
    m_found.reset();
}

void DeviceSearch::answer(const Result<control::DetectReply>& found) {
    if (found) m_found = *found;
    for (const Done& done : std::exchange(m_askers, {})) done(found);
}

}  // namespace potluck::node
