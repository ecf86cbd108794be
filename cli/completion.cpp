#include "cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trainyard::cli {
namespace {

std::string namesOf(const std::vector<CompletedCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletedCommand& each : commands) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, " "));
}

// Quotes the text for a shell, with single quotes.
std::string quoted(const std::string& text) {
  std::string out;
  for (const char each : text) out += each == '\'' ? std::string("'\\''") : std::string(1, each);
  return "'" + out + "'";
}

}  // namespace

std::string bashCompletion(const std::string& program, const std::vector<CompletedCommand>& commands) {
  std::string text = fmt::format("# bash: source <({} completion bash)\n_trainyard() {{\n", program);
  text += "  local word=${COMP_WORDS[COMP_CWORD]} words=''\n  [ \"$word\" = '=' ] && word=''\n";
  text += fmt::format("  if [ \"$COMP_CWORD\" -eq 1 ]; then words='{}'\n", namesOf(commands));
  text += "  elif [[ $word != -* ]]; then\n";
  text += "    words=$(\"${COMP_WORDS[0]}\" __complete \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null)\n";
  text += "  else\n    case ${COMP_WORDS[1]} in\n";
  for (const CompletedCommand& each : commands)
    text += fmt::format("      {}) words='{}' ;;\n", each.name, fmt::join(each.options, " "));
  text += "    esac\n  fi\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n";
  return text + fmt::format("complete -o default -F _trainyard {}\n", program);
}

// zsh runs bash's completions after `bashcompinit`.
std::string zshCompletion(const std::string& program, const std::vector<CompletedCommand>& commands) {
  return fmt::format("# zsh: source <({} completion zsh)\nautoload -U +X bashcompinit && bashcompinit\n",
                     program) +
         bashCompletion(program, commands);
}

std::string fishCompletion(const std::string& program, const std::vector<CompletedCommand>& commands) {
  std::string text = fmt::format("# fish: {} completion fish | source\n", program);
  for (const CompletedCommand& each : commands) {
    text += fmt::format("complete -c {} -n __fish_use_subcommand -a {} -d {}\n", program, each.name,
                        quoted(each.help));
    text += fmt::format(
        "complete -c {0} -n '__fish_seen_subcommand_from {1}' -a '({0} __complete (commandline -opc)[2..] "
        "(commandline -ct) 2>/dev/null)'\n",
        program, each.name);
    for (const std::string& option : each.options) {
      if (!option.starts_with("--")) continue;
      text += fmt::format("complete -c {} -n '__fish_seen_subcommand_from {}' -l {}\n", program, each.name,
                          option.substr(2));
    }
  }
  return text;
}

}  // namespace trainyard::cli
