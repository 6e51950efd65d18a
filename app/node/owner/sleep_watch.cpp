// A connection that is read whenever the node ticks, twenty times a second, and that is asked for nothing which blocks:
// the lock comes with an answer that is awaited like a signal. The order of a sleep as logind has it: the signal with
// `true`, all delay locks closed or its patience over, asleep, the signal with `false`. The lock is taken anew then,
// since a closed one holds nothing. If the connection ends, or what was announced does not come, this computer is
// taken to be back.
//
// Functions of sd-bus are declared here as systemd's sd-bus.h has them, so that neither building nor starting needs
// the library. Source: systemd's "Inhibitor Locks" and org.freedesktop.login1(5).
//
// Threads: the node's.
#include "app/node/owner/sleep_watch.h"

#include <utility>

#include "core/base/log.h"

#ifdef __linux__
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "core/device/shared_library.h"

struct sd_bus;
struct sd_bus_slot;
struct sd_bus_message;
struct sd_bus_error;
#endif

namespace potluck::node {

#ifdef __linux__

namespace {

using MessageHandler = int (*)(sd_bus_message*, void* userdata, sd_bus_error*);

constexpr const char* service = "org.freedesktop.login1";
constexpr const char* object = "/org/freedesktop/login1";
constexpr const char* interface = "org.freedesktop.login1.Manager";

struct SdBus {
    device::SharedLibrary library;
    int (*open_system)(sd_bus**) = nullptr;
    sd_bus* (*close_unref)(sd_bus*) = nullptr;
    int (*process)(sd_bus*, sd_bus_message**) = nullptr;
    int (*match_signal_async)(sd_bus*, sd_bus_slot**, const char* sender, const char* path, const char* interface,
                              const char* member, MessageHandler, MessageHandler installed, void* userdata) = nullptr;
    int (*call_method_async)(sd_bus*, sd_bus_slot**, const char* destination, const char* path, const char* interface,
                             const char* member, MessageHandler, void* userdata, const char* types, ...) = nullptr;
    int (*message_read)(sd_bus_message*, const char* types, ...) = nullptr;

    explicit SdBus(const char* file) : library(file) {
        find(open_system, "sd_bus_open_system");
        find(close_unref, "sd_bus_close_unref");
        find(process, "sd_bus_process");
        find(match_signal_async, "sd_bus_match_signal_async");
        find(call_method_async, "sd_bus_call_method_async");
        find(message_read, "sd_bus_message_read");
    }
    [[nodiscard]] bool is_whole() const {
        return open_system && close_unref && process && match_signal_async && call_method_async && message_read;
    }

private:
    template <class Function>
    void find(Function& function, const char* name) {
        function = library.find<Function>(name);
    }
};

/// Null where there is none. Looked for once.
const SdBus* sd_bus_functions() {
    static const SdBus systemd("libsystemd.so.0");
    if (systemd.is_whole()) return &systemd;
    static const SdBus elogind("libelogind.so.0");
    return elogind.is_whole() ? &elogind : nullptr;
}

}  // namespace

class SleepWatch::Bus {
public:
    /// Null without a bus.
    [[nodiscard]] static std::unique_ptr<Bus> connect() {
        const SdBus* functions = sd_bus_functions();
        sd_bus* connection = nullptr;
        if (functions == nullptr || functions->open_system(&connection) < 0) return nullptr;
        std::unique_ptr<Bus> bus(new Bus(*functions, connection));
        if (!bus->listen("PrepareForSleep") || !bus->listen("PrepareForShutdown")) return nullptr;
        bus->take_lock();
        return bus;
    }
    ~Bus() {
        m_sd.close_unref(m_connection);
        release();
    }
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;

    /// False once the connection is gone.
    [[nodiscard]] bool read() {
        int read = 0;
        do read = m_sd.process(m_connection, nullptr);
        while (read > 0);
        return read == 0;
    }
    [[nodiscard]] std::optional<Notice> take_notice() { return std::exchange(m_notice, std::nullopt); }

    void take_lock() {
        if (m_lock >= 0) return;
        const int asked = m_sd.call_method_async(m_connection, nullptr, service, object, interface, "Inhibit",
                                                 &Bus::on_lock, this, "ssss", "sleep:shutdown", "Potluck",
                                                 "Another computer takes over this one's part in deciding.", "delay");
        if (asked < 0) log::of("sleep").info("the system will not wait for this node: {}", std::strerror(-asked));
    }
    void release() {
        if (m_lock >= 0) ::close(std::exchange(m_lock, -1));
    }
    [[nodiscard]] bool holds_lock() const { return m_lock >= 0; }

private:
    Bus(const SdBus& functions, sd_bus* connection) : m_sd(functions), m_connection(connection) {}

    [[nodiscard]] bool listen(const char* signal) {
        return m_sd.match_signal_async(m_connection, nullptr, service, object, interface, signal, &Bus::on_signal,
                                       nullptr, this) >= 0;
    }

    static int on_signal(sd_bus_message* message, void* userdata, sd_bus_error*) {
        Bus& bus = *static_cast<Bus*>(userdata);
        int begins = 0;
        if (bus.m_sd.message_read(message, "b", &begins) > 0) bus.m_notice = begins != 0 ? Notice::going : Notice::back;
        return 0;
    }

    static int on_lock(sd_bus_message* message, void* userdata, sd_bus_error*) {
        Bus& bus = *static_cast<Bus*>(userdata);
        int file = -1;  // the message's own
        if (bus.m_sd.message_read(message, "h", &file) <= 0) {
            log::of("sleep").info("the system will not wait for this node before it sleeps");
            return 0;
        }
        bus.release();
        bus.m_lock = ::fcntl(file, F_DUPFD_CLOEXEC, 3);
        return 0;
    }

    const SdBus& m_sd;
    sd_bus* m_connection;
    int m_lock = -1;
    std::optional<Notice> m_notice;
};

#else

class SleepWatch::Bus {
public:
    [[nodiscard]] static std::unique_ptr<Bus> connect() { return nullptr; }
    [[nodiscard]] bool read() { return false; }
    [[nodiscard]] std::optional<Notice> take_notice() { return std::nullopt; }
    void take_lock() {}
    void release() {}
    [[nodiscard]] bool holds_lock() const { return false; }
};

#endif

SleepWatch::SleepWatch() = default;
SleepWatch::~SleepWatch() = default;

std::optional<SleepWatch::Notice> SleepWatch::poll(TimePoint now) {
    m_owner.check();
    if (!m_bus && now >= m_connect_at) {
        m_connect_at = now + connect_again_after;
        m_bus = Bus::connect();
    }
    if (m_bus && !m_bus->read()) m_bus.reset();
    const std::optional<Notice> notice = m_bus ? m_bus->take_notice() : std::nullopt;
    if (notice == Notice::going) {
        log::of("sleep").info("the system is about to sleep or to end");
        m_back_by = now + gone_by;
        return notice;
    }
    const bool is_over = notice == Notice::back || (m_back_by && (!m_bus || now >= *m_back_by));
    if (!is_over) return std::nullopt;
    m_back_by.reset();
    if (m_bus) m_bus->take_lock();
    return Notice::back;
}

void SleepWatch::release() {
    m_owner.check();
    if (m_bus) m_bus->release();
}

bool SleepWatch::holds_lock() const {
    m_owner.check();
    return m_bus && m_bus->holds_lock();
}

}  // namespace potluck::node
