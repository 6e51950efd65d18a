// Text from a model that this computer holds, or a picture from one that draws. One sample at a time, in a trainer of
// its own. Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/hosting/held_model.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"

namespace potluck::node {

struct SamplePlan {
    std::string prompt;          // may be empty: then the separator of documents or a line break begins
    std::uint32_t tokens = 200;  // of text; a picture has as many as it needs
    double temperature = 0.8;
    std::uint64_t seed = 1;
};

class Sampler {
public:
    explicit Sampler(boost::asio::io_context& loop) : m_loop(loop) {}
    void sample(const Result<HeldModel>& model, const SamplePlan& plan,
                std::function<void(const Result<control::SampledText>&)> done);

private:
    void ask(const HeldModel& model, std::vector<model::Token> prompt, const SamplePlan& plan,
             std::function<void(const Result<control::SampleReply>&)> done);
    void draw(const HeldModel& model, const SamplePlan& plan,
              std::function<void(const Result<control::SampledText>&)> done);

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    std::shared_ptr<bool> m_busy = std::make_shared<bool>(false);
};

}  // namespace potluck::node
