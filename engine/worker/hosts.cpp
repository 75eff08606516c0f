#include "engine/worker/hosts.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

constexpr int most_slots = 1 << 16;
constexpr std::string_view slots_word = "slots=";
constexpr std::size_t shown_characters = 60;

bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

/// 0: not a number of slots.
int slots_of(std::string_view text) {
  const int slots = number_in<int>(text).value_or(0);
  return slots <= most_slots ? std::max(slots, 0) : 0;
}

/// Words of a line without its comment.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream words(line.substr(0, line.find('#')));
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back(word);
  return found;
}

/// 0 slots if the words are invalid.
Host host_of(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  Host host{first.substr(0, first.find(':')), 1};
  const bool has_colon = host.name.size() < first.size();
  if (has_colon) host.slots = slots_of(std::string_view(first).substr(host.name.size() + 1));
  if (words.size() == 2 && !has_colon && words[1].starts_with(slots_word))
    host.slots = slots_of(std::string_view(words[1]).substr(slots_word.size()));
  else if (words.size() > 1)
    host.slots = 0;
  if (!is_name(host.name)) host.slots = 0;
  return host;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& file) {
  std::ifstream in(file);
  std::string line;
  std::vector<Host> hosts;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::vector<std::string> words = words_of(line);
    if (words.empty()) continue;
    const std::string place = fmt::format("--hosts {}:{}: ", file, number);
    const Host host = host_of(words);
    if (host.slots == 0) {
      throw ScenarioError(place + "'" + line.substr(0, shown_characters) +
                          "' is not a host; write NAME slots=N, such as node1 slots=4");
    }
    if (std::any_of(hosts.begin(), hosts.end(), [&](const Host& other) { return other.name == host.name; }))
      throw ScenarioError(place + host.name + " is listed twice; give it one line with all its slots");
    hosts.push_back(host);
  }
  if (hosts.empty())
    throw ScenarioError("--hosts " + file + ": " +
                        (std::ifstream(file).is_open() && !in.bad() ? "no host is listed" : "cannot be read") +
                        "; it needs one line NAME slots=N for each host");
  return hosts;
}

void check_slots(const std::vector<Host>& hosts, int ranks, const std::string& file) {
  const int slots =
      std::accumulate(hosts.begin(), hosts.end(), 0, [](int sum, const Host& host) { return sum + host.slots; });
  if (slots < ranks)
    throw ScenarioError("--hosts " + file + ": " + counted(hosts.size(), "host") + " with " + counted(slots, "slot") +
                        " in all, and the plan has " + counted(ranks, "rank") + "; add hosts or slots");
}

RankRange ranks_on(const std::vector<Host>& hosts, int ranks, const std::function<bool(const std::string&)>& is_here) {
  int first = 0;
  for (const Host& host : hosts) {
    const int end = std::min(ranks, first + host.slots);
    if (is_here(host.name)) return {first, end};
    first = end;
  }
  return {};
}

std::string host_list(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) list += fmt::format("{}{}:{}", list.empty() ? "" : ",", host.name, host.slots);
  return list;
}

}  // namespace rankscope
