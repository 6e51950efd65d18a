// How fast this computer trains with so many volunteers, found by training: as many trainers as there will be, of one
// thread each, for a moment. What they have trained is thrown away.
// Threads: the loop's. Owns: the trainers' processes, until `done` was called.
#pragma once

#include <functional>

#include <boost/asio/io_context.hpp>

#include "app/demo/alone/lone_training.h"
#include "app/demo/pace.h"

namespace potluck::node {

/// Long enough for several steps of a slow computer, too short to be waited for.
inline constexpr double trial_seconds = 3;

/// `training` is what each does: its vector file gets a number behind its name, and it ends after trial_seconds. `done`
/// is called once, from the loop, with the mean of them, or with the first error.
void measure_pace(boost::asio::io_context& loop, const LoneTraining& training, unsigned volunteers,
                  std::function<void(const Result<Pace>&)> done);

}  // namespace potluck::node
