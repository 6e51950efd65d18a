// potluck-trainer: reads requests from standard input, trains, writes replies and notifications to standard output. A
// reader thread turns bytes into lines; the main thread owns every tensor and looks for requests between micro-steps.
// The program ends when its input closes, because then its parent is gone.
//
// Before the first tensor it sees to what LibTorch's libraries read from the environment: how their threads wait, and
// the instruction set to keep to. Then it starts itself once more (process.h).
//
// It begins at ordinary priority, measures the computer if it is asked to, and lowers its priority before it trains:
// what is measured beside other programs at a low one says more about them than about the computer.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "app/trainer/process.h"
#include "core/base/mailbox.h"
#include "core/base/processor/isa.h"
#include "core/confinement/confinement.h"
#include "core/control/rpc.h"
#include "core/training/compute/device.h"
#include "core/training/plan_facts.h"
#include "core/training/service.h"

namespace {

using namespace potluck;

constexpr std::size_t waiting_lines_max = 256;
constexpr int exit_usage = 2;
constexpr int exit_input = 6;  // the input is not the protocol

struct Input {
    enum class Kind { line, closed, overlong };
    Kind kind = Kind::line;
    std::string text;
};

void put(const control::Line& line) {
    const std::string text = control::encode(line);
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
}

/// Reads until the input ends. Its last post may find the mailbox full; closing it says the same.
void read_lines(Mailbox<Input>& mailbox) {
    control::LineSplitter splitter;
    char buffer[4096];
    bool going = true;
    while (going) {
        const std::size_t size = app::read_input(buffer, sizeof buffer);
        going = size > 0;
        for (std::string& line : splitter.feed({buffer, size})) {
            going = going && mailbox.post({Input::Kind::line, std::move(line)});
        }
        if (splitter.failed()) going = going && mailbox.post({Input::Kind::overlong, {}}) && false;
    }
    (void)mailbox.post({Input::Kind::closed, {}});
    mailbox.close();
}

void put_notices(training::TrainerService& service) {
    while (const auto notice = service.take_notice()) put(*notice);
}

/// How fast this computer is, is measured at ordinary priority, or other programs would be measured with it: a moment,
/// behind which the priority is lowered for good. Training begins after that.
class Priority {
public:
    void lower() {
        if (!std::exchange(m_is_low, true)) app::lower_priority();
    }
    [[nodiscard]] training::FactsFinder measure_first() {
        return [this](const auto&... question) {
            auto facts = training::plan_facts(question...);
            lower();
            return facts;
        };
    }

private:
    bool m_is_low = false;
};

/// Answers one line. False if the program should end; `exit_code` says how.
bool serve(training::TrainerService& service, Priority& priority, const Input& input, int& exit_code) {
    if (input.kind == Input::Kind::closed) return false;
    const Result<control::Line> line = control::decode(input.text);
    const control::Request* request = line.ok() ? std::get_if<control::Request>(&*line) : nullptr;
    if (input.kind == Input::Kind::overlong || request == nullptr) {
        put(training::TrainerService::failed_notification(
            {ErrorCode::malformed, "The trainer got a line that is no request; it ends."}));
        exit_code = exit_input;
        return false;
    }
    const control::Reply reply = service.handle(*request);
    if (request->method != control::HelloRequest::name) priority.lower();
    put_notices(service);
    put(reply);
    const bool only_asked = request->method == control::PlanRequest::name;  // nothing was taken, so nothing ran out
    if (reply.error && reply.error->code == ErrorCode::out_of_memory && !only_asked) {
        put(training::TrainerService::failed_notification(*reply.error));
        exit_code = training::TrainerService::exit_code_of(reply.error->code);
        return false;
    }
    return !service.stopped();
}

bool work(training::TrainerService& service, int& exit_code) {
    if (!service.busy()) return true;
    if (const Status status = service.work(); !status.ok()) {
        put(training::TrainerService::failed_notification(status.error()));
        exit_code = training::TrainerService::exit_code_of(status.error().code);
        return false;
    }
    put_notices(service);
    if (const auto progress = service.progress_due(std::chrono::steady_clock::now())) put(*progress);
    return true;
}

int serve_until_the_end(training::PrecisionChoice precision) {
    Mailbox<Input> mailbox(waiting_lines_max);
    std::thread reader([&] { read_lines(mailbox); });
    Priority priority;
    training::TrainerService service(precision, POTLUCK_VERSION, priority.measure_first());
    int exit_code = 0;
    for (bool going = true; going;) {
        const auto patience = service.busy() ? service.rest() : std::chrono::milliseconds(1000);
        if (const std::optional<Input> input = mailbox.take(patience)) {
            going = serve(service, priority, *input, exit_code);
        } else {
            going = work(service, exit_code);
        }
    }
    // The reader may sit in a read that only the parent can end: leave without waiting for it.
    std::fflush(stdout);
    app::leave(exit_code);
}

int usage(std::FILE* out, int code) {
    std::fputs(
        "potluck-trainer trains one model for potluck-node, which starts it and talks to it by lines.\n"
        "  --precision measured|fp32|bf16|fp16   of matrix products (default: measured when a model is loaded)\n"
        "  --version                        print the versions and leave\n"
        "  --help                           print this and leave\n",
        out);
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    training::PrecisionChoice precision = training::PrecisionChoice::measured;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--help") return usage(stdout, 0);
        if (option == "--version") {
            std::printf("potluck-trainer %s, LibTorch %s\n", POTLUCK_VERSION, training::torch_version().c_str());
            return 0;
        }
        if (option != "--precision" || i + 1 == argc) return usage(stderr, exit_usage);
        const std::string_view word = argv[++i];
        if (word == "fp32") {
            precision = training::PrecisionChoice::fp32;
        } else if (word == "fp16") {
            precision = training::PrecisionChoice::fp16;
        } else if (word == "bf16") {
            precision = training::PrecisionChoice::bf16;
        } else if (word != "measured") {
            return usage(stderr, exit_usage);
        }
    }
    if (const std::string& problem = isa_choice().problem; !problem.empty()) {
        std::fprintf(stderr, "%s\n", problem.c_str());
        return exit_usage;
    }
    training::limit_libraries();
    app::wait_without_spinning(argv);
    app::prepare_gpu();
    if (const auto limits = confinement::limits_from_environment()) {
        // It trains all the same: the doctor tells what the system cannot do.
        if (const Status confined = confinement::confine(*limits); !confined)
            std::fprintf(stderr, "%s\n", confined.error().message.c_str());
    }
    app::end_with_parent();
    training::treat_freed_memory(training::FreedMemory::kept);
    return serve_until_the_end(precision);
}
