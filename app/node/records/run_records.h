// The runs that a node knows, with what its person gave to each, and what of them lies on the disk. Credit is the
// ledger's, sizes are the files': it puts both together when it is asked, and keeps neither.
//
// Does not: leave a run or decide about rounds; a run that is open keeps its files.
// Threads: the loop's. Owns: the worker that reads and deletes folders.
#pragma once

#include <functional>
#include <memory>

#include <boost/asio/io_context.hpp>

#include "app/node/session/node.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/control/record_methods.h"

namespace potluck::node {

class RunRecords {
public:
    /// `node` outlives the records. Deletes what an earlier life began to.
    RunRecords(boost::asio::io_context& loop, Node& node);

    /// `done` is called once, later.
    void runs(const std::function<void(const Result<control::KnownRuns>&)>& done);
    void disk(const std::function<void(const Result<control::DiskUse>&)>& done);
    /// The last so many days, today being the last.
    [[nodiscard]] control::Days days(std::uint64_t count) const;
    /// `done` is called once the files are gone from the run; the disk has its room back when the worker is done.
    void delete_files(const control::DeleteRunFiles& call, const std::function<void(const Status&)>& done);
    /// `not_found` if the run's description is not here.
    [[nodiscard]] Status rejoin(const control::Rejoin& call);

private:
    ThreadOwner m_owner;
    Node& m_node;
    Worker m_worker;
};

/// The days that end with the one that `now` lies in, by this computer's clock.
[[nodiscard]] control::Days days_of(const ledger::Ledger& ledger, const PeerId& person, std::int64_t now,
                                    std::uint64_t count);
/// In the order in which they are shown: the open run first, then those that were given to last.
[[nodiscard]] control::KnownRuns known_runs(std::vector<control::KnownRun> rows);

}  // namespace potluck::node
