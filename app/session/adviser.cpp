// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/adviser.hpp"

namespace rankscope::app {
namespace {

constexpr int patience_ms = 300;  // while a stepper is held down, only its last plan is requested

}  // namespace

Adviser::Adviser(QObject* parent) : QObject(parent), worker_([this](const Answer& answer) { take(answer); }) {
  patience_.setSingleShot(true);
  patience_.setInterval(patience_ms);
  connect(&patience_, &QTimer::timeout, this, &Adviser::start);
}

Adviser::~Adviser() { ++*number_; }

void Adviser::ask(const Scenario& scenario) {
  drop();
  asked_ = true;
  wanted_ = scenario;
  patience_.start();
  emit changed();
}

void Adviser::drop() {
  ++*number_;
  asked_ = false;
  wanted_.reset();
  patience_.stop();
  if (latest_ == nullptr) return;
  latest_ = nullptr;
  emit changed();
}

void Adviser::start() {
  if (!wanted_) return;
  const std::uint64_t number = *number_;
  worker_.request([scenario = *std::exchange(wanted_, std::nullopt), number, now = number_]() -> Answer {
    try {
      return {number, std::make_shared<const Alternatives>(alternatives_to(scenario, [&] { return *now == number; }))};
    } catch (const std::exception&) {
      return {number, nullptr};  // a plan that cannot run: the prediction gives the reason
    }
  });
}

void Adviser::take(const Answer& answer) {
  if (answer.number != *number_) return;
  latest_ = answer.alternatives;
  emit changed();
}

}  // namespace rankscope::app
