#pragma once

#include <string_view>

// Where members find data that does not fit into variables. Every path is fixed, so that a command in a
// template can name it.
namespace trainyard::model::files {

// Keys of the job's framework files, the ConfigMap that codec/framework_files.h makes.
inline constexpr std::string_view kTensorFlowCluster = "tf_cluster.json";
inline constexpr std::string_view kHostfile = "hostfile";       // "host slots=N", for Open MPI and Horovod
inline constexpr std::string_view kHydraHosts = "hosts.hydra";  // "host:N", for MPICH and Intel MPI
inline constexpr std::string_view kDiscoverHosts = "discover_hosts.sh";
inline constexpr std::string_view kSshConfig = "ssh_config";
inline constexpr std::string_view kSshdConfig = "sshd_config";
inline constexpr std::string_view kSsh = "ssh.sh";
inline constexpr std::string_view kSshd = "sshd.sh";
inline constexpr std::string_view kSession = "session.sh";
inline constexpr std::string_view kWait = "wait.sh";

// Mounted into the containers of jobs that launch over ssh.
inline constexpr std::string_view kFolder = "/etc/trainyard/mpi";     // the ConfigMap
inline constexpr std::string_view kKeyFolder = "/etc/trainyard/ssh";  // the Secret
inline constexpr std::string_view kRunFolder = "/run/trainyard";      // empty at the start
inline constexpr std::string_view kSystemSshConfig = "/etc/ssh/ssh_config.d/trainyard.conf";

}  // namespace trainyard::model::files
