#include "engine/worker/hosts.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <numeric>
#include <sstream>
#include <stdexcept>

#include "engine/op/words.hpp"
#include "engine/plan/scenario/read.hpp"

namespace rankscope {
namespace {

constexpr int most_slots = 1 << 16;
constexpr std::size_t shown_characters = 60;
constexpr std::string_view forms =
    "a host's line is NAME slots=N (Open MPI), NAME:N (MPICH), or NAME once for each rank (Slurm)";

bool is_name(std::string_view text) {
  return !text.empty() && text.front() != '-' && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_';
  });
}

/// Words of a line without its comment; "slots = 4" is one word.
std::vector<std::string> words_of(const std::string& line) {
  std::string text = line.substr(0, line.find('#'));
  for (std::size_t at = text.find('='); at != std::string::npos; at = text.find('=', at + 1)) {
    while (at + 1 < text.size() && std::isspace(static_cast<unsigned char>(text[at + 1]))) text.erase(at + 1, 1);
    for (; at > 0 && std::isspace(static_cast<unsigned char>(text[at - 1])); --at) text.erase(at - 1, 1);
  }
  std::istringstream words(text);
  std::vector<std::string> found;
  for (std::string word; words >> word;) found.push_back(word);
  return found;
}

/// Throws the reason, which names the word, as std::invalid_argument.
[[noreturn]] void refuse_word(const std::string& word, const std::string& why) {
  throw std::invalid_argument(fmt::format("'{}': {}", word.substr(0, shown_characters), why));
}

int slots_of(const std::string& word, std::string_view number) {
  const int slots = number_in<int>(number).value_or(0);
  if (slots < 1 || slots > most_slots) refuse_word(word, fmt::format("a host has 1 to {} slots", most_slots));
  return slots;
}

Host host_of(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.find('@') != std::string::npos)
    refuse_word(first, "ssh takes the user from ~/.ssh/config (Host NAME, then User …); give the host's name alone");
  if (std::count(first.begin(), first.end(), ':') > 1)
    refuse_word(first, "mpirun takes no IPv6 address; give it a name in /etc/hosts or ~/.ssh/config");
  Host host{first.substr(0, first.find(':')), 1};
  const bool has_number = host.name.size() < first.size();
  if (has_number) host.slots = slots_of(first, std::string_view(first).substr(host.name.size() + 1));
  if (!is_name(host.name)) refuse_word(first, std::string(forms));
  int most = most_slots;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string key = words[i].substr(0, words[i].find('='));
    const std::string_view value = std::string_view(words[i]).substr(std::min(words[i].size(), key.size() + 1));
    if (key == "slots" && !has_number)
      host.slots = slots_of(words[i], value);
    else if (key == "max_slots" || key == "max-slots")
      most = slots_of(words[i], value);
    else
      refuse_word(words[i], std::string(forms));
  }
  if (host.slots > most) refuse_word(words.back(), fmt::format("that is less than its slots, {}", host.slots));
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
    try {
      const Host host = host_of(words);
      const auto known = std::ranges::find(hosts, host.name, &Host::name);
      if (known != hosts.end())
        known->slots += host.slots;
      else
        hosts.push_back(host);
    } catch (const std::invalid_argument& why) {
      throw ScenarioError(place + why.what());
    }
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
