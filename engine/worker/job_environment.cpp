#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/worker/worker.hpp"

namespace rankscope {
namespace {

constexpr std::size_t longest_text = 100'000;  // Linux takes 128 KiB for a variable

}  // namespace

std::string to_text(const WorkerJob& job) {
  const RunRequest& r = job.request;
  const nlohmann::json json{{"directory", job.directory},
                            {"session", job.session},
                            {"join", job.join},
                            {"start_ns", job.start_ns},
                            {"comm", r.communicator},
                            {"device", r.device},
                            {"clock", r.clock},
                            {"threads", r.threads},
                            {"keep", r.keep},
                            {"checkpoint", r.checkpoint},
                            {"resume", r.resume},
                            {"scenario", job.scenario},
                            {"host", job.host},
                            {"addresses", job.addresses},
                            {"refused", job.refused},
                            {"launched", r.launched.has_value()}};
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
  job.directory = json.at("directory");
  job.session = json.at("session");
  job.join = json.at("join");
  job.start_ns = json.at("start_ns");
  job.request.communicator = json.at("comm");
  job.request.device = json.at("device");
  job.request.clock = json.at("clock");
  job.request.threads = json.at("threads");
  job.request.keep = json.at("keep");
  job.request.checkpoint = json.at("checkpoint");
  job.request.resume = json.at("resume");
  job.scenario = json.at("scenario");
  job.host = json.at("host");
  job.addresses = json.at("addresses").get<std::vector<std::string>>();
  job.refused = json.at("refused");
  if (json.at("launched").get<bool>()) job.request.launched.emplace();
  return job;
}

}  // namespace rankscope
