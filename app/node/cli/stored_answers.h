// What a data folder answers by itself where no node runs for it: the calls that have an overload here, and no others.
// Whether a call can be answered without a node is thus decided at compile time, and one that changes something cannot
// be added by accident.
// Threads: the caller's, which runs a loop until the one answer is there. Owns: the folder's lock, as StoredNode does.
#pragma once

#include <filesystem>

#include <boost/asio/io_context.hpp>

#include "app/node/session/stored_node.h"
#include "core/control/node_methods.h"

namespace potluck::node {

class StoredAnswers {
public:
    StoredAnswers(StoredNode node, std::filesystem::path trainer);

    [[nodiscard]] Result<control::NodeSnapshot> answer(const control::ReadStatus& call);
    [[nodiscard]] Result<control::Leaderboard> answer(const control::ReadLeaderboard& call);
    [[nodiscard]] Result<control::Checkpoints> answer(const control::ReadCheckpoints& call);
    [[nodiscard]] Result<control::ExportedFiles> answer(const control::ExportModel& call);
    [[nodiscard]] Result<control::SampledText> answer(const control::SampleText& call);

private:
    template <class Call, class Begin>
    Result<typename Call::Reply> awaited(const Begin& begin);

    StoredNode m_node;
    std::filesystem::path m_trainer;
    boost::asio::io_context m_loop;
};

}  // namespace potluck::node
