// What an imported run says of its ops besides their ids: the names of lanes and ops, and the process groups. Each
// rank's program record carries these facts in their text form in place of a program.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/op/op_id.hpp"

namespace rankscope {

struct StepFacts {
  struct Name {
    std::string text;  ///< "aten::addmm", "all_reduce"
    int group = -1;    ///< of a communication, into `groups`
    bool operator==(const Name&) const = default;
  };
  struct Group {
    std::string name;        ///< the run's own, such as "default_pg"
    std::vector<int> ranks;  ///< ascending; of messages the sender and the receiver
    bool operator==(const Group&) const = default;
  };

  int rank = 0;
  std::map<Lane, std::string> lanes;  ///< "stream 7", "thread 4711"
  // Keys are numbers that all ranks share; a rank has those that it uses.
  std::map<int, Name> names;
  std::map<int, Group> groups;

  bool operator==(const StepFacts&) const = default;

  /// The name of an observed op: null if it has none here.
  const Name* name_of(OpId op) const;
  /// The group in which an observed communication runs: null if it is unknown.
  const Group* group_of(OpId op) const;
};

/// Whether a program record's text has facts of an imported run, not a program.
bool is_facts(std::string_view text);
std::string to_text(const StepFacts& facts);
/// Throws std::invalid_argument "line N: …".
StepFacts parse_facts(const std::string& text);

}  // namespace rankscope
