#include "cli/convert/role_drafts.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include <fmt/format.h>

namespace trainyard::cli {
namespace {

constexpr std::size_t kRoleLetters = 16;

bool sameButForCase(const std::string& name, const std::string& original) {
  return std::equal(name.begin(), name.end(), original.begin(), original.end(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

}  // namespace

RoleDraft* RoleDrafts::find(std::string_view name) {
  const auto found =
      std::find_if(roles_.begin(), roles_.end(), [&](const RoleDraft& each) { return each.name == name; });
  return found == roles_.end() ? nullptr : &*found;
}

RoleDraft* RoleDrafts::add(const std::string& original, const Json& replicas, Json pod) {
  if (replicas == 0) {
    notes_.kept(fmt::format("{}{} has no replicas: left out", facts_.kind == "Job" ? "task " : "", original));
    return nullptr;
  }
  const std::string name = unusedName(original);
  if (name != original && !original.empty() && !sameButForCase(name, original))
    notes_.kept(
        fmt::format("task {} is role {}: names of roles have letters and digits only", original, name));
  RoleDraft role{name, original, Json(1), pod.is_object() ? std::move(pod) : Json::object()};
  if (replicas.is_number_integer()) {
    role.replicas = replicas;
  } else if (!replicas.is_null()) {
    role.replicas = replicas;
    notes_.cannotWork(
        fmt::format("role {}: replicas is {}, which is not a number: {}", name, valueText(replicas),
                    isPlaceholder(replicas) ? "it stays for whatever is to replace it" : "write a number"));
  }
  roles_.push_back(std::move(role));
  return &roles_.back();
}

// A role name is [a-z][a-z0-9]* with at most 16 letters, because pods are named JOB-ROLE-INDEX.
std::string RoleDrafts::unusedName(const std::string& original) {
  std::string name;
  for (const char each : original) {
    const char letter = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
    const bool digit = letter >= '0' && letter <= '9';
    if ((letter >= 'a' && letter <= 'z') || (digit && !name.empty())) name += letter;
  }
  name = name.substr(0, kRoleLetters);
  if (name.empty()) name = "task";
  std::string unique = name;
  for (int next = 2; !taken_.insert(unique).second; ++next)
    unique = name.substr(0, kRoleLetters - 2) + std::to_string(next);
  return unique;
}

std::int64_t RoleDrafts::members() const {
  std::int64_t all = 0;
  for (const RoleDraft& role : roles_) all += countOf(role.replicas);
  return all;
}

bool RoleDrafts::sizesKnown() const {
  return std::all_of(roles_.begin(), roles_.end(),
                     [](const RoleDraft& role) { return role.replicas.is_number_integer(); });
}

}  // namespace trainyard::cli
