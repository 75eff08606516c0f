#include <cstdlib>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "engine/worker/worker.hpp"

namespace rankscope {
namespace {

constexpr const char* variable = "RANKSCOPE_JOB";

}  // namespace

std::vector<std::string> environment_of(const WorkerJob& job) {
  const RunRequest& r = job.request;
  const nlohmann::json json{{"directory", job.directory}, {"session", job.session}, {"join", job.join},
                            {"start_ns", job.start_ns},   {"comm", r.communicator}, {"device", r.device},
                            {"clock", r.clock},           {"threads", r.threads},   {"keep", r.keep},
                            {"checkpoint", r.checkpoint}, {"resume", r.resume}};
  return {std::string(variable) + "=" + json.dump()};
}

WorkerJob job_from_environment() {
  const char* text = std::getenv(variable);
  if (!text) throw std::runtime_error("the command 'worker' is started by 'run', not by hand");
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
  return job;
}

}  // namespace rankscope
