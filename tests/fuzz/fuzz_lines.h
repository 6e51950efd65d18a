// What must hold of every line of a protocol, whoever wrote it.
#pragma once

#include <string>
#include <variant>

#include "core/base/bytes.h"
#include "core/base/check.h"
#include "core/control/methods.h"
#include "tests/fuzz/fuzz_target.h"

namespace potluck::fuzz {

/// What reads as a value is written as something that reads as the same value.
template <control::Described Value>
void check_value(const nlohmann::json& object) {
    const Result<Value> value = control::read_as<Value>(object);
    if (!value.ok()) return;
    const nlohmann::json written = to_json(*value);
    const Result<Value> again = control::read_as<Value>(written);
    POTLUCK_CHECK(again.ok());
    POTLUCK_CHECK(to_json(*again) == written);
}

/// Requests are read as their method's parameters, replies as any method's reply.
template <class Methods, class OnNotification>
void check_line(ByteSpan bytes, const OnNotification& on_notification) {
    const Result<control::Line> line = control::decode(as_text(bytes));
    if (!line.ok()) return;
    const std::string encoded = control::encode(*line);
    const Result<control::Line> again = control::decode({encoded.data(), encoded.size() - 1});
    POTLUCK_CHECK(again.ok() && again->index() == line->index());
    if (const auto* notification = std::get_if<control::Notification>(&*line)) on_notification(*notification);
    Methods::for_each([&]<class Call>() {
        const auto* request = std::get_if<control::Request>(&*line);
        if (request != nullptr && request->method == Call::name) check_value<Call>(request->params);
        const auto* reply = std::get_if<control::Reply>(&*line);
        if (reply != nullptr && !reply->error) check_value<typename Call::Reply>(reply->result);
    });
}

}  // namespace potluck::fuzz
