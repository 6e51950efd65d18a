// `list`: lists of runs, for those who make one (create, add, remove) and for those who follow some.
//
// A list is FILE and FILE.minisig beside it. It is signed with a key of the data folder that signs nothing else
// (list.key); each change raises its serial and prolongs it. Both files may lie on any web server, or go from hand to
// hand: its followers know the key. With a place on the web there are FILE.signed, which is both in one, and its
// torrent, whose web seed is that place: then its followers pass it on to one another.
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include <CLI/CLI.hpp>

#include "app/node/cli/asking.h"
#include "app/node/cli/complain.h"
#include "app/node/cli/verb.h"
#include "app/node/cli/verbs/take_part/verbs.h"
#include "app/node/find/followed_lists.h"
#include "app/node/find/list_torrent_file.h"
#include "app/node/paths.h"
#include "app/node/release/http_get.h"
#include "app/node/session/settings.h"
#include "core/base/clock.h"
#include "core/base/files.h"
#include "core/base/log.h"
#include "core/find/list_torrent.h"
#include "core/identity/minisign_signer.h"
#include "core/run/invite.h"

namespace potluck::node {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t seconds_per_day = 86'400;
constexpr int days_default = 30;
constexpr std::size_t shown_in_list = 300;

std::string signature_name(const std::string& file) { return file + std::string(list_signature_suffix); }

fs::path key_file_in(const fs::path& data_folder) { return data_folder / "list.key"; }

/// Writes a list and its signature, the signature first: who reads in between finds a pair that does not fit, and tries
/// again.
Status write_signed(const std::string& file, find::RunList list, const identity::MinisignSigner& signer, int days) {
    list.issued = unix_seconds();
    list.expires = list.issued + days * seconds_per_day;
    const std::string text = list.to_text();
    if (const auto read = find::RunList::parse(text); !read) return read.error();
    const std::string signature = signer.sign(as_bytes(text), "a list of runs, serial " + std::to_string(list.serial));
    if (Status written = write_file_atomically(signature_name(file), as_bytes(signature)); !written) return written;
    return write_file_atomically(file, as_bytes(text));
}

/// A run by its id, or by an invite to it.
Result<RunId> run_named(const std::string& text) {
    if (const auto id = RunId::parse(text)) return *id;
    const auto invite = run::Invite::parse(text);
    if (!invite) return Error{ErrorCode::invalid_argument, "A run is an invite, or the 64 digits of its id."};
    return invite->run;
}

/// What the verbs of a list's maker share: the file, the key, and how long the list holds from now on.
class MakersVerb : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override {
        app.add_option("file", m_file, "The list; its signature lies beside it, with .minisig behind its name")
            ->required();
        app.add_option("--days", m_days, "Days until it expires; each change begins them anew")
            ->check(CLI::Range(1, 366));
        app.add_option("--at", m_place,
                       "Where it lies on the web, to print links by which others follow it, and to make its torrent");
        add_own(app);
    }
    ExitCode run(const ThisNode& node) override {
        const auto signer = open_key(node.options.data_folder);
        if (!signer) return complain(signer.error());
        auto list = begin(*signer);
        if (!list) return complain(list.error());
        if (const Status changed = change(*list); !changed) return complain(changed.error());
        ++list->serial;
        if (const Status written = write_signed(m_file, *list, *signer, m_days); !written)
            return complain(written.error());
        std::cout << "The list " << clean(m_file) << " names " << list->runs.size()
                  << (list->runs.size() == 1 ? " run" : " runs") << " and holds for " << m_days
                  << " days. Others follow it with:\n  potluck-node list follow <file or https link> "
                  << signer->key_line() << std::endl;
        if (m_place.empty()) return ExitCode::ok;
        const find::ListLink link{m_place, signer->key_line()};
        if (const auto read = find::ListLink::parse(link.to_link()); !read) return complain(read.error());
        const auto torrent = write_list_torrent(m_file, m_place);
        if (!torrent) return complain(torrent.error());
        const find::ListLink magnet{torrent->to_magnet(), signer->key_line()};
        if (const auto read = find::ListLink::parse(magnet.to_link()); !read) return complain(read.error());
        std::cout
            << "or, in the window, by the link:\n  " << link.to_link()
            << "\nor as a torrent, which those who follow it pass on; put FILE.signed and FILE.signed.torrent beside "
               "the list:\n  "
            << magnet.to_link() << std::endl;
        return ExitCode::ok;
    }

protected:
    virtual void add_own(CLI::App& app) = 0;
    [[nodiscard]] virtual Result<identity::MinisignSigner> open_key(const fs::path& data_folder) const {
        auto signer = identity::MinisignSigner::open(key_file_in(data_folder));
        if (!signer && signer.error().code == ErrorCode::not_found) {
            return Error{ErrorCode::not_found,
                         "This data folder has no key for lists; make a list with list create, or check --data-dir."};
        }
        return signer;
    }
    /// What is to be changed.
    [[nodiscard]] virtual Result<find::RunList> begin(const identity::MinisignSigner& signer) const {
        const auto text = read_file(m_file, find::list_bytes_max);
        if (!text) return text.error();
        const auto signature = read_file(signature_name(m_file), identity::minisign_bytes_max);
        if (!signature) return signature.error();
        // One's own list may have expired: it is prolonged.
        return find::accept_list(signer.key(), *text, as_text(*signature), {});
    }
    [[nodiscard]] virtual Status change(find::RunList& list) const = 0;

    std::string m_file, m_place;
    int m_days = days_default;
};

class ListCreateVerb final : public MakersVerb {
public:
    using MakersVerb::MakersVerb;

protected:
    void add_own(CLI::App& app) override { app.add_option("--title", m_title, "What the list is of")->required(); }
    [[nodiscard]] Result<identity::MinisignSigner> open_key(const fs::path& data_folder) const override {
        return identity::MinisignSigner::open_or_create(key_file_in(data_folder));
    }
    [[nodiscard]] Result<find::RunList> begin(const identity::MinisignSigner&) const override {
        std::error_code failed;
        if (fs::exists(m_file, failed)) {
            return Error{ErrorCode::already_exists,
                         "There is a file " + m_file + " already; add to it, or choose another name."};
        }
        find::RunList list;
        list.title = m_title;
        return list;
    }
    [[nodiscard]] Status change(find::RunList&) const override { return {}; }

private:
    std::string m_title;
};

class ListAddVerb final : public MakersVerb {
public:
    using MakersVerb::MakersVerb;

protected:
    void add_own(CLI::App& app) override {
        app.add_option("--run", m_run, "The run: its id or an invite to it")->required();
        app.add_option("--host", m_host, "Key of its host, as runs find --json shows it")->required();
        app.add_option("--line", m_line, "A line about it")->required();
    }
    [[nodiscard]] Status change(find::RunList& list) const override {
        const auto run = run_named(m_run);
        if (!run) return run.error();
        const auto host = PeerId::parse(m_host);
        if (!host) return Error{ErrorCode::invalid_argument, "A key is 64 hexadecimal digits."};
        return list.add({.run = *run, .host = *host, .line = m_line});
    }

private:
    std::string m_run, m_host, m_line;
};

class ListRemoveVerb final : public MakersVerb {
public:
    using MakersVerb::MakersVerb;

protected:
    void add_own(CLI::App& app) override {
        app.add_option("--run", m_run, "The run: its id or an invite to it")->required();
    }
    [[nodiscard]] Status change(find::RunList& list) const override {
        const auto run = run_named(m_run);
        return run ? list.remove(*run) : Status(run.error());
    }

private:
    std::string m_run;
};

bool is_link(const std::string& place) { return place.starts_with("https://") || place.starts_with("http://"); }

Result<Bytes> fetch(const std::string& place, std::size_t bytes_max, const net::Proxy& proxy) {
    return is_link(place) ? http_get(place, bytes_max, {}, proxy) : read_file(place, bytes_max);
}

/// List and signature from a file or a link of the web, or of a torrent from its web seed.
Result<find::SignedList> fetch_signed(const std::string& place, const net::Proxy& proxy) {
    if (find::is_magnet(place)) {
        const auto torrent = find::ListTorrent::parse(place);
        if (!torrent) return torrent.error();
        if (torrent->web_seed.empty()) {
            return Error{ErrorCode::unavailable,
                         "Only peers have this list; start the node (potluck-node serve), then follow it again."};
        }
        const auto whole = fetch(torrent->web_seed, find::signed_list_bytes_max, proxy);
        return whole ? find::SignedList::parse(as_text(*whole)) : Result<find::SignedList>(whole.error());
    }
    const auto text = fetch(place, find::list_bytes_max, proxy);
    if (!text) return text.error();
    const auto signature = fetch(signature_name(place), identity::minisign_bytes_max, proxy);
    if (!signature) return signature.error();
    return find::SignedList{std::string(as_text(*signature)), std::string(as_text(*text))};
}

void say_followed(const std::string& title, std::uint64_t runs) {
    std::cout << "You follow “" << log::printable(title, shown_in_list) << "”, which names " << runs
              << (runs == 1 ? " run." : " runs.") << " Look for them with: potluck-node runs find" << std::endl;
}

class ListFollowVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override {
        app.add_option("place", m_place,
                       "Its file, or a link to it; with .minisig behind the name there is its signature; its magnet "
                       "link; or a potluck:list link, which names place and key")
            ->required();
        app.add_option("key", m_key, "Its maker's key, which begins with RW, unless a potluck:list link names it");
    }
    ExitCode run(const ThisNode& node) override {
        if (m_key.empty()) {
            const auto link = find::ListLink::parse(m_place);
            if (!link) return complain(link.error());
            m_place = link->source;
            m_key = link->key;
        }
        const fs::path& folder = node.options.data_folder;
        if (find::is_magnet(m_place)) {
            // Peers are asked by a node that stays; without one the web seed is.
            if (auto client = ControlClient::connect(folder)) {
                const control::FollowList call{find::ListLink{m_place, m_key}.to_link()};
                const auto followed = client->call(call, trainer_patience);
                if (!followed) return complain(followed.error());
                say_followed(followed->title, followed->runs);
                return ExitCode::ok;
            }
        }
        const auto settings = NodeSettings::load(folder);
        if (!settings) return complain(settings.error());
        const net::Proxy proxy = node.options.network.proxy.value_or(settings->proxy);
        const auto fetched = fetch_signed(m_place, proxy);
        if (!fetched) return complain(fetched.error());
        if (const Status made = make_data_folder(folder); !made) return complain(made.error());
        std::error_code failed;
        const bool is_file = !is_link(m_place) && !find::is_magnet(m_place);
        const std::string source = is_file ? fs::absolute(m_place, failed).string() : m_place;
        const auto list = follow_list(folder, {.key = m_key, .source = source, .list = {}}, as_bytes(fetched->text),
                                      fetched->signature, unix_seconds());
        if (!list) return complain(list.error());
        say_followed(list->title, list->runs.size());
        return ExitCode::ok;
    }

private:
    std::string m_place, m_key;
};

class ListUnfollowVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { app.add_option("key", m_key, "Its maker's key")->required(); }
    ExitCode run(const ThisNode& node) override {
        const auto key = identity::MinisignKey::parse(m_key);
        if (!key) return complain(key.error());
        const Status gone = unfollow_list(node.options.data_folder, *key);
        return gone ? ExitCode::ok : complain(gone.error());
    }

private:
    std::string m_key;
};

class ListShowVerb final : public Verb {
public:
    using Verb::Verb;
    void add(CLI::App& app) override { add_json(app); }
    ExitCode run(const ThisNode& node) override {
        nlohmann::json rows = nlohmann::json::array();
        for (const FollowedList& one : followed_lists(node.options.data_folder)) {
            rows.push_back({{"title", one.list.title},
                            {"key", one.key},
                            {"source", one.source},
                            {"serial", one.list.serial},
                            {"expires", one.list.expires},
                            {"runs", one.list.runs.size()}});
            if (output() == Output::json) continue;
            const bool expired = one.list.expires <= unix_seconds();
            std::printf("%s: %zu runs%s\n  %s %s\n", log::printable(one.list.title, shown_in_list).c_str(),
                        one.list.runs.size(),
                        expired ? ", expired: it vouches for nothing until its maker renews it" : "",
                        log::printable(one.source, shown_in_list).c_str(), one.key.c_str());
        }
        if (output() == Output::json) print_json({{"lists", rows}});
        return ExitCode::ok;
    }
};

}  // namespace

std::unique_ptr<Verb> list_verb() {
    return family("list", "Lists of runs: make one that vouches for runs, or follow those of others",
                  std::make_unique<ListCreateVerb>("create", "Make an empty list and sign it"),
                  std::make_unique<ListAddVerb>("add", "Name a run in a list of your own, and sign the list again"),
                  std::make_unique<ListRemoveVerb>("remove", "Take a run off a list of your own"),
                  std::make_unique<ListFollowVerb>("follow", "Follow a list, or get its newest version"),
                  std::make_unique<ListUnfollowVerb>("unfollow", "Follow a list no more"),
                  std::make_unique<ListShowVerb>("show", "The lists that you follow"));
}

}  // namespace potluck::node
