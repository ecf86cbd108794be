#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/convert.h"

// What the three converters share; included by them alone.
namespace trainyard::cli {

using Json = nlohmann::ordered_json;  // in the order in which people wrote it

inline Json get(const Json& object, const char* key) {
  if (!object.is_object()) return {};
  const auto found = object.find(key);
  return found == object.end() ? Json() : *found;
}

// object.a.b.c, null where one of them is missing.
template <typename... Keys>
Json get(const Json& object, const char* key, Keys... more) {
  return get(get(object, key), more...);
}

// Leaves `to` as it is where `from` has no such key.
void copy(const Json& from, const char* key, Json& to, const char* as);

// Empty of what is no text.
[[nodiscard]] std::string textOf(const Json& value);

// 1 where nothing, or no number that could be one, says how many.
[[nodiscard]] std::int64_t countOf(const Json& count);

// A TrainingJob that is being written after another system's job, and the notes about what of that is lost.
class JobDraft {
 public:
  // Takes over the metadata of `source`, and what Kueue's labels say.
  explicit JobDraft(const Json& source);

  // The TrainingJob's, so far.
  [[nodiscard]] Json& spec() { return spec_; }

  // One line each, whatever names it quotes: it becomes a comment.
  void note(std::string_view text);
  // What nobody has read of an object: nothing gets lost in silence.
  void noteRest(const Json& object, const std::string& path, const std::set<std::string>& read);

  // The role's name; empty where it would have no members.
  std::string addRole(const std::string& original, const Json& replicas, Json pod);
  // Keeps a role's name from all others, until it is given to the one that is added next.
  void keepName(const std::string& role) { taken_.insert(role); }
  void giveName(const std::string& role) { taken_.erase(role); }
  [[nodiscard]] std::int64_t members() const;

  // Kueue suspends whoever waits for its turn; nobody would resume it.
  void addSuspend(const Json& suspend, const char* path);
  // Unless the job has a limit of its own.
  void restartNever() { restartsNever_ = true; }

  // kInvalid without roles.
  [[nodiscard]] base::Result<Converted> finish();

 private:
  void takeName(const Json& meta);
  void takeKueueLabels(Json& meta);
  std::string roleName(const std::string& original);
  void dropRefused(const std::string& role, Json& pod);
  void settlePriority();

  Json job_ = Json::object();
  Json spec_ = Json::object();
  std::vector<std::string> notes_;
  std::set<std::string> taken_;
  bool ofKueue_ = false;
  bool restartsNever_ = false;
};

// `source` is the whole object.
void draftPyTorchJob(const Json& source, JobDraft& draft);
void draftTrainJob(const Json& source, JobDraft& draft);
void draftVolcanoJob(const Json& source, JobDraft& draft);

}  // namespace trainyard::cli
