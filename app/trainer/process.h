// What the trainer asks of the operating system about its own process.
#pragma once

#include <cstddef>

namespace potluck::app {

/// Death with the parent where the system offers it.
void end_with_parent();

/// Low priority for this process, all its threads and those to come. It cannot be taken back.
void lower_priority();

/// LibTorch's worker threads spin while they wait, which takes the processor from everybody else, the owner's game and
/// other trainers first. Their library reads how to wait when it is loaded, so the program starts itself once more with
/// the environment that says so. Call first.
void wait_without_spinning(char** argv);

/// What drivers make as root or in the person's home, and what a confined process can no longer have made: NVIDIA's
/// device for unified memory, and the folders of compiled kernels. Nothing where there is no such driver.
void prepare_gpu();

/// Waits for bytes on standard input; 0 when it has ended.
[[nodiscard]] std::size_t read_input(char* buffer, std::size_t size);

/// Ends the process at once: no destructors, no waiting for threads. Everything of worth is in other processes.
[[noreturn]] void leave(int exit_code);

}  // namespace potluck::app
