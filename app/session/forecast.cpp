// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session/forecast.hpp"

#include "telemetry/event/event_sender.hpp"

namespace rankscope::app {
namespace {

template <class Forecast>
std::shared_ptr<const StoreView> filled(const Forecast& forecast) {
  RunStore store;
  EventSender filler(store);
  forecast([&](int rank, Event event) { filler.add(rank, std::move(event)); });
  return store.view();
}

}  // namespace

std::shared_ptr<const StoreView> forecast_store(const Scenario& scenario, const std::vector<RankProgram>& programs,
                                                const std::vector<Span>& spans) {
  return filled([&](const EventPublisher& publish) { publish_forecast(scenario, programs, spans, publish); });
}

std::shared_ptr<const StoreView> folded_store(const Scenario& scenario, double step_seconds) {
  return filled([&](const EventPublisher& publish) { publish_folded_forecast(scenario, step_seconds, publish); });
}

}  // namespace rankscope::app
