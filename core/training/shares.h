// How the records of a batch are shared among devices of different speed, micro-step by micro-step: so that all that is
// left of the batch would be done as early as can be, in parts that end together.
//
//   measured(device, records, seconds)   after each micro-step, for each device that had a part
//   deal(left, ...)                      the next micro-step's records for each device, in its order
//
// The first part of a device does not count, since it loads code and makes plans; until a second one is measured it is
// taken to be as fast as the fastest. A device that gets nothing is thought a little faster each time, so that one slow
// moment does not idle it for good.
// Pure. Threads: a value.
#pragma once

#include <cstdint>
#include <vector>

namespace potluck::training {

class Shares {
public:
    /// How much faster than before an idle device is thought to be.
    static constexpr double idle_hope = 0.97;

    struct Request {
        std::uint32_t left = 0;      // records of the batch; a multiple of `together`
        std::uint32_t together = 1;  // records that are computed together: no part is smaller
        double seconds = 0;          // that a micro-step should take at the most
    };

    explicit Shares(std::size_t devices) : m_devices(devices) {}
    [[nodiscard]] std::size_t size() const { return m_devices.size(); }

    /// Records of each device, zero for one that is to be idle. Their sum is above zero and at most `left`.
    [[nodiscard]] std::vector<std::uint32_t> deal(const Request& request);
    void measured(std::size_t device, std::uint32_t records, double seconds);
    void forget(std::size_t device) { m_devices.erase(m_devices.begin() + static_cast<std::ptrdiff_t>(device)); }

private:
    struct Device {
        std::uint32_t parts = 0;  // that it had, at most two are counted
        double seconds = 0;       // of a record, smoothed; 0 until measured
    };
    [[nodiscard]] std::vector<double> expected(std::uint32_t together) const;

    std::vector<Device> m_devices;
};

}  // namespace potluck::training
