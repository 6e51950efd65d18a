// One small file from a web server, over HTTP or HTTPS, through the owner's proxy, else the environment's. The server
// hears the address of this computer and which file is wanted, and nothing else.
//
// Does not: resume, keep cookies, send anything about this program or its user.
// Threads: any; it blocks, so a worker's. Owns: nothing.
#pragma once

#include <chrono>
#include <cstddef>
#include <stop_token>
#include <string>

#include "core/base/bytes.h"
#include "core/base/result.h"
#include "net/proxy/proxy.h"

namespace potluck::node {

inline constexpr std::chrono::seconds http_patience{60};

/// `malformed` beyond `bytes_max`, `not_found` if the server has no such file, `cancelled` if `stop` asks for it.
[[nodiscard]] Result<Bytes> http_get(const std::string& url, std::size_t bytes_max, const std::stop_token& stop,
                                     const net::Proxy& proxy = {});

}  // namespace potluck::node
