#pragma once

#include <memory>

#include "net/client.h"

namespace trainyard::net::test {

// Makes the client that client_conformance tests. Each implementation of net/client.h defines it in
// one file, which CMakeLists.txt links. All other code of these tests depends on the interface
// alone.
[[nodiscard]] base::Result<std::unique_ptr<ReloadableHttpClient>> makeClientUnderTest(
    ClientOptions options, base::Executor& executor);

}  // namespace trainyard::net::test
