#include "ui/find/run_search.h"

#include "ui/client/status_summary.h"
#include "ui/client/trainer_words.h"

namespace potluck::ui {

using namespace control;

namespace {

constexpr std::chrono::milliseconds ask_every{1'000}, ask_later_every{15'000};
/// A newcomer finds the board within ten seconds on a local network, and in about this time over the DHT.
constexpr std::chrono::milliseconds first_look{30'000};

}  // namespace

RunSearch::RunSearch(NodeClient& client, For whom, QObject* parent) : QObject(parent), m_client(client), m_for(whom) {
    connect(&m_timer, &QTimer::timeout, this, &RunSearch::ask);
    connect(&client, &NodeClient::changed, this, [this] {
        if (m_timer.isActive() && !m_asked) ask();
    });
    connect(&client, &NodeClient::refused, this, [this](Method method, const QString& sentence) {
        if (method != method_of<FindRuns>) return;
        m_problem = sentence;
        emit changed();
    });
}

void RunSearch::look() {
    if (m_timer.isActive()) return;
    m_since.start();
    m_timer.start(ask_every);
    ask();
}

void RunSearch::rest() { m_timer.stop(); }

void RunSearch::lookAgain() {
    if (m_timer.isActive()) ask();
}

void RunSearch::ask() {
    const NodeView& view = m_client.view();
    if (isInRun(view) != (m_for == For::members)) return;
    if (view.link.state != Link::State::up || m_client.waitsFor(method_of<FindRuns>)) return;
    if (!m_looked && m_since.hasExpired(first_look.count())) {
        m_looked = true;
        m_timer.setInterval(ask_later_every);
        emit changed();
    }
    m_asked = true;
    m_client.call(FindRuns{}, [this](const FoundRuns& found) {
        m_problem.clear();
        m_found = found;
        const bool isNew = m_client.view().devices.state == FoundDevices::State::none;
        const bool canTrain = noTrainerText(m_client.view().snapshot).isEmpty();
        if (!found.rows.empty() && isNew && canTrain) m_client.requestDevices(DeviceSearch::known);
        emit changed();
    });
}

}  // namespace potluck::ui
