#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/convert/notes.h"

namespace trainyard::cli {

// A field of the other system's object, or a behaviour of that system. docs/migration.md has these rows.
struct Fact {
  std::string_view what;  // "spec.runPolicy.suspend"; a sentence for a behaviour
  Severity severity;      // the lowest severity of a note about it
  std::string_view becomes;
};

// A label or an annotation that the other system adds to its pods.
struct LabelFact {
  std::string_view key;
  // Written into the template: {job}, {role} and {task} (the role's former name) stand
  // for names. Empty if it differs between members.
  std::string_view value;
  // The field of a member's pod with the same value, for programs that read it by fieldRef.
  std::string_view path;
  bool isLabel = true;             // otherwise an annotation
  std::string_view onlyRole = {};  // empty: all roles
  bool onlyIfRead = false;         // written if a fieldRef reads it
};

// A variable that the other system sets in every member.
struct VariableFact {
  std::string_view name;
  std::string_view value;  // in terms of Trainyard's variables
};

// What several kinds of a system have in common.
struct FamilyFacts {
  std::string_view title;  // of its table
  std::span<const Fact> fields;
  std::span<const Fact> behaviours;
};

// The facts that a converter needs about a system, beside its own code for the spec.
struct SystemFacts {
  std::string_view kind;
  std::string_view group;
  std::string_view system;  // for notes: "Kubeflow"
  std::span<const Fact> fields;
  std::span<const Fact> behaviours;
  std::span<const LabelFact> labels;
  std::span<const VariableFact> variables;
  const FamilyFacts* family = nullptr;

  // Returns true if the table, or that of its family, has the field. "tasks[]" and "pytorchReplicaSpecs.*"
  // stand for each of several.
  [[nodiscard]] bool knows(std::string_view path) const;
  // Returns true if the table has a row for the field itself, not only for fields in it.
  [[nodiscard]] bool hasRow(std::string_view path) const;
};

// Returns null if jobs of this kind are not converted.
[[nodiscard]] const SystemFacts* factsOf(std::string_view kind, std::string_view group);

[[nodiscard]] std::vector<const SystemFacts*> allFacts();
// Those of them that are in kubeflow_facts.cpp, batch_facts.cpp and ray_facts.cpp.
[[nodiscard]] std::vector<const SystemFacts*> kubeflowFacts();
[[nodiscard]] std::vector<const SystemFacts*> batchFacts();
[[nodiscard]] std::vector<const SystemFacts*> rayFacts();

// Returns the tables of docs/migration.md.
[[nodiscard]] std::string conversionTables();

}  // namespace trainyard::cli
