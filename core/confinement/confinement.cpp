// Landlock's rules only ever allow, and hold for a file and all that is below it. So hiding one folder means to walk
// from the root down to it and to allow, in each folder on the way, every entry but the one that leads on:
//
//   /home/anna/.potluck hidden:   / allows all but home; /home all but anna; /home/anna all but .potluck
//
// Symbolic links are left out, since a rule for one would hold for where it leads; what they lead to is allowed by its
// own name. What is made on the way later is not allowed; nothing on the way is written to by a trainer.
//
// The filter of system calls knows numbers, not addresses: connect() is refused for all, and socket() for all families
// but the two that a driver may open for itself. io_uring is refused because it opens sockets without that call.
// Sources: the kernel's Documentation/userspace-api/{landlock,seccomp_filter}.rst.
#include "core/confinement/confinement.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#ifdef __linux__
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace potluck::confinement {

namespace fs = std::filesystem;

namespace {

constexpr const char* hidden_name = "POTLUCK_CONFINE";
constexpr const char* writable_name = "POTLUCK_CONFINE_WRITES";

std::vector<std::string> lines_of(std::string_view text) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        lines.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(text.size(), end + 1));
    }
    return lines;
}

}  // namespace

Variable hidden_variable(const fs::path& hidden, const std::vector<std::string>& open_inside) {
    std::string lines = hidden.string();
    for (const std::string& name : open_inside) lines += "\n" + name;
    return {hidden_name, std::move(lines)};
}

Variable writable_variable(const std::vector<fs::path>& writable) {
    std::string lines;
    for (const fs::path& folder : writable) lines += folder.string() + "\n";
    return {writable_name, std::move(lines)};
}

std::optional<Limits> limits_from_environment() {
    const char* hidden = std::getenv(hidden_name);
    if (hidden == nullptr) return std::nullopt;
    Limits limits;
    const std::vector<std::string> lines = lines_of(hidden);
    if (!lines.empty()) {
        limits.hidden = lines.front();
        limits.open_inside.assign(lines.begin() + 1, lines.end());
    }
    if (const char* writable = std::getenv(writable_name)) {
        limits.writable.emplace();
        for (const std::string& folder : lines_of(writable)) limits.writable->emplace_back(folder);
    }
    return limits;
}

std::string gap(const Support& support) {
    if (!support.system)
        return "The trainer is not kept from your key and the network: Potluck can do that on Linux only.";
    std::string text;
    if (!support.files) text = "The trainer is not kept from your key: this kernel has no Landlock.";
    if (!support.network) {
        text += text.empty() ? "" : " ";
        text += "The trainer is not kept from the network: this kernel has no seccomp filters.";
    }
    return text;
}

#ifndef __linux__

Support support() { return {}; }

Status confine(const Limits&) { return Error{ErrorCode::unavailable, gap(support())}; }

#else

namespace {

// From linux/landlock.h, which older systems lack or have without the later rights.
constexpr long create_ruleset_call = 444, add_rule_call = 445, restrict_self_call = 446, io_uring_setup_call = 425,
               pidfd_getfd_call = 438;
constexpr std::uint32_t create_ruleset_version = 1, rule_path_beneath = 1;
constexpr std::uint64_t execute = 1, write_file = 1 << 1, read_file = 1 << 2, read_dir = 1 << 3;
constexpr std::uint64_t change_dir = 0x1ff0;                  // remove and make entries of all kinds
constexpr std::uint64_t refer = 1 << 13, truncate = 1 << 14;  // since versions 2 and 3
constexpr std::uint64_t bind_and_connect_tcp = 3;             // since version 4
constexpr std::uint64_t abstract_sockets_and_signals = 3;     // since version 6
constexpr std::uint64_t reads = read_file | read_dir;
constexpr std::uint64_t of_files = execute | write_file | read_file | truncate;

struct RulesetAttributes {
    std::uint64_t files = 0, network = 0, scoped = 0;
};
struct [[gnu::packed]] PathBeneath {
    std::uint64_t allowed = 0;
    std::int32_t parent = -1;
};

int landlock_version() { return static_cast<int>(::syscall(create_ruleset_call, nullptr, 0, create_ruleset_version)); }

std::uint64_t writes_of(int version) {
    return write_file | change_dir | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0);
}

class Descriptor {
public:
    explicit Descriptor(int number) : m_number(number) {}
    ~Descriptor() {
        if (m_number >= 0) ::close(m_number);
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    [[nodiscard]] int number() const { return m_number; }

private:
    int m_number;
};

class Rules {
public:
    explicit Rules(int version) : m_version(version), m_ruleset(make(version)) {}
    [[nodiscard]] bool made() const { return m_ruleset.number() >= 0; }
    [[nodiscard]] std::uint64_t writes() const { return writes_of(m_version); }

    /// What cannot be opened is not allowed; it could not be used anyway.
    void allow(const fs::path& path, std::uint64_t rights) const {
        const Descriptor at(::open(path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
        struct stat facts {};
        if (at.number() < 0 || ::fstat(at.number(), &facts) != 0 || S_ISLNK(facts.st_mode)) return;
        const PathBeneath rule{S_ISDIR(facts.st_mode) ? rights : rights & of_files, at.number()};
        static_cast<void>(::syscall(add_rule_call, m_ruleset.number(), rule_path_beneath, &rule, 0));
    }
    [[nodiscard]] bool enforce() const { return ::syscall(restrict_self_call, m_ruleset.number(), 0) == 0; }

private:
    static int make(int version) {
        const RulesetAttributes attributes{execute | reads | writes_of(version),
                                           version >= 4 ? bind_and_connect_tcp : 0,
                                           version >= 6 ? abstract_sockets_and_signals : 0};
        // A kernel refuses a size that it does not know.
        const std::size_t size = version >= 6 ? sizeof attributes : version >= 4 ? 16 : 8;
        return static_cast<int>(::syscall(create_ruleset_call, &attributes, size, 0));
    }
    int m_version;
    Descriptor m_ruleset;
};

/// Everything but `hidden`; see the top.
void allow_all_but(const fs::path& hidden, std::uint64_t rights, const Rules& rules) {
    fs::path at = hidden.root_path();
    for (const fs::path& next : hidden.relative_path()) {
        std::error_code failed;
        for (const auto& entry : fs::directory_iterator(at, failed)) {
            if (entry.path().filename() != next) rules.allow(entry.path(), rights);
        }
        at /= next;
    }
}

/// Devices, temporary files, and where drivers keep what they compiled: CUDA (its C++ Programming Guide,
/// CUDA_CACHE_PATH) and ROCm's MIOpen (its documentation, "Kernel cache"). And the names of this process's threads:
/// CUDA's driver names those that it starts by writing to /proc/self/task/*/comm, and without that cuInit fails with
/// error 304, as if there were no GPU (NVIDIA/OpenShell, issue 1486). A process confines itself here, so its own folder
/// is enough, and no other process is reached through that.
std::vector<fs::path> always_writable() {
    std::vector<fs::path> folders{"/dev", "/tmp", "/var/tmp", "/proc/self/task"};
    for (const char* variable : {"TMPDIR", "CUDA_CACHE_PATH"}) {
        if (const char* folder = std::getenv(variable)) folders.emplace_back(folder);
    }
    if (const char* home = std::getenv("HOME")) {
        for (const char* cache : {".nv", ".cache/miopen", ".config/miopen"}) folders.push_back(fs::path(home) / cache);
    }
    return folders;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
    const auto [end, rest] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
    return end == folder.end();
}

/// Landlock confines the thread that asks for it, and those that it starts.
bool is_alone() {
    std::error_code failed;
    return std::distance(fs::directory_iterator("/proc/self/task", failed), fs::directory_iterator()) == 1;
}

Status confine_files(const Limits& limits) {
    if (!is_alone()) {
        return Error{ErrorCode::unavailable,
                     "The trainer is not kept from your key: it has started threads too early; report this."};
    }
    const Rules rules(landlock_version());
    if (!rules.made()) return Error{ErrorCode::unavailable, gap({.system = true, .files = false, .network = true})};
    std::error_code failed;
    const std::uint64_t outside = limits.writable ? reads : reads | rules.writes();
    fs::path hidden;
    if (limits.hidden.empty()) {
        rules.allow("/", outside);
    } else {
        hidden = fs::weakly_canonical(limits.hidden, failed);
        if (failed || !hidden.is_absolute())
            return Error{ErrorCode::io, "The folder " + limits.hidden.string() + " cannot be hidden from the trainer."};
        allow_all_but(hidden, outside, rules);
        for (const std::string& name : limits.open_inside) rules.allow(hidden / name, outside);
    }
    std::vector<fs::path> writable = always_writable();
    // Where a hidden folder is below one of these, as in tests, the rule for the whole would open it again.
    std::erase_if(writable, [&](const fs::path& folder) {
        return !hidden.empty() && is_inside(hidden, fs::weakly_canonical(folder, failed));
    });
    if (limits.writable) writable.insert(writable.end(), limits.writable->begin(), limits.writable->end());
    for (const fs::path& folder : writable) {
        const fs::path real = fs::weakly_canonical(folder, failed);
        if (!failed) rules.allow(real, reads | rules.writes());
    }
    if (rules.enforce()) return {};
    return Error{ErrorCode::unavailable,
                 std::string("The trainer is not kept from your key (") + std::strerror(errno) + ")."};
}

#if defined(__x86_64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t own_architecture = AUDIT_ARCH_AARCH64;
#else
constexpr std::uint32_t own_architecture = 0;
#endif
constexpr std::uint32_t other_table_from = 0x40000000;  // calls of x32, which have numbers of their own

constexpr sock_filter load(std::uint32_t offset) { return {BPF_LD | BPF_W | BPF_ABS, 0, 0, offset}; }
constexpr sock_filter jump(std::uint16_t how, std::uint32_t value, std::uint8_t yes, std::uint8_t no) {
    return {static_cast<std::uint16_t>(BPF_JMP | how | BPF_K), yes, no, value};
}
constexpr sock_filter end_with(std::uint32_t action) { return {BPF_RET | BPF_K, 0, 0, action}; }
constexpr sock_filter refuse(int why) { return end_with(SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(why)); }

/// Refuses one call with one reason.
void refuse_call(std::vector<sock_filter>& program, long call, int why) {
    program.push_back(jump(BPF_JEQ, static_cast<std::uint32_t>(call), 0, 1));
    program.push_back(refuse(why));
}

std::vector<sock_filter> filter_of_calls() {
    std::vector<sock_filter> program{
        load(offsetof(seccomp_data, arch)), jump(BPF_JEQ, own_architecture, 1, 0), refuse(ENOSYS),
        load(offsetof(seccomp_data, nr)),   jump(BPF_JGE, other_table_from, 0, 1), refuse(ENOSYS),
    };
    refuse_call(program, SYS_connect, ECONNREFUSED);
    refuse_call(program, io_uring_setup_call, ENOSYS);
    for (const long call : {static_cast<long>(SYS_ptrace), static_cast<long>(SYS_process_vm_readv),
                            static_cast<long>(SYS_process_vm_writev), pidfd_getfd_call})
        refuse_call(program, call, EPERM);
    program.insert(program.end(), {
                                      jump(BPF_JEQ, SYS_socket, 1, 0),
                                      end_with(SECCOMP_RET_ALLOW),
                                      load(offsetof(seccomp_data, args)),
                                      jump(BPF_JEQ, AF_UNIX, 1, 0),
                                      jump(BPF_JEQ, AF_NETLINK, 0, 1),
                                      end_with(SECCOMP_RET_ALLOW),
                                      refuse(EAFNOSUPPORT),
                                  });
    return program;
}

Status confine_network() {
    std::vector<sock_filter> filter = filter_of_calls();
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (own_architecture != 0 &&
        ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0)
        return {};
    return Error{ErrorCode::unavailable, gap({.system = true, .files = true, .network = false})};
}

}  // namespace

Support support() {
    const std::uint32_t action = SECCOMP_RET_ERRNO;
    const bool filters = ::syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
    return {.system = true, .files = landlock_version() >= 1, .network = filters && own_architecture != 0};
}

Status confine(const Limits& limits) {
    // Both of the others demand it of a process that is not root.
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return Error{ErrorCode::unavailable, gap({.system = true, .files = false, .network = false})};
    Status files = confine_files(limits);
    if (Status network = confine_network(); !network)
        return files ? network : Status(Error{ErrorCode::unavailable, gap({.system = true})});
    return files;
}

#endif

}  // namespace potluck::confinement
