// Releases as this computer sees them: the signed index, the packs of the trainer, a newer version.
//
//   check    GET index, GET signature -> believed? -> kept in packs/
//   install  check if there is none -> GET .torrent -> net: torrent with web seeds -> unpack -> record -> trainer found
//            archive on a stick, index beside it -> hash -> unpack -> record
//
// One thing at a time; a second wish meanwhile is refused. Does not: start on its own (the node asks once a day where
// its owner wants that), update this program, or restart a trainer.
// Threads: the loop's; hashing, unpacking and web servers are its worker's. Owns: the packs folder, its worker.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>

#include "app/node/release/pack_folder.h"
#include "core/base/thread_owner.h"
#include "core/base/worker.h"
#include "core/control/release_protocol.h"
#include "core/release/release_index.h"
#include "net/session.h"

namespace potluck::node {

/// Whom to believe and where to look; empty fields: what this build was made with.
struct ReleaseSource {
    std::string key, url;
};

class Releases {
public:
    struct Settings {
        std::filesystem::path data_folder;
        ReleaseSource source;
        release::Computer computer;
        net::Proxy proxy = {};  // for web servers
    };
    using Done = std::function<void(const Status&)>;

    /// `network` outlives it.
    Releases(boost::asio::io_context& loop, net::Session& network, Settings settings);
    ~Releases();

    /// `done` is called later, once; what is refused at once is returned.
    [[nodiscard]] Status check(Done done);
    /// An empty kind: the best for this computer.
    [[nodiscard]] Status install(const std::string& kind, Done done);
    [[nodiscard]] Status install_file(const std::filesystem::path& archive, Done done);
    /// The installed pack, or a download that is under way.
    [[nodiscard]] Status remove();
    /// The oldest version that can join runs of `protocol`, as far as the index tells.
    [[nodiscard]] std::optional<release::Version> version_for(std::uint32_t protocol) const;
    /// Seeds what is here, or keeps nothing after it is installed.
    void pass_on(bool wanted);

    /// The trainer of the installed pack; empty if there is none.
    [[nodiscard]] std::filesystem::path trainer() const;
    [[nodiscard]] bool busy() const { return m_stage != control::ReleaseStage::none; }
    /// When the index was accepted last; unix seconds, 0: never.
    [[nodiscard]] std::int64_t checked() const;
    /// All but what the node's settings say.
    [[nodiscard]] control::ReleaseState view() const;

private:
    struct Fetched {
        Bytes index;
        std::string signature;
    };
    [[nodiscard]] Status may_begin() const;
    void load_index();
    [[nodiscard]] Status accept(const Fetched& fetched);
    void fetch_index(Done done);
    [[nodiscard]] Result<release::Pack> choose(const std::string& kind) const;
    [[nodiscard]] Status room_for(const release::Pack& pack) const;
    void download(const release::Pack& pack);
    void fetch_archive(const release::Pack& pack, Bytes torrent);
    void unpack(const release::Pack& pack, const std::filesystem::path& archive);
    void end(const Status& outcome);

    ThreadOwner m_owner;
    net::Session& m_network;
    Settings m_settings;
    std::shared_ptr<bool> m_alive = std::make_shared<bool>(true);
    std::optional<release::Index> m_index;
    std::optional<InstalledPack> m_installed;
    control::ReleaseStage m_stage = control::ReleaseStage::none;
    std::optional<BlobId> m_downloading;
    bool m_passes_on = true;
    std::string m_error;
    Done m_done;
    Worker m_worker;  // last: its jobs' ends use all of the above
};

}  // namespace potluck::node
