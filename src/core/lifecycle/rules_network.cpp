#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;

void addCollectives(Rules& rules) {
  model::FailureRule device = logRule(
      "nccl-network", kNcclError, kCause, 80,
      R"((?i)NCCL WARN .*(ibv_|no (usable |socket )?interface|GID|Duplicate GPU|Unable to (find|load|register)|nvidia[-_]peermem|)"
      R"(mlx5|Could not find|No (usable )?(IP|address)|Bootstrap *: no|could not enable P2P|P2P is disabled|)"
      R"(Failed to (open|find|initialize|create|register|bind)|cuMem|Mismatched|Inconsistent|unsupported)|)"
      R"(\bibv_[a-z_]+ .*(fail|error|returned)|call to ibv_|no socket interface found|)"
      R"(ncclInvalid(Usage|Argument)|(invalid usage|invalid argument), NCCL version)");
  device.evenIfQuiet = true;
  rules.push_back(std::move(device));
  // A dead peer can also cause this message.
  model::FailureRule completion = logRule("nccl-completion", kNcclError, kDerived, 45,
                                          R"(NET/IB ?: Got (async event|completion)|vendor err \d+)");
  completion.evenIfQuiet = true;
  rules.push_back(std::move(completion));
  rules.push_back(logRule("nccl-internal", kNcclError, kDerived, 48,
                          R"(ncclInternalError|internal error.{0,40}NCCL|NCCL .*internal error)"));
  rules.push_back(
      logRule("nccl", kNcclError, kDerived, 34,
              R"(ncclSystemError|unhandled system error|ncclUnhandledCudaError|unhandled cuda error|)"
              R"(NCCL error|NCCL failure|NCCL Error \d|ncclCommInitRank failed)"));
  rules.push_back(logRule(
      "nccl-remote", kConnectionLost, kConsequence, 50,
      R"(ncclRemoteError|remote process exited|)"
      R"(NCCL WARN .*(closed by remote|Connection reset|Broken pipe|peer .* (closed|gone)|socketProgress|)"
      R"(Net : Connect|Connection refused|timed out|remote peer))"));
  rules.back().evenIfQuiet = true;
  rules.push_back(
      logRule("collective-watchdog", kCollectiveTimeout, kConsequence, 64,
              R"(Watchdog caught collective operation timeout|[Cc]ollective operation timeout|)"
              R"(ran for \d+ milliseconds before timing out|watchdog (thread )?(got stuck|timeout)|)"
              R"(HeartbeatMonitor|Heartbeat monitor timed out|monitoredBarrier|failed to pass monitored)"));
  // The name of a JAX barrier shows whether members had met before.
  rules.push_back(logRule(
      "collective-barrier", kCollectiveTimeout, kConsequence, 70,
      R"((?i)barrier timed out.*\bid: .*(step|save|checkpoint|ckpt|epoch|orbax|sync|eval|restor|async)|)"
      R"(\brendezvous\.(cc|h):\d+.{0,200}(stuck|timeout|arrived|to join))"));
  rules.push_back(logRule(
      "collective-slow", kCollectiveTimeout, kConsequence, 52,
      R"((?i)(all[-_ ]?reduce|all[-_ ]?gather|reduce[-_ ]?scatter|all[-_ ]?to[-_ ]?all|broadcast|barrier|collective)\w*.{0,60}(timed out|timeout)|)"
      R"((timed out|timeout).{0,40}(all[-_ ]?reduce|all[-_ ]?gather|reduce[-_ ]?scatter|all[-_ ]?to[-_ ]?all|broadcast|collective))"));
  rules.push_back(
      logRule("collective-time-out", kCollectiveTimeout, kConsequence, 56,
              R"(Some NCCL operations have failed or timed out|Timed out waiting \d+ ?ms for (recv|send)|)"
              R"((?i:gloo.{0,120}(timed out|timeout))|Application timeout caused pair closure|)"
              R"((?i:timeout at NCCL work|NCCL.{0,40}(timed out|timeout))|)"
              R"(threads to join the rendezvous, but only|)"
              R"((?i:rendezvous.{0,60}(may be|is) stuck|collective.{0,40}(stuck|hang|hung)))"));
  rules.push_back(
      logRule("horovod-stall", kCollectiveTimeout, kConsequence, 58,
              R"((?i)stall(ed)? .{0,80}(shut ?down|shutdown|will be|abort|exceed)|Stalled tensor|)"
              R"(Stalled ranks|HOROVOD_STALL_SHUTDOWN|is stalled for longer)"));
}

void addMeeting(Rules& rules) {
  rules.push_back(logRule(
      "rendezvous", kRendezvousTimeout, kDerived, 66,
      R"(RendezvousTimeoutError|(?i:rendezvous.{0,80}(timed out|timeout))|)"
      R"((?i:timed out initializing process group|store based barrier.{0,120}(timed? ?out|fail))|)"
      R"((?i:client socket has (timed out|failed)|TCPStore.{0,80}(timed? ?out|timeout)|DistStoreError.*(time|join))|)"
      R"((?i:\d+/\d+ clients joined|Timed out (after|waiting).{0,60}(client|worker|rank|peer|member|task)s?\b.{0,40}(join|start|connect|regist))|)"
      R"((?i:CreateSession still waiting|timed out waiting for (tasks|clients|workers|all|other) )|)"
      R"((?i:connectFullMesh.*(timed? ?out|timeout|fail|no error)|failed to connect to coordination|connect(ion)? to coordination service)|)"
      R"((?i:Barrier timed out|DEADLINE_EXCEEDED.{0,120}(barrier|connect|initiali|regist|coordinat)|)"
      R"((barrier|connect|initiali|regist|coordinat).{0,120}DEADLINE_EXCEEDED)|)"
      R"((?i:(GetKeyValue|KeyValueGet)\W{0,3}.{0,20}timed out|KeyValueStore.{0,60}(timed out|timeout))|)"
      R"((?i:wait(ed|ing)? for .{0,40}(workers|ranks|peers|tasks|nodes|members|replicas|executors).{0,80}(giving up|gave up|timed out|timeout|expired))|)"
      R"((?i:\bmin(imum)? .{0,20}(nodes|workers|members) .{0,30}not reached|(not all|fewer than|only \d+) .{0,20}(nodes|workers|members|hosts) .{0,20}(joined|registered))|)"
      R"((?i:jax\.distributed.{0,80}(timed? ?out|deadline))|)"
      R"((?i:wait timeout after \d+ ?ms, keys|timeout waiting for key|waiting for .{0,40}(nodes|workers|members|ranks) to join))"));
  rules.push_back(logRule(
      "dns", kDnsFailure, kDerived, 78,
      R"((?i)name resolution|Name or service not known|getaddrinfo|could not resolve|)"
      R"(nodename nor servname|No address associated with hostname|NameResolutionError|)"
      R"(failed to resolve|UnknownHostException|DNS resolution failed|cannot resolve|)"
      R"(unable to resolve|gethostbyname|no such host|Unknown host\b|unresolved address|)"
      R"(server misbehaving|\blookup \S+ on \S+:\d+|NXDOMAIN|bad address '|can't resolve|not resolvable|gaierror|)"
      R"(could not be resolved|resolution (error|failure)|Domain name not found|cannot be resolved|)"
      R"(Unable to find address for)"));
  rules.back().evenIfQuiet = true;
}

void addMpi(Rules& rules) {
  rules.push_back(logRule(
      "mpi-runtime", kMpiRuntimeFailure, kDerived, 66,
      R"(Host key verification failed|Permission denied \(publickey|ssh: connect to host|kex_exchange|)"
      R"(ssh_exchange_identification|There are not enough slots|not enough slots available|)"
      R"(\bORTE\b|\bprted\b|PRTE .*(daemon|lost|unable)|PMI[Xx] (ERROR|error|server)|)"
      R"(\borted\b.*(fail|not found|unexpected)|HYDU?_sock_connect|daemon was unable to complete|unable to (connect to server .{0,40}port|run (bstrap_)?proxy)|)"
      R"((mpirun|mpiexec|prterun) has detected|(open|find|read|parse)\w* .{0,20}host ?file|orte_init|opal_init|orte_ess|plm[_:]rsh|)"
      R"((?i:daemon .{0,80}(died|failed|lost|unexpectedly|unreachable))|unable to launch .*(node|host)|)"
      R"((?i:mpirun (was unable|could not|failed)|mpiexec.{0,40}(unable|could not|fail))|)"
      R"(launch_procs|control_cb|All nodes which are allocated for this job|)"
      R"(did not find a matching|requested (number of )?hosts?)"));
  rules.push_back(logRule(
      "mpi-launch", kMpiRuntimeFailure, kCause, 86,
      R"(Permission denied \(publickey|\b(orted|prted|hydra_pmi_proxy)\b.{0,40}(No such file|not found|Permission denied))"));
  // Hydra reports every end of a process with this message.
  rules.push_back(
      logRule("mpi-ended", kMpiRuntimeFailure, kDerived, 32,
              R"(HYD[TU]?_\w+|\[proxy:\d|\[mpiexec@|BAD TERMINATION OF ONE OF YOUR APPLICATION)"));
  rules.push_back(logRule(
      "mpi-call", kMpiError, kDerived, 68,
      R"(MPI_ERR_[A-Z_]+|An error occurred in MPI_|Fatal error in (internal_|P?MPI|MPIR)|MPI_I(NIT|nit).{0,20} failed|)"
      R"(use an MPI routine (before|after)|was called (before MPI_I|after MPI_F)|Assertion failed in file src/(mpi|mpl|util)|PML add procs failed|mpi4py\.MPI\.Exception)"));
  rules.push_back(
      logRule("mpi-abort", kMpiError, kDerived, 30,
              R"(MPI_ABORT was invoked|application called MPI_Abort|MPI_Abort\(|MPI_ERRORS_ARE_FATAL)"));
}

void addConnections(Rules& rules) {
  rules.push_back(logRule(
      "connection-lost", kConnectionLost, kConsequence, 46,
      R"((?i)Connection (was )?(reset|closed|aborted|refused|timed out|lost|dropped)|ConnectionReset|)"
      R"(ConnectionRefused|ConnectionAborted|Broken ?pipe|\b(ECONNRESET|ECONNREFUSED|EPIPE|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH)\b|)"
      R"(RemoteDisconnected|Server disconnected|Socket closed|socket hang up|No route to host|)"
      R"(_InactiveRpcError|AioRpcError|lost heartbeat|couldn't connect to '|IncompleteRead|SSLEOFError|failed to connect to (all addresses|remote)|Actor(Died|Unavailable)Error|RayActorError|node (has )?died|)"
      R"(closed the connection|ServerDisconnected|RemoteProtocolError|Cannot connect to host|ClientConnectorError|\w+\.ConnectionError\b|)"
      R"((server|service) (has )?gone away|remote end closed|Network is unreachable|lost (contact|connection)|failed to recv|recvValue failed|sendBytes failed|)"
      R"(UnavailableError|StatusCode\.UNAVAILABLE|\bUNAVAILABLE: |Could not contact|peer (has )?(closed|disconnected|is dead)|)"
      R"(another task (has )?died|stopped sending heartbeats|missed heartbeats?|heartbeat.{0,60}(timeout|timed out|lost|fail|miss)|)"
      R"((task|node|worker|rank|peer|server)s? .{0,60}(unhealthy|disconnected|is dead|was lost)|dead node|)"
      R"(Software caused connection abort|Transport closed|GOAWAY|no socket to node|Check failed: \((send|recv)_?bytes|connection to .{0,60}(lost|closed|fail))"));
  // The rendezvous store runs in one of the members.
  rules.push_back(logRule("rendezvous-store", kConnectionLost, kConsequence, 37,
                          R"(Rendezvous(Connection|Closed|State)Error)"));
  rules.push_back(logRule("horovod-shut-down", kConnectionLost, kConsequence, 35,
                          R"(Horovod has been shut down|HorovodInternalError|Horovod .*shut ?down)"));
  rules.push_back(logRule(
      "socket-time-out", kConnectionLost, kConsequence, 38,
      R"((?i)\bsocket time-?d? ?-?out\b|timed out.{0,40}(connect|socket|read)|(read|connect\w*|write|handshake|request) (operation )?timed out|ReadTimeout\b|TimeoutError)"));
  rules.push_back(logRule(
      "told-to-end", kInterrupted, kEnd, 34,
      R"(KeyboardInterrupt|(?i:(received|got|caught|handling) (a )?(signal:? ?)?\(?(SIGTERM|SIGINT|15|2)\b)|)"
      R"(SignalException|SIGTERMException|exit ?code\W{1,6}-15\b|Signal 15|signal: Terminated|SIGTERM received|signal SIGTERM|^Terminated$)"));
  rules.back().evenIfQuiet = true;
  rules.push_back(
      logRule("killed", kInterrupted, kEnd, 18,
              R"(\bSIGKILL\b|[Ss]ignal:? 9\b|\bKilled\b *$|: \d+ Killed |exit ?code\W{1,6}-9\b)"));
  rules.push_back(logRule(
      "slurm-preempted", kPreempted, kCause, 70,
      R"((?i)DUE TO PREEMPTION|spot (instance |vm |node )?(interrupt|preempt|terminat|reclaim|evict)|preemption (notice|event|signal)|)"
      R"((instance|vm|node|machine|host|job|pod) (was |has been |is |being |is being )*(preempted|reclaimed)\b|preempted=true|)"
      R"(capacity (was |is being )?reclaim)"));
  rules.push_back(logRule("slurm-time-limit", kDeadlineExceeded, kCause, 70, R"(DUE TO TIME LIMIT)"));
}

}  // namespace

void addNetworkRules(Rules& rules) {
  addCollectives(rules);
  addMeeting(rules);
  addMpi(rules);
  addConnections(rules);
}

}  // namespace trainyard::core
