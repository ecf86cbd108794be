#include <catch2/catch.hpp>

#include "launch/member_environment.h"
#include "launch/membership.h"
#include "launch/proofs.h"

using namespace trainyard::launch;

namespace {

std::string hex(const std::string& bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 0xFU];
  }
  return text;
}

}  // namespace

TEST_CASE("a membership is read as the operator writes it and other text is rejected") {
  CHECK(parseMembership(R"({"generation":3,"role":"worker","size":4})") == Membership{3, "worker", 4});
  CHECK(parseMembership("{ \"size\" : 4,\n \"role\": \"worker\", \"more\":[1], \"generation\":12 }") ==
        Membership{12, "worker", 4});
  for (const char* text :
       {"", "{}", R"({"generation":3,"role":"worker"})", R"({"generation":-3,"role":"w","size":4})",
        R"({"generation":3,"role":"","size":4})", R"({"generation":3,"role":7,"size":4})",
        R"({"generation":3,"role":"w","size":99999999999})", R"({"generation":3,"role":"w","size")",
        R"({"generation":x,"role":"w","size":4})", R"({"generation":3,"role":"w)"}) {
    INFO(text);
    CHECK_FALSE(parseMembership(text));
  }
  CHECK_FALSE(parseMembership(R"({"generation":3,"role":"w","size":4})" + std::string(5'000, ' ')));
}

// Test cases 2 and 6 of RFC 4231.
TEST_CASE("digests match those of the standard") {
  CHECK(hex(hmacSha256("Jefe", "what do ya want for nothing?")) ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hex(hmacSha256(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First")) ==
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
  CHECK(sameDigest("ab", "ab"));
  CHECK_FALSE(sameDigest("ab", "ac"));
  CHECK_FALSE(sameDigest("ab", "abc"));
  CHECK_FALSE(sameDigest("", ""));
}

TEST_CASE("the framework variables match the size of the gang") {
  const Environment own{
      {"TRAINYARD_ROLE", "worker"},
      {"TRAINYARD_INDEX", "1"},
      {"TRAINYARD_RANK", "2"},
      {"TRAINYARD_SIZE", "3"},
      {"TRAINYARD_REPLICAS", "2"},
      {"WORLD_SIZE", "3"},
      {"PET_NNODES", "3"},
      {"RANK", "2"},
      {"MASTER_PORT", "29500"},
      {"JAX_COORDINATOR_ADDRESS", "j-chief-0.j.ml.svc:1234"},
      {"JAX_NUM_PROCESSES", "12"},
      {"DMLC_NUM_WORKER", "2"},
      {"TF_CONFIG",
       R"({"cluster":{"chief":["j-chief-0.j.ml.svc:2222"],"worker":["j-worker-0.j.ml.svc:2222","j-worker-1.j.ml.svc:2222"]},"task":{"type":"worker","index":1}})"}};
  const Environment now = environmentAt(own, {1, "worker", 2}, {402, "worker", 4});
  CHECK(now.at("TRAINYARD_SIZE") == "5");
  CHECK(now.at("TRAINYARD_REPLICAS") == "4");
  CHECK(now.at("TRAINYARD_GENERATION") == "402");
  CHECK(now.at("WORLD_SIZE") == "5");
  CHECK(now.at("PET_NNODES") == "5");
  CHECK(now.at("RANK") == "2");
  CHECK(now.at("MASTER_PORT") == "29502");
  CHECK(now.at("JAX_COORDINATOR_ADDRESS") == "j-chief-0.j.ml.svc:1236");
  CHECK(now.at("JAX_NUM_PROCESSES") == "12");  // the template's own
  CHECK(now.at("DMLC_NUM_WORKER") == "4");
  CHECK(
      now.at("TF_CONFIG") ==
      R"({"cluster":{"chief":["j-chief-0.j.ml.svc:2222"],"worker":["j-worker-0.j.ml.svc:2222","j-worker-1.j.ml.svc:2222","j-worker-2.j.ml.svc:2222","j-worker-3.j.ml.svc:2222"]},"task":{"type":"worker","index":1}})");
}

TEST_CASE("a late member of another role counts from the size at its creation") {
  Environment chief{{"TRAINYARD_ROLE", "chief"}, {"TRAINYARD_INDEX", "0"}, {"TRAINYARD_RANK", "0"},
                    {"TRAINYARD_SIZE", "3"},     {"WORLD_SIZE", "3"},      {"TRAINYARD_ELASTIC_SIZE", "2"}};
  const Membership read{2, "worker", 4};
  CHECK(environmentAt(chief, read, read).at("WORLD_SIZE") == "5");
  CHECK(environmentAt(chief, read, {3, "worker", 1}).at("TRAINYARD_SIZE") == "2");
}

TEST_CASE("a member of another role receives the size and always belongs to the gang") {
  const Environment chief{{"TRAINYARD_ROLE", "chief"}, {"TRAINYARD_INDEX", "0"},    {"TRAINYARD_RANK", "0"},
                          {"TRAINYARD_SIZE", "3"},     {"TRAINYARD_REPLICAS", "1"}, {"WORLD_SIZE", "3"}};
  const Membership two{1, "worker", 2};
  CHECK(environmentAt(chief, two, {2, "worker", 1}).at("WORLD_SIZE") == "2");
  CHECK(environmentAt(chief, two, {2, "worker", 1}).at("TRAINYARD_REPLICAS") == "1");
  CHECK(belongs(memberOf(chief), {2, "worker", 0}));
  const Environment worker{{"TRAINYARD_ROLE", "worker"}, {"TRAINYARD_INDEX", "1"}};
  CHECK(belongs(memberOf(worker), two));
  CHECK_FALSE(belongs(memberOf(worker), {2, "worker", 1}));
  // It computes separately from the others: its framework does not get their number.
  CHECK_FALSE(environmentAt(worker, two, {2, "worker", 2}).contains("WORLD_SIZE"));
}
