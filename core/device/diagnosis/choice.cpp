#include "core/device/diagnosis/choice.h"

#include <algorithm>
#include <utility>

namespace potluck::device {

namespace {

using control::DetectReply;
using control::DeviceRow;

/// "cuda" of "cuda:1": devices of two kinds need two of LibTorch's back ends, of which there is one.
std::string kind_of(const DeviceRow& row) { return row.id.substr(0, row.id.find(':')); }

const DeviceRow& largest(const std::vector<const DeviceRow*>& rows) {
    return **std::ranges::max_element(rows, {}, &DeviceRow::memory_total);  // of equals the first
}

std::vector<const DeviceRow*> usable_gpus(const DetectReply& found) {
    std::vector<const DeviceRow*> gpus;
    for (const DeviceRow& row : found.devices)
        if (row.usable && row.id != "cpu") gpus.push_back(&row);
    if (gpus.empty()) return gpus;
    const std::string kind = kind_of(largest(gpus));
    std::erase_if(gpus, [&](const DeviceRow* row) { return kind_of(*row) != kind; });
    return gpus;
}

ChosenDevices led(const std::vector<const DeviceRow*>& rows) {
    ChosenDevices chosen{.lead = largest(rows), .further = {}, .left_out = {}};
    for (const DeviceRow* row : rows)
        if (row->id != chosen.lead.id) chosen.further.push_back(*row);
    return chosen;
}

}  // namespace

Result<ChosenDevices> choose_devices(const DetectReply& found, const std::string& choice) {
    const auto ids = control::devices_of_choice(choice);
    if (!ids) return ids.error();
    if (ids->empty()) {
        const std::vector<const DeviceRow*> gpus = usable_gpus(found);
        return gpus.empty() ? ChosenDevices{.lead = found.devices.front(), .further = {}, .left_out = {}} : led(gpus);
    }
    std::vector<const DeviceRow*> rows;
    std::vector<control::DeviceLeftOut> left_out;
    for (const std::string& id : *ids) {
        const auto row = std::ranges::find(found.devices, id, &DeviceRow::id);
        if (row == found.devices.end()) {
            left_out.push_back({id, "There is no device " + id + " here; potluck-node doctor lists those there are."});
        } else if (!row->usable) {
            left_out.push_back({id, row->name + " cannot train: " + row->reason});
        } else {
            rows.push_back(&*row);
        }
    }
    if (rows.empty()) {
        std::string reasons;
        for (const control::DeviceLeftOut& row : left_out) reasons += (reasons.empty() ? "" : " ") + row.reason;
        return Error{ErrorCode::unavailable, reasons};
    }
    ChosenDevices chosen = led(rows);
    chosen.left_out = std::move(left_out);
    return chosen;
}

}  // namespace potluck::device
