#include "extender/api_contact.h"

#include <catch2/catch.hpp>

#include "base/virtual_loop.h"
#include "support/fake_api.h"

namespace trainyard::extender {
namespace {

using namespace std::chrono_literals;

class Server final : public test::FakeApi {
 public:
  using test::FakeApi::FakeApi;

  bool reachable = true;
  int probes = 0;

 private:
  base::Result<kube::ApiResponse> answer(const kube::ApiRequest& request) override {
    CHECK(request.path == "/version");
    ++probes;
    if (!reachable) return base::fail(base::ErrorCode::kUnavailable, "no route to host");
    return kube::ApiResponse{200, "{}"};
  }
};

TEST_CASE("a loss of the API server for twenty seconds is reported once and its return as well") {
  base::VirtualLoop loop;
  Server server(loop);
  int lost = 0;
  int regained = 0;
  ApiContact contact(server, loop,
                     {.lost = [&](std::string_view) { ++lost; },
                      .regained = [&] { ++regained; },
                      .lastContact = [] { return std::nullopt; }});
  contact.start();
  loop.runFor(120s);
  CHECK(server.probes >= 20);
  CHECK(lost == 0);
  server.reachable = false;
  loop.runFor(15s);
  CHECK(lost == 0);
  loop.runFor(60s);
  CHECK(lost == 1);
  CHECK(regained == 0);
  server.reachable = true;
  loop.runFor(10s);
  CHECK(regained == 1);
  loop.runFor(60s);
  CHECK(lost == 1);
}

TEST_CASE("a watch that is silent for longer than allowed is reported although the API server answers") {
  base::VirtualLoop loop;
  Server server(loop);
  std::vector<std::string> lost;
  int regained = 0;
  std::optional<base::Instant> lastContact;
  ApiContact contact(server, loop,
                     {.lost = [&](std::string_view why) { lost.emplace_back(why); },
                      .regained = [&] { ++regained; },
                      .lastContact = [&] { return lastContact; }});
  contact.start();
  loop.runFor(300s);
  CHECK(lost.empty());  // the first lists have not arrived yet
  lastContact = loop.now();
  loop.runFor(145s);
  CHECK(lost.empty());
  loop.runFor(10s);
  CHECK(lost == std::vector<std::string>{"a watch of the API server is silent"});
  CHECK(regained == 0);
  lastContact = loop.now();
  loop.runFor(2s);
  CHECK(regained == 1);
  CHECK(lost.size() == 1);
}

}  // namespace
}  // namespace trainyard::extender
