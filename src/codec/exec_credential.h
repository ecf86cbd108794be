#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::codec {

// What a credential plug-in prints: ExecCredential of client.authentication.k8s.io.
struct ExecCredential {
  std::string token = {};
  std::string clientCertificateData = {};  // PEM
  std::string clientKeyData = {};          // PEM
  std::optional<base::WallTime> expiration = std::nullopt;
};

// kInvalid names the field; the plug-in must answer in the version it was asked in.
[[nodiscard]] base::Result<ExecCredential> decodeExecCredential(std::string_view json,
                                                                std::string_view apiVersion);

// The cluster as the plug-in is told of it.
struct ExecClusterInfo {
  std::string server;
  std::string tlsServerName = {};
  bool insecureSkipTlsVerify = false;
  std::string caPem = {};
};

// The value of KUBERNETES_EXEC_INFO. We never offer a terminal.
[[nodiscard]] std::string encodeExecInfo(std::string_view apiVersion,
                                         const std::optional<ExecClusterInfo>& cluster);

}  // namespace trainyard::codec
