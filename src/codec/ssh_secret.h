#pragma once

#include <string>
#include <string_view>

#include "model/job.h"

namespace trainyard::codec {

// Keys of the Secret's data, which are names of files in model::files::kKeyFolder.
inline constexpr std::string_view kUserKey = "id";
inline constexpr std::string_view kHostKey = "host_key";
inline constexpr std::string_view kAuthorizedKeys = "authorized_keys";
inline constexpr std::string_view kKnownHosts = "known_hosts";
// Under this name the client knows the host key of every member.
inline constexpr std::string_view kHostAlias = "trainyard";

// As OpenSSH writes them: the private key's file, and one line "ssh-ed25519 …".
struct SshPair {
  std::string privateKey;
  std::string publicLine;
};

// "JOB-ssh-UID": where it exists it is the job's own, and need not be read to know that.
[[nodiscard]] std::string sshSecretName(const model::Job& job);

// The v1 Secret with the keys of one job: who may come in, and what the servers are known by.
[[nodiscard]] std::string encodeSshSecret(const model::Job& job, const SshPair& user, const SshPair& host);

}  // namespace trainyard::codec
