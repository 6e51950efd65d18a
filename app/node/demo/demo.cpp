#include "app/node/demo/demo.h"
namespace potluck::node {
ExitCode run_demo(const Command&) { return ExitCode::failed; }
}
