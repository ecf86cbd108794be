#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "model/device.h"

namespace trainyard::cel {

struct Node;

// A selector of devices: an expression of CEL, of the subset that DRA drivers and their users write
// (docs/devices.md). What is not in the subset is refused, never guessed. Immutable; any number of threads
// may use it.
class Selector {
 public:
  // kInvalid: the API server refuses it, too; kUnsupported: not in the subset.
  [[nodiscard]] static base::Result<Selector> compile(std::string_view expression);
  ~Selector();
  Selector(Selector&&) noexcept;
  Selector& operator=(Selector&&) noexcept;

  // An error is one with which kube-scheduler gives up the whole pod, or kUnsupported.
  [[nodiscard]] base::Result<bool> matches(const model::Device& device, std::string_view driver) const;
  // How much work it is for each device: the parts of the expression.
  [[nodiscard]] std::size_t size() const { return size_; }
  // Whether summary() says it all (cel/summary.h).
  [[nodiscard]] bool isPlain() const;
  // A short text; attributes of `domain` appear without their domain.
  [[nodiscard]] std::string summary(std::string_view domain) const;

 private:
  explicit Selector(std::unique_ptr<const Node> expression);
  std::unique_ptr<const Node> expression_;
  std::size_t size_ = 0;
};

}  // namespace trainyard::cel
