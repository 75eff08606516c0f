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

struct ToJson {
  nlohmann::json& json;
  void operator()(const char* name, const auto& value) const { json[name] = value; }
  template <class E>
  void operator()(const char* name, const Choice<E>& value) const {
    json[name] = value.name();
  }
};
struct FromJson {
  const nlohmann::json& json;
  void operator()(const char* name, auto& value) const { json.at(name).get_to(value); }
  template <class E>
  void operator()(const char* name, Choice<E>& value) const {
    value = json.at(name).template get<std::string>();
  }
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
