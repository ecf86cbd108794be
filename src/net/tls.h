#pragma once

#include <string>

namespace trainyard::net {

// PEM texts, not paths: the code that reads the files decides when to read them again.
struct TlsClientConfig {
  std::string caPem = {};           // the only trusted CAs; empty: the system's
  std::string certificatePem = {};  // chain of the client certificate; empty: none
  std::string privateKeyPem = {};
  std::string serverName = {};      // name to verify instead of the host, empty: the host
  bool insecureSkipVerify = false;  // only if a kubeconfig requests it

  friend bool operator==(const TlsClientConfig&, const TlsClientConfig&) = default;
};

struct TlsServerConfig {
  std::string certificatePem;
  std::string privateKeyPem;
  std::string clientCaPem = {};  // if not empty, a client certificate signed by it is required

  friend bool operator==(const TlsServerConfig&, const TlsServerConfig&) = default;
};

}  // namespace trainyard::net
