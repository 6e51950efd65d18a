// The demo's course: which node starts, dies and returns when. A small state machine that looks at the nodes' last
// snapshots each quarter of a second.
// Threads: the loop's. Owns: the nodes.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/demo/accounting.h"
#include "app/demo/child_node.h"
#include "app/demo/demo_recipe.h"
#include "app/demo/pace.h"
#include "app/demo/report.h"
#include "app/demo/table.h"
#include "core/base/thread_owner.h"

namespace potluck::node {

struct ScenarioPlan {
    std::filesystem::path folder;  // of all data folders
    std::filesystem::path node_program, app_program;
    DemoRecipe recipe;
    DemoLength length;
    std::uint64_t rounds_min = 0;  // before it may end because the baseline is beaten
    unsigned volunteers = 4;       // all of them
    unsigned liars = 0;            // the last of them (app/demo/liar)
    std::filesystem::path trainer_program, liar_program;
    std::vector<std::string> vouched = {};  // keys that the host vouches for while the run goes on
    std::vector<std::string> devices = {};  // of the volunteers, in turn; empty: each node chooses
    enum class Window { closed, open } window = Window::closed;
    std::chrono::seconds timeout{};  // of training, beyond which it ends whatever has happened
    /// Measures the newest state; the answer is whether it has beaten the baseline.
    std::function<void(std::function<void(bool)>)> measure;
};

/// What tells the volunteer with this number, from 1 on, which of `devices` to train on; empty if there are none.
[[nodiscard]] std::vector<std::string> device_arguments(const std::vector<std::string>& devices, unsigned volunteer);

/// The liars of a demo before its jury.
class JuryScene {
public:
    using Environment = std::vector<std::pair<std::string, std::string>>;

    explicit JuryScene(std::function<void(const std::string&)> say) : m_say(std::move(say)) {}

    /// The host vouches for these keys, which may then sit in its committee.
    void vouch(ChildNode& host, const std::vector<std::string>& keys);
    /// The volunteer's node is like any other; its trainer is `program`, which spoils what `trainer` has trained.
    void add_liar(const std::string& volunteer, const std::string& program, const std::string& trainer,
                  std::vector<std::string>& arguments, Environment& environment);
    /// Who was suspended, as the first of the nodes has it; a suspension that has ended is remembered here.
    void look(const std::vector<std::unique_ptr<ChildNode>>& nodes);
    /// Whether every liar was suspended, at some time.
    [[nodiscard]] bool is_settled() const;
    [[nodiscard]] const JuryFound& found() const { return m_found; }

private:
    std::function<void(const std::string&)> m_say;
    JuryFound m_found;
};

class Scenario {
public:
    static constexpr std::chrono::milliseconds look_every{250};
    static constexpr std::chrono::seconds start_patience{60}, end_patience{40}, stop_patience{12};

    Scenario(boost::asio::io_context& loop, ScenarioPlan plan, std::function<void(const std::string&)> say);
    ~Scenario();

    /// Data folders, below the plan's, of all who will train, whichever of them there will be.
    [[nodiscard]] static std::vector<std::string> volunteer_folders(unsigned volunteers);

    /// Starts everything; `done` is called when training is over and every node is in step, or has had time to be.
    void run(std::function<void(Status)> done);
    /// Ends all nodes; `done` when no process is left.
    void stop(std::function<void()> done);
    /// A sample from the first volunteer.
    void sample(const std::string& prompt, std::function<void(const Result<control::SampledText>&)> done);

    [[nodiscard]] TableHead head() const;
    [[nodiscard]] std::vector<TableRow> rows() const;
    /// Puts what only the nodes know into the report.
    void fill(DemoReport& report) const;
    [[nodiscard]] std::vector<BookOfNode> books() const;
    [[nodiscard]] const ChildNode& backbone() const {
        m_owner.check();
        return *m_nodes.front();
    }
    [[nodiscard]] std::string newest_checkpoint() const {
        m_owner.check();
        return m_checkpoint;
    }

private:
    enum class Stage { backbone, invite, training, settling, over };

    using Environment = JuryScene::Environment;
    ChildNode& add(const std::string& name, const std::string& folder, std::vector<std::string> extra,
                   Environment environment = {});
    void look();
    void look_at_start();
    void look_at_training();
    [[nodiscard]] Status disturb(std::uint64_t at);
    void measure_if_due(std::uint64_t at);
    void end_training(std::uint64_t at);
    void look_at_end();
    void start_volunteers();
    void start_window(const std::string& dht);
    void await_end();
    [[nodiscard]] Status start_late();
    void join(ChildNode& node);
    void finish(Status outcome);
    void ask_checkpoints();
    [[nodiscard]] std::uint64_t round() const;
    /// Whether the volunteers that came late and came back have been credited since.
    [[nodiscard]] bool newcomers_credited() const;
    [[nodiscard]] bool in_step() const;
    [[nodiscard]] bool finished() const;
    [[nodiscard]] bool closed() const;
    [[nodiscard]] double seconds_since(std::chrono::steady_clock::time_point moment) const;

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    ScenarioPlan m_plan;
    std::function<void(const std::string&)> m_say;
    Turns m_turns;
    boost::asio::steady_timer m_timer;
    std::vector<std::unique_ptr<ChildNode>> m_nodes;  // the backbone first
    std::unique_ptr<LineProcess> m_app;
    Stage m_stage = Stage::backbone;
    std::chrono::steady_clock::time_point m_started, m_stage_began, m_late_asked, m_killed_at, m_returned_since;
    std::chrono::steady_clock::time_point m_measure_next;
    std::string m_magnet, m_checkpoint;
    JuryScene m_jury{m_say};
    ChildNode* m_late = nullptr;
    ChildNode* m_victim = nullptr;
    ChildNode* m_windowed = nullptr;
    bool m_killed = false, m_returned = false, m_asking = false;
    bool m_measuring = false, m_beaten = false;
    RoundId m_returned_at;
    std::uint64_t m_victim_rounds = 0;  // credited when it was killed
    double m_late_seconds = 0, m_trained_seconds = 0;
    double m_late_left = 0, m_returned_left = 0;  // seconds until training ended
    bool m_in_step = false, m_closed = false;
    std::function<void(Status)> m_done;
    std::function<void()> m_stopped;
};

}  // namespace potluck::node
