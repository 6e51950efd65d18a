#include "core/training/shares.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace potluck::training {

namespace {

constexpr double rounding = 1e-9;  // so that three times 0.1 s fit into 0.3 s

/// `groups` dealt one by one, each to the device that would be done with it first; of several, to the first of them.
std::vector<std::uint32_t> dealt(std::uint32_t groups, const std::vector<double>& seconds) {
    std::vector<std::uint32_t> shares(seconds.size(), 0);
    for (std::uint32_t group = 0; group < groups; ++group) {
        std::size_t first = 0;
        for (std::size_t i = 1; i < seconds.size(); ++i)
            if (seconds[i] * (shares[i] + 1) < seconds[first] * (shares[first] + 1)) first = i;
        ++shares[first];
    }
    return shares;
}

std::uint32_t quotient_above(std::uint32_t a, std::uint32_t b) { return (a + b - 1) / b; }

}  // namespace

/// Seconds of a group; all alike while nothing was measured.
std::vector<double> Shares::expected(std::uint32_t together) const {
    double fastest = 0;
    for (const Device& device : m_devices)
        if (device.seconds > 0 && (fastest <= 0 || device.seconds < fastest)) fastest = device.seconds;
    std::vector<double> seconds;
    for (const Device& device : m_devices) {
        const double one = device.seconds > 0 ? device.seconds : fastest > 0 ? fastest : 1;
        seconds.push_back(one * together);
    }
    return seconds;
}

std::vector<std::uint32_t> Shares::deal(const Request& request) {
    POTLUCK_CHECK(!m_devices.empty() && request.left >= request.together && request.left % request.together == 0);
    const std::vector<double> seconds = expected(request.together);
    std::vector<std::uint32_t> shares = dealt(request.left / request.together, seconds);
    // No part is smaller than a group, so the slowest device that has one sets the pace.
    double aim = request.seconds;
    for (std::size_t i = 0; i < shares.size(); ++i)
        if (shares[i] > 0 && m_devices[i].seconds > 0) aim = std::max(aim, seconds[i]);
    std::uint32_t parts = 1;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i] == 0) continue;
        const bool is_known = m_devices[i].seconds > 0;  // begin small
        const double within = aim / seconds[i] * (1 + rounding);
        const double fits = is_known ? std::clamp(within, 1.0, static_cast<double>(shares[i])) : 1;
        parts = std::max(parts, quotient_above(shares[i], static_cast<std::uint32_t>(fits)));
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (shares[i] == 0) m_devices[i].seconds *= idle_hope;
        shares[i] = quotient_above(shares[i], parts) * request.together;
    }
    return shares;
}

void Shares::measured(std::size_t device, std::uint32_t records, double seconds) {
    Device& known = m_devices[device];
    known.parts = std::min(known.parts + 1, 2U);
    if (known.parts == 1 || records == 0) return;
    const double one = seconds / records;
    known.seconds = known.seconds <= 0 ? one : 0.8 * known.seconds + 0.2 * one;
}

}  // namespace potluck::training
