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
              "Name that the host chose; empty if its description is missing, so that it cannot be joined again.");
        field("model", value.model, Text{name_bytes_max}, "Shape of the model in words; empty likewise.");
        field("open", value.is_open, Any{}, "Whether the node is in it now.");
        field("hosted", value.hosted, Any{}, "Whether this identity hosts the run.");
        field("round", value.round, Whole{}, "Rounds completed when this computer was last in touch with the run.");
        field("total_rounds", value.total_rounds, Whole{}, "Planned rounds; 0 if unknown.");
        field("tokens", value.tokens, Whole{}, "Tokens credited to all members of the run.");
        field("my_tokens", value.my_tokens, Whole{}, "Tokens credited to this identity in the run.");
        field("my_rounds", value.my_rounds, Whole{}, "Rounds that accepted this identity's contribution.");
        field("rank", value.rank, Whole{}, "Rank among all people with credit; 0 without credit.");
        field("first", value.first, Whole{}, "Time of the first credit seen here, in Unix seconds.");
        field("last", value.last, Whole{}, "Time of the last credit seen here; 0: never.");
        field("bytes", value.bytes, Whole{}, "Bytes on this disk, freed when the run's files are deleted.");
    }
};
struct KnownRuns {
    static constexpr std::string_view label = "known runs";
    std::vector<KnownRun> rows;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{rows_max, Any{}}, "The current run first, then the most recent ones.");
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
        field("role", value.role, Optional{Any{}}, "Whether to train, or only to vote and relay.");
        field("other_run", value.other_run, Optional{Any{}}, "Same as for join.");
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
        field("kind", value.kind, Any{}, "Kind of files; `other` covers keys, settings and unfinished files.");
        field("bytes", value.bytes, Whole{}, "Size of these files.");
    }
};
struct DiskUse {
    static constexpr std::string_view label = "use of the disk";
    std::vector<DiskPart> parts;
    std::uint64_t free = 0, shared_max = 0;

    static void fields(auto& value, auto&& field) {
        field("parts", value.parts, List{disk_parts_max, Any{}}, "Everything in the data folder, each file once.");
        field("free", value.free, Whole{}, "Bytes free on that disk; 0 if unknown.");
        field("shared_max", value.shared_max, Whole{}, "Limit on the bytes that members share through this disk.");
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
        field("begins", value.begins, Whole{}, "Start of the day: local midnight in Unix seconds.");
        field("tokens", value.tokens, Whole{}, "Tokens credited to this identity on that day in all runs.");
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
        field("most", value.days, Optional{Whole{1, days_max}}, "Number of days.");
    }
};

}  // namespace potluck::control
