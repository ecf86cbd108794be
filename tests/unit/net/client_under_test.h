#pragma once

#include <memory>

#include "net/client.h"

namespace trainyard::net::test {

// Makes the client that client_conformance puts to the test: defined once for each implementation of
// net/client.h, in the one file that CMakeLists.txt links it with. All else in these tests knows the
// interface alone.
[[nodiscard]] base::Result<std::unique_ptr<ReloadableHttpClient>> makeClientUnderTest(
    ClientOptions options, base::Executor& executor);

}  // namespace trainyard::net::test
