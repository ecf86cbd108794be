#pragma once

#include <string>

namespace trainyard::net {

// PEM texts, not paths: who reads files decides when to read them again.
struct TlsClientConfig {
  std::string caPem = {};           // the only CAs trusted; empty: the system's
  std::string certificatePem = {};  // client certificate chain, empty: none
  std::string privateKeyPem = {};
  std::string serverName = {};      // name to verify instead of the host, empty: the host
  bool insecureSkipVerify = false;  // only where a kubeconfig says so

  friend bool operator==(const TlsClientConfig&, const TlsClientConfig&) = default;
};

struct TlsServerConfig {
  std::string certificatePem;
  std::string privateKeyPem;
  std::string clientCaPem = {};  // not empty: a client certificate signed by it is required

  friend bool operator==(const TlsServerConfig&, const TlsServerConfig&) = default;
};

}  // namespace trainyard::net
