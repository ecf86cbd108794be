#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace trainyard::telemetry {

// Limits how many requests wait at a time, in total and per client address: each keeps its connection open,
// and probes need free ones. Safe from any thread.
class WaiterLimit : public std::enable_shared_from_this<WaiterLimit> {
 public:
  static constexpr std::size_t kMax = 64;
  static constexpr std::size_t kMaxOfAddress = 8;

  // Returns null if the limit is reached; the slot is released with the last copy.
  [[nodiscard]] std::shared_ptr<void> enter(const std::string& address);

 private:
  void leave(const std::string& address);

  std::mutex mutex_;
  std::map<std::string, std::size_t> held_;  // by address
  std::size_t all_ = 0;
};

}  // namespace trainyard::telemetry
