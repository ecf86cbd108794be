#pragma once

// Internal to src/sim: the failures of an API server, as metav1.Status.

#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "sim/api/json.h"

namespace trainyard::sim {

// An answer that is not the requested object.
struct Failure {
  int code = 500;
  std::string reason;
  std::string message;
  Json details = nullptr;
};

template <typename T>
using Outcome = tl::expected<T, Failure>;

// One invalid field. `reason` is a metav1.CauseType: FieldValueInvalid, FieldValueRequired …
struct Cause {
  std::string reason;
  std::string field;
  std::string message;
};

class Causes {
 public:
  void invalid(std::string field, const std::string& detail);
  void required(std::string field, const std::string& detail = {});
  void forbidden(std::string field, const std::string& detail);
  void duplicate(std::string field, const std::string& value);
  void notSupported(std::string field, const std::string& value);
  void tooLong(std::string field, const std::string& detail);
  void tooMany(std::string field, const std::string& detail);
  void typeInvalid(std::string field, const std::string& detail);
  void notFound(std::string field, const std::string& value);

  [[nodiscard]] bool empty() const { return list_.empty(); }
  [[nodiscard]] const std::vector<Cause>& list() const { return list_; }

 private:
  std::vector<Cause> list_;
};

// The resource that a failure refers to: "pods" in group "", or "trainingjobs" in "trainyard.dev".
struct ResourceName {
  std::string group;
  std::string plural;
  std::string kind;
};

[[nodiscard]] tl::unexpected<Failure> failBadRequest(std::string message);
[[nodiscard]] tl::unexpected<Failure> failNotFound(const ResourceName& resource, const std::string& name);
[[nodiscard]] tl::unexpected<Failure> failUnknownPath();
// No group serves the path: answered in plain text, as by any web server.
[[nodiscard]] tl::unexpected<Failure> failPageNotFound();
[[nodiscard]] tl::unexpected<Failure> failAlreadyExists(const ResourceName& resource,
                                                        const std::string& name);
[[nodiscard]] tl::unexpected<Failure> failConflict(const ResourceName& resource, const std::string& name,
                                                   const std::string& detail);
[[nodiscard]] tl::unexpected<Failure> failForbidden(const ResourceName& resource, const std::string& name,
                                                    const std::string& detail);
[[nodiscard]] tl::unexpected<Failure> failInvalid(const ResourceName& resource, const std::string& name,
                                                  const Causes& causes);
[[nodiscard]] tl::unexpected<Failure> failExpired(std::string message);
[[nodiscard]] tl::unexpected<Failure> failMethodNotAllowed(const ResourceName& resource,
                                                           const std::string& verb);
[[nodiscard]] tl::unexpected<Failure> failUnsupportedMediaType(const std::string& allowed);

inline constexpr std::string_view kModified =
    "the object has been modified; please apply your changes to the latest version and try again";

[[nodiscard]] Json statusObject(const Failure& failure);
// The answer to a delete that does not return the object.
[[nodiscard]] Json successStatus(const ResourceName& resource, const std::string& name,
                                 const std::string& uid);

}  // namespace trainyard::sim
