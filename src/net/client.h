#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/executor.h"
#include "net/http.h"
#include "net/tls.h"

namespace trainyard::net {

struct ClientOptions {
  std::string url;         // "https://host:port", no path
  std::string proxy = {};  // "http://host:port": TLS goes through its tunnel (CONNECT); empty: directly
  std::optional<TlsClientConfig> tls = std::nullopt;  // required for https
  std::size_t threads = 4;     // of the pool that all clients of the process share: the first client decides
  std::size_t maxActive = 32;  // requests under way, a connection each; further ones wait their turn
  std::size_t maxLineBytes = 16u << 20;
  std::size_t maxBodyBytes = 256u << 20;
};

// A client whose trust and identity can change while it runs.
class ReloadableHttpClient : public HttpClient {
 public:
  // What is sent from now on goes over new connections, with these CAs and this client certificate; what is
  // under way goes on. The name to verify stays. kInvalid when the PEM texts cannot be used, or the client
  // speaks no TLS: everything stays as it was. Any thread.
  [[nodiscard]] virtual base::Result<void> reloadTls(const TlsClientConfig& tls) = 0;
};

// Client over cpprestsdk. Callbacks are posted to `executor`, which must outlive the client. Streams are not
// counted in maxActive. kInvalid when a URL or the PEM texts cannot be used; the message says which.
[[nodiscard]] base::Result<std::unique_ptr<ReloadableHttpClient>> makeHttpClient(ClientOptions options,
                                                                                 base::Executor& executor);

}  // namespace trainyard::net
