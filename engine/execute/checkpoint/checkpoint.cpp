#include "engine/execute/checkpoint/checkpoint.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <libdeflate.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/host/excerpt.hpp"
#include "engine/op/words.hpp"
#include "engine/plan/model/part.hpp"
#include "engine/plan/scenario/read.hpp"
#include "kernels/tensor/element.hpp"

namespace rankscope {
namespace {

namespace fs = std::filesystem;

constexpr int version = 1;
constexpr const char* manifest_name = "manifest.json";
constexpr const char* partial_suffix = ".partial";
constexpr const char* manifest_crc = "crc32";  // of the manifest without this key, as nlohmann writes it on one line

std::string file_name(int rank) { return fmt::format("rank-{}.safetensors", rank); }

const ParameterSpec& spec_of(const Model& model, int parameter) {
  return model.parameters.at(static_cast<std::size_t>(parameter));
}

/// See the header.
std::string name_of(const CheckpointTensor& tensor, const Model& model) {
  if (tensor.parameter < 0) return tensor.role;
  const ParameterSpec& spec = spec_of(model, tensor.parameter);
  std::string name = tensor.role.empty() ? spec.name : tensor.role + ":" + spec.name;
  const bool whole = spec.split.axis < 0 && tensor.first == 0 && tensor.is_whole;
  if (!whole) name += fmt::format("@{}+{}", tensor.tensor, tensor.first);
  return name;
}

/// The parts of a name. Throws std::invalid_argument.
struct NameParts {
  std::string role, parameter;
  int tensor = 0;
  std::int64_t first = 0;
};
NameParts parts_of(std::string name) {
  NameParts parts;
  const auto number = [&](const std::string& text, auto& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < 0) throw std::invalid_argument(name);
  };
  if (const std::size_t at = name.find('@'); at != std::string::npos) {
    const std::size_t plus = std::min(name.find('+', at), name.size() - 1);
    number(name.substr(at + 1, plus - at - 1), parts.tensor);
    number(name.substr(plus + 1), parts.first);
    name.resize(at);
  }
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) {
    parts.role = name.substr(0, colon);
    name.erase(0, colon + 1);
  }
  parts.parameter = name;
  return parts;
}

[[noreturn]] void fail(const fs::path& path, const std::string& why) {
  throw CheckpointError(path.string() + ": " + why);
}

void sync_directory(const fs::path& path) {
  const int directory = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  fsync(directory);
  close(directory);
}

std::uint32_t crc_of(const nlohmann::ordered_json& manifest) {
  const std::string text = manifest.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return libdeflate_crc32(0, text.data(), text.size());
}

/// True for exactly one rank of all that find the files complete: it writes the manifest.
bool write_manifest(const fs::path& directory, const Scenario& scenario, std::int64_t steps_done) {
  const fs::path path = directory / manifest_name;
  const int manifest_file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (manifest_file < 0 && (errno == EEXIST || errno == ENOENT)) return false;
  if (manifest_file < 0) fail(path, std::string("cannot be written: ") + std::strerror(errno));
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  std::string text;
  try {
    for (int rank = 0; rank < scenario.plan.ranks(); ++rank) {
      const SafetensorsFile file((directory / file_name(rank)).string());
      files.push_back({{"name", file_name(rank)}, {"header_crc32", file.header_crc()}});
    }
    nlohmann::ordered_json manifest{{"rankscope-checkpoint", version},
                                    {"steps_done", steps_done},
                                    {"ranks", scenario.plan.ranks()},
                                    {"scenario", to_toml(scenario)},
                                    {"files", files}};
    manifest[manifest_crc] = crc_of(manifest);
    text = manifest.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  } catch (...) {
    close(manifest_file);
    throw;
  }
  const bool written =
      write(manifest_file, text.data(), text.size()) == static_cast<ssize_t>(text.size()) && fsync(manifest_file) == 0;
  close(manifest_file);
  if (!written) fail(path, std::string("cannot be written: ") + std::strerror(errno));
  return true;
}

/// Gives the directory its final name. An older directory of that name is replaced: a run that continued from an
/// earlier checkpoint writes this one again, perhaps because it was damaged.
void name_directory(const fs::path& partial, const fs::path& complete) {
  const fs::path older = complete.string() + ".older" + partial_suffix;
  std::error_code error;
  if (fs::exists(complete)) {
    fs::remove_all(older, error);
    fs::rename(complete, older);
  }
  fs::rename(partial, complete);
  sync_directory(complete.parent_path());
  fs::remove_all(older, error);
}

bool is_checkpoint(const fs::path& directory) {
  std::error_code error;
  return directory.filename().string().starts_with("step-") && directory.extension() != partial_suffix &&
         fs::exists(directory / manifest_name, error);
}

/// Elements [begin, end) of the complete tensor, and their position in the tensor that stores them.
struct Stretch {
  std::int64_t begin = 0, end = 0, local = 0;
};

/// Without padding, ascending in `begin`.
std::vector<Stretch> stretches_of(const CheckpointTensor& tensor, const Model& model, std::int64_t elements) {
  if (tensor.parameter < 0 || !tensor.elementwise) return {{tensor.first, tensor.first + elements, 0}};
  std::vector<Stretch> stretches;
  for (const ElementRun& run : element_runs(spec_of(model, tensor.parameter), tensor.tensor, tensor.first, elements))
    if (!run.is_padding()) stretches.push_back({run.global, run.global + run.count, run.local});
  std::sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
  return stretches;
}

void copy(const View& to, std::int64_t to_first, const View& from, std::int64_t from_first, std::int64_t count) {
  if (to.type == from.type) {
    const std::int64_t size = bytes_of(to.type);
    std::memcpy(to.as<std::byte>() + to_first * size, from.as<std::byte>() + from_first * size,
                static_cast<std::size_t>(count * size));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) set_element(to, to_first + i, element(from, from_first + i));
}

}  // namespace

std::string checkpoint_name(std::int64_t steps_done) { return fmt::format("step-{:08}", steps_done); }

void write_checkpoint(const std::string& folder, const Scenario& scenario, const Model& model, int rank,
                      std::int64_t steps_done, const std::vector<CheckpointTensor>& tensors, int kept) {
  const fs::path complete = fs::path(folder) / checkpoint_name(steps_done);
  const fs::path partial = complete.string() + partial_suffix;
  try {
    fs::create_directories(partial);
    std::vector<NamedView> named;
    for (const CheckpointTensor& tensor : tensors) named.push_back({name_of(tensor, model), tensor.view});
    const fs::path path = partial / file_name(rank), fresh = path.string() + ".partial";
    write_safetensors(fresh.string(), named, {{"rank", std::to_string(rank)}});
    fs::rename(fresh, path);

    for (int r = 0; r < scenario.plan.ranks(); ++r)
      if (!fs::exists(partial / file_name(r))) return;
    if (!write_manifest(partial, scenario, steps_done)) return;
    sync_directory(partial);
    name_directory(partial, complete);
    const std::vector<std::string> all = checkpoints_in(folder);
    for (std::size_t i = 0; i + static_cast<std::size_t>(kept) < all.size(); ++i) fs::remove_all(all[i]);
  } catch (const std::exception& e) {
    const auto* io = dynamic_cast<const fs::filesystem_error*>(&e);
    if (io) fail(partial, "cannot be written: " + io->code().message());
    throw;
  }
}

std::vector<std::string> checkpoints_in(const std::string& folder) {
  if (is_checkpoint(fs::absolute(folder).lexically_normal())) return {folder};
  std::vector<std::string> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (is_checkpoint(entry.path())) found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

void remove_partial_checkpoints(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> partial;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("step-") && entry.path().extension() == partial_suffix)
      partial.push_back(entry.path());
  for (const fs::path& path : partial) fs::remove_all(path, error);
}

Checkpoint::Checkpoint(const std::string& directory) : directory_(directory) {
  const fs::path path = fs::path(directory) / manifest_name;
  std::ifstream text(path);
  if (!text) fail(directory, "is no checkpoint: it has no manifest.json");
  int ranks = 0;
  std::map<std::string, std::uint32_t> header_crcs;
  try {
    nlohmann::ordered_json manifest = nlohmann::ordered_json::parse(text);
    if (manifest.at("rankscope-checkpoint") != version)
      fail(path, fmt::format("version {} is not known; this reader knows {}",
                             manifest.at("rankscope-checkpoint").dump(), version));
    steps_done_ = manifest.at("steps_done").get<std::int64_t>();
    ranks = manifest.at("ranks").get<int>();
    scenario_ = parse_recorded_scenario(manifest.at("scenario").get<std::string>());
    model_ = make_model(scenario_);
    has_checked_headers_ = manifest.contains("files");
    if (has_checked_headers_) {
      for (const auto& file : manifest.at("files"))
        header_crcs[file.at("name").get<std::string>()] = file.at("header_crc32").get<std::uint32_t>();
      const auto stored_crc = manifest.at(manifest_crc).get<std::uint32_t>();
      manifest.erase(manifest_crc);
      if (crc_of(manifest) != stored_crc) fail(path, "is damaged: it does not have the crc32 that it says");
    }
  } catch (const CheckpointError&) {
    throw;
  } catch (const nlohmann::json::exception& e) {
    fail(path, "is damaged: " + json_fault(e.what()));
  } catch (const std::exception& e) {
    fail(path, "is damaged: " + excerpt(e.what(), 200));
  }
  std::map<std::string, int> index;
  for (std::size_t p = 0; p < model_.parameters.size(); ++p) index[model_.parameters[p].name] = static_cast<int>(p);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::string file_path = (fs::path(directory) / file_name(rank)).string();
    const SafetensorsFile& file = *files_.emplace_back(std::make_unique<SafetensorsFile>(file_path));
    if (has_checked_headers_) {
      const auto stored_crc = header_crcs.find(file_name(rank));
      if (stored_crc == header_crcs.end()) fail(path, "is damaged: it does not name " + file_name(rank));
      if (stored_crc->second != file.header_crc())
        fail(file_path, "is damaged: its header does not have the crc32 that the manifest says");
    }
    file.check();
    for (const auto& [name, tensor] : file.tensors()) {
      Stored stored{&file, tensor, 0, 0};
      std::string role = name;
      int parameter = -1;
      try {
        const NameParts parts = parts_of(name);
        if (const auto found = index.find(parts.parameter); found != index.end()) {
          role = parts.role;
          parameter = found->second;
          stored.coordinate = parts.tensor;
          stored.first = parts.first;
        }
      } catch (const std::invalid_argument&) {
        fail(file_path, "holds '" + name + "', which names no tensor of a checkpoint");
      }
      stored_[{role, parameter}].push_back(stored);
    }
  }
}

WholeCheckpoint newest_whole_checkpoint(const std::string& folder) {
  WholeCheckpoint found;
  std::vector<std::string> all = checkpoints_in(folder);
  for (; !all.empty() && !found.checkpoint; all.pop_back()) try {
      found.checkpoint.emplace(all.back());
    } catch (const CheckpointError& damage) {
      found.passed_over.emplace_back(damage.what());
    }
  return found;
}

std::string no_whole_checkpoint(const std::string& folder, const WholeCheckpoint& looked_for) {
  if (looked_for.passed_over.empty()) return folder + ": there is no complete checkpoint";
  std::string why;
  for (const std::string& damage : looked_for.passed_over) why += (why.empty() ? "" : "; ") + damage;
  return folder + ": no checkpoint is whole: " + why;
}

std::optional<std::array<double, 3>> Checkpoint::loss_scale() const {
  std::array<double, 3> state{};
  CheckpointTensor tensor;
  tensor.role = loss_scale_role;
  tensor.view = {state.data(), DType::f64, Shape{3}};
  if (!read(tensor, model_)) return std::nullopt;
  return state;
}

std::int64_t Checkpoint::skipped_updates() const {
  const auto state = loss_scale();
  return state ? steps_done_ - static_cast<std::int64_t>((*state)[2]) : 0;
}

std::optional<std::string> Checkpoint::find_mismatch(const Scenario& wanted) const {
  const auto differs = [&](const char* key, const auto& here, const auto& there) {
    return fmt::format("{} was written with {} = {}, and the scenario has {}; make them equal", directory_, key, here,
                       there);
  };
  const ModelSpec &a = scenario_.model, &b = wanted.model;
  if (a.kind != b.kind) return differs("model.kind", a.kind.name(), b.kind.name());
  if (a.layers != b.layers) return differs("model.layers", a.layers, b.layers);
  if (a.width != b.width) return differs("model.width", a.width, b.width);
  if (a.image != b.image) return differs("model.image", a.image, b.image);
  if (a.classes != b.classes) return differs("model.classes", a.classes, b.classes);
  if (a.heads != b.heads) return differs("model.heads", a.heads, b.heads);
  if (a.heads_of_keys() != b.heads_of_keys())
    return differs("model.key_value_heads", a.heads_of_keys(), b.heads_of_keys());
  if (a.mlp_width() != b.mlp_width()) return differs("model.inner", a.mlp_width(), b.mlp_width());
  if (a.rope_theta != b.rope_theta) return differs("model.rope_theta", a.rope_theta, b.rope_theta);
  if (a.norm_epsilon != b.norm_epsilon) return differs("model.norm_epsilon", a.norm_epsilon, b.norm_epsilon);
  if (a.context != b.context) return differs("model.context", a.context, b.context);
  if (a.vocabulary != b.vocabulary) return differs("model.vocabulary", a.vocabulary, b.vocabulary);
  if (a.tied != b.tied) return differs("model.tied", a.tied, b.tied);
  const TrainSpec &x = scenario_.train, &y = wanted.train;
  if (x.optimizer != y.optimizer) return differs("train.optimizer", x.optimizer, y.optimizer);
  // This and the step number determine the samples of a step.
  if (x.global_batch != y.global_batch) return differs("train.global_batch", x.global_batch, y.global_batch);
  const int here = scenario_.plan.updates_a_step(), there = wanted.plan.updates_a_step();
  if (here != there)
    return fmt::format(
        "{} was written by a plan of {} a step, and the scenario's makes {}, so that the optimizer would count them "
        "wrongly; use schedule = \"{}\" and micro_batches = {}",
        directory_, counted(here, "update"), there, scenario_.plan.schedule.name(), scenario_.plan.micro_batches);
  return std::nullopt;
}

const std::vector<Checkpoint::Stored>* Checkpoint::find(const std::string& role, int parameter) const {
  const auto found = stored_.find({role, parameter});
  return found == stored_.end() ? nullptr : &found->second;
}

bool Checkpoint::read(const CheckpointTensor& target, const Model& model) const {
  const std::vector<Stored>* pieces = find(target.role, target.parameter);
  if (!pieces) return false;
  const std::vector<Stretch> wanted = stretches_of(target, model, target.view.elements());
  std::int64_t missing = 0;
  for (const Stretch& stretch : wanted) missing += stretch.end - stretch.begin;
  std::vector<std::byte> bytes;
  for (const Stored& piece : *pieces) {
    const std::int64_t elements = piece.tensor.shape.elements();
    bytes.resize(elements * bytes_of(piece.tensor.type));
    bool loaded = false;
    const View from{bytes.data(), piece.tensor.type, {elements}};
    CheckpointTensor as_stored = target;
    as_stored.tensor = piece.coordinate;
    as_stored.first = piece.first;
    const std::vector<Stretch> stored = stretches_of(as_stored, model_, elements);
    auto there = stored.begin();
    for (const Stretch& requested : wanted) {
      while (there != stored.end() && there->end <= requested.begin) ++there;
      for (auto s = there; s != stored.end() && s->begin < requested.end; ++s) {
        const std::int64_t begin = std::max(requested.begin, s->begin), end = std::min(requested.end, s->end);
        if (begin >= end) continue;
        if (!loaded) piece.file->read(piece.tensor, 0, elements, bytes.data());
        loaded = true;
        copy(target.view, requested.local + begin - requested.begin, from, s->local + begin - s->begin, end - begin);
        missing -= end - begin;
      }
    }
  }
  if (missing != 0) {
    const std::string what = target.parameter < 0 ? target.role : name_of(target, model);
    fail(directory_, fmt::format("lacks {} of '{}'", counted(missing, "element"), what));
  }
  return true;
}

}  // namespace rankscope
