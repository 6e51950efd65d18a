// Text from a model that this computer holds, a picture from one that draws, or of one that embeds pictures which of
// those held out are nearest to each other. One sample at a time, in a trainer of its own. Threads: the loop's.
//
//   query | nearest, second, ...    a row of that picture; queries lie evenly over what was held out, so that one sees
//                                   the same ones improve
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/models/held_model.h"
#include "core/base/bytes.h"
#include "core/base/result.h"
#include "core/base/thread_owner.h"
#include "core/control/node_methods.h"
#include "core/control/trainer_protocol.h"
#include "core/pictures/picture.h"

namespace potluck::node {

struct SamplePlan {
    std::string prompt;          // may be empty: then the separator of documents or a line break begins
    std::uint32_t tokens = 200;  // of text; a picture has as many as it needs
    double temperature = 0.8;
    std::uint64_t seed = 1;
};

inline constexpr std::uint32_t nearest_rows = 4, nearest_columns = 8;
/// Pixels: a larger picture is shown smaller, so that all of them fit the line protocol.
inline constexpr std::uint32_t shown_side_max = 64, shown_gap = 4;

/// `records`: the file of the model's records. `malformed` where the answer names no pictures of it, rows of different
/// lengths or none, or where a record is no picture.
[[nodiscard]] Result<pictures::Picture> nearest_picture(const model::ModelSpec& model, ByteSpan records,
                                                        const control::NearestReply& answer);

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
    void compare(const HeldModel& model, std::function<void(const Result<control::SampledText>&)> done);

    ThreadOwner m_owner;
    boost::asio::io_context& m_loop;
    std::shared_ptr<bool> m_busy = std::make_shared<bool>(false);
};

}  // namespace potluck::node
