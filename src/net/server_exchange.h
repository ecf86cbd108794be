#pragma once

// Internal to the server: the handler's end of a request.

#include <cstdint>
#include <memory>

#include "net/server.h"

namespace trainyard::net {

class Connection;
struct Gate;

// Safe from any thread, also when connection and server are gone.
[[nodiscard]] std::shared_ptr<Exchange> makeExchange(std::shared_ptr<Gate> gate,
                                                     std::weak_ptr<Connection> connection,
                                                     std::uint64_t request);

}  // namespace trainyard::net
