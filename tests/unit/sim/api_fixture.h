#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/virtual_loop.h"
#include "sim/api/json.h"
#include "sim/api/server.h"

namespace trainyard::sim {

// A server on virtual time with a short way to send requests.
struct ApiFixture {
  explicit ApiFixture(ApiServerOptions options = {}) {
    server = ApiServer::create(options, [this] { return loop.wallNow(); }).value();
  }

  // Returns the parsed body; the status code is stored in `code`.
  Json call(net::Method method, const std::string& target, const Json& body = nullptr,
            const std::string& type = "application/json") {
    net::HttpRequest request{method, target, {{"Content-Type", type}}, body.is_null() ? "" : body.dump()};
    const auto response = server->handle(request);
    code = response.status;
    return Json::parse(response.body);
  }
  Json get(const std::string& target) { return call(net::Method::kGet, target); }
  Json post(const std::string& target, const Json& body) { return call(net::Method::kPost, target, body); }
  Json patch(const std::string& target, const Json& body) {
    return call(net::Method::kPatch, target, body, "application/merge-patch+json");
  }
  Json remove(const std::string& target, const Json& body = nullptr) {
    return call(net::Method::kDelete, target, body);
  }

  // Collects types and names of the events, "ADDED a", as they arrive.
  std::uint64_t watch(const std::string& target, std::vector<std::string>& events) {
    WatchSink sink;
    sink.onLine = [&events](const std::string& line) {
      const Json event = Json::parse(line);
      const Json& object = event["object"];
      const std::string what = event["type"] == "ERROR" ? std::to_string(object["code"].get<int>())
                                                        : textAt(object, {"metadata", "name"});
      events.push_back(event["type"].get<std::string>() + " " + what);
    };
    sink.onClosed = [&events] { events.push_back("END"); };
    net::HttpRequest request{net::Method::kGet, target};
    return server->openWatch(request, std::move(sink)).value().id;
  }

  base::VirtualLoop loop;
  std::unique_ptr<ApiServer> server;
  int code = 0;
};

inline const std::string kMaps = "/api/v1/namespaces/default/configmaps";

inline Json named(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

}  // namespace trainyard::sim
