#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace trainyard::telemetry {

// Bounds how many requests wait at a time, in all and of one address: each keeps its connection, and probes
// need some. Any thread.
class WaitingRoom : public std::enable_shared_from_this<WaitingRoom> {
 public:
  static constexpr std::size_t kMost = 64;
  static constexpr std::size_t kMostOfAddress = 8;

  // Null when there is no room; the place is free again when the last copy goes.
  [[nodiscard]] std::shared_ptr<void> enter(const std::string& address);

 private:
  void leave(const std::string& address);

  std::mutex mutex_;
  std::map<std::string, std::size_t> held_;  // by address
  std::size_t all_ = 0;
};

}  // namespace trainyard::telemetry
