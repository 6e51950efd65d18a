#include "app/node/session/lone_search.h"

#include <filesystem>
#include <system_error>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "app/node/find/finder.h"
#include "app/node/find/followed_lists.h"
#include "app/node/session/settings.h"
#include "core/base/files.h"
#include "net/session.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds tick_every{50}, look_every{500};
constexpr Duration stop_limit{1'000};

/// A folder with a name of its own that is deleted in the end.
class PassingFolder {
public:
    PassingFolder() {
        std::error_code failed;
        path = fs::temp_directory_path(failed) / ("potluck-find-" + identity::Identity::generate().id().brief());
    }
    ~PassingFolder() {
        std::error_code failed;
        fs::remove_all(path, failed);
    }
    PassingFolder(const PassingFolder&) = delete;
    PassingFolder& operator=(const PassingFolder&) = delete;
    fs::path path;
};

}  // namespace

Result<control::FoundRuns> find_alone(const NodeOptions& options, std::chrono::seconds patience,
                                      const std::function<bool(const control::FoundRuns&)>& is_enough) {
    const auto saved = NodeSettings::load(options.data_folder);
    if (!saved) return saved.error();
    const PassingFolder folder;
    net::SessionSettings settings;
    settings.data_folder = folder.path;
    settings.reach = options.reach;
    settings.dht_nodes = options.dht_nodes;
    settings.proxy = options.network.proxy.value_or(saved->proxy);
    auto network = net::Session::open(settings);
    if (!network) return network.error();

    Finder finder;
    finder.set_trust(trust_of(options.data_folder, unix_seconds()));
    boost::asio::io_context loop;
    boost::asio::steady_timer timer(loop);
    const auto end = std::chrono::steady_clock::now() + patience;
    auto looked = std::chrono::steady_clock::time_point{};
    Result<control::FoundRuns> found = control::FoundRuns{};
    const std::function<void()> tick = [&] {
        (*network)->poll(steady_now());
        finder.tick(**network, {}, steady_now(), unix_milliseconds());
        const auto now = std::chrono::steady_clock::now();
        if (now - looked >= look_every) {
            looked = now;
            found = finder.look(**network, steady_now(), unix_milliseconds());
            if (!found || is_enough(*found) || now >= end) return;
        }
        timer.expires_after(tick_every);
        timer.async_wait([&](const auto&) { tick(); });
    };
    tick();
    loop.run();
    finder.close();
    static_cast<void>((*network)->stop(stop_limit));
    return found;
}

}  // namespace potluck::node
