#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace trainyard::model {

// Figures of a common model, for users with no more information than the name of their model.
struct KnownModel {
  std::int64_t parameters = 0;
  std::int64_t largestTensor = 0;   // parameters in it
  std::int64_t flopsPerSample = 0;  // forward and backward: three times the forward pass
};

// resnet50, resnet101, vgg16, inception-v3 (224 or 299 pixels); bert-base, bert-large (128 tokens); gpt2
// (1,024 tokens). Images: multiply-adds as torchvision lists them, two operations each. Text: 6 operations
// for each parameter and token (Kaplan and others, arXiv 2001.08361, section 2.1).
[[nodiscard]] std::optional<KnownModel> knownModel(std::string_view name);

}  // namespace trainyard::model
