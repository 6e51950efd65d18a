// Requests to answers: a table of methods. Who asks (standard input, a local socket) and who carries it out (the node)
// are not known here.
// Threads: one.
#pragma once

#include <functional>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

#include "core/base/result.h"
#include "core/control/rpc.h"

namespace potluck::node {

class Dispatcher {
public:
    using Respond = std::function<void(Result<nlohmann::json>)>;
    /// Answers by calling `respond` once, now or later.
    using Method = std::function<void(const nlohmann::json& params, Respond respond)>;

    void add(const std::string& name, Method method) { m_methods[name] = std::move(method); }

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
    std::map<std::string, Method> m_methods;
};

}  // namespace potluck::node
