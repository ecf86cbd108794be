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
  std::string proxy = {};  // "http://host:port": TLS goes through its tunnel (CONNECT); empty: none
  std::optional<TlsClientConfig> tls = std::nullopt;  // required for https
  std::size_t threads = 4;     // of the pool that all clients of the process share: the first client sets it
  std::size_t maxActive = 32;  // requests in flight, each with a connection; others are queued
  std::size_t maxLineBytes = 16u << 20;
  std::size_t maxBodyBytes = 256u << 20;
};

// A client that can change its CAs and its certificate while it runs.
class ReloadableHttpClient : public HttpClient {
 public:
  // Later requests use new connections with these CAs and this client certificate; requests in flight
  // continue. The name to verify stays. kInvalid if the PEM texts are unusable or the client does not use
  // TLS; nothing changes then. Thread-safe.
  [[nodiscard]] virtual base::Result<void> reloadTls(const TlsClientConfig& tls) = 0;
};

// A client over cpprestsdk. Callbacks are posted to `executor`, which must outlive the client. Streams are
// not counted in maxActive. kInvalid, with the reason, if a URL or the PEM texts are unusable.
[[nodiscard]] base::Result<std::unique_ptr<ReloadableHttpClient>> makeHttpClient(ClientOptions options,
                                                                                 base::Executor& executor);

}  // namespace trainyard::net
