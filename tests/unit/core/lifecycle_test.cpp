#include "core/lifecycle.h"

#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/tail_buffer.h"

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

TEST_CASE("every class has a name of its own, a party and something that follows") {
  std::set<std::string_view> names;
  for (const FailureClass each : model::allFailureClasses()) {
    names.insert(toString(each));
    CHECK(model::parseFailureClass(toString(each)) == each);
    const core::WhatFollows follows = core::whatFollows(each);
    CHECK((follows.action == FailureAction::kEndNow) == (follows.restarts == 0));
  }
  CHECK(names.size() == model::allFailureClasses().size());
  CHECK(model::partyOf(FailureClass::kCommandNotFound) == model::Party::kUser);
  CHECK(model::partyOf(FailureClass::kGpuHardware) == model::Party::kInfrastructure);
  CHECK_FALSE(model::parseFailureClass("Nonsense"));
  CHECK_FALSE(core::whatFollows(FailureClass::kPreempted).restarts);
}

TEST_CASE("the root is who names a cause, not who ended first or said most") {
  std::vector<model::MemberEvidence> gang;
  for (int i = 0; i < 31; ++i) gang.push_back(member(i, 134, kTimeOut, i));
  gang.push_back(member(31, 1, "RuntimeError: CUDA error: an illegal memory access was encountered\n", 40));
  const core::Classification found = classified(gang);
  CHECK(found.failure == FailureClass::kCudaError);
  CHECK(found.root == 31);
  CHECK(found.action == FailureAction::kRestartElsewhere);
  CHECK(found.line == "RuntimeError: CUDA error: an illegal memory access was encountered");
}

TEST_CASE("a time-out is the class where nobody shows a cause, of who ended first") {
  const core::Classification found =
      classified({member(0, 134, kTimeOut, 9), member(1, 134, kTimeOut, 3), member(2, 143, "", 12)});
  CHECK(found.failure == FailureClass::kCollectiveTimeout);
  CHECK(found.root == 1);
}

TEST_CASE(
    "of causes the first in time is the root, of equal times the more specific, then the earlier rank") {
  const std::string typeError =
      "Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'x'\n";
  const std::string memory = "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n";
  CHECK(classified({member(0, 1, memory, 5), member(1, 1, typeError, 3)}).root == 1);
  CHECK(classified({member(0, 1, typeError, 3), member(1, 1, memory, 3)}).root == 1);
  CHECK(classified({member(0, 1, memory, 3), member(1, 1, memory, 3)}).root == 0);
}

TEST_CASE("who ends without a word before all that lost somebody is whom they lost") {
  const std::string lost = "ConnectionResetError: [Errno 104] Connection reset by peer\n";
  const core::Classification silent = classified({member(0, 1, lost, 5), member(1, 42, "", 3)});
  CHECK(silent.failure == FailureClass::kUnknown);
  CHECK(silent.root == 1);
  CHECK(classified({member(0, 1, lost, 3), member(1, 42, "", 3)}).failure == FailureClass::kConnectionLost);
}

TEST_CASE("what Kubernetes says beats the log of the same member") {
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

TEST_CASE("what tells nothing is unknown") {
  CHECK(classOf(1, "") == FailureClass::kUnknown);
  CHECK(classOf(1, "epoch 3 loss 0.2\nbye\n") == FailureClass::kUnknown);
  CHECK(classOf(17, "WARNING: Permission denied, retrying in 3 s\n") == FailureClass::kUnknown);
  CHECK_FALSE(classified({}).root);
}

TEST_CASE("what the program outlived is no cause") {
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

TEST_CASE("of several tracebacks the last is the one that ended the program") {
  CHECK(classOf(1,
                "ERROR loading cache\nTraceback (most recent call last):\n  File \"a.py\", line 3\n"
                "FileNotFoundError: cache.bin\nbuilding it\nbuilt\nready\n"
                "Traceback (most recent call last):\n  File \"a.py\", line 9\n"
                "RuntimeError: CUDA error: an illegal memory access was encountered\n") ==
        FailureClass::kCudaError);
}

TEST_CASE("marks of ranks, times and colours do not hide an exception") {
  for (const char* line : {"[rank3]: KeyError: 'x'", "[1,3]<stderr>:KeyError: 'x'", "worker-3: KeyError: 'x'",
                           "2026-05-01T10:00:00.5Z KeyError: 'x'", "\x1b[31mKeyError: 'x'\x1b[0m",
                           "[default0]:KeyError: 'x'", "(Trainer pid=3, ip=10.0.0.3) KeyError: 'x'"}) {
    CAPTURE(line);
    CHECK(classOf(1, line) == FailureClass::kUserCodeError);
  }
}

TEST_CASE("what is told of a log steers no terminal and turns no line") {
  for (const char* letter : {"\u009b", "\u0085", "\u200f", "\u2028", "\u202e", "\u2066", "\x1b[31m"}) {
    CHECK(core::withoutControls(std::string("a") + letter + "b") == "ab");
  }
  CHECK(core::withoutControls("Größe: 3 µs – ok “x”") == "Größe: 3 µs – ok “x”");
}

TEST_CASE("binary garbage does no harm, and what is legible in it is read") {
  std::string garbage;
  for (int i = 0; i < 200'000; ++i) garbage += static_cast<char>((i * 7919) % 256);
  const core::Classification found = classified(
      {member(0, 1, garbage), member(1, 1, garbage + "\nMemoryError\n" + std::string(1'000, '\0'))});
  CHECK(found.failure == FailureClass::kHostOutOfMemory);
  CHECK(found.root == 1);
}

TEST_CASE("of a log of any length only the end is read") {
  const std::string line(1'000'000, 'x');
  base::TailBuffer tail(core::kLogBytes);
  for (int i = 0; i < 512; ++i) tail.append(line);  // half a gigabyte
  tail.append("\nMemoryError\n");
  CHECK(tail.text().size() == core::kLogBytes);
  CHECK(classOf(1, std::string(tail.text())) == FailureClass::kHostOutOfMemory);

  std::string many = "MemoryError\n";
  for (int i = 0; i < 100'000; ++i) many += "nothing\n";
  CHECK(core::lastLines(many).size() == core::kLogLines);
  CHECK(core::lastLines(line).front().text.size() <= core::kLineBytes);
  CHECK(classOf(1, many) == FailureClass::kUnknown);
}

TEST_CASE("the end of a stream is kept whatever its pieces") {
  base::TailBuffer tail(10);
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 23), static_cast<char>('a' + i % 26));
    all += piece;
    tail.append(piece);
    CHECK(tail.text() == (all.size() > 10 ? all.substr(all.size() - 10) : all));
  }
}

TEST_CASE("rules of one's own come before the built-in ones, with their action") {
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

TEST_CASE("a log of which there is enough is known by its end") {
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
