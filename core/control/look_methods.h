// What is shown before anything is decided: a run by its invite, before it is joined, and the node's log.
// Threads: values.
#pragma once

#include <string>
#include <vector>

#include "core/control/node_protocol.h"
#include "core/run/invite.h"

namespace potluck::control {

inline constexpr std::uint64_t log_lines_max = 2'000;
inline constexpr std::size_t log_line_bytes_max = 2'000;

/// Bytes that a volunteer sends in a day, and receives.
struct DayOfTraffic {
    std::uint64_t for_each_other = 0;  // that trains, where it adds up all contributions
    std::uint64_t with_the_sum = 0;    // in all, where it takes the sum; 0 in a run of exact steps
};

/// A run as its description tells it, which its host has signed, and what it would mean for this computer. Zero means
/// unknown.
struct OfferedRun {
    static constexpr std::string_view label = "offered run";
    std::string id, name, purpose, licence, host, host_name, model;
    std::uint64_t parameters = 0, round = 0, total_rounds = 0, volunteers = 0;
    double window_seconds = 0, round_seconds = 0;
    bool listed = false, admitted = true, announced = false;
    std::uint64_t peers = 0, download = 0, disk = 0, disk_free = 0;
    std::string device, summary, obstacle;
    std::uint64_t gpu_peak = 0, ram_peak = 0;
    double tokens_per_second = 0;
    DayOfTraffic traffic;
    std::optional<double> watts, watts_max;

    static void fields(auto& value, auto&& field) {
        field("id", value.id, Text{id_bytes_max}, "The run's id in hexadecimal digits.");
        field("name", value.name, Text{name_bytes_max}, "Name that the host chose.");
        field("purpose", value.purpose, Text{text_bytes_max}, "Purpose of the model.");
        field("licence", value.licence, Text{name_bytes_max}, "SPDX licence of the model.");
        field("host", value.host, Text{id_bytes_max}, "Key of the run's host in hexadecimal digits.");
        field("announced", value.announced, Optional{Any{}},
              "Whether its host announces it and was heard; else the next four are unknown.");
        field("host_name", value.host_name, Optional{Text{name_bytes_max}}, "Name that the host goes by, or empty.");
        field("round", value.round, Optional{Whole{}}, "Completed rounds, as a quorum has signed.");
        field("volunteers", value.volunteers, Optional{Whole{}}, "Volunteers that train now, as the host says.");
        field("round_seconds", value.round_seconds, Optional{Real{}}, "Duration of the last round.");
        field("model", value.model, Text{name_bytes_max}, "Shape of the model in words.");
        field("parameters", value.parameters, Whole{}, "Parameters of the model.");
        field("total_rounds", value.total_rounds, Whole{}, "Planned rounds.");
        field("window_seconds", value.window_seconds, Real{}, "Training time of a round.");
        field("listed", value.listed, Any{}, "Whether only keys that its host has listed may join.");
        field("admitted", value.admitted, Any{}, "Whether that list admits this computer.");
        field("peers", value.peers, Whole{},
              "Computers of the run that answered; 0 if its description was on disk already.");
        field("download", value.download, Whole{}, "Bytes of the model and of one round's text.");
        field("disk", value.disk, Whole{}, "Approximate bytes that a member keeps on disk.");
        field("disk_free", value.disk_free, Whole{}, "Free bytes on the data folder's disk.");
        field("device", value.device, Text{name_bytes_max}, "Device that would train here; empty if none can.");
        field("summary", value.summary, Text{text_bytes_max}, "Summary of the memory plan.");
        field("obstacle", value.obstacle, Text{text_bytes_max}, "Why no device here can train it; empty if one can.");
        field("gpu_peak", value.gpu_peak, Whole{}, "Peak bytes on the GPU.");
        field("ram_peak", value.ram_peak, Whole{}, "Peak bytes in memory.");
        field("tokens_per_second", value.tokens_per_second, Real{}, "Expected speed here.");
        field("traffic_day", value.traffic.for_each_other, Optional{Whole{}},
              "Bytes sent, and received, in a day for each other computer that trains, as of the run's first rounds; "
              "later rounds send more if all connections are fast.");
        field("traffic_day_of_sum", value.traffic.with_the_sum, Optional{Whole{}},
              "The same in all, however many train, for a computer whose line does not carry all contributions and "
              "which takes their sum; 0 if the run has no such sum.");
        field("watts", value.watts, Real{0, watts_shown_max}, "Average power of training here; missing if unknown.");
        field("watts_max", value.watts_max, Real{0, watts_shown_max},
              "Power limit of the device; missing if it reports none.");
    }
};

/// Fetches a run's description and joins nothing; one at a time, and a later one ends an earlier.
struct LookAtRun {
    static constexpr std::string_view name = "look_at_run";
    using Reply = OfferedRun;
    std::string invite;

    static void fields(auto& value, auto&& field) {
        field("invite", value.invite, Text{run::invite_bytes_max}, "A magnet: or potluck: link.");
    }
};

struct LogLines {
    static constexpr std::string_view label = "log";
    std::vector<std::string> lines;

    static void fields(auto& value, auto&& field) {
        field("lines", value.lines, List{log_lines_max, Text{log_line_bytes_max}}, "Oldest first.");
    }
};
struct ReadLog {
    static constexpr std::string_view name = "log";
    using Reply = LogLines;
    std::uint64_t lines = 500;

    static void fields(auto& value, auto&& field) {
        field("most", value.lines, Optional{Whole{1, log_lines_max}}, "Maximum number of lines; the newest are kept.");
    }
};

}  // namespace potluck::control
