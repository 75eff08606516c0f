#include "telemetry/classroom/class_register.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "engine/op/words.hpp"
#include "telemetry/classroom/socket_loop.hpp"

namespace rankscope::classroom {
namespace {

constexpr std::size_t most_labs = 64;  // whose answers are kept for one student

/// Its approximate memory.
std::size_t bytes_of(const Attempt& attempt) {
  std::size_t bytes = sizeof(Tried);
  if (const auto* option = std::get_if<std::string>(&attempt)) bytes += option->size();
  if (const auto* drawn = std::get_if<std::vector<double>>(&attempt)) bytes += drawn->size() * sizeof(double);
  if (const auto* items = std::get_if<std::vector<std::string>>(&attempt))
    for (const std::string& item : *items) bytes += sizeof item + item.size();
  return bytes;
}

}  // namespace

std::set<std::string> ClassRegister::names_here(Clock::time_point now) const {
  std::set<std::string> here;
  for (const auto& [identity, connection] : connections_)
    if (now - connection.last_received < silence_limit) here.insert(connection.name);
  return here;
}

void ClassRegister::drop_place(const std::string& name) {
  std::erase_if(connections_, [&](const auto& one) { return one.second.name == name; });
  places_.erase(name);
  ++changes_;
}

std::string ClassRegister::bind(const std::string& name, const std::string& key) {
  if (const auto bound = names_.find(name); bound != names_.end()) {
    if (bound->second == key) return {};
    return "the name '" + name + "' belongs to another student of this class; choose another name";
  }
  const auto of_key = std::count_if(names_.begin(), names_.end(), [&](const auto& one) { return one.second == key; });
  if (static_cast<std::size_t>(of_key) >= limits_.names_a_key)
    return fmt::format("this student has used {} in this class already; use one of them", counted(of_key, "name"));
  if (names_.size() >= limits_.names) {
    const auto unused =
        std::find_if(names_.begin(), names_.end(), [&](const auto& one) { return !places_.contains(one.first); });
    if (unused == names_.end()) return "this class cannot take more names";
    names_.erase(unused);
  }
  names_[name] = key;
  return {};
}

// First disconnected students, of these first those of an address with many; else students of an address with more.
bool ClassRegister::make_room(const std::string& address, Clock::time_point now) {
  if (places_.size() < limits_.students) return true;
  std::map<std::string, std::size_t> taken;
  for (const auto& [name, place] : places_) ++taken[place.address];
  const std::set<std::string> here = names_here(now);
  auto best = places_.end();
  const auto worth = [&](const auto& one) {
    return std::tuple(!here.contains(one.first), taken[one.second.address], now - one.second.last_received);
  };
  for (auto place = places_.begin(); place != places_.end(); ++place)
    if (best == places_.end() || worth(*place) > worth(*best)) best = place;
  if (best == places_.end()) return false;
  if (here.contains(best->first) && taken[best->second.address] <= taken[address] + 1) return false;
  drop_place(std::string(best->first));
  return true;
}

void ClassRegister::limit_connections(const std::string& name) {
  for (;;) {
    auto oldest = connections_.end();
    std::size_t count = 0;
    for (auto one = connections_.begin(); one != connections_.end(); ++one) {
      if (one->second.name != name) continue;
      ++count;
      if (oldest == connections_.end() || one->second.last_received < oldest->second.last_received) oldest = one;
    }
    if (count < limits_.connections_a_name) return;
    connections_.erase(oldest);
  }
}

std::string ClassRegister::admit(const std::string& connection, const std::string& address, const std::string& key,
                                 const std::string& name, Clock::time_point now) {
  if (name.empty()) return "a student needs a name";
  if (std::string why = bind(name, key); !why.empty()) return why;
  if (!places_.contains(name) && !make_room(address, now))
    return fmt::format("the class is full: it takes {}", counted(limits_.students, "student"));
  if (!places_.contains(name)) ++changes_;
  Place& place = places_[name];
  place.key = key;
  place.address = address;
  place.last_received = now;
  if (!connections_.contains(connection)) limit_connections(name);
  connections_[connection] = {name, now};
  return {};
}

std::string ClassRegister::handle(const std::string& connection, Clock::time_point now) {
  Connection& from = connections_.at(connection);
  Place& place = places_.at(from.name);
  if (now - place.second_began > std::chrono::seconds(1)) {
    place.second_began = now;
    place.this_second = 0;
  }
  if (++place.this_second > limits_.messages_a_second) return "a student sends too many messages";
  from.last_received = place.last_received = now;
  return {};
}

std::string ClassRegister::answer(const std::string& connection, const Answer& answer) {
  Place& place = places_.at(connections_.at(connection).name);
  const std::pair key{answer.lab, answer.question};
  if (place.answers.size() >= most_labs * most_questions && !place.answers.contains(key))
    return "a student sends more answers than there are questions";
  const auto question = place.answers.find(key);
  if (question != place.answers.end())
    for (Tried& before : question->second) {
      if (before.number != answer.number || before.at != answer.at) continue;
      if (answer.at.empty()) before.attempt = answer.attempt;  // older windows have only one answer
      if (before.attempt != answer.attempt) return "two answers are of the same time";
      if (answer.verdict != Verdict::open) before.verdict = answer.verdict;
      ++changes_;
      return {};
    }
  const std::size_t bytes = bytes_of(answer.attempt);
  if (place.bytes + bytes > limits_.answer_bytes) return "a student's answers take more room than there is";
  Tries& tries = place.answers[key];
  const Tried given{answer.attempt, answer.number, answer.verdict, answer.at};
  const auto later = std::find_if(tries.begin(), tries.end(), [&](const Tried& one) {
    return std::tie(given.at, given.number) < std::tie(one.at, one.number);
  });
  tries.insert(later, given);
  place.bytes += bytes;
  if (tries.size() > limits_.tries) {
    const auto middle = tries.begin() + static_cast<std::ptrdiff_t>(limits_.tries / 2);
    place.bytes -= bytes_of(middle->attempt);
    tries.erase(middle);
  }
  ++changes_;
  return {};
}

std::size_t ClassRegister::answers() const {
  std::size_t count = 0;
  for (const auto& [name, place] : places_)
    for (const auto& [question, tries] : place.answers) count += tries.size();
  return count;
}

std::vector<std::string> ClassRegister::present(Clock::time_point now) const {
  std::vector<std::string> all;
  for (const auto& [identity, connection] : connections_)
    if (now - connection.last_received < silence_limit) all.push_back(identity);
  return all;
}

std::vector<std::string> ClassRegister::revoke(const std::string& key) {
  std::vector<std::string> closed;
  for (const auto& [identity, connection] : connections_)
    if (places_.at(connection.name).key == key) closed.push_back(identity);
  for (const std::string& identity : closed) connections_.erase(identity);
  std::erase_if(places_, [&](const auto& one) { return one.second.key == key; });
  ++changes_;
  std::erase_if(names_, [&](const auto& one) { return one.second == key; });
  return closed;
}

std::vector<Student> ClassRegister::students(Clock::time_point now) const {
  const std::set<std::string> here = names_here(now);
  std::vector<Student> all;
  for (const auto& [name, place] : places_) all.push_back({name, place.key, here.contains(name), place.answers});
  return all;
}

}  // namespace rankscope::classroom
