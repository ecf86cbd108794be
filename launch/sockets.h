#pragma once

#include <string>

namespace trainyard::launch {

// Returns -1 on failure, with the reason in errno.
[[nodiscard]] int listenOn(int port);
// Starts to connect; -1 if the name does not resolve or the attempt fails.
[[nodiscard]] int connectTo(const std::string& host, int port);
// Sets up a connection: it does not block, and a lost peer is detected after about 20 s.
void prepareConnection(int fd);

}  // namespace trainyard::launch
