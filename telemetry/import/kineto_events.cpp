#include "telemetry/import/kineto_events.hpp"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <tuple>
#include <unordered_map>

#include "telemetry/import/communication.hpp"
#include "telemetry/import/file_text.hpp"

namespace rankscope::import {
namespace {

namespace ondemand = simdjson::ondemand;
static_assert(text_padding >= simdjson::SIMDJSON_PADDING);

/// What is wrong at a place of the text.
struct Wrong {
  std::size_t at = 0;
  std::string what;
  bool is_other_file = false;  ///< it is not a damaged trace, but something else
};

constexpr bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Nanoseconds of a JSON number of microseconds, to the last digit: a double holds the microseconds of our days only
/// to a quarter. Empty: not a number, or more than 292 years.
std::optional<std::int64_t> nanoseconds(std::string_view token) {
  constexpr std::int64_t most_us = INT64_MAX / 1000 - 1;
  const char* at = token.data();
  const char* const end = at + token.size();
  const bool is_negative = at != end && *at == '-';
  if (is_negative) ++at;
  std::int64_t value = 0;
  const auto [point, error] = std::from_chars(at, end, value);
  if (error != std::errc{} || point == at || *at == '-' || value > most_us) return {};
  if (token.find_first_of("eE") != std::string_view::npos) {
    double us = 0;
    const auto [last, failed] = std::from_chars(at, end, us);
    if (failed != std::errc{} || last != end || !(us < static_cast<double>(most_us))) return {};
    value = std::llround(us * 1000);
  } else {
    value *= 1000;
    at = point;
    if (at != end && *at++ != '.') return {};
    for (std::int64_t unit = 100; at != end; ++at, unit /= 10) {
      if (*at < '0' || *at > '9') return {};
      value += unit * (*at - '0');
      if (unit == 0) {
        value += *at >= '5';  // the fourth digit rounds, the rest do not matter
        break;
      }
    }
  }
  return is_negative ? -value : value;
}

/// Splits a text into the values of an array or the members of an object, however large it is: simdjson's index of a
/// whole trace would take more memory than the trace.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  std::size_t at() const { return at_; }
  void move_to(std::size_t at) { at_ = at; }

  /// The next character that is not white space, 0 at the end.
  char peek() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  /// The next value; throws Wrong if the text ends within it.
  std::string_view value() {
    const char first = peek();
    const std::size_t from = at_;
    if (first == '"') {
      skip_string();
    } else if (first == '{' || first == '[') {
      skip_brackets();
    } else {
      while (at_ < text_.size() && !is_space(text_[at_]) && !std::strchr(",]}:", text_[at_])) ++at_;
      if (at_ == from) throw Wrong{from, at_ < text_.size() ? "a value is missing" : "the text ends"};
    }
    return text_.substr(from, at_ - from);
  }

 private:
  void skip_string() {
    const std::size_t from = at_++;
    for (;;) {
      const void* found = at_ < text_.size() ? std::memchr(text_.data() + at_, '"', text_.size() - at_) : nullptr;
      if (found == nullptr) throw Wrong{from, "the text ends within a string"};
      const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
      std::size_t backslashes = 0;
      while (quote - backslashes - 1 > from && text_[quote - backslashes - 1] == '\\') ++backslashes;
      at_ = quote + 1;
      if (backslashes % 2 == 0) return;
    }
  }
  void skip_brackets() {
    const std::size_t from = at_;
    std::size_t depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"') {
        skip_string();
        continue;
      }
      ++at_;
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return;
    }
    throw Wrong{from, "the text ends within it"};
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// An event's arguments that matter. Texts live as long as the parser's current document.
struct Arguments {
  std::int64_t correlation = -1, external = -1;
  std::int64_t allocated = -1, reserved = 0, device_type = 0, device = -1;
  std::string_view name, collective, type, group, description, ranks, dimensions, input_types, concrete_inputs;
  std::int64_t in_elements = -1, out_elements = -1, group_size = -1, sequence = -1, source = -1, destination = -1;
  std::int64_t node = -1, forward_thread = -1;  ///< of autograd; the thread of a backward's forward, else 0
};

std::optional<KinetoKind> kind_of(std::string_view category) {
  for (const auto& [name, kind] :
       std::initializer_list<std::pair<std::string_view, KinetoKind>>{{"cpu_op", KinetoKind::cpu_op},
                                                                      {"cuda_runtime", KinetoKind::runtime},
                                                                      {"kernel", KinetoKind::kernel},
                                                                      {"cuda_driver", KinetoKind::runtime},
                                                                      {"gpu_memcpy", KinetoKind::memcpy},
                                                                      {"gpu_memset", KinetoKind::memset},
                                                                      {"user_annotation", KinetoKind::annotation},
                                                                      {"hip_runtime", KinetoKind::runtime},
                                                                      {"xpu_runtime", KinetoKind::runtime},
                                                                      {"xpu_driver", KinetoKind::runtime},
                                                                      {"privateuse1_runtime", KinetoKind::runtime},
                                                                      {"privateuse1_driver", KinetoKind::runtime},
                                                                      {"mtia_runtime", KinetoKind::runtime},
                                                                      {"mtia_ccp_events", KinetoKind::kernel},
                                                                      // Until PyTorch 1.11.
                                                                      {"Operator", KinetoKind::cpu_op},
                                                                      {"Runtime", KinetoKind::runtime},
                                                                      {"Kernel", KinetoKind::kernel},
                                                                      {"Memcpy", KinetoKind::memcpy},
                                                                      {"Memset", KinetoKind::memset}})
    if (category == name) return kind;
  return {};
}

/// Events that repeat what others say, or say nothing of when ops ran.
bool is_beside_the_point(std::string_view category) {
  for (const std::string_view known : {"", "Trace", "python_function", "gpu_user_annotation", "cuda_sync", "overhead",
                                       "cuda_profiler_range", "cpu_instant_event", "mtia_insight"})
    if (category == known) return true;
  return false;
}

/// The number of a value; −1 for anything else: arguments are for people, and differ between versions.
std::int64_t integer(ondemand::value value) {
  std::string_view text;
  if (value.type() == ondemand::json_type::string)
    text = value.get_string();
  else if (value.type() == ondemand::json_type::number)
    text = trimmed(value.raw_json_token());
  std::int64_t number = -1;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{} ? number : -1;
}
std::string_view text_of(ondemand::value value) {
  return value.type() == ondemand::json_type::string ? std::string_view(value.get_string()) : std::string_view();
}
std::string_view array_of(ondemand::value value) {
  if (value.type() != ondemand::json_type::array) return {};
  ondemand::array array = value.get_array();
  return array.raw_json();
}
/// The n-th text of an array of texts that need no escapes; empty if there is none.
std::string_view element(std::string_view array, int n) {
  for (std::size_t from = 0; (from = array.find('"', from)) != std::string_view::npos; --n) {
    const std::size_t to = array.find('"', from + 1);
    if (to == std::string_view::npos) break;
    if (n == 0) return array.substr(from + 1, to - from - 1);
    from = to + 1;
  }
  return {};
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  KinetoEvents read() {
    Cursor cursor(text_);
    if (text_.starts_with("\xef\xbb\xbf")) cursor.move_to(3);
    if (cursor.peek() == '[') {
      read_events(cursor);  // Chrome's form without a header
    } else if (cursor.take('{')) {
      while (!cursor.take('}')) read_member(cursor);
    } else {
      throw Wrong{cursor.at(), "it is not JSON; a trace of torch.profiler is, plain or gzipped", true};
    }
    if (!has_events_) throw Wrong{cursor.at(), "it has no traceEvents: it is not a trace of torch.profiler", true};
    if (trace_.events.empty())
      throw Wrong{cursor.at(), "it has no operators and no kernels; a trace of torch.profiler has"};
    shift_times(cursor.at());
    return std::move(trace_);
  }

 private:
  void read_member(Cursor& cursor) {
    const std::string_view key = cursor.value();
    if (!cursor.take(':')) throw Wrong{cursor.at(), "it is not valid JSON: a ':' is missing"};
    if (key == "\"traceEvents\"") {
      if (cursor.peek() != '[') throw Wrong{cursor.at(), "its traceEvents are not a list"};
      read_events(cursor);
    } else {
      const std::size_t at = cursor.at();
      const std::string_view value = cursor.value();
      if (key == "\"distributedInfo\"" || key == "\"deviceProperties\"" || key == "\"host_name\"" ||
          key == "\"baseTimeNanoseconds\"")
        read_header(key.substr(1, key.size() - 2), value, at);
    }
    if (!cursor.take(',') && cursor.peek() != '}')
      throw Wrong{cursor.at(), cursor.peek() == '\0' ? "the text ends" : "it is not valid JSON: a ',' is missing"};
  }

  void read_header(std::string_view key, std::string_view json, std::size_t at) try {
    simdjson::dom::parser parser;
    const simdjson::dom::element value = parser.parse(json.data(), json.size());
    std::string_view text;
    if (key == "host_name") {
      if (!value.get(text)) trace_.host = text;
    } else if (key == "baseTimeNanoseconds") {
      double number = 0;
      if (value.get(base_ns_) != simdjson::SUCCESS) {
        if (value.get(number) || !(std::abs(number) < 9e18)) throw Wrong{at, "its baseTimeNanoseconds is no time"};
        base_ns_ = std::llround(number);
      }
    } else if (key == "deviceProperties") {
      simdjson::dom::array devices;
      if (value.get(devices)) return;
      for (const simdjson::dom::element device : devices) {
        std::int64_t id = 0;
        if (!device["id"].get(id) && !device["name"].get(text)) trace_.devices.emplace_back(id, text);
      }
    } else {
      std::int64_t number = -1;
      if (!value["backend"].get(text)) trace_.backend = text;
      if (!value["rank"].get(number) && number >= 0 && number <= INT32_MAX) trace_.rank = static_cast<int>(number);
      if (!value["world_size"].get(number) && number > 0 && number <= INT32_MAX)
        trace_.world_size = static_cast<int>(number);
      if (simdjson::dom::element groups; !value["pg_config"].get(groups)) read_groups(groups);
    }
  } catch (const simdjson::simdjson_error& error) {
    throw Wrong{at, fmt::format("its {} is not valid JSON: {}", key, error.what())};
  }

  /// A list of objects; in some versions an object of objects, or the text of either.
  void read_groups(simdjson::dom::element groups) {
    if (std::string_view text; !groups.get(text)) {
      simdjson::dom::parser parser;
      simdjson::dom::element inner;
      if (!parser.parse(text.data(), text.size()).get(inner) && !inner.is_string()) read_groups(inner);
    } else if (simdjson::dom::array list; !groups.get(list)) {
      for (const simdjson::dom::element group : list) read_group(group, "");
    } else if (simdjson::dom::object named; !groups.get(named)) {
      for (const auto& [name, group] : named) read_group(group, name);
    }
  }
  void read_group(simdjson::dom::element config, std::string_view name) {
    TracedGroup group{std::string(name), "", {}};
    std::string_view text;
    for (const char* key : {"name", "pg_name"})
      if (!config[key].get(text)) group.name = text;
    for (const char* key : {"desc", "pg_desc"})
      if (!config[key].get(text)) group.description = text;
    std::int64_t number = -1, size = -1;
    for (const char* key : {"group_size", "pg_size"})
      if (!config[key].get(number)) size = number;
    if (simdjson::dom::array ranks; !config["ranks"].get(ranks)) {
      for (const simdjson::dom::element rank : ranks) {
        if (rank.get(number) || number < 0 || number > INT32_MAX) return group.ranks.clear(), add_group(group);
        group.ranks.push_back(static_cast<int>(number));
      }
    } else if (!config["ranks"].get(text)) {
      group.ranks = parse_ranks(text);
    }
    // An empty list stood for all ranks until PyTorch 2.4.
    constexpr std::int64_t most = 1 << 20;
    if (group.ranks.empty() && size > 0 && size == trace_.world_size && size <= most) {
      group.ranks.resize(static_cast<std::size_t>(size));
      std::iota(group.ranks.begin(), group.ranks.end(), 0);
    }
    add_group(group);
  }
  void add_group(const TracedGroup& group) {
    if (std::ranges::none_of(trace_.groups, [&](const TracedGroup& known) { return known.name == group.name; }))
      trace_.groups.push_back(group);
  }

  void read_events(Cursor& cursor) {
    has_events_ = true;
    cursor.take('[');
    while (!cursor.take(']')) {
      if (cursor.peek() == '\0') throw Wrong{cursor.at(), "the text ends"};
      const std::size_t at = cursor.at();
      const std::string_view event = cursor.value();
      if (event.front() != '{') throw Wrong{at, "an event is not an object"};
      try {
        read_event(event);
      } catch (const simdjson::simdjson_error& error) {
        throw Wrong{at, fmt::format("an event is not valid JSON: {}", error.what())};
      } catch (Wrong& wrong) {
        throw Wrong{at, wrong.what};
      }
      if (!cursor.take(',') && cursor.peek() != ']')
        throw Wrong{cursor.at(), cursor.peek() == '\0' ? "the text ends" : "it is not valid JSON: a ',' is missing"};
    }
  }

  void read_event(std::string_view json) {
    const auto offset = static_cast<std::size_t>(json.data() - text_.data());
    ondemand::document document =
        parser_.iterate(simdjson::padded_string_view(json.data(), json.size(), text_.size() + text_padding - offset));
    std::string_view phase, category, name, begin, duration = "0";
    std::int64_t process = 0, number = 0;
    Arguments arguments;
    for (auto field : document.get_object()) {
      const std::string_view key = field.unescaped_key();
      ondemand::value value = field.value();
      if (key == "ph") {
        phase = text_of(value);
      } else if (key == "cat") {
        category = text_of(value);
      } else if (key == "name") {
        name = text_of(value);
      } else if (key == "pid") {
        process = row_number(value);
      } else if (key == "tid") {
        number = row_number(value);
      } else if (key == "ts") {
        begin = trimmed(value.raw_json_token());
      } else if (key == "dur") {
        duration = trimmed(value.raw_json_token());
      } else if (key == "args" && value.type() == ondemand::json_type::object) {
        read_arguments(value.get_object(), arguments);
      }
    }
    if (phase == "X") {
      if (const std::optional<KinetoKind> kind = kind_of(category))
        add_event(*kind, name, begin, duration, row(process, number, is_on_device(*kind)), arguments);
      else if (!is_beside_the_point(category))
        ++trace_.unread[std::string(category)];
    } else if (phase == "M" && name == "thread_name") {
      // Kineto writes several; the last is the thread's own.
      if (!arguments.name.empty()) trace_.rows[row(process, number, false)].name = arguments.name;
    } else if (name == "[memory]" && arguments.allocated >= 0) {
      const std::optional<std::int64_t> time = nanoseconds(begin);
      if (!time) throw Wrong{0, fmt::format("an event's ts is not a time: {}", begin)};
      trace_.memory.push_back({*time, arguments.allocated, std::max<std::int64_t>(0, arguments.reserved),
                               arguments.device_type, arguments.device});
    }
  }

  static void read_arguments(ondemand::object object, Arguments& a) {
    for (auto field : object) {
      const std::string_view key = field.unescaped_key();
      ondemand::value value = field.value();
      if (key == "External id" || key == "external id") {
        a.external = integer(value);
      } else if (key == "correlation") {
        a.correlation = integer(value);
      } else if (key == "Sequence number") {
        a.node = integer(value);
      } else if (key == "Fwd thread id") {
        a.forward_thread = integer(value);
      } else if (key == "name") {
        a.name = text_of(value);
      } else if (key == "Collective name") {
        a.collective = text_of(value);
      } else if (key == "dtype") {
        a.type = text_of(value);
      } else if (key == "In msg nelems") {
        a.in_elements = integer(value);
      } else if (key == "Out msg nelems") {
        a.out_elements = integer(value);
      } else if (key == "Group size") {
        a.group_size = integer(value);
      } else if (key == "Process Group Name") {
        a.group = text_of(value);
      } else if (key == "Process Group Description") {
        a.description = text_of(value);
      } else if (key == "Process Group Ranks") {
        a.ranks = value.type() == ondemand::json_type::array ? array_of(value) : text_of(value);
      } else if (key == "Seq") {
        a.sequence = integer(value);
      } else if (key == "Src Rank") {
        a.source = integer(value);
      } else if (key == "Dst Rank") {
        a.destination = integer(value);
      } else if (key == "Input Dims") {
        a.dimensions = array_of(value);
      } else if (key == "Input type") {
        a.input_types = array_of(value);
      } else if (key == "Concrete Inputs") {
        a.concrete_inputs = array_of(value);
      } else if (key == "Total Allocated") {
        a.allocated = std::max<std::int64_t>(0, integer(value));
      } else if (key == "Total Reserved") {
        a.reserved = integer(value);
      } else if (key == "Device Type") {
        a.device_type = integer(value);
      } else if (key == "Device Id") {
        a.device = integer(value);
      }
    }
  }

  void add_event(KinetoKind kind, std::string_view name, std::string_view begin, std::string_view duration,
                 std::uint32_t row, const Arguments& a) {
    const std::optional<std::int64_t> from = nanoseconds(begin), length = nanoseconds(duration);
    if (!from || !length)
      throw Wrong{0, begin.empty() ? "an event has no ts"
                                   : fmt::format("an event's {} is not a time: {}", from ? "dur" : "ts",
                                                 from ? duration : begin)};
    KinetoEvent event{
        *from, 0, a.correlation, a.external, name_number(name), row, -1, kind, a.node >= 0 && a.forward_thread == 0};
    if (__builtin_add_overflow(*from, std::max<std::int64_t>(0, *length), &event.end_ns))
      throw Wrong{0, "an event's time is beyond what a trace can have"};
    // Only annotations and c10d's own operators have inputs that matter here; all others would cost memory.
    const bool is_record = name == "record_param_comms";
    const bool has_inputs =
        !a.dimensions.empty() && (is_record || kind == KinetoKind::annotation || name.starts_with("c10d::"));
    if (!a.collective.empty() || has_inputs) {
      event.communication = static_cast<std::int32_t>(trace_.communications.size());
      KinetoCommunication c{std::string(a.collective), std::string(a.type), std::string(a.group),
                            std::string(a.description), std::string(a.ranks)};
      c.in_elements = a.in_elements;
      c.out_elements = a.out_elements;
      c.group_size = a.group_size;
      c.sequence = a.sequence;
      c.source = a.source;
      c.destination = a.destination;
      if (has_inputs) {
        c.dimension_elements = element_count(a.dimensions);
        if (c.type.empty()) c.type = element(a.input_types, 0);
        const std::string_view third = element(a.concrete_inputs, 2);
        std::from_chars(third.data(), third.data() + third.size(), c.third_input);
      }
      if (is_record && a.collective.empty()) read_record(a.concrete_inputs, c);
      trace_.communications.push_back(std::move(c));
    }
    trace_.events.push_back(event);
  }

  /// Before 2024 record_param_comms had its inputs in place of arguments: tensor, sequence, communicator, rank, name,
  /// two lists of sizes, size of the group.
  static void read_record(std::string_view inputs, KinetoCommunication& c) {
    constexpr int sequence = 1, size = 7;
    const auto number = [&](int n, std::int64_t& to) {
      const std::string_view text = element(inputs, n);
      std::from_chars(text.data(), text.data() + text.size(), to);
    };
    if (element(inputs, size).empty() || !element(inputs, size + 1).empty()) return;
    number(sequence, c.sequence);
    number(size, c.group_size);
  }

  /// A process or thread; most are numbers, and "Spans" and the like get one of their own.
  std::int64_t row_number(ondemand::value value) {
    if (value.type() != ondemand::json_type::string) return integer(value);
    return INT64_MIN + name_number(text_of(value));
  }
  /// A device's number may also be a process's: 1 in a container.
  std::uint32_t row(std::int64_t process, std::int64_t number, bool is_stream) {
    const auto [at, fresh] =
        rows_.try_emplace({process, number, is_stream}, static_cast<std::uint32_t>(trace_.rows.size()));
    if (fresh) trace_.rows.push_back({process, number, ""});
    return at->second;
  }
  std::uint32_t name_number(std::string_view name) {
    if (const auto known = names_.find(name); known != names_.end()) return known->second;
    const auto number = static_cast<std::uint32_t>(trace_.names.size());
    names_.emplace(name, number);
    trace_.names.emplace_back(name);
    return number;
  }

  void shift_times(std::size_t at) {
    const auto shift = [&](std::int64_t& time) {
      if (__builtin_add_overflow(time, base_ns_, &time)) throw Wrong{at, "its times are beyond what a trace can have"};
    };
    for (KinetoEvent& event : trace_.events) {
      shift(event.begin_ns);
      shift(event.end_ns);
    }
    for (KinetoMemory& memory : trace_.memory) shift(memory.time_ns);
  }

  std::string_view text_;
  ondemand::parser parser_;
  KinetoEvents trace_;
  std::int64_t base_ns_ = 0;
  bool has_events_ = false;
  std::map<std::tuple<std::int64_t, std::int64_t, bool>, std::uint32_t> rows_;
  std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> names_;
};

}  // namespace

KinetoEvents read_kineto_events(const std::filesystem::path& file) {
  const FileText text = read_text(file);
  try {
    return Reader(text.view()).read();
  } catch (const Wrong& wrong) {
    const std::string_view before = text.view().substr(0, wrong.at);
    const bool is_cut = wrong.what.starts_with("the text ends");
    const std::string why =
        fmt::format("{}: line {}: {}{}", file.string(), std::ranges::count(before, '\n') + 1, wrong.what,
                    is_cut ? "; the file is cut: copy it again, or export the trace again" : "");
    if (wrong.is_other_file) throw NotATrace(why);
    throw ImportError(why);
  }
}

}  // namespace rankscope::import
