// The runs that their hosts announce, as this node has heard of them: for those who have no invite.
// Threads: values.
#pragma once

#include <string>
#include <vector>

#include "core/control/node_protocol.h"

namespace potluck::control {

inline constexpr std::size_t found_runs_max = 512, followed_lists_max = 16;

enum class VouchedBy { nobody, network, friends, list };
template <>
inline constexpr std::array names<VouchedBy> = {"nobody", "network", "friends", "list"};

/// What the run's host says, which it has signed; only the round is proved. Zero means unknown.
struct FoundRun {
    static constexpr std::string_view label = "found run";
    std::string id, name, purpose, language, licence, model, family, host, host_name, magnet, page;
    VouchedBy vouched_by = VouchedBy::nobody;
    std::string line;
    std::uint64_t parameters = 0, memory = 0, download = 0, round = 0, total_rounds = 0, volunteers = 0;
    double loss = 0, baseline_loss = 0, round_seconds = 0, flops = 0;
    std::int64_t made = 0;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Name that the host chose.");
        field("purpose", value.purpose, Text{name_bytes_max}, "Purpose of the model, cut to 250 bytes.");
        field("language", value.language, Text{name_bytes_max}, "Language of the text as a BCP 47 tag, or empty.");
        field("licence", value.licence, Text{name_bytes_max}, "SPDX licence of the model.");
        field("model", value.model, Text{name_bytes_max}, "Shape of the model in words.");
        field("family", value.family, Text{name_bytes_max}, "Family of the model, such as GPT-2, or empty.");
        field("host", value.host, Text{id_bytes_max}, "Key of the run's host in hexadecimal digits.");
        field("host_name", value.host_name, Text{name_bytes_max}, "Name that the host goes by, or empty.");
        field("magnet", value.magnet, Text{text_bytes_max}, "Invite to the run.");
        field("page", value.page, Text{name_bytes_max}, "Page of the run on the web, or empty.");
        field("vouched_by", value.vouched_by, Any{},
              "Strongest reason to trust the run: a list that is followed, a friend who hosts it, or a host in the "
              "local network.");
        field("line", value.line, Text{name_bytes_max}, "Line of the list that vouches for it.");
        field("parameters", value.parameters, Whole{}, "Parameters of the model.");
        field("memory", value.memory, Whole{}, "Bytes of weights, gradients and the optimizer's moments.");
        field("download", value.download, Whole{}, "Bytes that a member fetches before it trains.");
        field("round", value.round, Whole{}, "Completed rounds, as a quorum has signed.");
        field("total_rounds", value.total_rounds, Whole{}, "Planned rounds.");
        field("volunteers", value.volunteers, Whole{}, "Volunteers that train now, as the host says.");
        field("loss", value.loss, Real{}, "Mean training loss of the members' last windows.");
        field("baseline_loss", value.baseline_loss, Real{}, "Loss of the baseline on the validation data.");
        field("round_seconds", value.round_seconds, Real{}, "Duration of the last round.");
        field("flops", value.flops, Optional{Real{}}, "Floating-point operations that training takes for a token.");
        field("made", value.made, Whole{}, "Time of the announcement in Unix seconds.");
    }
};

/// A list of runs that the person follows.
struct FollowedRow {
    static constexpr std::string_view label = "followed list";
    std::string title, key, source, problem;
    std::uint64_t runs = 0;
    std::int64_t expires = 0;
    bool expired = false;

    static void fields(auto& value, auto&& field) {
        field("title", value.title, Text{name_bytes_max}, "Title that its maker chose.");
        field("key", value.key, Text{name_bytes_max}, "Key of its maker.");
        field("source", value.source, Text{name_bytes_max}, "File or link from which newer versions come.");
        field("problem", value.problem, Text{text_bytes_max}, "Why the last try for a newer version failed, or empty.");
        field("runs", value.runs, Whole{}, "Runs that it names.");
        field("expires", value.expires, Whole{}, "End of its validity in Unix seconds.");
        field("expired", value.expired, Any{}, "Whether it has expired and vouches for nothing.");
    }
};

struct FoundRuns {
    static constexpr std::string_view label = "found runs";
    std::vector<FoundRun> rows;
    std::vector<FollowedRow> lists;
    std::uint64_t neighbours = 0, answers = 0, refused = 0;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{found_runs_max, Any{}}, "Runs that are vouched for first, then the newest.");
        field("lists", value.lists, Optional{List{followed_lists_max, Any{}}}, "Lists that the person follows.");
        field("neighbours", value.neighbours, Whole{}, "Computers on the board that this one is connected to.");
        field("answers", value.answers, Whole{}, "Neighbours that have told of a run.");
        field("refused", value.refused, Whole{}, "Announcements and questions that were refused.");
    }
};

/// Goes to the board, the swarm in which runs are announced, for some minutes. The answer is what is known at once;
/// neighbours tell more within seconds, so ask again.
struct FindRuns : Nothing {
    static constexpr std::string_view name = "find_runs";
    using Reply = FoundRuns;
};

/// Follows a list of runs from now on. Answers when it is here; `untrusted` if its key has not signed it.
struct FollowList {
    static constexpr std::string_view name = "follow_list";
    using Reply = FollowedRow;
    std::string link;

    static void fields(auto& value, auto&& field) {
        field("link", value.link, Text{text_bytes_max},
              "A potluck:list link, or where the list is (an https link or a magnet link of it) and its key, with a "
              "space "
              "between them.");
    }
};
struct UnfollowList {
    static constexpr std::string_view name = "unfollow_list";
    using Reply = Done;
    std::string key;

    static void fields(auto& value, auto&& field) {
        field("key", value.key, Text{name_bytes_max}, "Key of the list's maker.");
    }
};

/// Whether a run of a followed list is joined by itself when the one that this node is in is complete.
struct SetNextRun {
    static constexpr std::string_view name = "set_next_run";
    using Reply = Done;
    bool helps_lists = false;

    static void fields(auto& value, auto&& field) {
        field("helps_lists", value.helps_lists, Any{}, "Whether to go on with a run of these lists; off at first.");
    }
};

}  // namespace potluck::control
