#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// The keys of the Secret's data, which are names of files in model::files::kKeyFolder.
inline constexpr std::string_view kUserKey = "id";
inline constexpr std::string_view kHostKey = "host_key";
inline constexpr std::string_view kAuthorizedKeys = "authorized_keys";
inline constexpr std::string_view kKnownHosts = "known_hosts";
// The alias under which the client's known_hosts has the host key of every member.
inline constexpr std::string_view kHostAlias = "trainyard";

// In OpenSSH's formats: the file of the private key, and one line "ssh-ed25519 …".
struct SshPair {
  std::string privateKey;
  std::string publicLine;
};

// "JOB-ssh-UID": an existing Secret of that name is the job's own, and need not be read to verify that.
[[nodiscard]] std::string sshSecretName(const model::Job& job);

// The v1 Secret with the keys of one job: the user's pair, and the pair that identifies the servers.
[[nodiscard]] std::string encodeSshSecret(const model::Job& job, const SshPair& user, const SshPair& host);

}  // namespace trainyard::codec
