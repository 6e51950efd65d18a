// A run's page as one HTML document, of what a node answers about the run. It is whole without its script, loads
// nothing from anywhere else, and shows no address, file or setting of the computer that writes it but the invite's.
// Threads: functions of values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/node/page/page_samples.h"
#include "core/control/node_protocol.h"
#include "core/run/manifest.h"

namespace potluck::node {

struct PageFacts {
    control::NodeSnapshot status;
    std::vector<control::LeaderboardRow> leaders;
    std::vector<control::CurvePoint> curve;
    std::vector<control::CheckpointRow> checkpoints;  // oldest first
    std::optional<run::Manifest> manifest;            // for what is not in the status
    std::vector<PageSample> samples;                  // by rising round
    std::vector<std::uint64_t> proofs;                // rounds of checkpoints whose proof lies beside the page
    std::int64_t now = 0;                             // unix seconds
    std::int64_t every = 0;                           // seconds until the page is written again; 0: it is not
};

/// Scripts, styles, pictures and requests from the page's own place, nothing from any other, nothing inline.
inline constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'";

[[nodiscard]] std::string page_html(const PageFacts& facts);

/// The hashes that a magnet link names, in hexadecimal digits; empty where it names none.
struct MagnetHashes {
    std::string v1, v2;
};
[[nodiscard]] MagnetHashes hashes_of(std::string_view magnet);

/// Name of the proof of a checkpoint beside the page.
[[nodiscard]] std::string proof_name(std::uint64_t round);

}  // namespace potluck::node
