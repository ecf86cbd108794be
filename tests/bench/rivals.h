#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>

#include "base/event_loop.h"
#include "base/log.h"
#include "kube/api_client.h"
#include "kube/reflector.h"
#include "load_objects.h"

namespace trainyard::bench {

// Creates two gangs of which only one fits, one right after the other. Measures when one of them is complete,
// and, after its deletion, when its pods are gone and the other one is complete. No pod of the other one may
// be bound before. Prints one JSON object of seconds.
class Rivals final : public kube::ReflectorSink {
 public:
  Rivals(LoadOptions options, kube::ApiClient& api, base::EventLoop& loop, const base::Logger& log);

  void start();
  [[nodiscard]] bool good() const { return good_; }

  void page(const std::vector<std::string>& objects, bool) override;
  void listed(std::string_view) override {}
  void upsert(std::string_view object) override;
  void remove(std::string_view object) override;

 private:
  void awaitWatch();
  void begin();
  void deleteWinner();
  void end();
  void giveUp(const std::string& why);
  [[nodiscard]] double elapsed() const;

  const LoadOptions options_;
  kube::ApiClient& api_;
  base::EventLoop& loop_;
  const base::Logger& log_;
  kube::Reflector watch_;

  base::Instant began_{};  // the first request of the present phase
  std::unordered_map<std::string, std::unordered_set<std::string>> bound_;  // pods by job
  std::string winner_;                                                      // empty: none yet
  double firstSeconds_ = 0;
  double goneSeconds_ = 0;
  bool good_ = false;
};

}  // namespace trainyard::bench
