#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/convert/conversion_notes.h"
#include "cli/convert/system_facts.h"
#include "cli/convert/value.h"

// Only converters include this file.
namespace trainyard::cli {

struct RoleDraft {
  std::string name;
  std::string original;  // its name in the other system
  Json replicas;         // a number, or a placeholder
  Json pod;              // its pod template
  // Variables to set in every container that does not set them itself.
  std::vector<std::pair<std::string, std::string>> variables = {};
  // The other system names the members PREFIX-INDEX; empty if the names are equal.
  std::string formerPrefix = {};
  // Variables that the other system sets after the template's: values in the template have no effect.
  std::set<std::string> overwritten = {};
};

// The roles of a job under construction, in the order of the other system's job, each with its own name.
class RoleDrafts {
 public:
  RoleDrafts(const SystemFacts& facts, ConversionNotes& notes) : facts_(facts), notes_(notes) {}

  // Returns the new role; nullptr if it would have no members.
  RoleDraft* add(const std::string& original, const Json& replicas, Json pod);
  // Reserves the name of a role, until giveName() releases it for the next role that is added.
  void keepName(const std::string& role) { taken_.insert(role); }
  void giveName(const std::string& role) { taken_.erase(role); }

  // Returns nullptr if there is no role of this name.
  [[nodiscard]] RoleDraft* find(std::string_view name);
  [[nodiscard]] auto begin() { return roles_.begin(); }
  [[nodiscard]] auto end() { return roles_.end(); }
  [[nodiscard]] auto begin() const { return roles_.begin(); }
  [[nodiscard]] auto end() const { return roles_.end(); }
  [[nodiscard]] bool empty() const { return roles_.empty(); }
  [[nodiscard]] std::int64_t members() const;
  // Returns true if the size of every role is a number.
  [[nodiscard]] bool sizesKnown() const;

 private:
  [[nodiscard]] std::string unusedName(const std::string& original);

  const SystemFacts& facts_;
  ConversionNotes& notes_;
  std::vector<RoleDraft> roles_;
  std::set<std::string> taken_;  // names
};

}  // namespace trainyard::cli
