#include <catch2/catch.hpp>

#include "lab.h"

namespace trainyard::test {
namespace {

bool isWrite(const net::HttpRequest& request) { return request.method != net::Method::kGet; }

// Kills the writer after the k-th write about jobs and pods is executed, before its answer arrives.
class KillAtWrite final : public sim::FaultPlan {
 public:
  explicit KillAtWrite(int k) : k_(k) {}

  std::function<void()> kill;
  [[nodiscard]] bool killed() const { return killed_; }
  [[nodiscard]] const std::string& at() const { return at_; }

  bool loseReply(const sim::FaultPoint& point, const net::HttpResponse&) override {
    if (killed_ || !isWrite(*point.request) || point.step.find("leases") != std::string::npos) return false;
    if (++writes_ != k_) return false;
    killed_ = true;
    at_ = point.step;
    kill();
    return true;
  }

 private:
  int k_;
  int writes_ = 0;
  bool killed_ = false;
  std::string at_;
};

// As KillAtWrite, but the k-th write never reaches the server.
class KillBeforeWrite final : public sim::FaultPlan {
 public:
  explicit KillBeforeWrite(int k) : k_(k) {}

  std::function<void()> kill;
  [[nodiscard]] bool killed() const { return killed_; }

  sim::RequestFault beforeRequest(const sim::FaultPoint& point) override {
    if (killed_ || !isWrite(*point.request) || point.step.find("leases") != std::string::npos) return {};
    if (++writes_ != k_) return {};
    killed_ = true;
    kill();
    sim::RequestFault lost;
    lost.kind = sim::RequestFault::Kind::kLoseRequest;
    return lost;
  }

 private:
  int k_;
  int writes_ = 0;
  bool killed_ = false;
};

template <typename Plan>
int writesUntilUnharmed(int workers) {
  int k = 1;
  for (; k <= 200; ++k) {
    CAPTURE(k);
    Plan plan(k);
    Lab lab({.operatorFaults = &plan});
    plan.kill = [&] {
      if (const auto leader = lab->operators().leader()) lab->operators().kill(*leader);
    };
    lab->operators().start();
    lab->operators().start();
    lab.submit("heir", {.workers = workers, .runFor = "2s"});

    const bool ended = lab.waitPhase("heir", "Succeeded", 120s);
    INFO(lab.describe());
    REQUIRE(ended);
    CHECK(lab.podsOf("heir").size() == static_cast<std::size_t>(workers));
    lab.run(15s);
    lab.requireSound();
    lab.requireTidy();
    if (!plan.killed()) break;
  }
  return k;
}

}  // namespace

TEST_CASE("an operator killed after any of its writes leaves a gang that the next one finishes") {
  // Template check, Reserve, finalizer, Service, ConfigMap, 3 creates, 3 releases, merge and the status
  // message.
  CHECK(writesUntilUnharmed<KillAtWrite>(3) > 12);
}

TEST_CASE("an operator killed with any of its writes unsent leaves a gang that the next one finishes") {
  CHECK(writesUntilUnharmed<KillBeforeWrite>(3) > 12);
}

TEST_CASE("an operator killed after any write about a single-pod job does no harm") {
  CHECK(writesUntilUnharmed<KillAtWrite>(1) > 4);
}

TEST_CASE("an operator that ends in order hands over at once") {
  Lab lab;
  lab->operators().start();
  lab.run(3s);
  lab->operators().start();
  lab.submit("kept", {.runFor = "20s"});
  REQUIRE(lab.waitPhase("kept", "Running", 30s));
  const auto first = lab->operators().leader();
  REQUIRE(first);
  lab->operators().stop(*first);
  REQUIRE(lab.until([&] { return lab->operators().leader() && lab->operators().leader() != first; }, 5s));
  REQUIRE(lab.waitPhase("kept", "Succeeded", 60s));
  lab.requireSound();
  lab.requireTidy();
}

}  // namespace trainyard::test
