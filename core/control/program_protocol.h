// Which programs of Potluck run on this computer, for its owner to see. Part of node_protocol.h.
//
// Threads: values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/control/methods.h"

namespace potluck::control {

inline constexpr std::size_t programs_max = 128;
inline constexpr std::size_t program_path_bytes_max = 4096, program_version_bytes_max = 64;

/// question: a trainer that answers one question and ends. other: none of the programs that a node knows.
enum class ProgramKind { node, trainer, question, other };
template <>
inline constexpr std::array names<ProgramKind> = {"node", "trainer", "question", "other"};

struct ProgramRow {
    static constexpr std::string_view label = "program";
    ProgramKind kind = ProgramKind::other;
    std::string path = {}, version = {};
    std::int64_t process = 0;
    std::uint64_t resident = 0;
    bool operator==(const ProgramRow&) const = default;

    static void fields(auto& value, auto&& field) {
        field("kind", value.kind, Any{}, "Kind of program.");
        field("path", value.path, Text{program_path_bytes_max},
              "File of the program; empty: unknown, or there is none.");
        field("version", value.version, Text{program_version_bytes_max}, "Version that it reports; empty: unknown.");
        field("process", value.process, Whole{}, "Process id; 0: not running.");
        field("resident", value.resident, Whole{}, "Bytes in memory; 0: unknown.");
    }
};

struct ProgramList {
    static constexpr std::string_view label = "list of programs";
    std::vector<ProgramRow> rows;
    bool complete = false;
    bool operator==(const ProgramList&) const = default;

    static void fields(auto& value, auto&& field) {
        field("rows", value.rows, List{programs_max, Any{}},
              "The node, its trainer (running or not), and all other programs that the node has started.");
        field("complete", value.complete, Any{}, "Whether the operating system listed the node's child processes.");
    }
};

}  // namespace potluck::control
