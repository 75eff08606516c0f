// rankscope-trace: what to do with a recording.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/memory.hpp"
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

int run(int argc, char** argv) {
  CLI::App app("Rankscope's recordings: look into them, mend, cut, convert and replay them.");
  app.require_subcommand(1);
  app.set_version_flag("--version", RANKSCOPE_VERSION);

  std::string trace, output;
  bool json = false;
  const auto add_trace = [&](CLI::App* command, std::string& into) {
    command->add_option("TRACE", into, "a recording (MCAP)")->required();
  };
  const auto add_json = [&](CLI::App* command) {
    command->add_flag("--json", json, "print one JSON object on standard output, and nothing else there");
  };

  auto* info = app.add_subcommand("info", "what a recording holds, without reading all of it");
  add_trace(info, trace);
  add_json(info);

  auto* stats = app.add_subcommand("stats", "the run's numbers: bubble, time, memory, traffic");
  add_trace(stats, trace);
  add_json(stats);

  ExportRequest exporting;
  auto* export_command = app.add_subcommand("export", "convert for other programs");
  add_trace(export_command, exporting.trace);
  export_command
      ->add_option("--format,--as", exporting.format,
                   "chrome (JSON, opened by Perfetto), csv, hta (a folder with a file for each rank, for "
                   "HolisticTraceAnalysis), or html (one page with time line, memory and shares, opened from disk)")
      ->check(CLI::IsMember({"chrome", "csv", "hta", "html"}));
  export_command->add_option("-o,--output", exporting.output,
                             "file to write, or folder of hta; - or nothing: standard output");
  export_command->add_option("--obtained", exporting.obtained, "only spans obtained so")
      ->check(CLI::IsMember({"measured", "emulated", "simulated"}));

  auto* recover_command = app.add_subcommand("recover", "rewrite a damaged or unfinished recording as a whole one");
  add_trace(recover_command, trace);
  recover_command->add_option("-o,--output", output, "file to write")->required();
  add_json(recover_command);

  CutRequest cutting;
  auto* cut_command = app.add_subcommand("cut", "write a part of a recording");
  add_trace(cut_command, cutting.trace);
  cut_command->add_option("-o,--output", cutting.output, "file to write")->required();
  cut_command->add_option("--steps", cutting.steps, "FIRST:LAST, both included; either may be left out");
  cut_command->add_option("--from", cutting.from, "seconds since the session's start");
  cut_command->add_option("--to", cutting.to, "seconds since the session's start");

  ServeRequest serving;
  auto* replay_command = app.add_subcommand("replay", "serve a recording to viewers as if it ran again");
  add_trace(replay_command, serving.trace);
  add_serving(replay_command, serving);
  replay_command->add_option("--speed", serving.speed, "times as fast as it happened, or max");
  replay_command->add_option("--wait", serving.wait, "begin when that many viewers are there")
      ->check(CLI::NonNegativeNumber);
  replay_command->add_flag("--stay", serving.stay, "serve late joiners after the end, until interrupted");

  auto* relay_command = app.add_subcommand("relay", "run a relay by itself: workers and viewers dial in");
  add_serving(relay_command, serving);
  relay_command->add_option("--worker-join-file", serving.worker_join_file,
                            "write what a worker needs to this file: the run's secret, without which none can send");
  relay_command->add_option("--spool", serving.spool, "the workers' spool directory, if it can be reached from here");
  relay_command->add_option("--record", serving.record, "write a recording");

  std::string join_file, revoked;
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
