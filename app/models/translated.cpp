// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/models/translated.hpp"

#include <algorithm>

namespace rankscope {
namespace {

/// The engine's names that the window shows, listed for translators.
[[maybe_unused]] constexpr const char* engine_names[] = {
    // kinds of ops and of boxes
    QT_TRANSLATE_NOOP("Models", "forward"),
    QT_TRANSLATE_NOOP("Models", "backward"),
    QT_TRANSLATE_NOOP("Models", "weight gradient"),
    QT_TRANSLATE_NOOP("Models", "input gradient"),
    QT_TRANSLATE_NOOP("Models", "recompute"),
    QT_TRANSLATE_NOOP("Models", "send, receive"),
    QT_TRANSLATE_NOOP("Models", "send"),
    QT_TRANSLATE_NOOP("Models", "receive"),
    QT_TRANSLATE_NOOP("Models", "collective"),
    QT_TRANSLATE_NOOP("Models", "optimizer"),
    QT_TRANSLATE_NOOP("Models", "load batch"),
    QT_TRANSLATE_NOOP("Models", "check"),
    // times and causes
    QT_TRANSLATE_NOOP("Models", "compute"),
    QT_TRANSLATE_NOOP("Models", "tensor"),
    QT_TRANSLATE_NOOP("Models", "pipeline"),
    QT_TRANSLATE_NOOP("Models", "data"),
    QT_TRANSLATE_NOOP("Models", "zero"),
    QT_TRANSLATE_NOOP("Models", "bubble"),
    QT_TRANSLATE_NOOP("Models", "other"),
    QT_TRANSLATE_NOOP("Models", "unknown"),
    QT_TRANSLATE_NOOP("Models", "warm up"),
    QT_TRANSLATE_NOOP("Models", "first gradient"),
    QT_TRANSLATE_NOOP("Models", "cool down"),
    QT_TRANSLATE_NOOP("Models", "schedule"),
    QT_TRANSLATE_NOOP("Models", "peers"),
    QT_TRANSLATE_NOOP("Models", "imbalance"),
    QT_TRANSLATE_NOOP("Models", "exposed communication"),
    QT_TRANSLATE_NOOP("Models", "straggler"),
    QT_TRANSLATE_NOOP("Models", "workers"),
    QT_TRANSLATE_NOOP("Models", "overhead"),
    // memory
    QT_TRANSLATE_NOOP("Models", "parameters"),
    QT_TRANSLATE_NOOP("Models", "gradients"),
    QT_TRANSLATE_NOOP("Models", "activations"),
    QT_TRANSLATE_NOOP("Models", "buffers"),
    QT_TRANSLATE_NOOP("Models", "workspace"),
    QT_TRANSLATE_NOOP("Models", "context"),
    QT_TRANSLATE_NOOP("Models", "unclassified"),
    QT_TRANSLATE_NOOP("Models", "host"),
    // purposes
    QT_TRANSLATE_NOOP("Models", "data gradient"),
    QT_TRANSLATE_NOOP("Models", "zero parameter"),
    QT_TRANSLATE_NOOP("Models", "zero gradient"),
    QT_TRANSLATE_NOOP("Models", "pipeline forward"),
    QT_TRANSLATE_NOOP("Models", "pipeline backward"),
    QT_TRANSLATE_NOOP("Models", "embedding"),
    QT_TRANSLATE_NOOP("Models", "norm"),
    QT_TRANSLATE_NOOP("Models", "loss"),
    QT_TRANSLATE_NOOP("Models", "server"),
    QT_TRANSLATE_NOOP("Models", "data parameter"),
    QT_TRANSLATE_NOOP("Models", "batch"),
    QT_TRANSLATE_NOOP("Models", "offload"),
    QT_TRANSLATE_NOOP("Models", "alone"),
    // how it was obtained
    QT_TRANSLATE_NOOP("Models", "simulated"),
    QT_TRANSLATE_NOOP("Models", "emulated"),
    QT_TRANSLATE_NOOP("Models", "measured"),
    QT_TRANSLATE_NOOP("Models", "strong"),
    QT_TRANSLATE_NOOP("Models", "weak"),
};

}  // namespace

std::string named(std::string_view name) {
  std::string english(name);
  std::replace(english.begin(), english.end(), '_', ' ');
  return translated(english.c_str());
}

}  // namespace rankscope
