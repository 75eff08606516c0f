// SPDX-License-Identifier: GPL-3.0-or-later
// "Same training?": verifies the plan against one rank, on demand.
#pragma once
#include <QWidget>

#include "app/session/proof.hpp"
#include "app/session/session.hpp"

class QLabel;
class QPushButton;

namespace rankscope::app {

class ProofSection : public QWidget {
  Q_OBJECT
 public:
  explicit ProofSection(Session& session, QWidget* parent = nullptr);
  Proof& proof() { return proof_; }

 private:
  void take_in();

  Session& session_;
  Proof proof_;
  QLabel* heading_;
  QLabel* words_;
  QPushButton* button_;
};

}  // namespace rankscope::app
