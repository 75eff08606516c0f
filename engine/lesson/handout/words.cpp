#include "engine/lesson/handout/words.hpp"

#include <algorithm>

namespace rankscope {
namespace {

struct WordsIn {
  std::string_view english, german;
};

constexpr WordsIn translated_words[] = {
    // the sheet
    {"Name:", "Name:"},
    {"Date:", "Datum:"},
    {"Questions", "Fragen"},
    {" (teacher's edition)", " (Ausgabe für Lehrende)"},
    {"For the teacher", "Für Lehrende"},
    {"{} minutes.", "{} Minuten."},
    {"After: {}.", "Nach: {}."},
    {"The step of this lesson is not simulated here: {}", "Der Schritt dieser Lektion wird hier nicht simuliert: {}"},
    // a question
    {"Answer:", "Antwort:"},
    {"How:", "Rechenweg:"},
    {"Number them in their order:", "Nummerieren Sie in der richtigen Reihenfolge:"},
    {"Draw a value for each step, of {}, on an axis from 0 to {}.",
     "Zeichnen Sie einen Wert für jeden von {} Schritten auf einer Achse von 0 bis {}."},
    {"Draw a value for each rank, of {}, on an axis from 0 to {}.",
     "Zeichnen Sie einen Wert für jeden von {} Ranks auf einer Achse von 0 bis {}."},
    {"Rank", "Rank"},
    {"op", "Op"},
    {"Link: of or from", "Verbindung: von"},
    {"to", "nach"},
    {"a field to draw on", "ein Feld zum Zeichnen"},
    // an answer
    {"known after a run", "nach einem Lauf bekannt"},
    {"formula:", "Formel:"},
    {"with:", "mit:"},
    {"Formula:", "Formel:"},
    {"With:", "Mit:"},
    {"Why:", "Grund:"},
    {"Hint:", "Hinweis:"},
    {"Common mistake", "Häufiger Fehler"},
    {"Explanation", "Erklärung"},
    {"simulated", "simuliert"},
    {"{} off on average is accepted", "im Mittel {} Abweichung ist erlaubt"},
    {"{} more or less is accepted", "{} mehr oder weniger ist erlaubt"},
    {"an op", "eine Op"},
    {" of micro-batch {}", " von Micro-Batch {}"},
    {" of chunk {}", " von Chunk {}"},
    {" on rank {}", " auf Rank {}"},
    {"percent", "Prozent"},
    {" (in {})", " (in {})"},
    {"{}, then {}", "{}, dann {}"},
    // pictures
    {"rank {}", "Rank {}"},
    {"rank", "Rank"},
    {"step", "Schritt"},
    {"time from the step's begin, {}", "Zeit ab Beginn des Schritts, {}"},
    {"forward", "Forward"},
    {"backward", "Backward"},
    {"weight gradient", "Gewichtsgradient"},
    {"recompute", "Neuberechnung"},
    {"send, receive", "Senden, Empfangen"},
    {"collective", "Kollektiv"},
    {"optimizer", "Optimierer"},
    {"other", "Sonstiges"},
    {"parameters", "Parameter"},
    {"gradients", "Gradienten"},
    {"activations", "Aktivierungen"},
    {"buffers", "Puffer"},
    {"workspace", "Arbeitsspeicher"},
    {"context", "Kontext"},
    {"unclassified", "nicht zugeordnet"},
    {"Time line of a step{}; {}. A number is the micro-batch; the thin boxes move bytes.",
     "Zeitleiste eines Schritts{}; {}. Eine Zahl ist der Micro-Batch; die dünnen Kästen übertragen Bytes."},
    {", the first {} of {} ranks", ", die ersten {} von {} Ranks"},
    {"Memory of rank {} by class{}; {}.", "Speicher von Rank {} nach Klasse{}; {}."},
    {", the rank with the highest peak", ", dem Rank mit der größten Spitze"},
    {"simulated, costs of {}", "simuliert, Kosten: {}"},
    {"; rank s is one of the identical ranks of stage s",
     "; Rank s steht für Stufe s, deren Ranks alle identisch sind"},
};

}  // namespace

std::string_view handout_words(std::string_view english, std::string_view language) {
  if (language != "de") return english;
  const auto found = std::find_if(std::begin(translated_words), std::end(translated_words),
                                  [&](const WordsIn& words) { return words.english == english; });
  return found == std::end(translated_words) ? english : found->german;
}

}  // namespace rankscope
