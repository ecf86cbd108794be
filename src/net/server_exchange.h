#pragma once

// Internal to the server: the handler's side of a request.

#include <cstdint>
#include <memory>

#include "net/server.h"

namespace trainyard::net {

class Connection;
struct Gate;

// Thread-safe, even after connection and server are gone.
[[nodiscard]] std::shared_ptr<Exchange> makeExchange(std::shared_ptr<Gate> gate,
                                                     std::weak_ptr<Connection> connection,
                                                     std::uint64_t request);

}  // namespace trainyard::net
