#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/log.h"

namespace trainyard::kube {

// Counts, names and logs the objects of one type that cannot be decoded.
class UndecodableObjects {
 public:
  // `kind`: for log lines; it must outlive this object.
  UndecodableObjects(std::string_view kind, base::Logger log) : kind_(kind), log_(std::move(log)) {}

  // Calls the listener after each report.
  void onReport(std::function<void()> listener) { listener_ = std::move(listener); }

  // `text`: the object's JSON, which may be unreadable; empty if it is unknown. `effect`: for the log line.
  void report(const base::Error& error, std::string_view text, std::string_view effect);

  // Since the start.
  [[nodiscard]] std::size_t count() const { return count_; }
  // The names and errors of the first of them, each once: "TrainingJob ml/a: why".
  [[nodiscard]] const std::set<std::string>& names() const { return names_; }

 private:
  const std::string_view kind_;
  base::Logger log_;
  std::size_t count_ = 0;
  std::set<std::string> names_;
  std::function<void()> listener_;
};

}  // namespace trainyard::kube
