#include "app/node/cli/handing_over.h"

#include <cerrno>
#include <cstring>
#include <system_error>

#ifdef _WIN32
#include <boost/process.hpp>
#else
#include <unistd.h>
#endif

namespace potluck::node {

Result<ExitCode> hand_over(const std::filesystem::path& program, const std::vector<std::string>& arguments) {
#ifdef _WIN32
    std::error_code failed;
    boost::process::child child(program.string(), boost::process::args(arguments), failed);
    if (!failed) child.wait(failed);
    if (!failed) return static_cast<ExitCode>(child.exit_code());
    const std::string why = failed.message();
#else
    std::string name = program.string();
    std::vector<std::string> copies = arguments;  // exec takes what it may write to
    std::vector<char*> pointers{name.data()};
    for (std::string& argument : copies) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execv(program.c_str(), pointers.data());
    const std::string why = std::strerror(errno);
#endif
    return Error{ErrorCode::unavailable, program.string() + " cannot be started (" + why + ")."};
}

}  // namespace potluck::node
