#include "codec/ssh_files.h"

#include <fmt/format.h>

#include "codec/ssh_secret.h"
#include "model/framework_files.h"
#include "model/framework_ports.h"

namespace trainyard::codec {
namespace {

namespace files = model::files;

// All members share one host key, which the client is configured with. ssh then asks no question and accepts
// no other host. The alias keeps the list of known hosts at one line.
std::string clientConfig(std::string_view domain) {
  return fmt::format(R"(Host {job}-* *.{domain}
    Port {port}
    IdentityFile {run}/{key}
    IdentitiesOnly yes
    HostKeyAlias {alias}
    UserKnownHostsFile {keys}/{known}
    GlobalKnownHostsFile /dev/null
    StrictHostKeyChecking yes
    BatchMode yes
    ConnectTimeout 10
    ConnectionAttempts 10
    ServerAliveInterval 15
    ServerAliveCountMax 4
    LogLevel ERROR
)",
                     fmt::arg("domain", domain), fmt::arg("job", domain.substr(0, domain.find('.'))),
                     fmt::arg("port", model::kSshPort), fmt::arg("run", files::kRunFolder),
                     fmt::arg("key", kUserKey), fmt::arg("alias", kHostAlias),
                     fmt::arg("keys", files::kKeyFolder), fmt::arg("known", kKnownHosts));
}

// StrictModes would refuse mounted files. The port needs no root.
std::string serverConfig() {
  return fmt::format(R"(Port {port}
HostKey {run}/{key}
AuthorizedKeysFile {keys}/{authorized}
StrictModes no
PermitRootLogin prohibit-password
PubkeyAuthentication yes
PasswordAuthentication no
KbdInteractiveAuthentication no
PidFile none
X11Forwarding no
MaxStartups 1024
MaxSessions 1024
LogLevel ERROR
ForceCommand {folder}/{session}
)",
                     fmt::arg("port", model::kSshPort), fmt::arg("run", files::kRunFolder),
                     fmt::arg("key", kHostKey), fmt::arg("keys", files::kKeyFolder),
                     fmt::arg("authorized", kAuthorizedKeys), fmt::arg("folder", files::kFolder),
                     fmt::arg("session", files::kSession));
}

std::string client() {
  return fmt::format("#!/bin/sh\nexec ssh -F {}/{} \"$@\"\n", files::kFolder, files::kSshConfig);
}

// ssh refuses a key that other users can read, and files of a Secret belong to root for any user of the
// image. Each member therefore copies the keys.
std::string server() {
  return fmt::format(R"sh(#!/bin/sh
# A worker: an ssh server, in which the launcher starts processes.
set -eu
(umask 077
 cat {keys}/{host} > {run}/{host}
 cat {keys}/{user} > {run}/{user}
 export -p > {run}/environment)
mkdir -p /run/sshd 2> /dev/null || true
sshd=$(command -v sshd || echo /usr/sbin/sshd)
exec "$sshd" -D -e -f {folder}/{config}
)sh",
                     fmt::arg("keys", files::kKeyFolder), fmt::arg("run", files::kRunFolder),
                     fmt::arg("host", kHostKey), fmt::arg("user", kUserKey),
                     fmt::arg("folder", files::kFolder), fmt::arg("config", files::kSshdConfig));
}

std::string session() {
  return fmt::format(R"sh(#!/bin/sh
# A process is to see what the container was started with: an ssh server gives its sessions next to nothing.
. {run}/environment
exec /bin/sh -c "${{SSH_ORIGINAL_COMMAND:-exec /bin/sh}}"
)sh",
                     fmt::arg("run", files::kRunFolder));
}

// mpirun aborts at the first worker that it cannot reach, so the launcher waits for all of them.
std::string wait() {
  return fmt::format(R"sh(#!/bin/sh
# Ends when every worker takes connections; fails when one of them still does not after TRAINYARD_WAIT_SECONDS.
set -u
(umask 077; cat {keys}/{user} > {run}/{user}) || exit 1
deadline=$(($(date +%s) + ${{TRAINYARD_WAIT_SECONDS:-600}}))
while read -r host _; do
  until said=$(ssh -F {folder}/{config} -o ConnectionAttempts=1 -n "$host" true 2>&1); do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      echo "worker $host cannot be reached by ssh: $said" >&2
      exit 1
    fi
    sleep 1
  done
done < {folder}/{hosts}
)sh",
                     fmt::arg("keys", files::kKeyFolder), fmt::arg("run", files::kRunFolder),
                     fmt::arg("user", kUserKey), fmt::arg("folder", files::kFolder),
                     fmt::arg("config", files::kSshConfig), fmt::arg("hosts", files::kHostfile));
}

// The host file has the size at which the pod started; the current workers of an elastic job are in its
// membership.
std::string discoverHosts() {
  return fmt::format(R"(#!/bin/sh
# host:slots of every worker that belongs to the job and whose name resolves now, for horovodrun --host-discovery-script.
say() {{
  if ! command -v getent > /dev/null || getent hosts "$1" > /dev/null; then
    echo "$1:$2"
  fi
}}
role= size=0
if [ -r "${{TRAINYARD_MEMBERSHIP:-}}" ]; then
  read -r membership < "$TRAINYARD_MEMBERSHIP" || :
  role=${{membership##*\"role\":\"}} role=${{role%%\"*}}
  size=${{membership##*\"size\":}} size=${{size%%[!0-9]*}}
fi
while read -r host slots; do
  case "$host" in
  "$TRAINYARD_JOB-$role-0."*)
    index=0
    while [ "$index" -lt "$size" ]; do
      say "$TRAINYARD_JOB-$role-$index.${{host#*.}}" "${{slots#slots=}}"
      index=$((index + 1))
    done ;;
  "$TRAINYARD_JOB-$role-"*) ;;
  *) say "$host" "${{slots#slots=}}" ;;
  esac
done < {}/{}
)",
                     files::kFolder, files::kHostfile);
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> sshFiles(std::string_view domain) {
  return {{files::kSshConfig, clientConfig(domain)},
          {files::kSshdConfig, serverConfig()},
          {files::kSsh, client()},
          {files::kSshd, server()},
          {files::kSession, session()},
          {files::kWait, wait()},
          {files::kDiscoverHosts, discoverHosts()}};
}

}  // namespace trainyard::codec
