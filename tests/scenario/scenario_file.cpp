#include "scenario/scenario_file.h"

#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/quantity.h"
#include "model/names.h"

namespace trainyard::test {
namespace {

using Words = std::vector<std::string>;

constexpr std::size_t kMaxNodes = 20'000;

// One line that cannot be read; turned into a Result at the top, so that every reader below stays flat.
struct Nonsense {
  std::string what;
};

[[noreturn]] void refuse(std::string what) { throw Nonsense{std::move(what)}; }

Words splitWords(std::string_view line) {
  Words words;
  std::size_t at = 0;
  while (at < line.size()) {
    const std::size_t begin = line.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t", begin), line.size());
    words.emplace_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

int readInt(std::string_view text, std::string_view what) {
  int value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || end != text.data() + text.size())
    refuse(fmt::format("{} \"{}\": not a number", what, text));
  return value;
}

base::Quantity readQuantity(std::string_view text) {
  const auto quantity = base::Quantity::parse(text);
  if (!quantity) refuse(quantity.error().message);
  return *quantity;
}

// "gpus=8" as {"gpus", "8"}; "cordoned" as {"cordoned", ""}; "label:a=b" as {"label:a", "b"}.
std::pair<std::string, std::string> splitAttribute(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos) return {word, ""};
  return {word.substr(0, equals), word.substr(equals + 1)};
}

// What follows "label:", when the attribute is a label.
std::optional<std::string> after(std::string_view prefix, const std::string& name) {
  if (name.rfind(prefix, 0) != 0) return std::nullopt;
  return name.substr(prefix.size());
}

// gpus=, cpu=, memory=, storage=, pods= and resource:NAME=; false when the attribute is none of them.
bool readAmount(const std::string& name, const std::string& value, model::Resources& amount) {
  if (name == "gpus") {
    amount.setExtended(model::names::kGpuResource, readQuantity(value).unitsRoundedUp());
  } else if (name == "cpu") {
    amount.cpu.value = readQuantity(value).milli();
  } else if (name == "memory") {
    amount.memory.value = readQuantity(value).unitsRoundedUp();
  } else if (name == "storage") {
    amount.ephemeralStorage.value = readQuantity(value).unitsRoundedUp();
  } else if (name == "pods") {
    amount.pods = readQuantity(value).unitsRoundedUp();
  } else if (const auto resource = after("resource:", name)) {
    amount.setExtended(*resource, readQuantity(value).unitsRoundedUp());
  } else {
    return false;
  }
  return true;
}

// "n3" or "n3..n7", "rack-08..rack-11": the digits at the end count up, keeping their width.
void expandNames(const std::string& word, Words& names) {
  const std::size_t dots = word.find("..");
  if (dots == std::string::npos) {
    names.push_back(word);
    return;
  }
  const std::string first = word.substr(0, dots);
  const std::string last = word.substr(dots + 2);
  const std::size_t digits = first.find_last_not_of("0123456789") + 1;
  if (digits >= first.size() || digits >= last.size() || first.substr(0, digits) != last.substr(0, digits)) {
    refuse(fmt::format("range \"{}\": expected e.g. n3..n7", word));
  }
  const int from = readInt(first.substr(digits), "range");
  const int to = readInt(last.substr(digits), "range");
  if (to < from || to - from > 10'000) refuse(fmt::format("range \"{}\": counts down or too far", word));
  for (int i = from; i <= to; ++i) {
    names.push_back(fmt::format("{}{:0{}}", first.substr(0, digits), i, first.size() - digits));
  }
}

model::TaintEffect readEffect(const std::string& text) {
  if (text == "NoSchedule") return model::TaintEffect::kNoSchedule;
  if (text == "NoExecute") return model::TaintEffect::kNoExecute;
  if (text == "PreferNoSchedule") return model::TaintEffect::kPreferNoSchedule;
  refuse(fmt::format("taint effect \"{}\": unknown", text));
}

class Reader {
 public:
  Scenario read(std::string_view text) {
    std::size_t at = 0;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      ++line_;
      readLine(text.substr(at, end - at));
      at = end + 1;
    }
    finishJob();
    Scenario scenario;
    scenario.title = title_;
    scenario.snapshot = builder_.topology(levels_.empty() ? model::defaultTopologyLevels() : levels_).build();
    scenario.expectations = std::move(expectations_);
    line_ = 0;
    if (title_.empty()) refuse("no line \"scenario TITLE\"");
    if (scenario.expectations.empty()) refuse("nothing is expected");
    return scenario;
  }

  [[nodiscard]] int line() const { return line_; }

 private:
  void readLine(std::string_view raw) {
    const std::string_view line = trimmed(raw.substr(0, std::min(raw.find('#'), raw.size())));
    if (line.empty()) return;
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (indented && !expectations_.empty()) {
      expectations_.back().body.emplace_back(line);
      return;
    }
    const Words words = splitWords(line);
    using Handler = void (Reader::*)(const Words&);
    static const std::map<std::string_view, Handler> kHandlers = {
        {"level", &Reader::readLevel},  {"nodes", &Reader::readNodes}, {"fill", &Reader::readFill},
        {"pod", &Reader::readPod},      {"queue", &Reader::readQueue}, {"class", &Reader::readClass},
        {"job", &Reader::readJob},      {"role", &Reader::readRole},   {"runs", &Reader::readRuns},
        {"expect", &Reader::readExpect}};
    if (words[0] == "scenario") {
      title_ = trimmed(line.substr(words[0].size()));
      return;
    }
    if (words[0] == "note") return;
    const auto handler = kHandlers.find(words[0]);
    if (handler == kHandlers.end()) refuse(fmt::format("\"{}\": unknown statement", words[0]));
    (this->*handler->second)(words);
  }

  static const std::string& need(const Words& words, std::size_t index, std::string_view what) {
    if (index >= words.size()) refuse(fmt::format("{}: {} is missing", words[0], what));
    return words[index];
  }

  void readLevel(const Words& words) {
    levels_.push_back({need(words, 1, "name"), need(words, 2, "label key")});
  }

  void readNodes(const Words& words) {
    Words names;
    std::size_t at = 1;
    for (; at < words.size() && words[at].find('=') == std::string::npos && words[at] != "cordoned" &&
           words[at] != "not-ready";
         ++at) {
      expandNames(words[at], names);
    }
    if (names.empty()) refuse("nodes: no name");
    nodes_ += names.size();
    if (nodes_ > kMaxNodes) refuse(fmt::format("nodes: more than {}", kMaxNodes));
    for (const std::string& name : names) {
      NodeBuilder builder = node(name);
      Words amounts;
      for (std::size_t i = at; i < words.size(); ++i) readNodeAttribute(words[i], builder, amounts);
      model::Node made = builder;
      for (const std::string& word : amounts) {
        const auto [resource, value] = splitAttribute(word);
        readAmount(resource, value, made.allocatable);
      }
      builder_.add(std::move(made));
    }
  }

  static void readNodeAttribute(const std::string& word, NodeBuilder& made, Words& amounts) {
    const auto [name, value] = splitAttribute(word);
    if (model::Resources probe; readAmount(name, value, probe))
      amounts.push_back(word);
    else if (name == "zone")
      made.zone(value);
    else if (name == "block")
      made.block(value);
    else if (name == "rack")
      made.rack(value);
    else if (name == "cordoned")
      made.cordoned();
    else if (name == "not-ready")
      made.notReady();
    else if (const auto label = after("label:", name))
      made.label(*label, value);
    else if (const auto taint = after("taint:", name)) {
      const std::size_t colon = value.find(':');
      if (colon == std::string::npos)
        refuse(fmt::format("node attribute \"{}\": expected taint:KEY=VALUE:EFFECT", word));
      made.taint(*taint, value.substr(0, colon), readEffect(value.substr(colon + 1)));
    } else {
      refuse(fmt::format("node attribute \"{}\": unknown", word));
    }
  }

  // fill n2 n3 gpus=4: one running pod of nobody on each node.
  void readFill(const Words& words) {
    Words names;
    model::Resources amount;
    for (std::size_t i = 1; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (value.empty())
        expandNames(words[i], names);
      else if (!readAmount(name, value, amount))
        refuse(fmt::format("fill attribute \"{}\": unknown", words[i]));
    }
    if (names.empty()) refuse("fill: no node");
    amount.pods = 1;
    for (const std::string& name : names) builder_.add(pod("filler/" + name).on(name).requests(amount));
  }

  // pod NAMESPACE/NAME on NODE gpus=1 [owner=KIND] [terminating]
  void readPod(const Words& words) {
    if (need(words, 2, "\"on NODE\"") != "on") refuse("pod: expected \"pod NAMESPACE/NAME on NODE …\"");
    PodBuilder made = pod(words[1]).on(need(words, 3, "node"));
    model::Resources amount;
    for (std::size_t i = 4; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (readAmount(name, value, amount)) continue;
      if (name == "owner")
        made.ownedBy(value, "uid-of-owner");
      else if (name == "terminating")
        made.terminating();
      else
        refuse(fmt::format("pod attribute \"{}\": unknown", words[i]));
    }
    amount.pods = 1;
    builder_.add(made.requests(amount));
  }

  void readQueue(const Words& words) {
    model::Queue queue;
    queue.name = model::QueueName(need(words, 1, "name"));
    builder_.add(queue);
  }

  void readClass(const Words& words) {
    const bool isDefault = words.size() > 3 && words[3] == "default";
    builder_.priorityClass(need(words, 1, "name"), readInt(need(words, 2, "value"), "priority"), isDefault);
  }

  void readJob(const Words& words) {
    finishJob();
    job_.emplace(need(words, 1, "name"));
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (name == "queue")
        job_->queue(value);
      else if (name == "priority")
        job_->priority(value);
      else if (name == "created")
        job_->created(readInt(value, "created"));
      else if (name == "required")
        job_->required(value);
      else if (name == "suspended")
        job_->suspended();
      else
        refuse(fmt::format("job attribute \"{}\": unknown", words[i]));
    }
  }

  // role worker x4 gpus=8 cpu=64 select:pool=train tolerate:gpu
  void readRole(const Words& words) {
    if (!job_) refuse("role: no job above it");
    const std::string& count = need(words, 2, "xCOUNT");
    if (count.front() != 'x') refuse(fmt::format("role: \"{}\": expected e.g. x4", count));
    model::Resources amount;
    std::vector<std::pair<std::string, std::string>> constraints;
    for (std::size_t i = 3; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (!readAmount(name, value, amount)) constraints.emplace_back(name, value);
    }
    job_->role(words[1], readInt(std::string_view(count).substr(1), "role"), amount);
    for (const auto& [name, value] : constraints) {
      if (const auto label = after("select:", name))
        job_->select(*label, value);
      else if (const auto taint = after("tolerate:", name))
        job_->tolerate(*taint);
      else
        refuse(fmt::format("role attribute \"{}\": unknown", name));
    }
  }

  // runs worker 0-3 on n1 [cpu=28]: placed there, and its pods are bound; amounts replace those of the
  // template.
  void readRuns(const Words& words) {
    if (!job_) refuse("runs: no job above it");
    if (need(words, 3, "\"on NODE\"") != "on") refuse("runs: expected \"runs ROLE INDICES on NODE\"");
    const auto indices = model::IndexSet::parse(words[2]);
    if (!indices) refuse(indices.error().message);
    if (job_->build().spec.findRole(words[1]) == nullptr)
      refuse(fmt::format("runs: no role \"{}\" above", words[1]));
    job_->placed(need(words, 4, "node"), words[1], words[2]);
    model::Resources own = job_->build().spec.findRole(words[1])->shape.requests;
    for (std::size_t i = 5; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (!readAmount(name, value, own)) refuse(fmt::format("runs attribute \"{}\": unknown", words[i]));
    }
    for (const int index : indices->values()) running_.push_back({words[1], index, words[4], own});
  }

  void readExpect(const Words& words) {
    finishJob();
    Expectation expectation;
    expectation.job = fmt::to_string(key(need(words, 1, "job")));
    need(words, 2, "outcome");
    for (std::size_t i = 2; i < words.size(); ++i) expectation.head += (i == 2 ? "" : " ") + words[i];
    expectations_.push_back(std::move(expectation));
  }

  // A job is complete when the next one begins.
  void finishJob() {
    if (!job_) return;
    const model::Job job = job_->build();
    for (const auto& [role, index, nodeName, own] : running_) {
      builder_.add(pod("").memberOf(job, role, index).on(nodeName).requests(own));
    }
    builder_.add(job);
    running_.clear();
    job_.reset();
  }

  struct Running {
    std::string role;
    int index = 0;
    std::string node;
    model::Resources requests;
  };

  int line_ = 0;
  std::size_t nodes_ = 0;
  std::string title_;
  SnapshotBuilder builder_;
  std::vector<model::TopologyLevel> levels_;
  std::optional<JobBuilder> job_;
  std::vector<Running> running_;
  std::vector<Expectation> expectations_;
};

}  // namespace

base::Result<Scenario> parseScenario(std::string_view fileName, std::string_view text) {
  Reader reader;
  try {
    return reader.read(text);
  } catch (const Nonsense& nonsense) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{}:{}: {}", fileName, reader.line(), nonsense.what));
  } catch (const std::exception& failure) {  // a builder refused a value
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{}:{}: {}", fileName, reader.line(), failure.what()));
  }
}

}  // namespace trainyard::test
