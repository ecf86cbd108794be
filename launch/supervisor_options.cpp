#include "launch/supervisor_options.h"

#include <charconv>
#include <utility>

#include "launch/channel.h"

namespace trainyard::launch {
namespace {

int numberIn(const Environment& environment, const std::string& name, int otherwise) {
  const auto found = environment.find(name);
  if (found == environment.end()) return otherwise;
  int number = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number >= 0 ? number : otherwise;
}

std::string textIn(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

}  // namespace

SupervisorOptions supervisorOptions(const Environment& environment, std::vector<std::string> command) {
  using std::chrono::seconds;
  SupervisorOptions options;
  options.command = std::move(command);
  options.environment = environment;
  options.membershipFile = textIn(environment, "TRAINYARD_MEMBERSHIP");
  options.grace = seconds(numberIn(environment, "TRAINYARD_GRACE_SECONDS", 30));
  options.settle = seconds(numberIn(environment, "TRAINYARD_SETTLE_SECONDS", 15));
  options.keep = textIn(environment, "TRAINYARD_ON_RESIZE") == "keep";
  if (const std::string file = textIn(environment, "TRAINYARD_LAUNCH_TOKEN"); !file.empty())
    options.token = readToken(file);
  options.hubHost = textIn(environment, "TRAINYARD_COORDINATOR");
  options.hubPort = numberIn(environment, "TRAINYARD_HUB_PORT", kHubPort);
  options.slots = numberIn(environment, "TRAINYARD_SLOTS", 1);
  return options;
}

}  // namespace trainyard::launch
