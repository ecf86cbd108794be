#include "sim/api/strategic_merge.h"

#include "fuzz/targets.h"

namespace trainyard::fuzz {

// A line with a pod, then a line with a patch.
void strategicMerge(std::string_view input) {
  static const sim::TypeTable kTypes(sim::builtinTypeText());
  static const sim::StructType& podType = *kTypes.at("Pod");
  const auto [first, second] = splitAtNewline(input);
  const auto original = sim::parseJson(first);
  const auto patch = sim::parseJson(second);
  if (!original || !patch || !original->is_object() || !patch->is_object()) return;
  std::vector<std::string> unknown;
  const auto pod = sim::roundTrip(podType, *original, unknown);
  if (!pod) return require(pod.error().code == 400, "what is no pod is a bad request");
  const auto merged = sim::strategicMerge(podType, *pod, *patch);
  if (!merged) return require(merged.error().code >= 400, "a refusal has a code");
  const auto back = sim::parseJson(sim::dumpJson(*merged));
  require(back && *back == *merged, "a merged pod survives being written");
  const auto written = sim::roundTrip(podType, *merged, unknown);
  if (!written) return;
  const auto again = sim::roundTrip(podType, *written, unknown);
  require(again && *again == *written, "what was decoded once decodes to itself");
}

}  // namespace trainyard::fuzz
