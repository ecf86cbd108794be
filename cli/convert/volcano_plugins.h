#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/convert/draft.h"
#include "cli/convert/volcano_tasks.h"

// Included by the converters alone.
namespace trainyard::cli {

// What a Volcano Job's plug-ins give to its pods: names, variables, files and keys.
class VolcanoPlugins {
 public:
  VolcanoPlugins(const Json& plugins, const std::vector<VolcanoTask>& tasks, JobDraft& draft);

  [[nodiscard]] const std::string& framework() const { return framework_; }
  // The role that a plug-in's arguments, or their defaults, give to a task; otherwise its name.
  [[nodiscard]] std::string roleOf(const std::string& task) const;
  // Before its role is added.
  void prepare(const VolcanoTask& task, Json& pod);
  // Its role's name.
  void added(const VolcanoTask& task, const std::string& role);
  // After all tasks.
  void write();

 private:
  struct Hosts {
    std::string task;
    std::string role;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };
  void readArguments(const std::string& plugin, const Json& arguments);
  void findSshJob(const std::vector<VolcanoTask>& tasks);
  void dropSshServer(Json& pod);
  [[nodiscard]] std::string hostList(const Hosts& hosts, const char* separator) const;
  void writeIndexes();
  void writeHosts();
  void writeHostFiles();
  void writePorts();
  void writeGroup();
  void markOverwritten();
  void noteKeys();
  void noteUnset();
  [[nodiscard]] bool has(const char* plugin) const {
    return plugins_.is_object() && plugins_.contains(plugin);
  }
  [[nodiscard]] bool overSsh() const { return framework_ == "MPI" || framework_ == "Horovod"; }

  const Json plugins_;
  JobDraft& draft_;
  std::string framework_ = "Custom";
  std::string port_;
  std::string group_;      // of the plug-in that sets the framework: roles it counts
  std::string variables_;  // and variables that it sets
  bool networkPolicy_ = true;
  std::map<std::string, std::string> roleOfTask_;  // those that have a part of their own
  std::map<std::string, bool> merged_;             // by role
  std::vector<Hosts> hosts_;
};

}  // namespace trainyard::cli
