#include <utility>

#include "tests/unit/net/client_under_test.h"

namespace trainyard::net::test {

base::Result<std::unique_ptr<ReloadableHttpClient>> makeClientUnderTest(ClientOptions options,
                                                                        base::Executor& executor) {
  return makeHttpClient(std::move(options), executor);
}

}  // namespace trainyard::net::test
