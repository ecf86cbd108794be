#include "core/queues/quota_dimensions.h"

#include <algorithm>
#include <set>

#include "model/gpu_resources.h"
#include "model/message_text.h"

namespace trainyard::core {

QuotaDimensions::QuotaDimensions(const model::Snapshot& snapshot) : names_(model::gpuResources()) {
  std::set<std::string> others;
  std::set<std::string> types;
  std::set<std::string> guaranteed;
  for (const auto& queue : snapshot.queues) {
    for (const auto* quota : {&queue->guaranteed, &queue->limit}) {
      for (const auto& [name, amount] : quota->entries()) {
        (name.starts_with(model::kGpuTypePrefix) ? types : others).insert(name);
        if (quota == &queue->guaranteed) guaranteed.insert(name);
      }
    }
  }
  cpu_ = names_.size();
  names_.insert(names_.end(), {"cpu", "memory"});
  for (const std::string& name : names_) others.erase(name);
  names_.insert(names_.end(), others.begin(), others.end());
  firstType_ = names_.size();
  names_.insert(names_.end(), types.begin(), types.end());
  firstGpuNodeResource_ = names_.size();
  counts_.assign(names_.size(), 0);
  for (std::size_t d = 0; d < names_.size(); ++d) counts_[d] = guaranteed.contains(names_[d]) ? 1 : 0;
  std::fill_n(counts_.begin(), cpu_, char{1});
  if (guaranteed.empty()) counts_[cpu_] = counts_[cpu_ + 1] = 1;
}

void QuotaDimensions::addGpuNodeResources(const std::vector<std::string>& resources) {
  names_.insert(names_.end(), resources.begin(), resources.end());
  counts_.resize(names_.size(), 0);
}

std::optional<std::size_t> QuotaDimensions::gpuNodeResourceOf(std::size_t dimension) const {
  if (dimension < cpu_ || dimension >= firstType_) return std::nullopt;
  const auto from = names_.begin() + static_cast<std::ptrdiff_t>(firstGpuNodeResource_);
  const auto found = std::find(from, names_.end(), names_[dimension]);
  return found == names_.end() ? std::nullopt : std::optional<std::size_t>(found - names_.begin());
}

std::optional<std::size_t> QuotaDimensions::ofType(std::string_view gpuType) const {
  for (std::size_t d = firstType_; d < firstGpuNodeResource_; ++d) {
    if (std::string_view(names_[d]).substr(model::kGpuTypePrefix.size()) == gpuType) return d;
  }
  return std::nullopt;
}

Amounts QuotaDimensions::amountsOf(const model::Quota& quota, std::int64_t absent) const {
  Amounts amounts(names_.size(), absent);
  for (std::size_t d = 0; d < firstGpuNodeResource_; ++d) {
    if (const auto amount = quota.find(names_[d])) amounts[d] = *amount;
  }
  return amounts;
}

void QuotaDimensions::addRequests(const model::Resources& requests, std::int64_t count, Amounts& into) const {
  const auto add = [&](std::size_t d, std::int64_t amount) {
    into[d] = base::saturatingAdd(into[d], base::saturatingMultiply(amount, count));
  };
  for (std::size_t d = 0; d < cpu_; ++d) add(d, requests.extended(names_[d]));
  add(cpu_, requests.cpu.value);
  add(cpu_ + 1, requests.memory.value);
  for (std::size_t d = cpu_ + 2; d < firstType_; ++d) add(d, requests.amount(names_[d]));
}

void QuotaDimensions::addGpuNodeRequests(const model::Resources& requests, std::int64_t count,
                                         Amounts& into) const {
  for (std::size_t d = firstGpuNodeResource_; d < names_.size(); ++d) {
    const std::int64_t amount = base::saturatingMultiply(requests.amount(names_[d]), count);
    into[d] = base::saturatingAdd(into[d], amount);
  }
}

std::int64_t QuotaDimensions::amountIn(const model::Resources& resources, std::size_t dimension) const {
  return resources.amount(names_[dimension]);
}

std::string QuotaDimensions::text(std::size_t dimension, std::int64_t amount) const {
  std::string text = model::amountOf(names_[dimension], amount);
  return dimension < firstGpuNodeResource_ ? text : text + " on nodes with GPUs";
}

std::string QuotaDimensions::plainText(std::size_t dimension, std::int64_t amount) const {
  const std::string whole = text(dimension, amount);
  return whole.substr(0, whole.find(' '));
}

bool guaranteesGpus(const model::Snapshot& snapshot) {
  return std::any_of(snapshot.queues.begin(), snapshot.queues.end(), [](const auto& queue) {
    const auto& entries = queue->guaranteed.entries();
    return std::any_of(entries.begin(), entries.end(), [](const auto& entry) {
      const auto& gpus = model::gpuResources();
      const bool isGpu = std::find(gpus.begin(), gpus.end(), entry.first) != gpus.end();
      return entry.second > 0 && (isGpu || entry.first.starts_with(model::kGpuTypePrefix));
    });
  });
}

}  // namespace trainyard::core
