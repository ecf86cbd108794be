#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;

}  // namespace

void addStorageRules(Rules& rules) {
  rules.push_back(logRule(
      "disk-full", kDiskFull, kCause, 84,
      R"((?i)No space left on device|\bENOSPC\b|\[Errno 28\]|quota exceeded|exceeded.{0,20}quota|\bEDQUOT\b|\[Errno 122\]|)"
      R"(not enough (free )?(disk )?space|insufficient disk|disk (is )?full|DSQuotaExceeded|NSQuotaExceeded|)"
      R"(PytorchStreamWriter failed|file write failed|out of disk|)"
      R"(\d+ requested and \d+ written|problem writing element \d+|(database or )?disk is full)"));
  rules.push_back(logRule(
      "storage", kStorageUnavailable, kCause, 76,
      R"((?i)stale (nfs )?file handle|\bESTALE\b|Input/output error|\[Errno 5\]|\[Errno 116\]|\[Errno 121\]|Remote I/O error|)"
      R"(Transport endpoint is not connected|\[Errno 107\]|nfs: server .{0,80}not responding|)"
      R"(SlowDown|reduce your request rate|RequestTimeTooSkewed|ServiceUnavailable|safe ?mode|SafeModeException|)"
      R"(BlockMissingException|Could not obtain block|No live (data)?nodes|could only be (replicated|written) to 0|)"
      R"(Read timeout on endpoint|EndpointConnectionError|Could not connect to the endpoint|ConnectTimeoutError|)"
      R"(\b(s3|gcs|gs|oss|storage|bucket|blob|hdfs|webhdfs|object store|minio|GetObject|PutObject|HeadObject|ListObjects\w*|UploadPart)\b.{0,120}\b(50[0234]|InternalError|Internal Server Error|unavailable|timed out|timeout( (was|after|exceeded|waiting|reading|while|error|reached|on)|Error|$)|Connection (reset|refused)|unreachable)|)"
      R"(\b(50[0234]|InternalError|Internal Server Error|ServerBusy|Service Unavailable)\b.{0,120}(s3|gcs|gs:|storage|bucket|blob|hdfs|GetObject|PutObject|HeadObject|ListObjects)|)"
      R"(\bbackend ?error|\b50[0234] Server Error|HTTP Error 50[0234]|(response|status) code:? 50[0234]\b|429 .{0,16}too many requests|)"
      R"(\[Errno (70|108|112)\]|(Errno 110\]|timed out|Software caused connection abort): '/|AWS Error (NETWORK|SLOW_DOWN|UNKNOWN|INTERNAL)|FSTimeoutError|)"
      R"(libcurl code|(connection (timeout|aborted|reset|error)|timed out|timeout was|aborted\.).{0,120}(s3\.|storage\.googleapis|blob\.core|gs://|s3://)|connection to \S*(s3\.|storage\.googleapis|blob\.core).{0,60}timed out|)"
      R"((InternalError|ServerBusy|SlowDown).{0,40}\b(calling|operation)|the server is busy|ConnectionClosedError: .*endpoint|)"
      R"(\bbackendError|StandbyException|Operation category READ is not supported|lustre.{0,80}(evict|timeout|error)|)"
      R"(ceph.{0,60}(timeout|error|fail)|(nfs|fuse|mount).{0,60}(timed out|not responding|unavailable)|Operation timed out: '/)"));
  rules.push_back(logRule(
      "permission", kPermissionDenied, kCause, 73,
      R"(^(\w+\.)*PermissionError|Permission denied|\bEACCES\b|\[Errno 13\]|AccessDenied|Access Denied|403 Forbidden|)"
      R"((?i:\((403|401|AccessDenied|Forbidden)\)|(http|status|code|error|client)\W{0,10}(error\W{0,4}|code\W{0,4})?403\b|\b403 (client|access|permission)|AccessControlException|insufficient (permission|privilege))|)"
      R"((?i:not authorized to|is not authorized|does not have (storage|permission|serviceusage)|permission[_ ]denied|unauthorized|\b401 (client|unauth))|)"
      R"(GatedRepoError|Operation not permitted|\[Errno 1\]|InvalidAccessKeyId|SignatureDoesNotMatch|ExpiredToken|NoCredentialsError|(?i:Forbidden:|Forbidden for url))"));
  rules.push_back(logRule(
      "credentials", kPermissionDenied, kCause, 72,
      R"((?i)DefaultCredentialsError|credentials were not found|(invalid|missing|no|expired) credentials|gated repo|)"
      R"(AuthenticationError\b|AuthenticationFailed|failed to authenticate|authentication (failed|required)|)"
      R"(api_?key (is )?not (configured|set)|api key .{0,60}(invalid|missing|expired)|(do|does) not have (the )?permission|)"
      R"(Read-only file system|\[Errno 30\]|(access|auth\w*|api|bearer|session|security|refresh|provided|user) token .{0,40}(expired|invalid|rejected|denied)|)"
      R"(invalid (user |access |auth )token|no token found|token is required|RefreshError|invalid_grant)"));
  // Any resource that could not be read or written.
  rules.push_back(logRule("access-denied", kPermissionDenied, kCause, 83,
                          R"(^(\w+\.)*PermissionError|\((AccessDenied|403|Forbidden)\)|\bAccess Denied\b)"));
  rules.push_back(logRule(
      "checkpoint", kCheckpointError, kCause, 81,
      R"((?i)loading state_?dict|(missing|unexpected) key\(s\)|size mismatch for |PytorchStreamReader failed|)"
      R"(unexpected EOF, expected|failed finding central directory|corrupt file\b|)"
      R"(invalid header or archive is corrupted|UnpicklingError|pickle data was truncated|Ran out of input|)"
      R"(SafetensorError|HeaderTooLarge|MetadataIncompleteBuffer|InvalidHeaderDeserialization|)"
      R"(not an sstable|bad magic number|Unable to open table file|)"
      R"((not found|missing|mismatch\w*|corrupt\w*|invalid|incomplete|incompatible|truncated|malformed|bad|unexpected|empty) .{0,40}(checkpoint|ckpt|state_?dict)|)"
      R"((checkpoint|ckpt|state_?dict)\b.{0,80}(corrupt|invalid|incomplete|incompatible|mismatch|truncated|malformed|does not match|don't match|not a valid|no such key|not contain|checksum|unreadable))"
      R"(|(checkpoint|ckpt)\b.{0,80}(not found|does not exist|doesn't exist|is missing|cannot be found)|valid checkpoint|)"
      R"(no such file or directory: ['"]?\S*(ckpt|checkpoint|model_states|optim_states|\.pth?\b|\.safetensors|pytorch_model)|)"
      R"(TensorSliceReader|DP world size|optimizer state .{0,40}world size|structure could be identified|tree structures? (do|does) not match|)"
      R"(no file named .{0,40}(model|weights)|Invalid NDArray file format|layer count mismatch|loading weights from|weights? file.{0,60}(corrupt|truncated|checksum|invalid)|)"
      R"(InvalidCheckpoint\w*|CheckpointException|error opening .?zarr|inline_container\.cc|Can't get attribute '\w+' on <module|)"
      R"(^KeyError: '\w*(state_dict|optimizer_states?|model_state)')"
      R"(|doesn't match the size of optimizer|different number of parameter groups|Assign requires shapes of both|)"
      R"((loading|restoring|restore|loaded|load) .{0,60}(checkpoint|ckpt).{0,80}(fail|error)|(fail|error|unable)\w* .{0,30}(load|restor|deserializ)\w* .{0,40}(checkpoint|ckpt|state_?dict|weights)|)"
      R"(Checkpoint structure|tree structure.{0,40}mismatch)"));
  // Recomputed activations are unrelated to checkpoint files.
  rules.push_back(logRule("activation-checkpoint", kUserCodeError, kCause, 82,
                          R"(torch\.utils\.checkpoint\b.*(: |Error)|(?i:activation checkpoint))"));
  rules.push_back(logRule("checkpoint-named", kCheckpointError, kCause, 52,
                          R"(^(\w+\.)*\w*(Error|Exception): .*\b(?i:checkpoint|ckpt|state_?dict)\b)"));
}

}  // namespace trainyard::core
