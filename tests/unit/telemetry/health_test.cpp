#include <catch2/catch.hpp>

#include "telemetry/health.h"

namespace trainyard::telemetry::test {
namespace {

base::Result<void> good() { return {}; }
base::Result<void> bad() { return base::fail(base::ErrorCode::kUnavailable, "no lease for 12 s"); }

TEST_CASE("Without checks a process is healthy") {
  const Health health;
  CHECK(health.liveness(false).good);
  CHECK(health.readiness(true).text == "ok\n");
}

TEST_CASE("The report names the checks that fail and why") {
  Health health;
  health.addLivenessCheck("loop", good);
  health.addReadinessCheck("caches", good);
  health.addReadinessCheck("lease", bad);
  CHECK(health.liveness(false).text == "ok\n");
  const auto report = health.readiness(false);
  CHECK_FALSE(report.good);
  CHECK(report.text == "[-] lease failed: no lease for 12 s\n");
}

TEST_CASE("A verbose report lists every check") {
  Health health;
  health.addLivenessCheck("loop", good);
  health.addLivenessCheck("watch", good);
  CHECK(health.liveness(true).text == "[+] loop ok\n[+] watch ok\nok\n");
  health.addLivenessCheck("lease", bad);
  CHECK(health.liveness(true).text == "[+] loop ok\n[+] watch ok\n[-] lease failed: no lease for 12 s\n");
}

TEST_CASE("A check may itself add a check") {
  Health health;
  health.addLivenessCheck("first", [&health] {
    health.addReadinessCheck("late", bad);
    return good();
  });
  CHECK(health.liveness(false).good);
  CHECK_FALSE(health.readiness(false).good);
}

}  // namespace
}  // namespace trainyard::telemetry::test
