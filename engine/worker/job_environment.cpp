#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/worker/worker.hpp"

namespace rankscope {
namespace {

constexpr std::size_t longest_text = 100'000;  // Linux allows 128 KiB for a variable

/// field(name, value) for all transferred values, except whether a launcher started the ranks.
void for_each_field(auto& job, const auto& field) {
  auto& request = job.request;
  field("directory", job.directory);
  field("session", job.session);
  field("join", job.join);
  field("start_ns", job.start_ns);
  field("comm", request.communicator);
  field("device", request.device);
  field("clock", request.clock);
  field("threads", request.threads);
  field("without", request.without);
  field("keep", request.keep);
  field("checkpoint", request.checkpoint);
  field("resume", request.resume);
  field("scenario", job.scenario);
  field("host", job.host);
  field("addresses", job.addresses);
  field("refused", job.refused);
}

/// Any bytes, such as those of a path, as text that JSON can have, which must be UTF-8: each byte as the character of
/// its number.
std::string as_characters(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80) text += static_cast<char>(0xC0U | (byte >> 6U));
    text += byte < 0x80 ? c : static_cast<char>(0x80U | (byte & 0x3FU));
  }
  return text;
}
std::string as_bytes(const std::string& text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x80 || i + 1 == text.size())
      bytes += text[i];
    else
      bytes += static_cast<char>((byte << 6U) | (static_cast<unsigned char>(text[++i]) & 0x3FU));
  }
  return bytes;
}

struct ToJson {
  nlohmann::json& json;
  void operator()(const char* name, const auto& value) const { json[name] = value; }
  template <class E>
  void operator()(const char* name, const Choice<E>& value) const {
    json[name] = value.name();
  }
  void operator()(const char* name, const std::string& value) const { json[name] = as_characters(value); }
};
struct FromJson {
  const nlohmann::json& json;
  void operator()(const char* name, auto& value) const { json.at(name).get_to(value); }
  template <class E>
  void operator()(const char* name, Choice<E>& value) const {
    value = json.at(name).template get<std::string>();
  }
  void operator()(const char* name, std::string& value) const { value = as_bytes(json.at(name).get<std::string>()); }
};

}  // namespace

std::string to_text(const WorkerJob& job) {
  nlohmann::json json{{"launched", job.request.launched.has_value()}};
  for_each_field(job, ToJson{json});
  return json.dump();
}

std::vector<std::string> environment_of(const WorkerJob& job) {
  std::string text = to_text(job);
  if (text.size() > longest_text) {
    WorkerJob shorter = job;
    shorter.scenario.clear();
    text = to_text(shorter);
  }
  return {std::string(job_variable) + "=" + text};
}

WorkerJob job_from_environment() {
  const char* text = std::getenv(job_variable);
  if (!text) throw std::runtime_error("the command 'worker' is started by 'run', not by hand");
  return parse_job(text);
}

WorkerJob parse_job(const std::string& text) {
  const nlohmann::json json = nlohmann::json::parse(text);
  WorkerJob job;
  for_each_field(job, FromJson{json});
  if (json.at("launched").get<bool>()) job.request.launched.emplace();
  return job;
}

}  // namespace rankscope
