// rankscope-trace: what to do with a recording.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/memory.hpp"
#include "engine/plan/scenario/choice_option.hpp"
#include "telemetry/cli/commands.hpp"
#include "telemetry/stream/join.hpp"

namespace rankscope {
std::atomic<bool> stop_asked{false};
}

namespace {

using namespace rankscope;

void ask_to_stop(int) { stop_asked = true; }

void add_serving(CLI::App* command, ServeRequest& request) {
  command->add_option("--publish", request.publish,
                      "endpoint to bind, such as tcp://127.0.0.1:9871; without it a socket of your own");
  command
      ->add_option("--join-file", request.join_files,
                   "make keys, and write what a viewer elsewhere needs to this file; an endpoint beyond this machine "
                   "must have them. Given again, each file has a key of its own")
      ->take_all()
      ->allow_extra_args(false);
}

void add_trace(CLI::App* command, std::string& trace) {
  command->add_option("TRACE", trace, "a recording (MCAP)")->required();
}

void add_output(CLI::App* command, std::string& output) {
  command->add_option("-o,--output", output, "file to write")->required();
}

void add_json(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "print one JSON object on standard output, and nothing else there");
}

CLI::App* add_export(CLI::App& app, ExportRequest& request) {
  auto* command = app.add_subcommand("export", "convert for other programs");
  add_trace(command, request.trace);
  add_choice(command, "--format,--as", request.format,
             "chrome (JSON, opened by Perfetto), csv, hta (a folder with a file for each rank, for "
             "HolisticTraceAnalysis), or html (one page with time line, memory and shares, opened from disk)");
  command->add_option("-o,--output", request.output, "file to write, or folder of hta; - or nothing: standard output");
  command->add_option("--obtained", request.obtained, "only spans obtained so")
      ->check(CLI::IsMember({"measured", "emulated", "simulated"}));
  return command;
}

CLI::App* add_cut(CLI::App& app, CutRequest& request) {
  auto* command = app.add_subcommand("cut", "write a part of a recording");
  add_trace(command, request.trace);
  add_output(command, request.output);
  command->add_option("--steps", request.steps, "FIRST:LAST, both included; either may be left out");
  command->add_option("--from", request.from, "seconds since the session's start");
  command->add_option("--to", request.to, "seconds since the session's start");
  return command;
}

CLI::App* add_replay(CLI::App& app, ServeRequest& request) {
  auto* command = app.add_subcommand("replay", "serve a recording to viewers as if it ran again");
  add_trace(command, request.trace);
  add_serving(command, request);
  command->add_option("--speed", request.speed, "times as fast as it happened, or max");
  command->add_option("--wait", request.wait, "begin when that many viewers are there")->check(CLI::NonNegativeNumber);
  command->add_flag("--stay", request.stay, "serve late joiners after the end, until interrupted");
  return command;
}

void add_relay(CLI::App& app, ServeRequest& request) {
  auto* command = app.add_subcommand("relay", "run a relay by itself: workers and viewers dial in");
  add_serving(command, request);
  command->add_option("--worker-join-file", request.worker_join_file,
                      "write what a worker needs to this file: the run's secret, without which none can send");
  command->add_option("--spool", request.spool, "the workers' spool directory, if it can be reached from here");
  command->add_option("--record", request.record, "write a recording");
}

int run(int argc, char** argv) {
  CLI::App app("Rankscope's recordings: look into them, mend, cut, convert and replay them.");
  app.require_subcommand(1);
  app.set_version_flag("--version", RANKSCOPE_VERSION);
  std::string trace, output, join_file, revoked;
  bool json = false;
  ExportRequest exporting;
  CutRequest cutting;
  ServeRequest serving;

  auto* info = app.add_subcommand("info", "what a recording holds, without reading all of it");
  add_trace(info, trace);
  add_json(info, json);
  auto* stats = app.add_subcommand("stats", "the run's numbers: bubble, time, memory, traffic");
  add_trace(stats, trace);
  add_json(stats, json);
  auto* export_command = add_export(app, exporting);
  auto* recover_command = app.add_subcommand("recover", "rewrite a damaged or unfinished recording as a whole one");
  add_trace(recover_command, trace);
  add_output(recover_command, output);
  add_json(recover_command, json);
  auto* cut_command = add_cut(app, cutting);
  auto* replay_command = add_replay(app, serving);
  add_relay(app, serving);
  auto* revoke_command = app.add_subcommand(
      "revoke",
      "take back a key while the run or the class goes on: its connections are closed, and no new one comes in");
  revoke_command->add_option("JOIN-FILE", join_file, "that the run, the relay or the class wrote")->required();
  revoke_command->add_option("KEY", revoked,
                             "a public key, or in a class the name of a student; without it the join file's own key");

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "rankscope-trace: " << message_line(error.what()) << "; see rankscope-trace --help" << std::endl;
    return bad_input;
  }
  if (*info) return show_info(trace, json);
  if (*stats) return show_stats(trace, json);
  if (*export_command) return export_trace(exporting);
  if (*recover_command) return recover(trace, output, json);
  if (*cut_command) return cut(cutting);
  if (*revoke_command) return revoke(join_file, revoked);
  if (*replay_command) return replay_trace(serving);
  return run_relay(serving);
}

}  // namespace

int main(int argc, char** argv) {
  end_when_memory_runs_out();
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  if (std::signal(SIGHUP, ask_to_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // `nohup` stays
  try {
    return run(argc, argv);
  } catch (const rankscope::InputError& error) {
    std::cerr << message_line(error.what()) << std::endl;
    return bad_input;
  } catch (const rankscope::TraceError& error) {
    std::cerr << message_line(error.what()) << std::endl;
    return bad_input;
  } catch (const rankscope::JoinError& error) {
    std::cerr << "rankscope-trace: " << message_line(error.what()) << std::endl;
    return bad_input;
  } catch (const std::exception& error) {
    std::cerr << "rankscope-trace: " << message_line(error.what()) << std::endl;
    return failed;
  }
}
