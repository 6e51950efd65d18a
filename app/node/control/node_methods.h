// The methods of core/control/node_methods.h, each a line or two that asks the node.
// Threads: the loop's.
#pragma once

#include <functional>

#include "app/node/control/dispatcher.h"
#include "app/node/models/export_model.h"
#include "app/node/models/sampler.h"
#include "app/node/records/run_records.h"
#include "app/node/session/node.h"
#include "app/node/starting/run_planner.h"
#include "app/node/starting/run_preparer.h"
#include "core/control/node_methods.h"

namespace potluck::node {

// The two methods that take a model rather than a node, so that a data folder without a node answers them too.
void export_held_model(ModelExporter& exporter, const Result<HeldModel>& model, const control::ExportModel& call,
                       const Dispatcher::Respond<control::ExportModel>& respond);
void sample_held_model(Sampler& sampler, const Result<HeldModel>& model, const control::SampleText& call,
                       const Dispatcher::Respond<control::SampleText>& respond);

/// What answers beside the node. All of it outlives the dispatcher.
struct Answerers {
    Node& node;
    Sampler& sampler;
    ModelExporter& exporter;
    RunPlanner& planner;
    RunPreparer& preparer;
    RunRecords& records;
};
/// `stop` ends the program.
void add_node_methods(Dispatcher& dispatcher, const Answerers& answerers, std::function<void()> stop);

}  // namespace potluck::node
