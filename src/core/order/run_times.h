#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

#include "core/order/job_times.h"
#include "model/job.h"
#include "model/run_times.h"
#include "model/shared_list.h"

namespace trainyard::core {

// The kinds that a job teaches and learns from, the narrower first: same namespace, name and GPUs, where a
// name is what is left without the number or the random letters at its end ("bert-17" and "bert-x7k2p" are
// "bert"); same queue and GPUs; same queue. The GPUs are those that its spec
// asks for, whatever size it runs with.
[[nodiscard]] std::array<std::string, 3> kindsOf(const model::Job& job);
// The same as numbers, equal where the kinds are (and else as good as never): a cycle asks it of every job,
// and to write twenty thousand names would cost more than all the rest of it.
[[nodiscard]] std::array<std::uint64_t, 3> kindNumbersOf(const model::Job& job);

// What clusters keep of the past, so that the next leader knows it too (operator/run_times_keeper.h).
//
// Adds those of the jobs that succeeded and are not known yet. Only those: a job that failed or was deleted
// says nothing about how long one runs. Keeps the last 1,024 of a kind, 20,000 in all, and what 900 KiB hold:
// beyond that kinds of a single run go first, the oldest of the namespace or queue that has most of them, and
// then the kinds that were not submitted for longest. Returns whether anything changed. Jobs without GPUs are
// left out, and those whose spec is not what they ran as any more, by their record.
[[nodiscard]] bool learn(model::RunTimes& times, const model::SharedList<model::Job>& jobs);

// Adds what is known elsewhere, within the same bounds. Returns whether anything changed.
bool merge(model::RunTimes& times, const model::RunTimes& others);

}  // namespace trainyard::core
