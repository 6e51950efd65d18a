// Text from the newest state that this node holds. One sample at a time, in a trainer of its own.
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/session/node.h"
#include "core/base/thread_owner.h"
#include "core/data/tokenizer.h"

namespace potluck::node {

struct SamplePlan {
    std::string prompt;  // may be empty: then the separator of documents or a line break begins
    std::uint32_t tokens = 200;
    double temperature = 0.8;
    std::uint64_t seed = 1;
};

/// The run's tokenizer; `unavailable` while its model is still being fetched.
[[nodiscard]] Result<data::Tokenizer> tokenizer_of(const RunSession& session);
/// Round of the newest state; `unavailable` if none is held yet.
[[nodiscard]] Result<RoundId> newest_state(const RunSession& session);

class Sampler {
public:
    Sampler(boost::asio::io_context& loop, Node& node) : m_loop(loop), m_node(node) {}
    void sample(const SamplePlan& plan, std::function<void(const Result<std::string>&)> done);

private:
    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    Node& m_node;
    std::shared_ptr<bool> m_busy = std::make_shared<bool>(false);
};

}  // namespace potluck::node
