// Requests to answers: a table of methods. Who asks (standard input, a local socket) and who carries it out (the node)
// are not known here.
// Threads: one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/control/methods.h"

namespace potluck::node {

class Dispatcher {
public:
    template <control::MethodCall Call>
    using Respond = std::function<void(const Result<typename Call::Reply>&)>;

    /// `answer` returns the reply, or an error for the person, at once.
    template <control::MethodCall Call>
    void add(std::function<Result<typename Call::Reply>(const Call&)> answer) {
        add_later<Call>(
            [answer = std::move(answer)](const Call& call, const Respond<Call>& respond) { respond(answer(call)); });
    }
    /// `answer` calls `respond` once, now or later.
    template <control::MethodCall Call>
    void add_later(std::function<void(const Call&, const Respond<Call>&)> answer) {
        m_methods[std::string(Call::name)] = [answer = std::move(answer)](const nlohmann::json& params,
                                                                          const RawRespond& respond) {
            const Result<Call> call = control::read_as<Call>(params);
            if (!call) return respond(call.error());
            answer(*call, [respond](const Result<typename Call::Reply>& reply) {
                respond(reply ? Result<nlohmann::json>(to_json(*reply)) : Result<nlohmann::json>(reply.error()));
            });
        };
    }
    [[nodiscard]] bool knows(std::string_view method) const { return m_methods.contains(method); }

    /// `reply` is called once; an unknown method is answered with an error.
    void dispatch(const control::Request& request, const std::function<void(control::Reply)>& reply) const {
        const auto method = m_methods.find(request.method);
        const auto respond = [id = request.id, reply](Result<nlohmann::json> outcome) {
            if (outcome) {
                reply({id, std::move(*outcome), std::nullopt});
            } else {
                reply({id, nullptr, outcome.error()});
            }
        };
        if (method == m_methods.end()) {
            return respond(Error{ErrorCode::invalid_argument,
                                 "There is no method of that name; both programs must be of one version."});
        }
        method->second(request.params, respond);
    }

private:
    using RawRespond = std::function<void(Result<nlohmann::json>)>;
    std::map<std::string, std::function<void(const nlohmann::json&, const RawRespond&)>, std::less<>> m_methods;
};

}  // namespace potluck::node
