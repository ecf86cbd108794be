#include "core/lifecycle.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

using namespace trainyard;
using model::FailureAction;
using model::FailureClass;

namespace {

model::MemberEvidence member(int index, int exitCode, std::string log, int endedAtSecond = 0) {
  model::MemberEvidence made{.role = "worker", .index = index, .phase = model::PodPhase::kFailed};
  made.containers.push_back({.name = "main",
                             .ended = true,
                             .exitCode = exitCode,
                             .reason = "Error",
                             .finishedAt = base::WallTime(std::chrono::seconds(1'000 + endedAtSecond))});
  made.log = std::move(log);
  return made;
}

const core::FailureClassifier& classifier() {
  static const core::FailureClassifier made = *core::FailureClassifier::make();
  return made;
}

core::Classification classified(const std::vector<model::MemberEvidence>& members) {
  return classifier().classify(members);
}

FailureClass classOf(int exitCode, const std::string& log) {
  return classified({member(0, exitCode, log)}).failure;
}

const std::string kTimeOut =
    "[rank1]:[E ProcessGroupNCCL.cpp:563] [Rank 1] Watchdog caught collective operation timeout: "
    "WorkNCCL(OpType=ALLREDUCE) ran for 600029 milliseconds before timing out.\n";

}  // namespace

TEST_CASE("every class has a unique name and a party and a consequence") {
  std::set<std::string_view> names;
  for (const FailureClass each : model::allFailureClasses()) {
    names.insert(toString(each));
    CHECK(model::parseFailureClass(toString(each)) == each);
    const core::DefaultReaction follows = core::defaultReaction(each);
    CHECK((follows.action == FailureAction::kEndNow) == (follows.restarts == 0));
  }
  CHECK(names.size() == model::allFailureClasses().size());
  CHECK(model::partyOf(FailureClass::kCommandNotFound) == model::Party::kUser);
  CHECK(model::partyOf(FailureClass::kGpuHardware) == model::Party::kInfrastructure);
  CHECK_FALSE(model::parseFailureClass("Nonsense"));
  CHECK_FALSE(core::defaultReaction(FailureClass::kPreempted).restarts);
}

TEST_CASE("the root is the member that names a cause and not the first or the longest log") {
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < 31; ++i) gang.push_back(member(i, 134, kTimeOut, i));
  gang.push_back(member(31, 1, "RuntimeError: CUDA error: an illegal memory access was encountered\n", 40));
  const core::Classification found = classified(gang);
  CHECK(found.failure == FailureClass::kCudaError);
  CHECK(found.root == 31);
  CHECK(found.action == FailureAction::kRestartElsewhere);
  CHECK(found.line == "RuntimeError: CUDA error: an illegal memory access was encountered");
}

TEST_CASE("a time-out is the class without a cause in any member and its root may stay unknown") {
  const core::Classification found =
      classified({member(0, 134, kTimeOut, 9), member(1, 134, kTimeOut, 3), member(2, 134, kTimeOut, 12)});
  CHECK(found.failure == FailureClass::kCollectiveTimeout);
  CHECK(found.root == 1);
  CHECK(found.confidence == model::Confidence::kLow);
  CHECK(found.note == "the logs do not show which member the others waited for");
}

namespace {

std::string watchdog(int rank, int sequence, std::string_view groupAndRank, std::string_view enqueued) {
  return fmt::format(
      "[rank{0}]:[E1 10:00:00.1 ProcessGroupNCCL.cpp:607] [Rank {0}] Watchdog caught collective operation "
      "timeout: WorkNCCL(SeqNum={1}, OpType=ALLREDUCE, NumelIn=4, NumelOut=4, Timeout(ms)=600000) ran for "
      "600060 milliseconds before timing out.\n"
      "[rank{0}]:[E1 10:00:00.2 ProcessGroupNCCL.cpp:1664] [{2} Rank {0}] Exception (either an error or "
      "timeout) detected by watchdog at work: {1}, {3}\n",
      rank, sequence, groupAndRank, enqueued);
}

std::string enqueuedLine(int rank, int number) {
  return watchdog(rank, 2'398'440, "PG ID 0 PG GUID 0(default_pg)",
                  fmt::format("last enqueued NCCL work: {}, last completed NCCL work: 2398439.", number));
}

}  // namespace

TEST_CASE("the root of a time-out is the member that enqueued least in any order of ends") {
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < 4; ++i)
    gang.push_back(member(i, 134, enqueuedLine(i, i == 2 ? 2'398'440 : 2'398'578), i));
  core::Classification found = classified(gang);
  CHECK(found.failure == FailureClass::kCollectiveTimeout);
  CHECK(found.root == 2);
  CHECK(found.confidence == model::Confidence::kHigh);
  CHECK(found.note ==
        "worker-2 is behind: it enqueued 2398440 collective operations, the others 2398578 or more");
  SECTION("not where two are equally far behind") {
    gang[1].log = enqueuedLine(1, 2'398'440);
    CHECK(classified(gang).confidence == model::Confidence::kLow);
  }
  SECTION("in the format of other versions") {
    for (int i = 0; i < 4; ++i) {
      gang[static_cast<std::size_t>(i)].log =
          watchdog(i, 808, "PG 1",
                   fmt::format("last enqueued work: {}, last completed work: 807", i == 3 ? 809 : 811));
    }
    CHECK(classified(gang).root == 3);
  }
  SECTION("numbers of different groups are not compared") {
    for (int i = 0; i < 4; ++i) {
      gang[static_cast<std::size_t>(i)].log =
          watchdog(i, 808, fmt::format("PG ID {0} PG GUID {0}", i / 2),
                   fmt::format("last enqueued work: {}, last completed work: 807", i < 2 ? 811 : 99));
    }
    CHECK(classified(gang).confidence == model::Confidence::kLow);
  }
}

TEST_CASE("without enqueued numbers the root is the member whose operation came first") {
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < 3; ++i) {
    gang.push_back(
        member(i, 134,
               fmt::format("[E ProcessGroupNCCL.cpp:458] [Rank {}] Watchdog caught collective operation "
                           "timeout: WorkNCCL(SeqNum={}, OpType=ALLREDUCE) ran for 600029 milliseconds "
                           "before timing out.\n",
                           i, i == 1 ? 41 : 57),
               i));
  }
  CHECK(classified(gang).root == 1);
  CHECK(classified(gang).confidence == model::Confidence::kMedium);
}

TEST_CASE("the only member that reports no time-out is the root because it waits in no collective") {
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < 4; ++i) gang.push_back(member(i, 134, enqueuedLine(i, 2'398'578), i));
  const auto hung = [](int index) {
    model::MemberEvidence made{.role = "worker", .index = index, .phase = model::PodPhase::kRunning};
    made.containers.push_back({.name = "main"});
    made.log = "step 2398440 loss 2.1\n";
    return made;
  };
  SECTION("it still runs") {
    gang[2] = hung(2);
    CHECK(classified(gang).root == 2);
    CHECK(classified(gang).confidence == model::Confidence::kMedium);
    CHECK(classified(gang).note == "worker-2 is the only member that reports no time-out");
  }
  SECTION("it was ended with the others") {
    gang[0] = member(0, 143, "step 2398440 loss 2.1\n", 9);
    CHECK(classified(gang).root == 0);
  }
  SECTION("not where there are two") {
    gang[2] = hung(2);
    gang[3] = hung(3);
    CHECK(classified(gang).confidence == model::Confidence::kLow);
  }
}

TEST_CASE("the rank that a barrier names is the root") {
  std::vector<model::MemberEvidence> gang;
  gang.push_back(member(0, 1, "RuntimeError: [Rank 0]: Rank 2 failed to pass monitoredBarrier in 5000 ms\n"));
  gang.push_back(member(1, 143, "step 4\n"));
  gang.push_back(member(2, 143, "step 4\n"));
  CHECK(classified(gang).root == 2);
}

TEST_CASE("the first cause is the root and at equal times the more specific one or the lower rank") {
  const std::string typeError =
      "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n";
  const std::string memory = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  CHECK(classified({member(0, 1, memory, 5), member(1, 1, typeError, 3)}).root == 1);
  CHECK(classified({member(0, 1, typeError, 3), member(1, 1, memory, 3)}).root == 1);
  CHECK(classified({member(0, 1, memory, 3), member(1, 1, memory, 3)}).root == 0);
}

TEST_CASE("a member that ends silently before others lose a connection is the root") {
  const std::string lost = "ConnectionResetError: [Errno 104] Connection reset by peer\n";
  const core::Classification silent = classified({member(0, 1, lost, 5), member(1, 42, "", 3)});
  CHECK(silent.failure == FailureClass::kUnknown);
  CHECK(silent.root == 1);
  CHECK(classified({member(0, 1, lost, 3), member(1, 42, "", 3)}).failure == FailureClass::kConnectionLost);
}

TEST_CASE("a reason from Kubernetes beats the log of the same member") {
  model::MemberEvidence killed = member(0, 137, "KeyError: 'x'\n");
  killed.containers[0].reason = "OOMKilled";
  const core::Classification found = classified({killed});
  CHECK(found.failure == FailureClass::kHostOutOfMemory);
  CHECK(found.action == FailureAction::kRestartMoreMemory);
}

TEST_CASE("a member that was never started is the root of what the others wait for") {
  model::MemberEvidence pending{.role = "worker", .index = 1, .phase = model::PodPhase::kPending};
  pending.containers.push_back({.name = "main", .waitingReason = "ImagePullBackOff"});
  const core::Classification found = classified(
      {member(0, 1, "torch.distributed.DistNetworkError: The client socket has timed out after 60s\n"),
       pending});
  CHECK(found.failure == FailureClass::kImagePull);
  CHECK(found.root == 1);
}

TEST_CASE("evidence without a cause is unknown") {
  CHECK(classOf(1, "") == FailureClass::kUnknown);
  CHECK(classOf(1, "epoch 3 loss 0.2\nbye\n") == FailureClass::kUnknown);
  CHECK(classOf(17, "WARNING: Permission denied, retrying in 3 s\n") == FailureClass::kUnknown);
  CHECK_FALSE(classified({}).root);
}

TEST_CASE("an error that the program outlived is no cause") {
  const std::string outlived =
      "RuntimeError: CUDA out of memory\nepoch 1 step 5 loss 0.3\nepoch 1 step 6 loss 0.3\nepoch 1 step 7 "
      "loss 0.3\n";
  CHECK(classOf(1, outlived) == FailureClass::kUnknown);
  CHECK(classOf(1, outlived + "OSError: [Errno 28] No space left on device\n") == FailureClass::kDiskFull);
}

TEST_CASE("source code in a traceback is no evidence") {
  CHECK(classOf(1,
                "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\n"
                "    raise_if('CUDA out of memory')\nTypeError: unsupported operand\n") ==
        FailureClass::kUserCodeError);
}

TEST_CASE("the last of several tracebacks is the one that ended the program") {
  CHECK(classOf(1,
                "ERROR loading cache\nTraceback (most recent call last):\n  File \"a.py\", line 3\n"
                "FileNotFoundError: cache.bin\nbuilding it\nbuilt\nready\n"
                "Traceback (most recent call last):\n  File \"a.py\", line 9\n"
                "RuntimeError: CUDA error: an illegal memory access was encountered\n") ==
        FailureClass::kCudaError);
}

TEST_CASE("marks of ranks and times and colours do not hide an exception") {
  for (const char* line : {"[rank3]: KeyError: 'x'", "[1,3]<stderr>:KeyError: 'x'", "worker-3: KeyError: 'x'",
                           "2026-05-01T10:00:00.5Z KeyError: 'x'", "\x1b[31mKeyError: 'x'\x1b[0m",
                           "[default0]:KeyError: 'x'", "(Trainer pid=3, ip=10.0.0.3) KeyError: 'x'"}) {
    CAPTURE(line);
    CHECK(classOf(1, line) == FailureClass::kUserCodeError);
  }
}

TEST_CASE("text from a log is reported without control characters") {
  for (const char* letter : {"\u009b", "\u0085", "\u200f", "\u2028", "\u202e", "\u2066", "\x1b[31m"}) {
    CHECK(core::withoutControls(std::string("a") + letter + "b") == "ab");
  }
  CHECK(core::withoutControls("Größe: 3 µs – ok “x”") == "Größe: 3 µs – ok “x”");
}

TEST_CASE("binary garbage does no harm and legible text in it is read") {
  std::string garbage;
  for (int i = 0; i < 200'000; ++i) garbage += static_cast<char>((i * 7919) % 256);
  const core::Classification found = classified(
      {member(0, 1, garbage), member(1, 1, garbage + "\nMemoryError\n" + std::string(1'000, '\0'))});
  CHECK(found.failure == FailureClass::kHostOutOfMemory);
  CHECK(found.root == 1);
}

TEST_CASE("only the end of a long log is read") {
  const std::string line(1'000'000, 'x');
  CHECK(classOf(1, line + "\nMemoryError\n") == FailureClass::kHostOutOfMemory);

  std::string many = "MemoryError\n";
  for (int i = 0; i < 100'000; ++i) many += "nothing\n";
  CHECK(core::lastLines(many).size() == core::kLogLines);
  CHECK(core::lastLines(line).front().text.size() <= core::kLineBytes);
  CHECK(classOf(1, many) == FailureClass::kUnknown);
}

TEST_CASE("own rules come before the built-in ones and have their own action") {
  const std::vector<model::FailureRule> own = {{.name = "licence",
                                                .failure = FailureClass::kStorageUnavailable,
                                                .weight = 200,
                                                .log = "FLEXlm error -\\d+",
                                                .action = FailureAction::kRestartElsewhere}};
  const auto made = core::FailureClassifier::make(own);
  REQUIRE(made);
  const std::vector<model::MemberEvidence> gang = {member(0, 1, "RuntimeError: FLEXlm error -15\n")};
  const core::Classification found = made->classify(gang);
  CHECK(found.failure == FailureClass::kStorageUnavailable);
  CHECK(found.rule == "licence");
  CHECK(found.action == FailureAction::kRestartElsewhere);

  const auto broken = core::FailureClassifier::make({{.name = "bad", .log = "a("}});
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message == "rule bad: missing ): a(");
}

TEST_CASE("a classification that is cut short has read the end of the log first") {
  int lines = 0;
  const auto enough = [&] { return ++lines > 3; };
  const std::string end = "torch.cuda.OutOfMemoryError: CUDA out of memory.\n";
  const std::string chatter = "one\ntwo\nthree\nfour\nfive\n";
  const std::vector<model::MemberEvidence> endsSo = {member(0, 1, chatter + end)};
  CHECK(classifier().classify(endsSo, enough).failure == FailureClass::kGpuOutOfMemory);
  lines = 0;
  const std::vector<model::MemberEvidence> beganSo = {member(0, 1, end + chatter)};
  CHECK(classifier().classify(beganSo, enough).failure != FailureClass::kGpuOutOfMemory);
}

TEST_CASE("every built-in rule has a name of its own") {
  std::set<std::string> names;
  for (const model::FailureRule& rule : core::builtInRules()) {
    CAPTURE(rule.name);
    CHECK(names.insert(rule.name).second);
  }
}
