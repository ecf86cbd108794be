#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cel/selector.h"
#include "model/device.h"

namespace trainyard::devices {

// The class and the selectors of a request, compiled.
class RequestMatcher {
 public:
  // `deviceClass` is null if it does not exist.
  RequestMatcher(model::DeviceRequest request, std::shared_ptr<const model::DeviceClass> deviceClass);

  [[nodiscard]] const model::DeviceRequest& request() const { return request_; }
  [[nodiscard]] const model::DeviceClass* deviceClass() const { return class_.get(); }
  // Why no device can be promised for it; empty if there is no reason.
  [[nodiscard]] const std::string& problem() const { return problem_; }
  // "gpu.nvidia.com[memory >= 80Gi]", "gpu.nvidia.com" without selectors: how people and quotas name it. The
  // same whatever else is requested.
  [[nodiscard]] std::string name() const;

  // The work of matches(), in parts of expressions.
  [[nodiscard]] std::size_t work() const;
  // Whether kube-scheduler may give the device to the request. Devices that are shared or parted are not
  // counted, so none of them matches. An error is one with which kube-scheduler gives up the pod.
  [[nodiscard]] base::Result<bool> matches(const model::Device& device, const std::string& driver) const;

 private:
  [[nodiscard]] bool tolerates(const model::Device& device) const;

  model::DeviceRequest request_;
  std::shared_ptr<const model::DeviceClass> class_;
  std::vector<cel::Selector> ofClass_;
  std::vector<cel::Selector> ofRequest_;
  std::string problem_;
};

}  // namespace trainyard::devices
