#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "model/gang.h"
#include "model/job.h"

// The names of enum values in status.gang and in conditions, for reading and writing.
namespace trainyard::codec {

template <typename Enum, std::size_t N>
using EnumNames = std::array<std::pair<std::string_view, Enum>, N>;

inline constexpr EnumNames<model::ProposalKind, 5> kProposalKinds{
    {{"Start", model::ProposalKind::kStart},
     {"Grow", model::ProposalKind::kGrow},
     {"Shrink", model::ProposalKind::kShrink},
     {"Replace", model::ProposalKind::kReplace},
     {"Restart", model::ProposalKind::kRestart}}};

inline constexpr EnumNames<model::ProposalPhase, 4> kProposalPhases{
    {{"Claiming", model::ProposalPhase::kClaiming},
     {"Reserved", model::ProposalPhase::kReserved},
     {"Releasing", model::ProposalPhase::kReleasing},
     {"Aborting", model::ProposalPhase::kAborting}}};

inline constexpr EnumNames<model::ResizeStep, 4> kResizeSteps{
    {{"Checkpointing", model::ResizeStep::kCheckpointing},
     {"Draining", model::ResizeStep::kDraining},
     {"Resizing", model::ResizeStep::kResizing},
     {"Restoring", model::ResizeStep::kRestoring}}};

inline constexpr EnumNames<model::SizeOwner, 3> kSizeOwners{{{"Spec", model::SizeOwner::kSpec},
                                                             {"Cluster", model::SizeOwner::kCluster},
                                                             {"Preemption", model::SizeOwner::kPreemption}}};

inline constexpr EnumNames<model::ConditionStatus, 3> kConditionStatuses{
    {{"True", model::ConditionStatus::kTrue},
     {"False", model::ConditionStatus::kFalse},
     {"Unknown", model::ConditionStatus::kUnknown}}};

template <typename Enum, std::size_t N>
[[nodiscard]] constexpr std::string_view enumName(const EnumNames<Enum, N>& words, Enum value) {
  for (const auto& [word, each] : words) {
    if (each == value) return word;
  }
  return words.front().first;
}

template <typename Enum, std::size_t N>
[[nodiscard]] constexpr std::optional<Enum> parseEnumName(const EnumNames<Enum, N>& words,
                                                          std::string_view text) {
  for (const auto& [word, value] : words) {
    if (word == text) return value;
  }
  return std::nullopt;
}

}  // namespace trainyard::codec
