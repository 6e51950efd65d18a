// What a host says of its run to those who look for one. Signed by the host's key, at most 2 KB, one canonical layout
// (docs/wire-format.md); the reader takes nothing else.
//
// A run cannot claim a round that no quorum has reached: an announcement of round r carries the certificate of L[r-1]
// with the keys that signed it. Whether these keys are the run's committee, only its chain tells, which new members
// check. So the certificate proves that a quorum of some keys decided that round of this run, and no more.
//
// The time at which it was made numbers it: a newer one replaces an older one of the same run and host.
// Does not: say whether a run is worth anything. Threads: values and functions of values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"
#include "core/base/clock.h"
#include "core/base/ids.h"
#include "core/base/result.h"
#include "core/identity/identity.h"
#include "core/run/agreement/keyring.h"
#include "core/run/host_action.h"
#include "core/run/invite.h"
#include "core/run/manifest.h"
#include "core/run/message.h"

namespace potluck::find {

inline constexpr std::size_t announcement_bytes_max = 2048;
inline constexpr std::string_view announcement_domain = "potluck/announcement/1";

/// What a list of runs has room for; the rest is in the run's manifest.
inline constexpr std::size_t name_bytes_max = 160, purpose_bytes_max = 250, model_bytes_max = 120;
inline constexpr std::size_t language_bytes_max = 35;  // the longest tag that RFC 5646 asks to have room for
inline constexpr std::size_t page_bytes_max = 160;
inline constexpr std::size_t family_bytes_max = 16, host_name_bytes_max = 64;
inline constexpr std::size_t hints_max = 4, hint_host_bytes_max = 64;
inline constexpr std::uint64_t model_needs_max = 1ULL << 50U;  // parameters, bytes
inline constexpr float flops_max = 1e18F;                      // of a token
inline constexpr std::uint32_t volunteers_max = 1U << 24U;
inline constexpr std::uint32_t round_seconds_max = 1U << 24U;  // half a year

/// Hosts repeat theirs every quarter of an hour, so one that is this old is of a host that has gone.
inline constexpr Duration announcement_lasts{3'600'000};
/// How far ahead of this computer's clock a host's may be.
inline constexpr Duration clocks_differ_max{300'000};

struct Announcement {
    RunId run;
    PeerId host;            // signs it
    std::int64_t made = 0;  // milliseconds since 1970
    std::string name, purpose;
    std::string language;   // a BCP 47 tag such as "de"; empty: the host did not say
    std::string licence;    // SPDX expression
    std::string model;      // in words
    std::string family;     // of models, such as GPT-2
    std::string host_name;  // that the host has chosen; empty: none
    std::uint64_t parameters = 0;
    /// Bytes of weights, gradients and the optimizer's moments; what a batch takes comes on top.
    std::uint64_t memory = 0;
    std::uint64_t download = 0;       // bytes that a member fetches before it trains
    std::uint64_t round = 0;          // of the newest state
    std::uint64_t rounds = 0;         // until the run is complete
    std::uint32_t round_seconds = 0;  // that the last one took; 0: not known
    float loss = 0, baseline = 0;     // nats per token; 0: not known
    float flops = 0;                  // floating-point operations that training takes for a token; 0: not known
    std::uint32_t volunteers = 0;     // that train now
    std::vector<run::PeerHint> hints;
    std::string page;  // on the web; empty: none
    /// Who signed `certificate`, by key; empty in round 0.
    std::vector<PeerId> committee;
    Bytes certificate;  // of L[round - 1]: an encoded run::Certificate; empty in round 0
    bool operator==(const Announcement&) const = default;

    [[nodiscard]] run::Invite invite() const;
};

struct SignedAnnouncement {
    Announcement announcement;
    identity::Signature signature{};
    bool operator==(const SignedAnnouncement&) const = default;
};

/// `announcement.host` is the key of `host`, and every field within its limit.
[[nodiscard]] Bytes sign(const Announcement& announcement, const identity::Identity& host);
namespace detail {
/// sign() without its checks, for tests.
[[nodiscard]] Bytes encode_and_sign(const Announcement& announcement, const identity::Identity& signer);
}  // namespace detail
/// Strict: every field in its range, texts that can be shown, nothing left over. `malformed` names what is wrong.
/// Checks no signature.
[[nodiscard]] Result<SignedAnnouncement> parse_announcement(ByteSpan bytes);

/// Whether it is of now (`stale`, or `absurd` if it is of the future), its host has signed it (`bad_signature`) and its
/// round was decided (`wrong_author`). `bytes` are those it was parsed from, `now` milliseconds since 1970.
[[nodiscard]] run::Verdict judge(const SignedAnnouncement& signed_one, ByteSpan bytes, std::int64_t now,
                                 const run::Verifier& verifier);

/// Whether a text can be an announcement's language or page; an empty one can.
[[nodiscard]] bool is_language(std::string_view tag);
[[nodiscard]] bool is_page(std::string_view link);

/// The hints that an announcement has room for: half of them at most are of the local network.
[[nodiscard]] std::vector<run::PeerHint> hints_for_announcement(const std::vector<run::PeerHint>& hints);

}  // namespace potluck::find
