#include "core/control/device_list.h"

#include <algorithm>
#include <optional>
#include <string_view>

namespace potluck::control {

namespace {

constexpr std::string_view gpu_prefix = "cuda:";

Error no_choice() {
    return {ErrorCode::invalid_argument,
            "A device is cpu, cuda:0, cuda:1 and so on, or mps; several GPUs are named with commas, each once."};
}

/// The number of "cuda:12"; nothing for any other text.
std::optional<std::size_t> number_of(std::string_view id) {
    if (!id.starts_with(gpu_prefix)) return std::nullopt;
    const std::string_view digits = id.substr(gpu_prefix.size());
    const bool plain = !digits.empty() && digits.size() <= 2 && (digits.size() == 1 || digits.front() != '0') &&
                       digits.find_first_not_of("0123456789") == std::string_view::npos;
    if (!plain) return std::nullopt;
    std::size_t number = 0;
    for (const char digit : digits) number = 10 * number + static_cast<std::size_t>(digit - '0');
    return number < gpus_chosen_max ? std::optional(number) : std::nullopt;
}

}  // namespace

Result<std::vector<std::string>> devices_of_choice(const std::string& text) {
    if (text.empty()) return std::vector<std::string>{};
    if (text == "cpu" || text == "mps") return std::vector<std::string>{text};
    if (text == "cuda") return std::vector<std::string>{"cuda:0"};
    if (text.size() > device_choice_bytes_max) return no_choice();
    std::vector<std::size_t> numbers;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        const std::optional<std::size_t> number = number_of(std::string_view(text).substr(begin, end - begin));
        if (!number || std::ranges::find(numbers, *number) != numbers.end()) return no_choice();
        numbers.push_back(*number);
        begin = end + 1;
    }
    std::ranges::sort(numbers);
    std::vector<std::string> devices;
    for (const std::size_t number : numbers) devices.push_back(std::string(gpu_prefix) + std::to_string(number));
    return devices;
}

std::string choice_of(std::span<const std::string> devices) {
    std::string text;
    for (const std::string& device : devices) text += (text.empty() ? "" : ",") + device;
    return text;
}

}  // namespace potluck::control
