#include "core/lifecycle/failure_rules.h"

namespace trainyard::core {
namespace {

using enum model::FailureClass;
using enum model::Sign;

model::FailureRule line(std::string name, model::Sign sign, std::string pattern, int weight = 0) {
  return logRule(std::move(name), kUnknown, sign, weight, std::move(pattern));
}

}  // namespace

// Rules that grade a line as evidence.
void addLineRules(Rules& rules) {
  rules.push_back(line(
      "another-attempt", kNoise,
      R"((?i)\bretry(ing)?\b|\bretries (left|remaining)|will (try|be retried)|trying again|try again in|\bre-?attempt|)"
      R"(attempt \d+ ?(/|of) ?\d+|\bskipp(ed|ing)\b|\bignor(ed|ing)\b|falling back|fallback to|fall back|)"
      R"(\brecover(ed|ing)\b|resum(ed|ing) (after|from)|\bcontinuing\b|reconnect(ed|ing)|not (a )?fatal|non-fatal|)"
      R"(is not a failure|caught and handled|\bhandled\b|succeeded after|backing off|reduc\w+ (the )?batch|smaller batch|(decay|decreas|lower|shrink)\w* (the )?(micro)?-?batch|retried \d+ times?, ok|)"
      R"(halving|will use|using .{0,30}instead|this is expected|harmless|can be (safely )?ignored)"));
  rules.push_back(line(
      "help-text", kNoise,
      R"((?i:\bhint\b|see docs?/|if you (ever )?(see|get|encounter)|for example:)|^\s+-{1,2}[a-zA-Z][\w-]*([ ,=]|$).{0,80}\S|^\s*#|^\s*//)"));
  // A line that wraps the message of another process adds nothing, even as an uncaught exception. Its weight
  // marks it as a wrapper.
  rules.push_back(line(
      "wrapper", kNoise,
      R"(ChildFailedError|CalledProcessError: .*exit status \d+|ProcessRaisedException|returned non-zero exit status \d+|)"
      R"(closing signal SIG|exitcode *: *\d+|error_file|To enable traceback see|^Root Cause|^Failures:|)"
      R"(failed \(exitcode: 1\)|DataLoader worker \(pid\(s\) .*exited unexpectedly|SystemExit|multiprocessing\.errors|)"
      R"(Enable (the )?faulthandler|For debugging consider|CUDA kernel errors might be asynchronously|)"
      R"(Compile with `?TORCH_USE_CUDA_DSA|Exception raised from|^frame #\d+|Primary job +terminated normally|)"
      R"(a non-zero exit code\.? Per user-direction|mpirun detected that one or more processes exited|)"
      R"(Some of the possible causes|the job to be terminated|^\s*at [\w.$]+\(|^This might be caused by|)"
      R"(You may or may not see output from other processes|exactly when Open MPI kills them)",
      1));
  rules.push_back(line(
      "low-level", kQuiet,
      R"(^.{0,60}\b(INFO|DEBUG|TRACE|NOTICE|WARN|WARNING|Warning)\b|^[IWD]\d{4} \d\d:|^.{0,40}: [IW] [a-z]+/|)"
      R"(^\[[IW]\b|^.{0,200}\w*Warning: |\[[WI]\d{3,4} |\[[WI] |^\s*(info|warn|warning|debug)\b:|^I0000|^W0000)"));
  rules.push_back(line(
      "given-up", kFinal,
      R"(NCCL WARN|(?i)giv(ing|en|e) up|gave up|(retries|attempts) (have been )?(exhausted|exceeded|failed)|max(imum)? (number of )?(retries|attempts|retry)|)"
      R"(no more (retries|attempts)|after \d+ (retries|attempts|tries)|retry (limit|budget)|exhausted|too many retries|)"
      R"(retry failed|^#\s+SIG[A-Z]+ \(|insufficient memory for the Java|cannot (be )?recover|unrecoverable|not recover|cannot continue|can't continue)"));
  rules.push_back(line(
      "progress", kProgress,
      R"((?i)\b(epoch|step|iter(ation)?|global_step|batch|train)\b.{0,40}\d.{0,80}\b(loss|acc(uracy)?|lr|ppl|perplexity|examples?|samples?|img|images|tokens?|it|sec|ms|s)\b|)"
      R"(\d+%\|.*\d+/\d+|\b\d+(\.\d+)? ?(it|samples|img|images|tokens|examples|steps|sequences|seq)/s|\bloss[ =:]+[\d.]+)"));
}

}  // namespace trainyard::core
