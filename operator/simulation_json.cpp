#include "operator/simulation_json.h"

#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "codec/decode_object.h"
#include "codec/job_status.h"
#include "codec/job_status_reader.h"
#include "codec/json_writer.h"

namespace trainyard::operator_ {
namespace {

using codec::Field;
using codec::JsonWriter;
using core::Expectation;
using core::Forecast;
using Outcome = core::Forecast::Outcome;

constexpr std::array<std::pair<Outcome, std::string_view>, 5> kOutcomes{
    {{Outcome::kStarts, "Starts"},
     {Outcome::kWaits, "Waits"},
     {Outcome::kRefused, "Refused"},
     {Outcome::kSuspended, "Suspended"},
     {Outcome::kManagedByOther, "LeftAlone"}}};

std::string_view outcomeName(Outcome outcome) {
  for (const auto& [each, word] : kOutcomes) {
    if (each == outcome) return word;
  }
  return "Unknown";
}

void writeKey(JsonWriter& out, const model::ObjectKey& key) {
  out.member("namespace", key.ns).member("name", key.name);
}

void writeKeys(JsonWriter& out, std::string_view name, const std::vector<model::ObjectKey>& jobs) {
  out.key(name).beginArray();
  for (const model::ObjectKey& each : jobs) {
    out.beginObject();
    writeKey(out, each);
    out.endObject();
  }
  out.endArray();
}

void writeAssignedNodes(JsonWriter& out, const std::vector<model::Assignment>& assignments) {
  out.key("places").beginArray();
  for (const model::Assignment& each : assignments) {
    out.beginObject()
        .member("node", each.node.str())
        .member("role", each.role)
        .member("indices", each.indices.str())
        .endObject();
  }
  out.endArray();
}

void writeExpectation(JsonWriter& out, const Expectation& expected) {
  out.key("expectedStart").beginObject();
  out.member("time", base::formatTime(expected.start)).member("where", expected.where);
  writeAssignedNodes(out, expected.assignments);
  out.key("after").beginArray();
  for (const Expectation::End& each : expected.after) {
    out.beginObject();
    writeKey(out, each.job);
    out.member("expectedEnd", base::formatTime(each.at)).memberBool("waitsNow", each.waitsNow).endObject();
  }
  out.endArray();
  if (expected.relaxation) out.member("relaxation", base::formatTime(*expected.relaxation));
  writeKeys(out, "stops", expected.stops);
  writeKeys(out, "moves", expected.moves);
  out.endObject();
}

void writeStart(JsonWriter& out, const Forecast& forecast) {
  out.member("where", forecast.where).member("level", forecast.level).member("domain", forecast.domain);
  writeAssignedNodes(out, forecast.assignments);
  out.key("stops").beginArray();
  for (const Forecast::Stop& stop : forecast.stops) {
    out.beginObject();
    writeKey(out, stop.job->key);
    out.member("queue", stop.job->spec.queue.str())
        .member("gpus", stop.job->status.gpus)
        .member("lostGpuSeconds", stop.lostGpuSeconds);
    if (!stop.goesTo.empty()) out.member("goesTo", stop.goesTo);
    out.endObject();
  }
  out.endArray();
}

void writeForecast(JsonWriter& out, const Forecast& forecast) {
  out.beginObject();
  writeKey(out, forecast.job->key);
  out.member("queue", forecast.job->spec.queue.str()).member("outcome", outcomeName(forecast.outcome));
  if (forecast.outcome == Outcome::kStarts) writeStart(out, forecast);
  if (forecast.outcome == Outcome::kManagedByOther) out.member("managedBy", forecast.job->spec.managedBy);
  if (forecast.pending) {
    model::JobStatus status;
    status.pending = forecast.pending;
    out.key("status").raw(codec::encodeJobStatus(status));
  }
  if (forecast.outcome == Outcome::kWaits) {
    out.member("servedBefore", static_cast<std::int64_t>(forecast.ahead))
        .member("waitingInQueue", static_cast<std::int64_t>(forecast.waiting));
    if (forecast.expected) writeExpectation(out, *forecast.expected);
  }
  out.endObject();
}

model::ObjectKey readKey(const Field& field) { return {field["namespace"].string(), field["name"].string()}; }

std::vector<model::ObjectKey> readKeys(const Field& list) {
  std::vector<model::ObjectKey> keys;
  list.forEachElement([&](const Field& each) { keys.push_back(readKey(each)); });
  return keys;
}

std::vector<model::Assignment> readAssignedNodes(const Field& list) {
  std::vector<model::Assignment> assignments;
  list.forEachElement([&](const Field& each) {
    auto indices = model::IndexSet::parse(each["indices"].text());
    if (!indices) return each["indices"].refuse(indices.error().message);
    assignments.push_back({.node = model::NodeName(each["node"].text()),
                           .role = each["role"].string(),
                           .indices = std::move(*indices)});
  });
  return assignments;
}

Expectation readExpectation(const Field& field) {
  Expectation expected;
  expected.start = field["time"].time().value_or(base::WallTime{});
  expected.where = field["where"].string();
  expected.assignments = readAssignedNodes(field["places"]);
  field["after"].forEachElement([&](const Field& each) {
    expected.after.push_back({.job = readKey(each),
                              .at = each["expectedEnd"].time().value_or(base::WallTime{}),
                              .waitsNow = each["waitsNow"].boolean(false)});
  });
  expected.relaxation = field["relaxation"].time();
  expected.stops = readKeys(field["stops"]);
  expected.moves = readKeys(field["moves"]);
  return expected;
}

std::vector<Forecast::Stop> readStops(const Field& list) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  std::vector<Forecast::Stop> stops;
  list.forEachElement([&](const Field& each) {
    auto job = std::make_shared<model::Job>();
    job->key = readKey(each);
    job->spec.queue = model::QueueName(each["queue"].text());
    job->status.gpus = each["gpus"].integer(0, 0, kMax);
    stops.push_back({.job = std::move(job),
                     .lostGpuSeconds = each["lostGpuSeconds"].integer(0, 0, kMax),
                     .goesTo = each["goesTo"].string()});
  });
  return stops;
}

Outcome readOutcome(const Field& field) {
  for (const auto& [outcome, word] : kOutcomes) {
    if (word == field.text()) return outcome;
  }
  field.refuse("is not an outcome known to this version");
  return Outcome::kWaits;
}

Forecast readForecast(const Field& field) {
  Forecast forecast;
  auto job = std::make_shared<model::Job>();
  job->key = readKey(field);
  job->spec.queue = model::QueueName(field["queue"].text());
  job->spec.managedBy = field["managedBy"].string();
  forecast.job = std::move(job);
  forecast.outcome = readOutcome(field["outcome"]);
  forecast.where = field["where"].string();
  forecast.level = field["level"].string();
  forecast.domain = field["domain"].string();
  forecast.assignments = readAssignedNodes(field["places"]);
  forecast.stops = readStops(field["stops"]);
  forecast.pending = codec::readJobStatus(field["status"]).pending;
  const bool waits = forecast.outcome == Outcome::kWaits;
  if (!forecast.pending && (waits || forecast.outcome == Outcome::kRefused))
    field["status"].complain("pending is missing");
  forecast.ahead = static_cast<std::size_t>(field["servedBefore"].smallInteger(0, 0));
  forecast.waiting = static_cast<std::size_t>(field["waitingInQueue"].smallInteger(0, 0));
  if (field["expectedStart"].present()) forecast.expected = readExpectation(field["expectedStart"]);
  return forecast;
}

}  // namespace

std::string simulationJson(const Simulation& simulation) {
  JsonWriter out;
  out.beginObject().key("items").beginArray();
  for (const Forecast& each : simulation.forecasts) writeForecast(out, each);
  out.endArray().member("now", base::formatTime(simulation.now)).member("policy", simulation.policy);
  out.key("notes").beginArray();
  for (const std::string& note : simulation.notes) out.string(note);
  out.endArray().endObject();
  return std::move(out).take() + "\n";
}

base::Result<Simulation> readSimulation(std::string_view json) {
  return codec::decodeObject("simulation", json, [](const Field& root) {
    Simulation simulation;
    root["items"].forEachElement(
        [&](const Field& each) { simulation.forecasts.push_back(readForecast(each)); });
    simulation.now = root["now"].time().value_or(base::WallTime{});
    simulation.policy = root["policy"].string();
    root["notes"].forEachElement([&](const Field& each) { simulation.notes.push_back(each.string()); });
    return simulation;
  });
}

}  // namespace trainyard::operator_
