// A run is known by its folder, by the ledger, or by both: one whose folder was removed by hand still has its credit,
// and one that was joined and left before its first round has a folder only. Both lists are joined by the run's id.
//
// A day begins at local midnight. Its predecessor is found twelve hours before it, so that a day of 23 or 25 hours is
// counted once.
#include "app/node/records/run_records.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <boost/asio/post.hpp>

#include "app/node/member/view.h"
#include "app/node/owner/usage.h"
#include "app/node/paths.h"
#include "app/node/records/disk_files.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"

namespace potluck::node {

namespace {

constexpr std::int64_t half_a_day = 12 * 3600;

control::KnownRun known_run(const RunFiles& files, const Node& node) {
    control::KnownRun row{.id = files.id.hex(), .name = files.name, .model = files.model};
    row.hosted = files.host == node.keys().person.id();
    row.total_rounds = files.total_rounds;
    row.bytes = files.bytes + node.blob_bytes_of(files.id);
    return row;
}

void add_credit_to(control::KnownRun& row, const ledger::RunCredit& credit, const ledger::RunTotals& totals) {
    row.round = totals.rounds.value;
    row.tokens = totals.tokens.value;
    row.my_tokens = credit.tokens.value;
    row.my_rounds = credit.rounds;
    row.rank = credit.rank;
    row.first = credit.first;
    row.last = credit.last;
}

}  // namespace

control::KnownRuns known_runs(std::vector<control::KnownRun> rows) {
    std::ranges::sort(rows, [](const control::KnownRun& a, const control::KnownRun& b) {
        return std::tuple(!a.is_open, -a.last, a.name, a.id) < std::tuple(!b.is_open, -b.last, b.name, b.id);
    });
    if (rows.size() > control::rows_max) rows.resize(control::rows_max);
    return {std::move(rows)};
}

control::Days days_of(const ledger::Ledger& ledger, const PeerId& person, std::int64_t now, std::uint64_t count) {
    control::Days days;
    std::int64_t begins = midnight_before(now), ends = std::numeric_limits<std::int64_t>::max();
    for (std::uint64_t i = 0; i < count; ++i) {
        days.rows.push_back({begins, ledger.tokens_between(person, begins, ends).value});
        ends = begins;
        begins = midnight_before(begins - half_a_day);
    }
    std::ranges::reverse(days.rows);
    return days;
}

RunRecords::RunRecords(boost::asio::io_context& loop, Node& node)
    : m_node(node), m_worker([&loop](std::function<void()> call) { boost::asio::post(loop, std::move(call)); }) {
    m_worker.run([folder = node.options().data_folder] {
        if (const Status emptied = empty_trash(folder); !emptied)
            log::of("records").warn("{}", emptied.error().message);
    });
}

void RunRecords::runs(const std::function<void(const Result<control::KnownRuns>&)>& done) {
    m_owner.check();
    m_worker.run(
        [folder = m_node.options().data_folder, stop = m_worker.stopping()] { return run_files(folder, stop); },
        [this, done](const std::vector<RunFiles>& files) {
            std::map<RunId, control::KnownRun> known;
            for (const RunFiles& one : files) known.emplace(one.id, known_run(one, m_node));
            for (const ledger::RunCredit& credit : m_node.ledger().runs_of(m_node.keys().person.id())) {
                control::KnownRun& row = known.try_emplace(credit.run).first->second;
                row.id = credit.run.hex();
                add_credit_to(row, credit, m_node.ledger().totals(credit.run));
            }
            std::vector<control::KnownRun> rows;
            for (auto& [id, row] : known) {
                row.is_open = m_node.is_open(id);
                rows.push_back(std::move(row));
            }
            done(known_runs(std::move(rows)));
        });
}

void RunRecords::disk(const std::function<void(const Result<control::DiskUse>&)>& done) {
    m_owner.check();
    m_worker.run(
        [folder = m_node.options().data_folder, stop = m_worker.stopping()] { return disk_parts(folder, stop); },
        [this, done](std::vector<control::DiskPart> parts) {
            done(control::DiskUse{std::move(parts), free_disk_bytes(m_node.options().data_folder),
                                  m_node.settings().blob_bytes_max()});
        });
}

control::Days RunRecords::days(std::uint64_t count) const {
    m_owner.check();
    return days_of(m_node.ledger(), m_node.keys().person.id(), unix_seconds(), count);
}

void RunRecords::delete_files(const control::DeleteRunFiles& call, const std::function<void(const Status&)>& done) {
    m_owner.check();
    const auto run = RunId::parse(call.run);
    if (!run) return done(Error{ErrorCode::invalid_argument, "A run's id has 64 hexadecimal digits."});
    if (const Status forgotten = m_node.forget_run(*run); !forgotten) return done(forgotten);
    const std::filesystem::path folder = m_node.options().data_folder;
    if (const Status moved = set_aside(folder, *run); !moved) return done(moved);
    log::of("records").info("deleting the files of run {}", run->brief());
    m_worker.run([folder] { return empty_trash(folder); }, [done](const Status& emptied) { done(emptied); });
}

Status RunRecords::rejoin(const control::Rejoin& call) {
    m_owner.check();
    const auto id = RunId::parse(call.run);
    const auto file =
        id ? read_file(run_folder(m_node.options().data_folder, *id) / "manifest", manifest_file_bytes_max)
           : Result<Bytes>(Error{ErrorCode::not_found, {}});
    const auto manifest = file ? check_manifest(*file) : Result<run::SignedManifest>(file.error());
    if (!manifest) {
        return Error{ErrorCode::not_found,
                     "The description of that run is not on this computer; join it by an invite."};
    }
    return m_node.join({.run = *id, .name = manifest->manifest.name, .hints = {}}, call.role, call.other_run);
}

}  // namespace potluck::node
