#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/executor.h"
#include "net/http.h"
#include "sim/api/server.h"

namespace trainyard::sim {

// One request as a fault plan sees it.
struct FaultPoint {
  std::string client;  // ApiServerTransport's name
  std::string step;    // what the client was doing, see StepNamer
  const net::HttpRequest* request = nullptr;
};

struct RequestFault {
  enum class Kind {
    kNone,
    kLoseRequest,  // never reaches the server: the client gets kUnavailable
    kLoseReply,    // carried out, but the client gets kOutcomeUnknown
    kAnswer,       // not carried out: the client gets `answer`
  };
  Kind kind = Kind::kNone;
  net::HttpResponse answer = {};
  std::chrono::microseconds delayBefore{0};  // on the way there, on top of the usual latency
  std::chrono::microseconds delayAfter{0};   // on the way back
};

struct StreamFault {
  bool reset = false;                  // the connection breaks instead of delivering this line
  std::chrono::microseconds delay{0};  // this line and all after it come later
};

// Decides what goes wrong. The default: nothing. Called on the executor, in the order of the requests.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;
  virtual ~FaultPlan() = default;

  virtual RequestFault beforeRequest(const FaultPoint& /*point*/) { return {}; }
  // After the server answered and before the client hears of it; may turn the answer into kLoseReply only.
  virtual bool loseReply(const FaultPoint& /*point*/, const net::HttpResponse& /*response*/) { return false; }
  virtual StreamFault beforeLine(const FaultPoint& /*point*/, const std::string& /*line*/) { return {}; }
};

// Answers as an API server gives them when it refuses: 409 Conflict, 410 Expired, 429 with Retry-After, 500.
[[nodiscard]] net::HttpResponse refusal(int status,
                                        std::chrono::seconds retryAfter = std::chrono::seconds(1));

// How often which fault met which step; a simulation that never hit one has not tested it.
class FaultCounts {
 public:
  void add(const std::string& step, const std::string& fault) { ++counts_[step][fault]; }
  [[nodiscard]] std::uint64_t count(const std::string& step, const std::string& fault) const;
  [[nodiscard]] const std::map<std::string, std::map<std::string, std::uint64_t>>& all() const {
    return counts_;
  }

 private:
  std::map<std::string, std::map<std::string, std::uint64_t>> counts_;
};

// Names the step of a request. The default gives method and resource: "PATCH pods/status", "WATCH nodes".
using StepNamer = std::function<std::string(const net::HttpRequest&)>;
[[nodiscard]] std::string defaultStepName(const net::HttpRequest& request);

struct TransportOptions {
  std::string client = "client";
  std::chrono::microseconds latency{500};   // each way
  std::chrono::microseconds watchLag{500};  // from the write to the watcher's callback
  std::chrono::seconds bookmarkEvery{60};
  FaultPlan* faults = nullptr;  // outlives the transport
  FaultCounts* counts = nullptr;
  StepNamer stepName = defaultStepName;
  // How news reaches the client, which may be standing still: runs the task now or later, in order. Empty: at
  // once.
  std::function<void(base::Task)> deliver = {};
};

// A client's connection to the in-memory server. Server and executor must outlive it; destroying it silently
// drops the answers to what is still under way, as a crash of the client does; the requests arrive. An answer
// that takes longer than the request's timeout is kOutcomeUnknown at that moment, and comes never.
class ApiServerTransport final : public net::HttpClient {
 public:
  ApiServerTransport(ApiServer& server, base::Executor& executor, TransportOptions options = {});
  ~ApiServerTransport() override;

  void send(net::HttpRequest request, std::function<void(base::Result<net::HttpResponse>)> done) override;
  [[nodiscard]] std::unique_ptr<net::StreamHandle> stream(net::HttpRequest request,
                                                          net::StreamCallbacks callbacks) override;

  // What the connection is made of; alive as long as the transport.
  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::sim
