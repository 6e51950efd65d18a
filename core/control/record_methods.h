// What a node remembers beyond the run it is in: the runs it ever was in with what was given to each, the days on which
// its person gave, and what of it all lies on the disk.
// Threads: values.
#pragma once

#include <string>
#include <vector>

#include "core/control/node_protocol.h"
#include "core/run/message.h"

namespace potluck::control {

inline constexpr std::uint64_t days_max = 400;
inline constexpr std::size_t disk_parts_max = 32;

/// A run that this data folder knows of.
struct KnownRun {
    static constexpr std::string_view label = "known run";
    std::string id, name, model;
    bool is_open = false, hosted = false;
    std::uint64_t round = 0, total_rounds = 0, tokens = 0, my_tokens = 0, my_rounds = 0, rank = 0;
    std::int64_t first = 0, last = 0;
    std::uint64_t bytes = 0;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max},
              "The name its host chose; empty if its description is not here, and then it cannot be joined again.");
        field("model", value.model, Text{name_bytes_max}, "The model's shape in words; empty likewise.");
        field("open", value.is_open, Any{}, "Whether the node is in it now.");
        field("hosted", value.hosted, Any{}, "Whether its host is this identity.");
        field("round", value.round, Whole{}, "Rounds that had ended when this computer last heard of it.");
        field("total_rounds", value.total_rounds, Whole{}, "Rounds that are planned; 0 if unknown.");
        field("tokens", value.tokens, Whole{}, "Credited to anybody in it.");
        field("my_tokens", value.my_tokens, Whole{}, "Credited to this identity in it.");
        field("my_rounds", value.my_rounds, Whole{}, "Rounds that accepted its contribution.");
        field("rank", value.rank, Whole{}, "Its place among all who were credited; 0 if it was not.");
        field("first", value.first, Whole{}, "When this computer first heard of a credit for it, in Unix seconds.");
        field("last", value.last, Whole{}, "When it last did; 0: never.");
        field("bytes", value.bytes, Whole{}, "On this disk, and free once the run's files are deleted.");
    }
};
struct KnownRuns {
    static constexpr std::string_view label = "known runs";
    std::vector<KnownRun> rows;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{rows_max, Any{}}, "The one it is in first, then the last given to.");
    }
};
struct ReadRuns : Nothing {
    static constexpr std::string_view name = "runs";
    using Reply = KnownRuns;
};

/// Joins a run again by its id: its description is here, and so are the addresses of those who were in it.
struct Rejoin {
    static constexpr std::string_view name = "rejoin";
    using Reply = Done;
    std::string run;
    run::Role role = run::Role::volunteer;
    OtherRun other_run = OtherRun::keep;

    static void fields(auto& value, auto&& field) {
        field("run", value.run, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
        field("role", value.role, Optional{Any{}}, "Whether to train, or to lead and relay.");
        field("other_run", value.other_run, Optional{Any{}}, "As for join.");
    }
};

/// Deletes what a run that was left has on this disk: model, text, what others fetched from here. Its description, the
/// credit and what this computer has signed stay.
struct DeleteRunFiles {
    static constexpr std::string_view name = "delete_run_files";
    using Reply = Done;
    std::string run;

    static void fields(auto& value, auto&& field) {
        field("run", value.run, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
    }
};

/// What a part of the data folder holds.
enum class DiskKind { runs, trainers, ledger, log, other };
template <>
inline constexpr std::array names<DiskKind> = {"runs", "trainers", "ledger", "log", "other"};

struct DiskPart {
    static constexpr std::string_view label = "part of the disk";
    DiskKind kind = DiskKind::other;
    std::uint64_t bytes = 0;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Any{}, "What it is; `other` holds keys, settings and what is not finished.");
        field("bytes", value.bytes, Whole{}, "Size of its files.");
    }
};
struct DiskUse {
    static constexpr std::string_view label = "use of the disk";
    std::vector<DiskPart> parts;
    std::uint64_t free = 0, shared_max = 0;

    static void fields(auto& value, auto&& field) {
        field("parts", value.parts, List{disk_parts_max, Any{}}, "Everything in the data folder, each file once.");
        field("free", value.free, Whole{}, "Bytes free on that disk; 0 if unknown.");
        field("shared_max", value.shared_max, Whole{}, "What members may share with each other through this disk.");
    }
};
struct ReadDisk : Nothing {
    static constexpr std::string_view name = "disk";
    using Reply = DiskUse;
};

struct DayRow {
    static constexpr std::string_view label = "day";
    std::int64_t begins = 0;
    std::uint64_t tokens = 0;

    static void fields(auto& value, auto&& field) {
        field("begins", value.begins, Whole{}, "Local midnight, in Unix seconds.");
        field("tokens", value.tokens, Whole{}, "Credited on that day to this identity in all runs.");
    }
};
struct Days {
    static constexpr std::string_view label = "days";
    std::vector<DayRow> rows;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{days_max, Any{}}, "Oldest first; the last one is today.");
    }
};
struct ReadDays {
    static constexpr std::string_view name = "days";
    using Reply = Days;
    std::uint64_t days = 30;

    static void fields(auto& value, auto&& field) {
        field("most", value.days, Optional{Whole{1, days_max}}, "How many days.");
    }
};

}  // namespace potluck::control
