#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/convert/draft.h"
#include "cli/convert/ssh_launch.h"
#include "cli/convert/volcano_tasks.h"

// Only converters include this file.
namespace trainyard::cli {

// The names, variables, files and keys that the plug-ins of a Volcano Job provide to its pods.
class VolcanoPlugins {
 public:
  VolcanoPlugins(const Json& plugins, const std::vector<VolcanoTask>& tasks, JobDraft& draft);

  [[nodiscard]] const std::string& framework() const { return framework_; }
  // Returns the role that a plug-in's arguments, or their defaults, assign to a task; otherwise its name.
  [[nodiscard]] std::string roleOf(const std::string& task) const;
  // Called before the task's role is added.
  void prepare(const VolcanoTask& task, Json& pod);
  // Called with the name of the task's role.
  void added(const VolcanoTask& task, const std::string& role);
  // Called after all tasks.
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
  [[nodiscard]] bool overSsh() const { return launchesOverSsh(framework_); }

  const Json plugins_;
  JobDraft& draft_;
  ConversionNotes& notes_;
  std::string framework_ = "Custom";
  std::string port_;
  std::string group_;      // roles that the framework's plug-in counts
  std::string variables_;  // variables that it sets
  bool networkPolicy_ = true;
  std::map<std::string, std::string> roleOfTask_;  // tasks with a special part
  std::map<std::string, bool> merged_;             // by role
  std::vector<Hosts> hosts_;
};

}  // namespace trainyard::cli
