// Each time: ask, write the proofs that are missing, write the page, then let the model write something if that is due
// and was asked for (--prompt), and write the page once more. Text takes a trainer of its own for some seconds, so it
// comes after what everybody waits for; it is made by a running node only, because a stored one would be locked for as
// long.
//
// With --every, what goes wrong is told and tried again at the next turn: a node that is restarted, or whose run was
// left, must not end the page of a backbone. Without it, it ends the program.
#include "app/node/cli/verbs/host/page.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <optional>
#include <thread>
#include <utility>

#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/control_client.h"
#include "app/node/cli/options/option_values.h"
#include "app/node/cli/verbs/host/verbs.h"
#include "app/node/member/view.h"
#include "app/node/models/export_proof.h"
#include "app/node/page/page_files.h"
#include "app/node/page/page_html.h"
#include "app/node/page/page_picture.h"
#include "app/node/page/page_samples.h"
#include "app/node/paths.h"
#include "app/node/session/stored_node.h"
#include "core/base/clock.h"
#include "core/base/files.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t leaders_max = 500, points_max = 500;
constexpr std::int64_t page_every_min = 5;  // seconds; a round lasts that long, and visitors fetch it no faster
// As `sample` has them, if nobody says otherwise.
constexpr std::uint32_t sampled_tokens = 200;
constexpr double sampled_temperature = 0.8;
constexpr std::uint64_t sampled_seed = 1;

Result<std::int64_t> parse_every(const std::string& text) {
    const auto seconds = parse_duration(text);
    if (seconds && *seconds < page_every_min)
        return Error{ErrorCode::invalid_argument, "A page is written at most every 5 s."};
    return seconds;
}

Result<PageFacts> ask_node(ControlClient& client) {
    PageFacts facts;
    auto status = client.call(control::ReadStatus{});
    if (!status) return status.error();
    facts.status = std::move(*status);
    if (!facts.status.run) return facts;
    auto board = client.call(control::ReadLeaderboard{.rows = leaders_max});
    auto curve = client.call(control::ReadCurve{points_max});
    auto checkpoints = client.call(control::ReadCheckpoints{});
    if (!board) return board.error();
    if (!curve) return curve.error();
    if (!checkpoints) return checkpoints.error();
    facts.leaders = std::move(board->rows);
    facts.curve = std::move(curve->points);
    facts.checkpoints = std::move(checkpoints->rows);
    return facts;
}

Result<PageFacts> read_folder(const fs::path& data_folder) {
    auto stored = StoredNode::open(data_folder);
    if (!stored) return stored.error();
    PageFacts facts;
    facts.status = stored->snapshot();
    facts.leaders = stored->leaderboard({.rows = leaders_max}).rows;
    facts.curve = stored->curve(points_max);
    facts.checkpoints = stored->checkpoints();
    return facts;
}

class PageWriter {
public:
    PageWriter(const fs::path& data_folder, const PageOptions& options)
        : m_data_folder(data_folder), m_options(options) {}

    Status write() {
        auto client = ControlClient::connect(m_data_folder);
        if (!client && client.error().code != ErrorCode::not_found) return client.error();
        auto facts = client ? ask_node(*client) : read_folder(m_data_folder);
        if (!facts) return facts.error();
        complete(*facts);
        if (Status written = write_all(*facts); !written) return written;
        return client ? write_with_sample(*client, *facts) : Status();
    }

private:
    Status write_all(const PageFacts& facts) const {
        const auto picture = pictures::encode_png(page_picture(facts));
        if (!picture) return picture.error();
        return write_page(m_options.folder, page_html(facts), *picture);
    }
    /// What the page shows beside the node's answers.
    void complete(PageFacts& facts) {
        facts.now = unix_seconds();
        facts.every = m_options.every_seconds;
        if (!facts.status.run) return;
        const std::optional<RunId> run = RunId::parse(facts.status.run->id);
        if (!run) return;
        const auto file = read_file(run_folder(m_data_folder, *run) / "manifest", manifest_file_bytes_max);
        if (auto manifest = file ? check_manifest(*file) : Result<run::SignedManifest>(file.error())) {
            facts.manifest = std::move(manifest->manifest);
            prove(*run, facts);
        }
        facts.samples = PageSamples::load(m_options.folder, facts.status.run->id).all();
    }

    /// A checkpoint of which no proof could be made is shown without: its round is not over, or it has just gone.
    void prove(const RunId& run, PageFacts& facts) {
        std::error_code failed;
        fs::create_directories(m_options.folder, failed);
        remove_old_proofs(facts);
        for (const control::CheckpointRow& row : facts.checkpoints) {
            const fs::path proof = m_options.folder / proof_name(row.round);
            if (!fs::exists(proof, failed) && !write_proof(run, *facts.manifest, row, proof)) continue;
            facts.proofs.push_back(row.round);
        }
    }
    Status write_proof(const RunId& run, const run::Manifest& manifest, const control::CheckpointRow& row,
                       const fs::path& file) const {
        const auto state = MappedFile::open_read(row.file);
        if (!state) return state.error();
        HeldModel model;
        model.run = run;
        model.manifest = manifest;
        model.round = RoundId{row.round};
        model.data_folder = m_data_folder;
        return export_proof(model, state->bytes(), file, std::max(1U, std::thread::hardware_concurrency() / 2), {});
    }
    /// Checkpoints go as new ones come; other files in the folder are not ours.
    void remove_old_proofs(const PageFacts& facts) const {
        std::error_code failed;
        for (const auto& entry : fs::directory_iterator(m_options.folder, failed)) {
            const std::string name = entry.path().filename().string();
            const bool is_proof = name.starts_with("round-") && name.ends_with(".proof");
            const bool is_shown = std::ranges::any_of(
                facts.checkpoints, [&](const control::CheckpointRow& row) { return proof_name(row.round) == name; });
            if (is_proof && !is_shown) fs::remove(entry.path(), failed);
        }
    }

    Status write_with_sample(ControlClient& client, PageFacts& facts) const {
        if (!m_options.prompt || !facts.status.run) return {};
        const control::RunSnapshot& run = *facts.status.run;
        PageSamples samples = PageSamples::load(m_options.folder, run.id);
        if (!samples.due(run.round, run.total_rounds)) return {};
        const auto text =
            client.call(control::SampleText{*m_options.prompt, sampled_tokens, sampled_temperature, sampled_seed},
                        trainer_patience);
        if (!text) return text.error();
        samples.add({run.round, unix_seconds(), *m_options.prompt, text->text});
        if (Status saved = samples.save(m_options.folder); !saved) return saved;
        facts.samples = samples.all();
        return write_all(facts);
    }

    const fs::path& m_data_folder;
    const PageOptions& m_options;
};

/// Writes, waits, writes again, until a signal comes.
class Turns {
public:
    Turns(PageWriter& writer, std::chrono::seconds every) : m_writer(writer), m_every(every) {}

    void run() {
        m_signals.async_wait([this](const boost::system::error_code& failed, int) {
            if (!failed) m_loop.stop();
        });
        turn();
        m_loop.run();
    }

private:
    void turn() {
        const Status written = m_writer.write();
        const std::string fault = written ? std::string() : written.error().message;
        if (!fault.empty() && fault != m_fault) static_cast<void>(complain(written.error()));  // once in a row
        m_fault = fault;
        m_timer.expires_after(m_every);
        m_timer.async_wait([this](const boost::system::error_code& failed) {
            if (!failed) turn();
        });
    }

    PageWriter& m_writer;
    std::chrono::seconds m_every;
    std::string m_fault;
    boost::asio::io_context m_loop;
    boost::asio::signal_set m_signals{m_loop, SIGINT, SIGTERM};
    boost::asio::steady_timer m_timer{m_loop};
};

}  // namespace

void PageVerb::add(CLI::App& app) {
    app.add_option("folder", m_options.folder, "Where to; made if it is missing")->required();
    m_texts.add(app, "--every", "Again and again, for example every 1m (default: once)",
                [this](const std::string& text) { return take(parse_every(text), m_options.every_seconds); });
    app.add_option("--prompt", m_options.prompt,
                   "Let the running node's model go on with this text about twenty times in a run, and show it");
}

ExitCode PageVerb::run(const ThisNode& node) {
    PageWriter writer(node.options.data_folder, m_options);
    if (m_options.every_seconds == 0) {
        const Status written = writer.write();
        return written ? ExitCode::ok : complain(written.error());
    }
    Turns(writer, std::chrono::seconds(m_options.every_seconds)).run();
    return ExitCode::ok;
}

std::unique_ptr<Verb> page_verb() {
    return std::make_unique<PageVerb>("page", "Write the run's public page as files that any web server serves");
}

}  // namespace potluck::node
