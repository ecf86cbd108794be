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
  std::string step;    // what the client is doing, see StepNamer
  const net::HttpRequest* request = nullptr;
};

struct RequestFault {
  enum class Kind {
    kNone,
    kLoseRequest,  // never reaches the server: the client gets kUnavailable
    kLoseReply,    // executed, but the client gets kOutcomeUnknown
    kAnswer,       // not executed: the client gets `answer`
  };
  Kind kind = Kind::kNone;
  net::HttpResponse answer = {};
  std::chrono::microseconds delayBefore{0};  // of the request, in addition to the latency
  std::chrono::microseconds delayAfter{0};   // of the answer
};

struct StreamFault {
  bool reset = false;                  // the connection breaks instead of delivering this line
  std::chrono::microseconds delay{0};  // this line and all later ones are delayed
};

// Decides which faults occur; none by default. Called on the executor, in the order of the requests.
class FaultPlan {
 public:
  FaultPlan() = default;
  FaultPlan(const FaultPlan&) = delete;
  FaultPlan& operator=(const FaultPlan&) = delete;
  virtual ~FaultPlan() = default;

  virtual RequestFault beforeRequest(const FaultPoint& /*point*/) { return {}; }
  // Called after the server answered and before the client gets the answer; true causes kLoseReply.
  virtual bool loseReply(const FaultPoint& /*point*/, const net::HttpResponse& /*response*/) { return false; }
  virtual StreamFault beforeLine(const FaultPoint& /*point*/, const std::string& /*line*/) { return {}; }
};

// Answers with which an API server refuses a request: 409 Conflict, 410 Expired, 429 with Retry-After, 500.
[[nodiscard]] net::HttpResponse refusal(int status,
                                        std::chrono::seconds retryAfter = std::chrono::seconds(1));

// Counts each fault by step: a simulation that never hit a fault has not tested it.
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

// Names the step of a request. The default is method and resource: "PATCH pods/status", "WATCH nodes".
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
  // Delivers events to the client, which may be paused: runs the task now or later, in order. Empty: at
  // once.
  std::function<void(base::Task)> deliver = {};
};

// A client's connection to the in-memory server. Server and executor must outlive it. Destroying it silently
// drops the answers to requests in flight, as a crash of the client does; the requests arrive. If an answer
// takes longer than the request's timeout, it becomes kOutcomeUnknown at that moment, and never arrives.
class ApiServerTransport final : public net::HttpClient {
 public:
  ApiServerTransport(ApiServer& server, base::Executor& executor, TransportOptions options = {});
  ~ApiServerTransport() override;

  void send(net::HttpRequest request, std::function<void(base::Result<net::HttpResponse>)> done) override;
  [[nodiscard]] std::unique_ptr<net::StreamHandle> stream(net::HttpRequest request,
                                                          net::StreamCallbacks callbacks) override;

  // The state of the connection; alive as long as the transport.
  struct Shared;

 private:
  std::shared_ptr<Shared> shared_;
};

}  // namespace trainyard::sim
