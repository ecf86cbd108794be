#include "fuzz/targets.h"
#include "net/line_splitter.h"

namespace trainyard::fuzz {

// The lines of a stream do not depend on how it is cut into pieces.
void lines(std::string_view input) {
  constexpr std::size_t kMax = 64;
  net::LineSplitter whole(kMax);
  std::vector<std::string> expected;
  const bool good = whole.feed(input, expected).has_value();
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    net::LineSplitter splitter(kMax);
    std::vector<std::string> found;
    bool fine = true;
    for (std::size_t at = 0; fine && at < input.size(); at += piece) {
      fine = splitter.feed(input.substr(at, piece), found).has_value();
    }
    require(fine == good, "a line is too long or not, in whatever pieces it comes");
    if (!good) continue;
    require(found == expected, "lines are the same in whatever pieces they come");
    require(splitter.takeRest().size() <= kMax + 1, "what is kept is bounded");
  }
}

}  // namespace trainyard::fuzz
