// The program rankscope-trace: commands on recordings.
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>

#include "engine/base/host/excerpt.hpp"
#include "engine/base/host/memory.hpp"
#include "engine/base/host/write_watch.hpp"
#include "engine/plan/scenario/choice_option.hpp"
#include "engine/plan/scenario/whole_number_option.hpp"
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
                      "endpoint to bind, such as tcp://127.0.0.1:9871 (default: a private local socket)");
  command
      ->add_option("--join-file", request.join_files,
                   "create keys, and write a join file for viewers elsewhere; an endpoint for other machines "
                   "must have keys. If repeated, each file has its own key")
      ->take_all()
      ->allow_extra_args(false);
}

void add_trace(CLI::App* command, std::string& trace) {
  command->add_option("TRACE", trace, "recording (MCAP)")->required();
}

void add_output(CLI::App* command, std::string& output) {
  command->add_option("-o,--output", output, "file to write")->required();
}

void add_json(CLI::App* command, bool& json) {
  command->add_flag("--json", json, "print only one JSON object on standard output");
}

CLI::App* add_export(CLI::App& app, ExportRequest& request) {
  auto* command = app.add_subcommand("export", "convert for other programs");
  add_trace(command, request.trace);
  add_choice(command, "--format,--as", request.format,
             "chrome (JSON, for Perfetto), csv, hta (a folder with one file per rank, for "
             "HolisticTraceAnalysis), or html (one page with time line, memory and shares, opened from disk)");
  command->add_option("-o,--output", request.output,
                      "file to write, or folder for hta (default: - for standard output)");
  command->add_option("--obtained", request.obtained, "only spans obtained in this way")
      ->check(CLI::IsMember({"measured", "emulated", "simulated"}));
  return command;
}

CLI::App* add_import(CLI::App& app, ImportRequest& request) {
  auto* command = app.add_subcommand(
      "import", "write the traces of a run of PyTorch (torch.profiler's, one of each rank) as a recording");
  command->add_option("TRACE", request.inputs, "trace (.json or .json.gz), or a folder of them")->required();
  add_output(command, request.output);
  add_json(command, request.json);
  return command;
}

CLI::App* add_cut(CLI::App& app, CutRequest& request) {
  auto* command = app.add_subcommand("cut", "write a part of a recording");
  add_trace(command, request.trace);
  add_output(command, request.output);
  command->add_option("--steps", request.steps, "FIRST:LAST, both included; either may be omitted");
  command->add_option("--from", request.from, "seconds since the session's start");
  command->add_option("--to", request.to, "seconds since the session's start");
  return command;
}

CLI::App* add_replay(CLI::App& app, ServeRequest& request) {
  auto* command = app.add_subcommand("replay", "serve a recording to viewers like a live run");
  add_trace(command, request.trace);
  add_serving(command, request);
  command->add_option("--speed", request.speed, "speed factor, or max");
  command->add_option("--wait", request.wait, "begin when this many viewers have joined")->check(whole_number(0));
  command->add_flag("--stay", request.stay, "serve late joiners after the end, until interrupted");
  return command;
}

void add_relay(CLI::App& app, ServeRequest& request) {
  auto* command = app.add_subcommand("relay", "run a separate relay that workers and viewers connect to");
  add_serving(command, request);
  command->add_option("--worker-join-file", request.worker_join_file,
                      "write a join file for workers, with the secret that they need to send");
  command->add_option("--spool", request.spool, "the workers' spool folder, if this machine can read it");
  command->add_option("--record", request.record, "write a recording");
}

int run(int argc, char** argv) {
  CLI::App app("Rankscope's recordings: inspect, repair, cut, convert and replay them.");
  app.require_subcommand(1);
  app.set_version_flag("--version", RANKSCOPE_VERSION);
  std::string trace, output, join_file, revoked;
  bool json = false;
  ExportRequest exporting;
  ImportRequest importing;
  CutRequest cutting;
  ServeRequest serving;

  auto* info = app.add_subcommand("info", "show the contents of a recording without reading all of it");
  add_trace(info, trace);
  add_json(info, json);
  auto* stats = app.add_subcommand("stats", "show the figures of the run: bubble, time, memory, traffic");
  add_trace(stats, trace);
  add_json(stats, json);
  auto* export_command = add_export(app, exporting);
  auto* import_command = add_import(app, importing);
  auto* recover_command = app.add_subcommand("recover", "rewrite a damaged or unfinished recording as a complete one");
  add_trace(recover_command, trace);
  add_output(recover_command, output);
  add_json(recover_command, json);
  auto* cut_command = add_cut(app, cutting);
  auto* replay_command = add_replay(app, serving);
  add_relay(app, serving);
  auto* revoke_command = app.add_subcommand(
      "revoke", "revoke a key during a run or a class: its connections are closed, and new ones are refused");
  revoke_command->add_option("JOIN-FILE", join_file, "join file written by the run, the relay or the class")
      ->required();
  revoke_command->add_option("KEY", revoked,
                             "a public key, or in a class the name of a student (default: the key of the join file)");

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
  if (*import_command) return import_traces(importing);
  if (*recover_command) return recover(trace, output, json);
  if (*cut_command) return cut(cutting);
  if (*revoke_command) return revoke(join_file, revoked);
  if (*replay_command) return replay_trace(serving);
  return run_relay(serving);
}

int run_program(int argc, char** argv) {
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

}  // namespace

int main(int argc, char** argv) {
  end_when_memory_runs_out();
  std::signal(SIGINT, ask_to_stop);
  std::signal(SIGTERM, ask_to_stop);
  if (std::signal(SIGHUP, ask_to_stop) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // `nohup` stays
  WriteWatch output(std::cout);
  return status_with_output(run_program(argc, argv), output, "rankscope-trace");
}
