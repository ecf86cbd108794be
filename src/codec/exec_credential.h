#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace trainyard::codec {

// The output of a credential plug-in: ExecCredential of client.authentication.k8s.io.
struct ExecCredential {
  std::string token = {};
  std::string clientCertificateData = {};  // PEM
  std::string clientKeyData = {};          // PEM
  std::optional<base::WallTime> expiration = std::nullopt;
};

// kInvalid names the field. The plug-in must answer in the version of the request.
[[nodiscard]] base::Result<ExecCredential> decodeExecCredential(std::string_view json,
                                                                std::string_view apiVersion);

// The cluster as it is described to the plug-in.
struct ExecClusterInfo {
  std::string server;
  std::string tlsServerName = {};
  bool insecureSkipTlsVerify = false;
  std::string caPem = {};
};

// The value of KUBERNETES_EXEC_INFO. Its `interactive` is always false, because there is no terminal.
[[nodiscard]] std::string encodeExecInfo(std::string_view apiVersion,
                                         const std::optional<ExecClusterInfo>& cluster);

}  // namespace trainyard::codec
