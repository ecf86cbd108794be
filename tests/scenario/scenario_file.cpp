#include "scenario/scenario_file.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "model/names.h"

namespace trainyard::test {
namespace {

constexpr std::size_t kMaxSteps = 50'000;

bool isName(std::string_view text) {
  const auto slash = text.find('/');
  return slash != std::string_view::npos && slash > 0 && slash + 1 < text.size() &&
         text.find('/', slash + 1) == std::string_view::npos;
}

// Expands "ml/a1..a3" to ml/a1, ml/a2, ml/a3.
Words expandObjects(const std::string& word) {
  const auto slash = word.find('/');
  if (!isName(word)) refuse(fmt::format("\"{}\": expected NAMESPACE/NAME", word));
  Words names;
  expandNames(word.substr(slash + 1), names);
  for (std::string& name : names) name.insert(0, word.substr(0, slash + 1));
  return names;
}

TaintText readTaint(const std::string& key, const std::string& value, const std::string& word) {
  static const Words kEffects = {"NoSchedule", "NoExecute", "PreferNoSchedule"};
  const std::size_t colon = value.find(':');
  if (colon == std::string::npos)
    refuse(fmt::format("node attribute \"{}\": expected taint:KEY=VALUE:EFFECT", word));
  TaintText taint{key, value.substr(0, colon), value.substr(colon + 1)};
  if (std::find(kEffects.begin(), kEffects.end(), taint.effect) == kEffects.end())
    refuse(fmt::format("taint effect \"{}\": unknown", taint.effect));
  return taint;
}

// Reads "rack:10m,block", widest last.
std::vector<LevelText> readLevels(const std::string& text) {
  std::vector<LevelText> levels;
  std::size_t at = 0;
  while (at <= text.size()) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string each = text.substr(at, comma - at);
    const std::size_t colon = each.find(':');
    LevelText level{each.substr(0, colon), std::nullopt};
    if (level.level.empty()) refuse(fmt::format("levels \"{}\": a name is missing", text));
    if (colon != std::string::npos) level.wait = readDuration(each.substr(colon + 1), "levels");
    levels.push_back(std::move(level));
    at = comma + 1;
  }
  return levels;
}

// Reads "worker:1..4".
ElasticText readElastic(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t dots = text.find("..");
  if (colon == std::string::npos || dots == std::string::npos || dots < colon)
    refuse(fmt::format("elastic \"{}\": expected ROLE:MIN..MAX", text));
  return {text.substr(0, colon), readInt(text.substr(colon + 1, dots - colon - 1), "elastic"),
          readInt(text.substr(dots + 2), "elastic")};
}

// Reads "Signal", "None,every:1h,restart:30s".
CheckpointText readCheckpoint(const std::string& text) {
  std::size_t at = std::min(text.find(','), text.size());
  CheckpointText checkpoint{text.substr(0, at), std::nullopt, std::nullopt};
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(',', at + 1), text.size());
    const std::string word = text.substr(at + 1, end - at - 1);
    if (word.starts_with("every:"))
      checkpoint.every = readDuration(word.substr(6), "checkpoint");
    else if (word.starts_with("restart:"))
      checkpoint.restart = readDuration(word.substr(8), "checkpoint");
    else
      refuse(fmt::format("checkpoint \"{}\": expected MODE,every:TIME,restart:TIME", text));
    at = end;
  }
  return checkpoint;
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
    line_ = 0;
    if (scenario_.title.empty()) refuse("no line \"scenario TITLE\"");
    const auto& steps = scenario_.steps;
    const bool expects = std::any_of(steps.begin(), steps.end(), [](const Step& step) {
      return std::holds_alternative<Expectation>(step.what);
    });
    if (!expects) refuse("nothing is expected");
    for (const Step& step : steps) checkMode(step);
    return std::move(scenario_);
  }

  [[nodiscard]] int line() const { return line_; }

 private:
  enum class Block { kNone, kPolicy, kExpect };

  void readLine(std::string_view raw) {
    const std::string_view line = trimmed(raw.substr(0, std::min(raw.find('#'), raw.size())));
    if (line.empty()) return;
    const bool indented = raw.front() == ' ' || raw.front() == '\t';
    if (block_ == Block::kPolicy && indented) {
      // Blank lines keep the line numbers in errors of the policy reader.
      while (policyLines_++ < line_ - scenario_.policyLine) scenario_.policy += '\n';
      scenario_.policy += std::string(raw.substr(0, raw.find('#'))) + '\n';
      return;
    }
    const Words words = splitWords(line);
    if (words[0] == "scenario") {
      scenario_.title = trimmed(line.substr(words[0].size()));
    } else if (words[0] == "policy") {
      if (words.size() > 1) refuse("policy: its keys belong on the lines below, indented");
      block_ = Block::kPolicy;
      scenario_.policyLine = line_ + 1;
    } else if (words[0] == "at") {
      readAt(words);
    } else if (words[0] != "note") {
      const std::size_t indent = raw.find_first_not_of(" \t");
      if (block_ == Block::kExpect && indent > expectIndent_) {
        for (std::size_t i = expected_; i < scenario_.steps.size(); ++i)
          std::get<Expectation>(scenario_.steps[i].what).body.emplace_back(line);
        return;
      }
      expectIndent_ = indent;
      readStatement(words);
    }
  }

  // at TIME, or at TIME STATEMENT.
  void readAt(const Words& words) {
    const auto time = readDuration(need(words, 1, "time"), "at");
    if (time < at_) refuse(fmt::format("at {}: earlier than the moment before it", words[1]));
    at_ = time;
    scenario_.inTime = true;
    block_ = Block::kNone;
    expectIndent_ = 0;
    if (words.size() > 2) readStatement(Words(words.begin() + 2, words.end()));
  }

  void readStatement(const Words& words) {
    using Handler = void (Reader::*)(const Words&);
    static const std::map<std::string_view, Handler> kHandlers = {
        {"level", &Reader::readLevel},   {"nodes", &Reader::readNodes},
        {"fill", &Reader::readFill},     {"pod", &Reader::readPod},
        {"queue", &Reader::readQueue},   {"class", &Reader::readClass},
        {"job", &Reader::readJob},       {"role", &Reader::readRole},
        {"runs", &Reader::readRuns},     {"expect", &Reader::readExpect},
        {"delete", &Reader::readDelete}, {"namespace", &Reader::readNamespace},
        {"now", &Reader::readNow},       {"restart", &Reader::readRestart}};
    static const std::map<std::string_view, DeedText::Verb> kDeeds = {
        {"finish", DeedText::Verb::kFinish}, {"fail", DeedText::Verb::kFail},
        {"cordon", DeedText::Verb::kCordon}, {"uncordon", DeedText::Verb::kUncordon},
        {"down", DeedText::Verb::kDown},     {"up", DeedText::Verb::kUp},
        {"scale", DeedText::Verb::kScale},   {"suspend", DeedText::Verb::kSuspend},
        {"resume", DeedText::Verb::kResume}, {"prioritize", DeedText::Verb::kPrioritize},
        {"edit", DeedText::Verb::kEdit}};
    block_ = words[0] == "expect" ? Block::kExpect : Block::kNone;
    if (const auto handler = kHandlers.find(words[0]); handler != kHandlers.end())
      return (this->*handler->second)(words);
    if (const auto deed = kDeeds.find(words[0]); deed != kDeeds.end()) return readDeed(deed->second, words);
    refuse(fmt::format("\"{}\": unknown statement", words[0]));
  }

  template <typename What>
  void add(What what) {
    if (scenario_.steps.size() >= kMaxSteps) refuse(fmt::format("more than {} statements", kMaxSteps));
    scenario_.steps.push_back({line_, at_, std::move(what)});
  }

  static const std::string& need(const Words& words, std::size_t index, std::string_view what) {
    if (index >= words.size()) refuse(fmt::format("{}: {} is missing", words[0], what));
    return words[index];
  }

  static void noMore(const Words& words, std::size_t count) {
    if (words.size() > count) refuse(fmt::format("{}: \"{}\" is one word too many", words[0], words[count]));
  }

  void readLevel(const Words& words) {
    scenario_.levels.emplace_back(need(words, 1, "name"), need(words, 2, "label key"));
    noMore(words, 3);
  }

  void readNow(const Words& words) { scenario_.now = readInt(need(words, 1, "seconds"), "now"); }

  // Reads the names, which precede the first attribute.
  static std::size_t readNames(const Words& words, Words& names) {
    std::size_t at = 1;
    for (; at < words.size() && words[at].find('=') == std::string::npos && words[at] != "cordoned" &&
           words[at] != "not-ready";
         ++at) {
      expandNames(words[at], names);
    }
    if (names.empty()) refuse(fmt::format("{}: no name", words[0]));
    return at;
  }

  void readNodes(const Words& words) {
    Words names;
    NodeText node;
    for (std::size_t i = readNames(words, names); i < words.size(); ++i) readNodeAttribute(words[i], node);
    for (std::string& name : names) {
      node.name = std::move(name);
      add(node);
    }
  }

  static void readNodeAttribute(const std::string& word, NodeText& node) {
    const auto [name, value] = splitAttribute(word);
    if (readAmount(name, value, node.amounts)) return;
    if (name == "zone") {
      node.labels.emplace_back("topology.kubernetes.io/zone", value);
    } else if (name == "block") {
      node.labels.emplace_back("cloud.provider.com/topology-block", value);
    } else if (name == "rack") {
      node.labels.emplace_back("cloud.provider.com/topology-rack", value);
    } else if (word == "cordoned") {
      node.cordoned = true;
    } else if (word == "not-ready") {
      node.ready = false;
    } else if (const auto label = after("label:", name)) {
      node.labels.emplace_back(*label, value);
    } else if (const auto taint = after("taint:", name)) {
      node.taints.push_back(readTaint(*taint, value, word));
    } else {
      refuse(fmt::format("node attribute \"{}\": unknown", word));
    }
  }

  // fill n2 n3 gpus=4: one running foreign pod on each node.
  void readFill(const Words& words) {
    Words names;
    PodText pod;
    for (std::size_t i = readNames(words, names); i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (!readAmount(name, value, pod.amounts))
        refuse(fmt::format("fill attribute \"{}\": unknown", words[i]));
    }
    for (const std::string& name : names) {
      pod.name = "filler/" + name;
      pod.node = name;
      add(pod);
    }
  }

  // pod NAMESPACE/NAME [on NODE] gpus=1 [owner=KIND] [terminating] [runs-for=TIME]
  void readPod(const Words& words) {
    PodText pod;
    const Words names = expandObjects(need(words, 1, "name"));
    std::size_t at = 2;
    if (at < words.size() && words[at] == "on") {
      pod.node = need(words, 3, "node");
      at = 4;
    }
    for (; at < words.size(); ++at) {
      const auto [name, value] = splitAttribute(words[at]);
      if (readAmount(name, value, pod.amounts)) continue;
      if (name == "owner")
        pod.owner = value;
      else if (words[at] == "terminating")
        pod.terminating = true;
      else if (name == "runs-for")
        pod.runsFor = readDuration(value, name);
      else
        refuse(fmt::format("pod attribute \"{}\": unknown", words[at]));
    }
    for (const std::string& name : names) {
      pod.name = name;
      add(pod);
    }
  }

  // queue NAME [parent=] [weight=] [guaranteed:AMOUNT…] [limit:AMOUNT…] [reclaim=no] [withinQueue=Never] …
  void readQueue(const Words& words) {
    QueueText queue;
    queue.name = need(words, 1, "name");
    for (std::size_t i = 2; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      const auto guaranteed = after("guaranteed:", name);
      const auto limit = after("limit:", name);
      if (guaranteed && readAmount(*guaranteed, value, queue.guaranteed)) continue;
      if (limit && readAmount(*limit, value, queue.limit)) continue;
      if (name == "parent")
        queue.parent = value;
      else if (name == "weight")
        queue.weight = readInt(value, name);
      else if (name == "reclaim")
        queue.reclaim = readYesNo(value, name);
      else if (name == "withinQueue" && (value == "Never" || value == "LowerPriority"))
        queue.withinQueue = value == "LowerPriority";
      else if (name == "class")
        queue.classes.push_back(value);
      else if (const auto label = after("namespaces:", name))
        queue.namespaces.emplace_back(*label, value);
      else
        refuse(fmt::format("queue attribute \"{}\": unknown", words[i]));
    }
    add(std::move(queue));
  }

  void readClass(const Words& words) {
    const bool byDefault = words.size() > 3 && words[3] == "default";
    const bool never = words.size() > 3 && words[3] == "never";
    noMore(words, byDefault || never ? 4 : 3);
    add(ClassText{need(words, 1, "name"), readInt(need(words, 2, "value"), "priority"), byDefault, !never});
  }

  // namespace NAME [KEY=VALUE…]
  void readNamespace(const Words& words) {
    NamespaceText space{need(words, 1, "name"), {}};
    for (std::size_t i = 2; i < words.size(); ++i) {
      auto label = splitAttribute(words[i]);
      if (words[i].find('=') == std::string::npos)
        refuse(fmt::format("namespace: \"{}\": expected LABEL=VALUE", words[i]));
      space.labels.push_back(std::move(label));
    }
    add(std::move(space));
  }

  void readJob(const Words& words) {
    JobText job;
    const Words names = expandObjects(need(words, 1, "name"));
    for (std::size_t i = 2; i < words.size(); ++i) readJobAttribute(words[i], job);
    job_ = scenario_.steps.size();
    for (const std::string& name : names) {
      job.name = name;
      add(job);
    }
  }

  static void readJobAttribute(const std::string& word, JobText& job) {
    const auto [name, value] = splitAttribute(word);
    if (name == "queue")
      job.queue = value;
    else if (name == "priority")
      job.priority = value;
    else if (name == "created")
      job.created = readInt(value, name);
    else if (name == "started")
      job.started = readInt(value, name);
    else if (name == "required")
      job.required = value;
    else if (name == "levels")
      job.levels = readLevels(value);
    else if (name == "preemptible")
      job.preemptible = readYesNo(value, name);
    else if (name == "min")
      job.minimum = readInt(value, name);
    else if (name == "elastic")
      job.elastic = readElastic(value);
    else if (name == "checkpoint")
      job.checkpoint = readCheckpoint(value);
    else if (name == "estimate")
      job.estimate = readDuration(value, name);
    else if (name == "runs-for")
      job.runsFor = readDuration(value, name);
    else if (name == "stops-in")
      job.stopsIn = readDuration(value, name);
    else if (name == "timeout")
      job.timeout = readDuration(value, name);
    else if (name == "deadline")
      job.deadline = readDuration(value, name);
    else if (name == "success")
      job.successRole = value;
    else if (name == "clean-pods")
      job.cleanPods = value;
    else if (name == "restart-scope")
      job.restartScope = value;
    else if (const auto type = after("speed:", name))
      job.speeds.emplace_back(*type, readInt(value, name));
    else if (word == "suspended")
      job.suspended = true;
    else
      refuse(fmt::format("job attribute \"{}\": unknown", word));
  }

  // Applies a change to the jobs of the statement above; usually one.
  template <typename Change>
  void changeJobs(std::string_view statement, Change change) {
    if (!job_ || *job_ >= scenario_.steps.size()) refuse(fmt::format("{}: no job above it", statement));
    for (std::size_t i = *job_; i < scenario_.steps.size(); ++i) {
      auto* job = std::get_if<JobText>(&scenario_.steps[i].what);
      if (job == nullptr) refuse(fmt::format("{}: no job right above it", statement));
      change(*job);
    }
  }

  // role worker x4 gpus=8 cpu=64 select:pool=train tolerate:gpu
  void readRole(const Words& words) {
    const std::string& count = need(words, 2, "xCOUNT");
    if (count.front() != 'x') refuse(fmt::format("role: \"{}\": expected e.g. x4", count));
    RoleText role;
    role.name = words[1];
    role.count = readInt(std::string_view(count).substr(1), "role");
    for (std::size_t i = 3; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (readAmount(name, value, role.amounts)) continue;
      if (const auto label = after("select:", name))
        role.select.emplace_back(*label, value);
      else if (const auto taint = after("tolerate:", name))
        role.tolerate.push_back(*taint);
      else if (name == "runs-for")
        role.runsFor = readDuration(value, name);
      else if (name == "stops-in")
        role.stopsIn = readDuration(value, name);
      else
        refuse(fmt::format("role attribute \"{}\": unknown", words[i]));
    }
    changeJobs("role", [&](JobText& job) { job.roles.push_back(role); });
  }

  // runs worker 0-3 on n1 [cpu=28]: placed there with bound pods; amounts replace those of the template, for
  // these members only.
  void readRuns(const Words& words) {
    if (need(words, 3, "\"on NODE\"") != "on") refuse("runs: expected \"runs ROLE INDICES on NODE\"");
    const auto indices = model::IndexSet::parse(words[2]);
    if (!indices) refuse(indices.error().message);
    RunsText runs{words[1], *indices, need(words, 4, "node"), {}};
    for (std::size_t i = 5; i < words.size(); ++i) {
      const auto [name, value] = splitAttribute(words[i]);
      if (!readAmount(name, value, runs.amounts))
        refuse(fmt::format("runs attribute \"{}\": unknown", words[i]));
    }
    changeJobs("runs", [&](JobText& job) {
      if (job.findRole(runs.role) == nullptr) refuse(fmt::format("runs: no role \"{}\" above", runs.role));
      job.runs.push_back(runs);
    });
  }

  void readDelete(const Words& words) {
    static const std::map<std::string_view, DeedText::Verb> kKinds = {
        {"job", DeedText::Verb::kDeleteJob},
        {"pod", DeedText::Verb::kDeletePod},
        {"node", DeedText::Verb::kDeleteNode},
        {"queue", DeedText::Verb::kDeleteQueue}};
    const auto kind = kKinds.find(need(words, 1, "job, pod, node or queue"));
    if (kind == kKinds.end())
      refuse(fmt::format("delete: \"{}\": expected job, pod, node or queue", words[1]));
    readDeed(kind->second, Words(words.begin() + 1, words.end()));
  }

  void readRestart(const Words& words) {
    if (need(words, 1, "operator") != "operator") refuse("restart: expected \"restart operator\"");
    noMore(words, 2);
    add(DeedText{DeedText::Verb::kRestartOperator, {}, {}});
  }

  void readDeed(DeedText::Verb verb, const Words& words) {
    using enum DeedText::Verb;
    const bool ofNode =
        verb == kDeleteNode || verb == kCordon || verb == kUncordon || verb == kDown || verb == kUp;
    const std::string& name = need(words, 1, "name");
    Words names;
    if (ofNode || verb == kDeleteQueue) {
      expandNames(name, names);
    } else {
      names = expandObjects(name);
    }
    Words rest(words.begin() + 2, words.end());
    const std::size_t wanted = verb == kFail                                            ? 2
                               : verb == kScale || verb == kPrioritize || verb == kEdit ? 1
                                                                                        : 0;
    if (rest.size() != wanted)
      refuse(fmt::format("{}: {} words after the name, expected {}", words[0], rest.size(), wanted));
    if (verb == kFail || verb == kScale) (void)readInt(rest.back(), words[0]);
    for (const std::string& each : names) add(DeedText{verb, each, rest});
  }

  void readExpect(const Words& words) {
    std::size_t at = 2;
    Words subjects;
    const std::string& first = need(words, 1, "subject");
    if (first == "queue" || first == "pod") {
      subjects.push_back(first + " " + need(words, 2, "name"));
      at = 3;
    } else if (first == "evictions") {
      subjects.push_back(first);
    } else {
      subjects = expandObjects(first);
    }
    (void)need(words, at, "outcome");
    Expectation expectation;
    for (std::size_t i = at; i < words.size(); ++i) expectation.head += (i == at ? "" : " ") + words[i];
    expected_ = scenario_.steps.size();
    for (const std::string& subject : subjects) {
      expectation.subject = subject;
      add(expectation);
    }
  }

  // Refuses statements that are valid only in a single moment, or only in time.
  void checkMode(const Step& step) {
    line_ = step.line;
    if (const auto* job = std::get_if<JobText>(&step.what)) {
      if (job->roles.empty()) refuse(fmt::format("job {}: no role", job->name));
      const bool ofMoment = !job->runs.empty() || job->created != 0 || job->started;
      if (scenario_.inTime && ofMoment)
        refuse(
            fmt::format("job {}: created=, started= and runs belong to scenarios of one moment", job->name));
      if (job->started && job->runs.empty()) refuse(fmt::format("job {}: started= without runs", job->name));
    }
    if (const auto* pod = std::get_if<PodText>(&step.what); pod != nullptr && !scenario_.inTime) {
      if (pod->node.empty()) refuse(fmt::format("pod {}: \"on NODE\" is missing", pod->name));
    }
    if (std::holds_alternative<DeedText>(step.what) && !scenario_.inTime)
      refuse("something happens, but there is no line \"at TIME\"");
  }

  Scenario scenario_;
  int line_ = 0;
  std::chrono::seconds at_{0};
  Block block_ = Block::kNone;
  int policyLines_ = 0;
  std::size_t expectIndent_ = 0;
  std::size_t expected_ = 0;        // the first step of the last `expect` line
  std::optional<std::size_t> job_;  // the first step of the last `job` line
};

}  // namespace

const RoleText* JobText::findRole(std::string_view role) const {
  const auto found =
      std::find_if(roles.begin(), roles.end(), [&](const auto& each) { return each.name == role; });
  return found == roles.end() ? nullptr : &*found;
}

base::Result<Scenario> parseScenario(std::string_view fileName, std::string_view text) {
  Reader reader;
  try {
    Scenario scenario = reader.read(text);
    scenario.file = fileName;
    return scenario;
  } catch (const Nonsense& nonsense) {
    return base::fail(base::ErrorCode::kInvalid,
                      fmt::format("{}:{}: {}", fileName, reader.line(), nonsense.what));
  }
}

}  // namespace trainyard::test
