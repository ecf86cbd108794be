#include "model/known_models.h"

#include <algorithm>
#include <array>
#include <utility>

namespace trainyard::model {
namespace {

constexpr std::int64_t ofImages(double billionMultiplyAdds) {
  return static_cast<std::int64_t>(billionMultiplyAdds * 1e9 * 2 * 3);
}

constexpr std::int64_t ofText(std::int64_t parameters, std::int64_t tokens) {
  return 6 * parameters * tokens;
}

constexpr std::array<std::pair<std::string_view, KnownModel>, 7> kModels{{
    {"resnet50", {25'557'032, 2'359'296, ofImages(4.09)}},
    {"resnet101", {44'549'160, 2'359'296, ofImages(7.80)}},
    {"vgg16", {138'357'544, 102'760'448, ofImages(15.47)}},
    {"inception-v3", {27'161'264, 2'048'000, ofImages(5.71)}},
    {"bert-base", {109'482'240, 23'440'896, ofText(109'482'240, 128)}},
    {"bert-large", {335'141'888, 31'254'528, ofText(335'141'888, 128)}},
    {"gpt2", {124'439'808, 38'597'376, ofText(124'439'808, 1'024)}},
}};

}  // namespace

std::optional<KnownModel> knownModel(std::string_view name) {
  const auto at =
      std::find_if(kModels.begin(), kModels.end(), [&](const auto& each) { return each.first == name; });
  return at == kModels.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace trainyard::model
