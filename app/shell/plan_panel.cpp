// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/shell/plan_panel.hpp"

#include <QDoubleSpinBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QScrollBar>
#include <algorithm>

#include "app/session/hand_order.hpp"
#include "app/shell/proof_section.hpp"
#include "app/views/common/parts.hpp"
#include "app/views/common/style.hpp"
#include "app/views/common/text.hpp"
#include "engine/plan/scenario/keys.hpp"

namespace rankscope::app {
namespace {

constexpr int plan_margin = 12, narrowest_plan = 240;
constexpr int most_bytes = 1 << 30;  ///< limit of this field, for a collective alone
constexpr int longest_label = 15;    ///< letters of a label that stay in one line: the panel is narrow

QLabel* make_cell(const QString& words, const char* role, QWidget* parent, Qt::Alignment align = Qt::AlignLeft) {
  auto* label = new QLabel(words, parent);
  label->setProperty("role", QLatin1String(role));
  label->setAlignment(align | Qt::AlignVCenter);
  return label;
}

/// The value of a key of that type.
template <class T>
T& value_in(Scenario& scenario, const Key& key) {
  return *std::get<T*>(key.field(scenario));
}
template <class T>
T value_of(Scenario scenario, const Key& key) {
  return value_in<T>(scenario, key);
}

QFrame* make_rule(QWidget* parent) {
  auto* rule = new QFrame(parent);
  rule->setProperty("role", QStringLiteral("rule"));
  return rule;
}

}  // namespace

PlanPanel::PlanPanel(Session& session, QWidget* parent) : QScrollArea(parent), session_(session) {
  setObjectName(QStringLiteral("rightPanel"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);

  auto* page = new QWidget;
  auto* column = column_in(page, 10, {plan_margin, 8, plan_margin, 16});

  auto* head = new QHBoxLayout;
  heading_ = make_cell(tr("Plan"), "heading", page);
  head->addWidget(heading_);
  head->addStretch(1);
  as_text_ = make_link(tr("Edit schedule order…"), page);
  as_text_->setToolTip(tr("Write the order of each stage's forward and backward passes by hand"));
  connect(as_text_, &QPushButton::clicked, this, &PlanPanel::text_wanted);
  back_ = new QPushButton(tr("Reset to file"), page);
  back_->setToolTip(tr("Undo the changes to the plan"));
  connect(back_, &QPushButton::clicked, this, [this] { session_.revert(); });
  head->addWidget(back_);
  column->addLayout(head);

  auto* form = new QGridLayout;
  form->setColumnStretch(1, 1);
  form->setHorizontalSpacing(10);
  form->setVerticalSpacing(6);
  add_fields(*form);
  column->addLayout(form);
  note_ = make_cell({}, "bad", page);
  note_->setWordWrap(true);
  note_->setTextFormat(Qt::PlainText);  // it may quote what was typed
  note_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  column->addWidget(note_);

  column->addWidget(make_rule(page));
  auto* table = new QGridLayout;
  table->setHorizontalSpacing(8);
  table->setVerticalSpacing(8);
  table->setColumnStretch(0, 1);
  table->addWidget(make_cell(tr("This plan"), "heading", page), 0, 0);
  table->addWidget(make_cell(tr("ideal"), "dim", page, Qt::AlignRight), 0, 1);
  table->addWidget(make_cell(tr("predicted"), "dim", page, Qt::AlignRight), 0, 2);
  run_column_ = make_cell(tr("measured"), "dim", page, Qt::AlignRight);
  table->addWidget(run_column_, 0, 3);
  for (int row = 0; row < plan_row_count; ++row) {
    std::array<QLabel*, 4> cells{};
    for (int i = 0; i < 4; ++i) {
      cells[static_cast<std::size_t>(i)] =
          make_cell({}, i == 3 ? "text" : "dim", page, i == 0 ? Qt::AlignLeft : Qt::AlignRight);
      table->addWidget(cells[static_cast<std::size_t>(i)], row + 1, i);
      cells[static_cast<std::size_t>(i)]->setWordWrap(i == 0);
    }
    cells_.push_back(cells);
  }
  column->addLayout(table);
  column->addWidget(make_rule(page));
  advice_ = new AlternativesList(adviser_, page);
  connect(advice_, &AlternativesList::show_anyway_wanted, this, &PlanPanel::show_anyway_wanted);
  connect(advice_, &AlternativesList::wanted, this,
          [this](const PlanSpec& plan) { edit([&](Scenario& scenario) { scenario.plan = plan; }); });
  column->addWidget(advice_);
  column->addWidget(make_rule(page));
  column->addWidget(new ProofSection(session, page));
  column->addStretch(1);
  setWidget(page);
  connect(&session, &Session::scenario_changed, this, &PlanPanel::take_scenario);
  connect(&session, &Session::state_changed, this, &PlanPanel::take_state);
  connect(&session.figures(), &FiguresModel::changed, this, &PlanPanel::take_figures);
  take_scenario();
  take_figures();
}

void PlanPanel::set_theme(Theme) { take_figures(); }

void PlanPanel::set_heading_visible(bool visible) { heading_->setVisible(visible); }

// The narrowest width that cuts nothing: fields and the table's numbers at their current widths, and the scroll bar. It
// never shrinks again, so that changing numbers do not move the neighbours.
void PlanPanel::fit_width() {
  // Nested layouts still count a field that was just hidden.
  for (QLayout* part : widget()->findChildren<QLayout*>()) part->invalidate();
  const int needed = widget()->minimumSizeHint().width() + verticalScrollBar()->sizeHint().width() + 2;
  setMinimumWidth(std::max({narrowest_plan, minimumWidth(), needed}));
}

void PlanPanel::add_fields(QGridLayout& form) {
  const Applies trains = [](const Scenario& s) { return !s.model.is_collective(); };
  const Applies alone = [](const Scenario& s) { return s.model.is_collective(); };
  const Applies rooted = [](const Scenario& s) {
    return s.model.is_collective() && has_root(s.model.operation_kind());
  };
  const Applies servers = [](const Scenario& s) { return s.plan.has_servers(); };
  const Applies staged = [](const Scenario& s) { return s.plan.pipeline > 1 || s.plan.virtual_stages > 1; };
  add_key(form, "model.operation", tr("operation"), tr("The collective that is run in each step"), alone);
  add_key(form, "model.bytes", tr("bytes"),
          tr("Size of the whole tensor; some collectives split it into one part per rank"), alone, most_bytes);
  add_key(form, "model.root", tr("root"), tr("The rank that sends or collects"), rooted, 1 << 10);
  add_key(form, "plan.data", tr("data"), tr("Data-parallel replicas; for a single collective, its ranks"));
  add_key(form, "plan.tensor", tr("tensor"), tr("Ranks that share every layer"), trains);
  add_key(form, "plan.sequence_parallel", tr("sequence parallel"),
          tr("Tensor ranks also split the norms and residual sums, by token position"),
          [](const Scenario& s) { return s.plan.tensor > 1 || s.plan.sequence_parallel; });
  add_key(form, "plan.pipeline", tr("pipeline"), tr("Stages that the layers are split over"), trains);
  add_key(form, "plan.virtual", tr("virtual stages"), tr("Chunks of layers per rank (interleaved schedules)"), staged,
          64);
  add_key(form, "plan.stages", tr("layers per stage"),
          tr("even; cost: equal compute; or the number of layers of each chunk, such as 3 2 2 1"), staged);
  add_key(form, "plan.micro_batches", tr("micro-batches"), tr("Parts of a replica's batch in each step"), trains,
          65535);
  add_key(form, "train.global_batch", tr("global batch"), tr("Samples per step over all replicas"), trains, 1 << 24);
  add_choice(
      form, tr("schedule"), tr("Order of a stage's forward and backward passes; by-hand: as written in the text"),
      choices("plan.schedule"), [](const Scenario& s) { return s.plan.schedule.name(); },
      [](Scenario& s, const std::string& v) { choose_schedule(s.plan, rankscope::Choice<ScheduleKind>(v)); }, trains);
  keys_.insert("plan.schedule");
  form.addWidget(as_text_, form.rowCount(), 1, Qt::AlignRight);
  add_key(form, "plan.weight_stashing", tr("weight stashing"),
          tr("Each stage keeps the weights of a micro-batch's forward until its backward"),
          [](const Scenario& s) { return s.plan.updates_each_micro_batch(); });
  add_key(form, "plan.recompute", tr("recompute"), tr("Activations that are recomputed instead of stored"), trains);
  add_key(form, "plan.recompute_blocks", tr("recompute every n-th block"),
          tr("The input of every n-th block of a chunk is stored, the rest is recomputed"),
          [](const Scenario& s) { return s.plan.recompute == Recompute::blocks; });
  add_key(form, "plan.precision", tr("precision"), tr("Element type of the computation"));
  add_key(form, "plan.logits", tr("logits"),
          tr("Type of the logits in 16 bits: wide is fp32, narrow is the type of the activations"),
          [](const Scenario& s) {
            return !s.model.is_resnet() && !s.model.is_collective() && bytes_of(s.compute_type()) == 2;
          });
  add_key(form, "plan.data_parallel", tr("data parallel"),
          tr("Where gradients are summed and parameters are updated: on every rank, on a main device, or on separate "
             "parameter servers"),
          trains);
  add_key(form, "plan.servers", tr("servers"), tr("Parameter servers; each stores an equal part of the parameters"),
          servers);
  add_key(form, "plan.staleness", tr("staleness"),
          tr("Number of steps by which a worker's parameters may be out of date; 0 is synchronous"), servers, 64);
  add_key(form, "plan.zero", tr("ZeRO stage"),
          tr("0: nothing sharded; 1: optimizer states; 2: also gradients; 3: also parameters"), trains);
  add_key(form, "plan.offload", tr("offload"),
          tr("What is stored in host memory: optimizer states, which the host then updates"), trains);
  add_key(form, "plan.collective", tr("collective"),
          tr("Algorithm of collectives: the library's own, or one with visible phases and counted bytes"));
  add_key(
      form, "plan.bucket_mib", tr("bucket, MiB"),
      tr("Size of gradients reduced together; the first bucket is at most 1 MiB"),
      [trains](const Scenario& s) { return trains(s) && (s.plan.data > 1 || s.plan.has_servers()); }, 1 << 20);
}

void PlanPanel::add_key(QGridLayout& form, const char* path, const QString& name, const QString& help, Applies applies,
                        int most) {
  const Key& key = *find_key(path);
  keys_.insert(path);
  Scenario scratch;
  const Field field = key.field(scratch);
  const double greatest = std::min<double>(most, key.range.greatest);
  if (std::holds_alternative<int*>(field))
    return add_number(form, key, name, help, std::move(applies), static_cast<int>(greatest));
  if (std::holds_alternative<double*>(field)) return add_real(form, key, name, help, std::move(applies), greatest);
  if (std::holds_alternative<std::string*>(field)) return add_words(form, key, name, help, std::move(applies));
  if (std::holds_alternative<bool*>(field))
    return add_choice(
        form, name, help, {"off", "on"},
        [&key](const Scenario& scenario) { return value_of<bool>(scenario, key) ? "on" : "off"; },
        [&key](Scenario& scenario, const std::string& v) { value_in<bool>(scenario, key) = v == "on"; },
        std::move(applies));
  add_choice(
      form, name, help, choices(path), [&key](Scenario scenario) { return written(key.field(scenario)); },
      [&key](Scenario& scenario, const std::string& v) { value_in<AnyChoice>(scenario, key).take(v); },
      std::move(applies));
}

void PlanPanel::add_field(QGridLayout& form, const QString& name, const QString& help, QWidget* box,
                          std::function<void(const Scenario&)> show, Applies applies, QWidget* buddy) {
  const int row = form.rowCount();
  auto* label = make_cell(name, "dim", this);
  label->setWordWrap(name.size() > longest_label);
  label->setToolTip(help);
  label->setBuddy(buddy);
  form.addWidget(label, row, 0);
  form.addWidget(box, row, 1);
  fields_.push_back({label, box, std::move(show), std::move(applies)});
}

void PlanPanel::add_number(QGridLayout& form, const Key& key, const QString& name, const QString& help, Applies applies,
                           int most) {
  auto* box = new Stepper(0, most, this);
  box->setToolTip(help);
  box->set_name(name);
  connect(box, &Stepper::value_changed, this,
          [this, &key](int number) { edit([&](Scenario& scenario) { value_in<int>(scenario, key) = number; }); });
  const auto show = [box, &key](const Scenario& scenario) { box->set_value(value_of<int>(scenario, key)); };
  add_field(form, name, help, box, show, std::move(applies), box->box());
}

namespace {

/// "25", not "25.000".
class RealBox : public QDoubleSpinBox {
 public:
  using QDoubleSpinBox::QDoubleSpinBox;
  QString textFromValue(double value) const override { return locale().toString(value, 'g', 10); }
};

}  // namespace

void PlanPanel::add_real(QGridLayout& form, const Key& key, const QString& name, const QString& help, Applies applies,
                         double most) {
  auto* box = new RealBox(this);
  box->setDecimals(3);
  box->setRange(0.001, most);
  box->setButtonSymbols(QAbstractSpinBox::NoButtons);
  box->setAlignment(Qt::AlignRight);
  box->setFont(number_font());
  box->setKeyboardTracking(false);
  box->setToolTip(help);
  box->setAccessibleName(name);
  connect(box, &QDoubleSpinBox::valueChanged, this,
          [this, &key](double number) { edit([&](Scenario& scenario) { value_in<double>(scenario, key) = number; }); });
  const auto show = [box, &key](const Scenario& scenario) { box->setValue(value_of<double>(scenario, key)); };
  add_field(form, name, help, box, show, std::move(applies), box);
}

void PlanPanel::add_words(QGridLayout& form, const Key& key, const QString& name, const QString& help,
                          Applies applies) {
  auto* box = new QLineEdit(this);
  box->setToolTip(help);
  box->setAccessibleName(name);
  connect(box, &QLineEdit::editingFinished, this, [this, box, &key] {
    const std::string words = box->text().trimmed().toStdString();
    if (filling_ || !session_.scenario() || value_of<std::string>(*session_.scenario(), key) == words) return;
    edit([&](Scenario& scenario) { value_in<std::string>(scenario, key) = words; });
  });
  const auto show = [box, &key, help](const Scenario& scenario) {
    const QString words = QString::fromStdString(value_of<std::string>(scenario, key));
    box->setText(words);
    // A list that is too long for the field shows its begin; the tool tip has all of it.
    box->setCursorPosition(0);
    box->setToolTip(help + QLatin1Char('\n') + words);
  };
  add_field(form, name, help, box, show, std::move(applies), box);
}

void PlanPanel::add_choice(QGridLayout& form, const QString& name, const QString& help,
                           const std::vector<std::string>& values, std::function<std::string(const Scenario&)> get,
                           std::function<void(Scenario&, const std::string&)> set, Applies applies) {
  auto* field = new ChoiceField(name, help, values, this);
  connect(field, &ChoiceField::chosen, this,
          [this, set](const QString& value) { edit([&](Scenario& scenario) { set(scenario, value.toStdString()); }); });
  const auto show = [field, get](const Scenario& scenario) { field->set_value(get(scenario)); };
  add_field(form, name, help, field, show, std::move(applies));
}

bool PlanPanel::is_settled_field(const QWidget* widget) const {
  if (widget == nullptr || !isAncestorOf(widget)) return false;
  if (const auto* box = qobject_cast<const QSpinBox*>(widget)) return box->cleanText() == QString::number(box->value());
  if (const auto* box = qobject_cast<const QDoubleSpinBox*>(widget)) return box->cleanText().toDouble() == box->value();
  if (const auto* line = qobject_cast<const QLineEdit*>(widget)) return !line->isModified();
  return false;
}

QWidget* PlanPanel::field_named(const QString& name) const {
  for (const Row& field : fields_)
    if (field.label->text() == name) return field.box;
  return nullptr;
}

void PlanPanel::edit(const std::function<void(Scenario&)>& change) {
  if (filling_ || !session_.scenario()) return;
  Scenario scenario = *session_.scenario();
  change(scenario);
  session_.edit(scenario);
}

void PlanPanel::take_scenario() {
  filling_ = true;
  for (const Row& field : fields_) {
    const bool applies = session_.scenario() && (!field.applies || field.applies(*session_.scenario()));
    field.label->setVisible(applies);
    field.box->setVisible(applies);
    if (session_.scenario()) field.show(*session_.scenario());
  }
  fit_width();
  adviser_.drop();
  filling_ = false;
  take_state();
}

void PlanPanel::take_state() {
  const bool editable = session_.scenario() && session_.spec().kind == SourceKind::scenario &&
                        session_.state() != SessionState::starting && session_.state() != SessionState::running &&
                        session_.state() != SessionState::stopping;
  for (const Row& field : fields_) field.box->setEnabled(editable);
  advice_->set_editable(editable);
  take_advice();
  as_text_->setVisible(session_.scenario() && !session_.scenario()->model.is_collective());
  back_->setVisible(session_.edited());
  back_->setEnabled(editable);
  // A folded plan is not an error.
  const auto& predicted = session_.predicted();
  const bool folded = predicted && !predicted->folded.empty() && predicted->lost.empty();
  set_style_property(*note_, "role", folded ? QStringLiteral("dim") : QStringLiteral("bad"));
  note_->setText(session_.refusal());
  note_->setVisible(!note_->text().isEmpty());
}

// Only for a predicted plan: a run, or reading a recording, needs the processor.
void PlanPanel::take_advice() {
  const SessionState state = session_.state();
  const bool quiet = state == SessionState::ready || state == SessionState::ended || state == SessionState::failed;
  if (!quiet && adviser_.asked() && adviser_.latest() == nullptr) adviser_.drop();
  const auto& predicted = session_.predicted();
  if (quiet && !adviser_.asked() && predicted && predicted->refusal.empty() && !predicted->left &&
      session_.scenario() && predicted->scenario.plan == session_.scenario()->plan)
    adviser_.ask(predicted->scenario);
}

void PlanPanel::set_hidden(const std::set<PlanRow>& rows, const QString& until) {
  if (rows == hidden_ && until == hidden_until_) return;
  hidden_ = rows;
  hidden_until_ = until;
  take_figures();
}

void PlanPanel::take_figures() {
  take_advice();
  const auto figures = session_.figures().latest();
  run_column_->setText(run_column_name(*figures));
  const QFont numbers = number_font();
  const auto lines = plan_lines(*figures);
  for (std::size_t i = 0; i < cells_.size() && i < lines.size(); ++i) {
    const bool hidden = hidden_.count(lines[i].row) > 0;
    cells_[i][0]->setText(lines[i].name);
    cells_[i][0]->setToolTip(lines[i].help);
    const QString* values[] = {&lines[i].ideal, &lines[i].predicted, &lines[i].measured};
    for (std::size_t c = 0; c < 3; ++c) {
      cells_[i][c + 1]->setText(hidden ? QStringLiteral("?") : *values[c]);
      cells_[i][c + 1]->setFont(numbers);
      cells_[i][c + 1]->setToolTip(hidden ? hidden_until_ : QString());
    }
  }
  fit_width();  // "29.4 %" is wider than the "?" before
}

QString PlanPanel::cell_text(PlanRow row, int column) const {
  return cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column) + 1]->text();
}

}  // namespace rankscope::app
