<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de">
<context>
    <name>Feed</name>
    <message>
        <source>%1 is damaged</source>
        <translation>%1 ist beschädigt</translation>
    </message>
    <message>
        <source>%1 is incomplete</source>
        <translation>%1 ist unvollständig</translation>
    </message>
    <message>
        <source>%1 more errors, see the log</source>
        <translation>%1 weitere Fehler, siehe Protokoll</translation>
    </message>
    <message>
        <source>%1: %2. The readable part is shown.</source>
        <translation>%1: %2. Der lesbare Teil wird gezeigt.</translation>
    </message>
</context>
<context>
    <name>Figures</name>
    <message>
        <source>emulated</source>
        <translation>emuliert</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
</context>
<context>
    <name>GridView</name>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
</context>
<context>
    <name>Language</name>
    <message>
        <source>en</source>
        <extracomment>The code of the language of this translation, such as de</extracomment>
        <translation>de</translation>
    </message>
    <message>
        <source>%1 (English)</source>
        <extracomment>Behind the title of a lesson that is not translated</extracomment>
        <translation>%1 (englisch)</translation>
    </message>
</context>
<context>
    <name>Models</name>
    <message>
        <source>Group ranks: automatic</source>
        <translation>Ranks ordnen: automatisch</translation>
    </message>
    <message>
        <source>Show every rank</source>
        <translation>Jeden Rank zeigen</translation>
    </message>
    <message>
        <source>Group by stage</source>
        <translation>Nach Stufen ordnen</translation>
    </message>
    <message>
        <source>Group by tensor group</source>
        <translation>Nach Tensorgruppen ordnen</translation>
    </message>
    <message>
        <source>Group by data group</source>
        <translation>Nach Datengruppen ordnen</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>data %1</source>
        <translation>Daten %1</translation>
    </message>
    <message>
        <source>tensor %1</source>
        <translation>Tensor %1</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>Forward</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>Backward</translation>
    </message>
    <message>
        <source>weight gradient</source>
        <translation>Gewichtsgradient</translation>
    </message>
    <message>
        <source>input gradient</source>
        <translation>Eingabegradient</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neuberechnung</translation>
    </message>
    <message>
        <source>send, receive</source>
        <translation>Senden, Empfangen</translation>
    </message>
    <message>
        <source>send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>receive</source>
        <translation>Empfangen</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>load batch</source>
        <translation>Batch laden</translation>
    </message>
    <message>
        <source>check</source>
        <translation>Prüfung</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Compute</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>zero</source>
        <translation>ZeRO</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Leerlauf</translation>
    </message>
    <message>
        <source>other</source>
        <translation>Sonstiges</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>warm up</source>
        <translation>Anlaufen</translation>
    </message>
    <message>
        <source>first gradient</source>
        <translation>erster Gradient</translation>
    </message>
    <message>
        <source>cool down</source>
        <translation>Auslaufen</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>peers</source>
        <translation>Warten auf andere</translation>
    </message>
    <message>
        <source>imbalance</source>
        <translation>Ungleichgewicht</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>straggler</source>
        <translation>langsamer Rank</translation>
    </message>
    <message>
        <source>workers</source>
        <translation>Worker</translation>
    </message>
    <message>
        <source>overhead</source>
        <translation>Overhead</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>Puffer</translation>
    </message>
    <message>
        <source>workspace</source>
        <translation>Arbeitsspeicher</translation>
    </message>
    <message>
        <source>context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>host</source>
        <translation>Host</translation>
    </message>
    <message>
        <source>data gradient</source>
        <translation>Daten: Gradienten</translation>
    </message>
    <message>
        <source>zero parameter</source>
        <translation>ZeRO: Parameter</translation>
    </message>
    <message>
        <source>zero gradient</source>
        <translation>ZeRO: Gradienten</translation>
    </message>
    <message>
        <source>pipeline forward</source>
        <translation>Pipeline: vorwärts</translation>
    </message>
    <message>
        <source>pipeline backward</source>
        <translation>Pipeline: rückwärts</translation>
    </message>
    <message>
        <source>embedding</source>
        <translation>Embedding</translation>
    </message>
    <message>
        <source>norm</source>
        <translation>Norm</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>server</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>data parameter</source>
        <translation>Daten: Parameter</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>Batch</translation>
    </message>
    <message>
        <source>offload</source>
        <translation>Auslagerung</translation>
    </message>
    <message>
        <source>alone</source>
        <translation>allein</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>emuliert</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>strong</source>
        <translation>stark</translation>
    </message>
    <message>
        <source>weak</source>
        <translation>schwach</translation>
    </message>
    <message>
        <source>1 worker</source>
        <translation>1 Worker</translation>
    </message>
    <message>
        <source>%1 workers</source>
        <translation>%1 Worker</translation>
    </message>
    <message>
        <source>1 server</source>
        <translation>1 Server</translation>
    </message>
    <message>
        <source>%1 servers</source>
        <translation>%1 Server</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rank</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ranks</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>Kopie</translation>
    </message>
    <message>
        <source>gather</source>
        <translation>Gather</translation>
    </message>
    <message>
        <source>reduce</source>
        <translation>Reduce</translation>
    </message>
    <message>
        <source>F send</source>
        <translation>F senden</translation>
    </message>
    <message>
        <source>F receive</source>
        <translation>F empfangen</translation>
    </message>
    <message>
        <source>B send</source>
        <translation>B senden</translation>
    </message>
    <message>
        <source>B receive</source>
        <translation>B empfangen</translation>
    </message>
    <message>
        <source>save</source>
        <translation>sichern</translation>
    </message>
    <message>
        <source>unclassified</source>
        <translation>nicht zugeordnet</translation>
    </message>
</context>
<context>
    <name>QDialog</name>
    <message>
        <source>The script</source>
        <translation>Das Skript</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Save…</source>
        <translation>Speichern…</translation>
    </message>
    <message>
        <source>Save the script</source>
        <translation>Skript speichern</translation>
    </message>
    <message>
        <source>Python (*.py)</source>
        <translation>Python (*.py)</translation>
    </message>
    <message>
        <source>The same model, weights, samples and optimizer in PyTorch, over gloo. Its first lines show how to start it.</source>
        <translation>Dasselbe Modell, dieselben Gewichte, Beispiele und derselbe Optimierer in PyTorch, über gloo. Die ersten Zeilen zeigen, wie es gestartet wird.</translation>
    </message>
</context>
<context>
    <name>QObject</name>
    <message>
        <source>not found</source>
        <translation>nicht gefunden</translation>
    </message>
    <message>
        <source>Rankscope: the manual</source>
        <translation>Rankscope: Handbuch</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Handbuch</translation>
    </message>
    <message>
        <source>Find in the manual</source>
        <translation>Im Handbuch suchen</translation>
    </message>
    <message>
        <source>%1: the name must end in .png, .svg or .csv</source>
        <translation>%1: Der Name muss auf .png, .svg oder .csv enden</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>%1 konnte nicht geschrieben werden: %2</translation>
    </message>
    <message>
        <source>%1 points</source>
        <translation>%1 Punkte</translation>
    </message>
    <message>
        <source># %1 ops: too long to be read. rankscope-engine plan --program prints it.</source>
        <translation># %1 Ops: zu lang zum Lesen. rankscope-engine plan --program gibt sie aus.</translation>
    </message>
    <message>
        <source>%1 · %2 ranks
step %3, predicted %4
%5 %6, predicted %7</source>
        <translation>%1 · %2 Ranks
Schritt %3, vorhergesagt %4
%5 %6, vorhergesagt %7</translation>
    </message>
    <message>
        <source>ideal</source>
        <translation>ideal</translation>
    </message>
    <message>
        <source>bytes counted from rank to rank</source>
        <translation>gezählte Bytes von Rank zu Rank</translation>
    </message>
    <message>
        <source>the sender&apos;s bytes move to the receiver</source>
        <translation>die Bytes des Senders gehen zum Empfänger</translation>
    </message>
    <message>
        <source>nothing moves in this phase</source>
        <translation>in dieser Phase wird nichts übertragen</translation>
    </message>
    <message>
        <source>every rank passes a chunk on</source>
        <translation>jeder Rank gibt einen Chunk weiter</translation>
    </message>
    <message>
        <source>some ranks pass chunks on</source>
        <translation>einige Ranks geben Chunks weiter</translation>
    </message>
    <message>
        <source>The manual is the file README.md of Rankscope. It is not installed here.</source>
        <translation>Das Handbuch ist die Datei README.md von Rankscope. Sie ist hier nicht installiert.</translation>
    </message>
    <message>
        <source>&lt;h3&gt;Rankscope %1&lt;/h3&gt;&lt;p&gt;A laboratory for distributed neural-network training.&lt;/p&gt;&lt;p&gt;Apache-2.0; the window is GPL-3.0-or-later, because it uses Qt Charts.&lt;/p&gt;&lt;p&gt;Made with Qt %2, ZeroMQ, FlatBuffers, zstd, oneDNN, OpenBLAS and Open MPI.&lt;/p&gt;&lt;p&gt;Engine: %3&lt;/p&gt;</source>
        <translation>&lt;h3&gt;Rankscope %1&lt;/h3&gt;&lt;p&gt;Ein Labor für das verteilte Training neuronaler Netze.&lt;/p&gt;&lt;p&gt;Apache-2.0; das Fenster steht unter GPL-3.0-or-later, weil es Qt Charts benutzt.&lt;/p&gt;&lt;p&gt;Gebaut mit Qt %2, ZeroMQ, FlatBuffers, zstd, oneDNN, OpenBLAS und Open MPI.&lt;/p&gt;&lt;p&gt;Engine: %3&lt;/p&gt;</translation>
    </message>
    <message>
        <source>Find in the manual: Enter finds the next match</source>
        <translation>Im Handbuch suchen: Enter findet die nächste Stelle</translation>
    </message>
    <message>
        <source>%1: this view has no table; use .png or .svg</source>
        <translation>%1: Diese Ansicht hat keine Tabelle; möglich sind .png und .svg</translation>
    </message>
    <message>
        <source>bytes counted by the senders, collectives as rings</source>
        <translation>von den Sendern gezählte Bytes; Kollektive als Ringe</translation>
    </message>
    <message>
        <source>bytes counted by the senders, mean of all steps, collectives as rings</source>
        <translation>von den Sendern gezählte Bytes, Mittel über alle Schritte; Kollektive als Ringe</translation>
    </message>
    <message>
        <source>predicted bytes, collectives as rings</source>
        <translation>vorhergesagte Bytes; Kollektive als Ringe</translation>
    </message>
    <message>
        <source>ranks send parts to others, which store them</source>
        <translation>Ranks senden Teile an andere, die sie speichern</translation>
    </message>
    <message>
        <source>, and the receiver adds it to its own</source>
        <translation>, und der Empfänger addiert sie zu seinen eigenen</translation>
    </message>
    <message>
        <source>; some are added to the receiver&apos;s data</source>
        <translation>; einige werden zu den Daten des Empfängers addiert</translation>
    </message>
    <message>
        <source>, and the receiver stores it</source>
        <translation>, und der Empfänger speichert sie</translation>
    </message>
</context>
<context>
    <name>TrafficView</name>
    <message>
        <source>%1 from rank %2</source>
        <translation>%1 von Rank %2</translation>
    </message>
    <message>
        <source>%1, number %2</source>
        <translation>%1, Nummer %2</translation>
    </message>
    <message>
        <source>%1, number %2, %3</source>
        <translation>%1, Nummer %2, %3</translation>
    </message>
</context>
<context>
    <name>rankscope</name>
    <message>
        <source>and %1 more</source>
        <translation>und %1 weitere</translation>
    </message>
    <message>
        <source>previous op on this lane: </source>
        <translation>vorige Op auf dieser Spur: </translation>
    </message>
    <message>
        <source>also after: </source>
        <translation>auch nach: </translation>
    </message>
    <message>
        <source>waited for: </source>
        <translation>wartete auf: </translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>ranks %1–%2</source>
        <translation>Ranks %1–%2</translation>
    </message>
    <message>
        <source>warm-up</source>
        <translation>Anlaufen</translation>
    </message>
    <message>
        <source>first gradient</source>
        <translation>erster Gradient</translation>
    </message>
    <message>
        <source>cool-down</source>
        <translation>Auslaufen</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>waiting for rank %1</source>
        <translation>Warten auf Rank %1</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>waiting for others</source>
        <translation>Warten auf andere</translation>
    </message>
    <message>
        <source>imbalance</source>
        <translation>Ungleichgewicht</translation>
    </message>
    <message>
        <source>waiting for rank %1&apos;s transfer</source>
        <translation>Warten auf die Übertragung von Rank %1</translation>
    </message>
    <message>
        <source>rank %1&apos;s transfer</source>
        <translation>Übertragung von Rank %1</translation>
    </message>
    <message>
        <source>waiting for others&apos; transfers</source>
        <translation>Warten auf Übertragungen anderer</translation>
    </message>
    <message>
        <source>waiting for the collective</source>
        <translation>Warten auf das Kollektiv</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <source>exposed %1</source>
        <translation>nicht verdeckt: %1</translation>
    </message>
    <message>
        <source>exposed send</source>
        <translation>nicht verdecktes Senden</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>nicht verdeckt</translation>
    </message>
    <message>
        <source>slow rank %1</source>
        <translation>langsamer Rank %1</translation>
    </message>
    <message>
        <source>slow rank</source>
        <translation>langsamer Rank</translation>
    </message>
    <message>
        <source>waiting for workers</source>
        <translation>Warten auf Worker</translation>
    </message>
    <message>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>overhead</source>
        <translation>Overhead</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>micro-batch %1</source>
        <translation>Micro-Batch %1</translation>
    </message>
    <message>
        <source>, %1 segments</source>
        <translation>, %1 Segmente</translation>
    </message>
    <message>
        <source>, predicted %1</source>
        <translation>, vorhergesagt %1</translation>
    </message>
    <message>
        <source>%1 moving bytes</source>
        <translation>%1 Übertragung</translation>
    </message>
    <message>
        <source>waited %1</source>
        <translation>wartete %1</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>nicht bekannt</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Leerlauf</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>no work</source>
        <translation>keine Arbeit</translation>
    </message>
    <message>
        <source>exposed communication</source>
        <translation>nicht verdeckte Kommunikation</translation>
    </message>
    <message>
        <source>%1 without compute</source>
        <translation>%1 ohne Compute</translation>
    </message>
    <message>
        <source>here it waits for rank %1</source>
        <translation>hier wartet er auf Rank %1</translation>
    </message>
    <message>
        <source>then %1</source>
        <translation>danach %1</translation>
    </message>
</context>
<context>
    <name>rankscope::app</name>
    <message>
        <source>%1 points</source>
        <translation>%1 Punkte</translation>
    </message>
    <message>
        <source>, micro-batch %1</source>
        <translation>, Micro-Batch %1</translation>
    </message>
    <message>
        <source>, rank %1</source>
        <translation>, Rank %1</translation>
    </message>
    <message>
        <source>your drawing</source>
        <translation>Ihre Zeichnung</translation>
    </message>
    <message>
        <source>Not right.</source>
        <translation>Nicht richtig.</translation>
    </message>
    <message>
        <source>Too high.</source>
        <translation>Zu hoch.</translation>
    </message>
    <message>
        <source>Too low.</source>
        <translation>Zu niedrig.</translation>
    </message>
    <message>
        <source>One more try.</source>
        <translation>Noch ein Versuch.</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Richtig</translation>
    </message>
    <message>
        <source>Not right</source>
        <translation>Nicht richtig</translation>
    </message>
    <message>
        <source>Right (%1 off on average; %2 allowed)</source>
        <translation>Richtig (im Mittel %1 daneben; %2 erlaubt)</translation>
    </message>
    <message>
        <source>%1 off on average (%2 allowed)</source>
        <translation>im Mittel %1 daneben (%2 erlaubt)</translation>
    </message>
    <message>
        <source>Right (exact)</source>
        <translation>Richtig (exakt)</translation>
    </message>
    <message>
        <source>Right (%1 off; %2 allowed)</source>
        <translation>Richtig (%1 daneben; %2 erlaubt)</translation>
    </message>
    <message>
        <source>%1 too high</source>
        <translation>%1 zu hoch</translation>
    </message>
    <message>
        <source>%1 too low</source>
        <translation>%1 zu niedrig</translation>
    </message>
    <message>
        <source>Close (%1; %2 allowed)</source>
        <translation>Knapp (%1; %2 erlaubt)</translation>
    </message>
    <message>
        <source>%1 (%2 allowed)</source>
        <translation>%1 (%2 erlaubt)</translation>
    </message>
    <message>
        <source>gradient all-reduce</source>
        <translation>All-Reduce der Gradienten</translation>
    </message>
    <message>
        <source>ZeRO parameter gathers</source>
        <translation>ZeRO: Einsammeln der Parameter</translation>
    </message>
    <message>
        <source>ZeRO gradient reductions</source>
        <translation>ZeRO: Reduktion der Gradienten</translation>
    </message>
    <message>
        <source>tensor-parallel sums</source>
        <translation>tensorparallele Summen</translation>
    </message>
    <message>
        <source>activations between stages</source>
        <translation>Aktivierungen zwischen Stufen</translation>
    </message>
    <message>
        <source>gradients between stages</source>
        <translation>Gradienten zwischen Stufen</translation>
    </message>
    <message>
        <source>tied embedding&apos;s gradient</source>
        <translation>Gradient des geteilten Embeddings</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>server traffic</source>
        <translation>Verkehr mit Servern</translation>
    </message>
    <message>
        <source>parameters to replicas</source>
        <translation>Parameter an Replikate</translation>
    </message>
    <message>
        <source>samples to replicas</source>
        <translation>Beispiele an Replikate</translation>
    </message>
    <message>
        <source>offload</source>
        <translation>Auslagerung</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <source>other</source>
        <translation>Sonstiges</translation>
    </message>
    <message>
        <source>bubble (%1)</source>
        <translation>Leerlauf (%1)</translation>
    </message>
    <message>
        <source>recomputation</source>
        <translation>Neuberechnung</translation>
    </message>
    <message>
        <source>%1 %2%3 pp</source>
        <translation>%1 %2%3 PP</translation>
    </message>
    <message>
        <source>rank %1&apos;s %2</source>
        <translation>%2 von Rank %1</translation>
    </message>
    <message>
        <source>Rank %1 takes %2 times as long as the others for equal work.</source>
        <translation>Rank %1 braucht %2-mal so lange wie die anderen für gleiche Arbeit.</translation>
    </message>
    <message>
        <source>%1 × as long as predicted</source>
        <translation>%1 × so lange wie vorhergesagt</translation>
    </message>
    <message>
        <source>%1 × as long as predicted (machine busy: compute had a processor for %2 of its time)</source>
        <translation>%1 × so lange wie vorhergesagt (Rechner ausgelastet: Compute hatte %2 seiner Zeit einen Prozessor)</translation>
    </message>
    <message>
        <source>%1 × as long as predicted (machine busy?)</source>
        <translation>%1 × so lange wie vorhergesagt (Rechner ausgelastet?)</translation>
    </message>
    <message>
        <source>as predicted</source>
        <translation>wie vorhergesagt</translation>
    </message>
    <message>
        <source>%1 % above predicted</source>
        <translation>%1 % über der Vorhersage</translation>
    </message>
    <message>
        <source>%1 % below predicted</source>
        <translation>%1 % unter der Vorhersage</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>median step</source>
        <translation>Schritt (Median)</translation>
    </message>
    <message>
        <source>Of a step over the median step</source>
        <translation>Eines Schritts gegenüber dem Median</translation>
    </message>
    <message>
        <source>bubble (median step)</source>
        <translation>Leerlauf (Medianschritt)</translation>
    </message>
    <message>
        <source>peak memory</source>
        <translation>Speicherspitze</translation>
    </message>
    <message>
        <source>most sent by a rank</source>
        <translation>meiste Bytes eines Ranks</translation>
    </message>
    <message>
        <source>sent by a rank</source>
        <translation>von einem Rank gesendet</translation>
    </message>
    <message>
        <source>MFU</source>
        <translation>MFU</translation>
    </message>
    <message>
        <source>bubble</source>
        <translation>Leerlauf</translation>
    </message>
    <message>
        <source>HFU</source>
        <translation>HFU</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>last loss</source>
        <translation>letzter Loss</translation>
    </message>
    <message>
        <source>kinds of ops</source>
        <translation>Arten von Ops</translation>
    </message>
    <message>
        <source>change, %</source>
        <translation>Änderung, %</translation>
    </message>
    <message>
        <source>rank %1, compute</source>
        <translation>Rank %1, Compute</translation>
    </message>
    <message>
        <source>rank %1, bubble</source>
        <translation>Rank %1, Leerlauf</translation>
    </message>
    <message>
        <source>Both steps take %1.</source>
        <translation>Beide Schritte dauern %1.</translation>
    </message>
    <message>
        <source>longer</source>
        <translation>länger</translation>
    </message>
    <message>
        <source>shorter</source>
        <translation>kürzer</translation>
    </message>
    <message>
        <source>compute, share of the step</source>
        <translation>Compute, Anteil am Schritt</translation>
    </message>
    <message>
        <source>bubble, share of the step</source>
        <translation>Leerlauf, Anteil am Schritt</translation>
    </message>
    <message>
        <source>exposed communication, share of the step</source>
        <translation>nicht verdeckte Kommunikation, Anteil am Schritt</translation>
    </message>
    <message>
        <source>unknown, share of the step</source>
        <translation>unbekannt, Anteil am Schritt</translation>
    </message>
    <message>
        <source>lateness at collectives</source>
        <translation>Verspätung bei Kollektiven</translation>
    </message>
    <message>
        <source>compute</source>
        <translation>Compute</translation>
    </message>
    <message>
        <source>exposed</source>
        <translation>nicht verdeckt</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>peak, all steps</source>
        <translation>Spitze, alle Schritte</translation>
    </message>
    <message>
        <source>late by</source>
        <translation>Verspätung</translation>
    </message>
    <message>
        <source> and %1 more</source>
        <translation> und %1 weitere</translation>
    </message>
    <message>
        <source>message, rank %1 to rank %2</source>
        <translation>Nachricht, Rank %1 an Rank %2</translation>
    </message>
    <message>
        <source>%1 group of %2</source>
        <translation>%1-Gruppe von %2</translation>
    </message>
    <message>
        <source>%1, %2 ranks</source>
        <translation>%1, %2 Ranks</translation>
    </message>
    <message>
        <source>with rank %1</source>
        <translation>mit Rank %1</translation>
    </message>
    <message>
        <source>waits for %1</source>
        <translation>wartet auf %1</translation>
    </message>
    <message>
        <source>done with all steps</source>
        <translation>alle Schritte fertig</translation>
    </message>
    <message>
        <source>waits for rank %1</source>
        <translation>wartet auf Rank %1</translation>
    </message>
    <message>
        <source>before %1</source>
        <translation>vor %1</translation>
    </message>
    <message>
        <source>needs %1</source>
        <translation>braucht %1</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>op · step</source>
        <translation>Op · Schritt</translation>
    </message>
    <message>
        <source>group</source>
        <translation>Gruppe</translation>
    </message>
    <message>
        <source>in it</source>
        <translation>darin</translation>
    </message>
    <message>
        <source>left it</source>
        <translation>hat es verlassen</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>last finished op · step</source>
        <translation>zuletzt beendet: Op · Schritt</translation>
    </message>
    <message>
        <source>current op · step</source>
        <translation>aktuell: Op · Schritt</translation>
    </message>
    <message>
        <source>since</source>
        <translation>seit</translation>
    </message>
    <message>
        <source>why</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source> %1 events are missing: a lane may be further than it seems.</source>
        <translation> %1 Ereignisse fehlen: Eine Spur kann weiter sein, als es scheint.</translation>
    </message>
    <message>
        <source>Nothing ran</source>
        <translation>Nichts ist gelaufen</translation>
    </message>
    <message>
        <source>A prediction cannot hang. The current op of each lane of a run is shown here.</source>
        <translation>Eine Vorhersage kann nicht hängen. Hier steht die aktuelle Op jeder Lane eines Laufs.</translation>
    </message>
    <message>
        <source> (a step takes %1)</source>
        <translation> (ein Schritt dauert %1)</translation>
    </message>
    <message>
        <source>Running, step %1</source>
        <translation>Läuft, Schritt %1</translation>
    </message>
    <message>
        <source>The run failed in step %1</source>
        <translation>Der Lauf ist in Schritt %1 gescheitert</translation>
    </message>
    <message>
        <source>No hang</source>
        <translation>Kein Stillstand</translation>
    </message>
    <message>
        <source>Stopped in step %1</source>
        <translation>In Schritt %1 angehalten</translation>
    </message>
    <message>
        <source>until %1</source>
        <translation>bis %1</translation>
    </message>
    <message>
        <source>always</source>
        <translation>immer</translation>
    </message>
    <message>
        <source>live buffers %1, after %2</source>
        <translation>lebende Puffer %1, nach %2</translation>
    </message>
    <message>
        <source>live buffers %1, during %2</source>
        <translation>lebende Puffer %1, während %2</translation>
    </message>
    <message>
        <source>rank %1: %2 buffers, %3</source>
        <translation>Rank %1: %2 Puffer, %3</translation>
    </message>
    <message>
        <source>and %1 more, %2</source>
        <translation>und %1 weitere, %2</translation>
    </message>
    <message>
        <source>%1 of step %2, %3 of it</source>
        <translation>%1 von Schritt %2, %3 davon</translation>
    </message>
    <message>
        <source>The same ops were predicted to take %1; they took %2 %3.</source>
        <translation>Für dieselben Ops waren %1 vorhergesagt; sie brauchten %2 %3.</translation>
    </message>
    <message>
        <source>less</source>
        <translation>weniger</translation>
    </message>
    <message>
        <source>more</source>
        <translation>mehr</translation>
    </message>
    <message>
        <source>as</source>
        <translation>als</translation>
    </message>
    <message>
        <source>length, s</source>
        <translation>Länge, s</translation>
    </message>
    <message>
        <source>%1, s</source>
        <translation>%1, s</translation>
    </message>
    <message>
        <source>of other unknown, s</source>
        <translation>davon unbekannt, s</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>ideal, in units</source>
        <translation>ideal, in Einheiten</translation>
    </message>
    <message>
        <source>%1: %2 scaling, measured</source>
        <translation>%1: %2 Skalierung, gemessen</translation>
    </message>
    <message>
        <source>%1; against %2</source>
        <translation>%1; verglichen mit %2</translation>
    </message>
    <message>
        <source>%1 on %2, %3 of each point, %4 cores; %5 clock</source>
        <translation>%1 auf %2, %3 je Punkt, %4 Kerne; %5</translation>
    </message>
    <message>
        <source>one run</source>
        <translation>ein Lauf</translation>
    </message>
    <message>
        <source>%1 runs</source>
        <translation>%1 Läufe</translation>
    </message>
    <message>
        <source>%1: %2 scaling over %3, predicted</source>
        <translation>%1: %2 Skalierung über %3, vorhergesagt</translation>
    </message>
    <message>
        <source>costs of ops and links: the figures of the cluster %1</source>
        <translation>Kosten der Ops und Links: die Werte des Clusters %1</translation>
    </message>
    <message>
        <source>%1 = %2</source>
        <translation>%1 = %2</translation>
    </message>
    <message>
        <source>The plan has more than %1 ranks already</source>
        <translation>Der Plan hat schon mehr als %1 Ranks</translation>
    </message>
    <message>
        <source>published</source>
        <translation>veröffentlicht</translation>
    </message>
    <message>
        <source>step, predicted</source>
        <translation>Schritt, vorhergesagt</translation>
    </message>
    <message>
        <source>%1, predicted</source>
        <translation>%1, vorhergesagt</translation>
    </message>
    <message>
        <source>efficiency, predicted</source>
        <translation>Effizienz, vorhergesagt</translation>
    </message>
    <message>
        <source>efficiency</source>
        <translation>Effizienz</translation>
    </message>
    <message>
        <source> (fitted to)</source>
        <translation> (daran angepasst)</translation>
    </message>
    <message>
        <source>%1 of rank %2</source>
        <translation>%1 von Rank %2</translation>
    </message>
    <message>
        <source>%1 %2: ranks %3 to %4</source>
        <translation>%1 %2: Ranks %3 bis %4</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>uplink of</source>
        <translation>Uplink von</translation>
    </message>
    <message>
        <source>busiest unit</source>
        <translation>am stärksten ausgelastet</translation>
    </message>
    <message>
        <source>units</source>
        <translation>Einheiten</translation>
    </message>
    <message>
        <source>each way</source>
        <translation>je Richtung</translation>
    </message>
    <message>
        <source>busy</source>
        <translation>ausgelastet</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>no traffic</source>
        <translation>kein Verkehr</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>algorithm</source>
        <translation>Algorithmus</translation>
    </message>
    <message>
        <source>the library&apos;s own</source>
        <translation>der eigene der Bibliothek</translation>
    </message>
    <message>
        <source>size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>the whole buffer, over %1 ranks</source>
        <translation>der ganze Puffer, über %1 Ranks</translation>
    </message>
    <message>
        <source>a ring would send</source>
        <translation>ein Ring würde senden</translation>
    </message>
    <message>
        <source>%1 after %2</source>
        <translation>%1 nach %2</translation>
    </message>
    <message>
        <source>all at once</source>
        <translation>alle zugleich</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>Warten</translation>
    </message>
    <message>
        <source>moving bytes</source>
        <translation>Übertragung</translation>
    </message>
    <message>
        <source>bus bandwidth</source>
        <translation>Busbandbreite</translation>
    </message>
    <message>
        <source>size%1 over that time</source>
        <translation>Größe%1 durch diese Zeit</translation>
    </message>
    <message>
        <source>%1 channels, %2 over the network</source>
        <translation>%1 Kanäle, %2 über das Netz</translation>
    </message>
    <message>
        <source>%1 channels, peers unknown</source>
        <translation>%1 Kanäle, Partner unbekannt</translation>
    </message>
    <message>
        <source>a ratio</source>
        <translation>ein Verhältnis</translation>
    </message>
    <message>
        <source>billions</source>
        <translation>Milliarden</translation>
    </message>
    <message>
        <source>Held out: nothing was fitted to it.</source>
        <translation>Zurückgehalten: Nichts wurde daran angepasst.</translation>
    </message>
    <message>
        <source>published table</source>
        <translation>veröffentlichte Tabelle</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>Zeilen</translation>
    </message>
    <message>
        <source>mean error</source>
        <translation>mittlerer Fehler</translation>
    </message>
    <message>
        <source>worst</source>
        <translation>größter</translation>
    </message>
    <message>
        <source>τ</source>
        <translation>τ</translation>
    </message>
    <message>
        <source>published, %1</source>
        <translation>veröffentlicht, %1</translation>
    </message>
    <message>
        <source>predicted, %1</source>
        <translation>vorhergesagt, %1</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>gleich</translation>
    </message>
    <message>
        <source>fitted to</source>
        <translation>daran angepasst</translation>
    </message>
    <message>
        <source>%1
published %2 %4, predicted %3 %4, %5</source>
        <translation>%1
veröffentlicht %2 %4, vorhergesagt %3 %4, %5</translation>
    </message>
    <message>
        <source>No worker waits for the others: this step takes %1 from the first begin to the last end, and the run completes a step every %2 (predicted %3).</source>
        <translation>Kein Worker wartet auf die anderen: Dieser Schritt dauert vom ersten Beginn bis zum letzten Ende %1, und der Lauf schließt alle %2 einen Schritt ab (vorhergesagt %3).</translation>
    </message>
    <message>
        <source>Over all steps of the run except the first</source>
        <translation>Über alle Schritte des Laufs außer dem ersten</translation>
    </message>
    <message>
        <source>Of a run, of the steady step whose bubble is the median. The time line shows the selected step&apos;s</source>
        <translation>Eines Laufs: des eingeschwungenen Schritts, dessen Leerlauf der Median ist. Die Zeitleiste zeigt den des gewählten Schritts</translation>
    </message>
    <message>
        <source>Of the rank that needs most, over all steps. The memory view shows the selected step&apos;s</source>
        <translation>Des Ranks, der am meisten braucht, über alle Schritte. Die Ansicht Speicher zeigt den gewählten Schritt</translation>
    </message>
    <message>
        <source>Per step, by the rank that sends most</source>
        <translation>Je Schritt, von dem Rank, der am meisten sendet</translation>
    </message>
    <message>
        <source>Per step: sum over all purposes of the bytes that one sender sends</source>
        <translation>Je Schritt: Summe der Bytes eines Senders über alle Zwecke</translation>
    </message>
    <message>
        <source>FLOPs of the model in the median step, divided by the FLOPs of the devices at peak speed</source>
        <translation>FLOPs des Modells im Medianschritt, geteilt durch die FLOPs der Geräte bei Spitzenleistung</translation>
    </message>
    <message>
        <source>whole run</source>
        <translation>ganzer Lauf</translation>
    </message>
    <message>
        <source>where the step&apos;s time goes</source>
        <translation>wofür die Zeit des Schritts verwendet wird</translation>
    </message>
    <message>
        <source>causes of idle compute</source>
        <translation>Ursachen für untätiges Compute</translation>
    </message>
    <message>
        <source>whole step</source>
        <translation>ganzer Schritt</translation>
    </message>
    <message>
        <source>%1 per rank and step</source>
        <translation>%1 je Rank und Schritt</translation>
    </message>
    <message>
        <source>peak memory over all steps</source>
        <translation>Speicherspitze über alle Schritte</translation>
    </message>
    <message>
        <source>rank %1, whose step %2 is missing</source>
        <translation>Rank %1, dessen Schritt %2 fehlt</translation>
    </message>
    <message>
        <source>receives from any worker</source>
        <translation>empfängt von jedem Worker</translation>
    </message>
    <message>
        <source>receives from any worker up to step %1</source>
        <translation>empfängt von jedem Worker bis Schritt %1</translation>
    </message>
    <message>
        <source>, which waits for %1</source>
        <translation>, der auf %1 wartet</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>first arrived at</source>
        <translation>erster kam um</translation>
    </message>
    <message>
        <source>Hang: no op has ended for %1%2</source>
        <translation>Stillstand: seit %1 ist keine Op fertig geworden%2</translation>
    </message>
    <message>
        <source>No rank is known to wait for another.</source>
        <translation>Kein Rank wartet erkennbar auf einen anderen.</translation>
    </message>
    <message>
        <source>Below: the state of every lane at the newest events. Some waiting is normal during a run.</source>
        <translation>Unten: der Zustand jeder Spur bei den neuesten Ereignissen. Etwas Warten ist während eines Laufs normal.</translation>
    </message>
    <message>
        <source>Every lane has finished all steps, and no rank waits.</source>
        <translation>Jede Spur hat alle Schritte beendet, und kein Rank wartet.</translation>
    </message>
    <message>
        <source>Below: the state of every lane at that time. Some waiting is normal during a run.</source>
        <translation>Unten: der Zustand jeder Spur zu diesem Zeitpunkt. Etwas Warten ist während eines Laufs normal.</translation>
    </message>
    <message>
        <source>Whole step %1: %2</source>
        <translation>Ganzer Schritt %1: %2</translation>
    </message>
    <message>
        <source>No worker waits for the others, so this step overlaps several of theirs.</source>
        <translation>Kein Worker wartet auf die anderen, daher überlappt dieser Schritt mehrere ihrer Schritte.</translation>
    </message>
    <message>
        <source>Shift and drag in the time line to select a range.</source>
        <translation>Umschalt und Ziehen in der Zeitleiste wählen einen Bereich.</translation>
    </message>
    <message>
        <source>; over 100 %: one of the ranks is a server and does no compute</source>
        <translation>; über 100 %: Einer der Ranks ist ein Server und rechnet nichts</translation>
    </message>
    <message>
        <source>; over 100 %: %1 of the ranks are servers and do no compute</source>
        <translation>; über 100 %: %1 der Ranks sind Server und rechnen nichts</translation>
    </message>
    <message>
        <source>; over 100 %: the work per rank shrinks faster than the number of ranks grows (caches, a divided update)</source>
        <translation>; über 100 %: Die Arbeit je Rank nimmt stärker ab, als die Zahl der Ranks wächst (Caches, ein geteiltes Update)</translation>
    </message>
    <message>
        <source>costs of ops: measured by the run before its first step; links of the cluster %1</source>
        <translation>Kosten der Ops: vom Lauf vor seinem ersten Schritt gemessen; Links des Clusters %1</translation>
    </message>
    <message>
        <source>costs of ops: measured by the run on %1 before its first step; links of the cluster %2</source>
        <translation>Kosten der Ops: vom Lauf auf %1 vor seinem ersten Schritt gemessen; Links des Clusters %2</translation>
    </message>
    <message>
        <source>efficiency = n₁·T₁ / (n·Tₙ), constant batch; relative to %1</source>
        <translation>Effizienz = n₁·T₁ / (n·Tₙ), konstanter Batch; bezogen auf %1</translation>
    </message>
    <message>
        <source>efficiency = T₁ / Tₙ, the batch grows with the ranks; relative to %1</source>
        <translation>Effizienz = T₁ / Tₙ, der Batch wächst mit den Ranks; bezogen auf %1</translation>
    </message>
    <message>
        <source>model TFLOP/s per device</source>
        <translation>Modell-TFLOP/s je Gerät</translation>
    </message>
    <message>
        <source>each row is a different model, so there is no speed-up; constants: %1</source>
        <translation>jede Zeile ist ein anderes Modell, daher gibt es keinen Speedup; Konstanten: %1</translation>
    </message>
    <message>
        <source>reason</source>
        <translation>Grund</translation>
    </message>
    <message>
        <source>Open a scenario to see the links of its cluster and the traffic of the plan in a step.</source>
        <translation>Öffnen Sie ein Szenario, um die Links seines Clusters und den Verkehr des Plans in einem Schritt zu sehen.</translation>
    </message>
    <message>
        <source>The programs of this plan&apos;s %1 ranks are too long to create each, and ranks are not identical: a main device or servers differ from the others.</source>
        <translation>Die Programme der %1 Ranks dieses Plans sind zu lang, um sie einzeln zu erzeugen, und die Ranks sind nicht identisch: Ein Hauptgerät oder Server unterscheiden sich von den übrigen.</translation>
    </message>
    <message>
        <source>With %1 micro-batches the programs of this plan are too long to count their traffic. Use fewer micro-batches of the same size: the traffic of each is the same.</source>
        <translation>Mit %1 Micro-Batches sind die Programme dieses Plans zu lang, um ihren Verkehr zu zählen. Nehmen Sie weniger Micro-Batches derselben Größe: Der Verkehr je Micro-Batch ist derselbe.</translation>
    </message>
    <message>
        <source>%1
out %2, in %3 per step
busy %4 of the step at %5 each way%6</source>
        <translation>%1
ausgehend %2, eingehend %3 je Schritt
%4 des Schritts ausgelastet bei %5 je Richtung%6</translation>
    </message>
    <message>
        <source>busiest link, per step</source>
        <translation>stärkster Link, je Schritt</translation>
    </message>
    <message>
        <source>sends</source>
        <translation>sendet</translation>
    </message>
    <message>
        <source>out, per step</source>
        <translation>ausgehend, je Schritt</translation>
    </message>
    <message>
        <source>in, per step</source>
        <translation>eingehend, je Schritt</translation>
    </message>
    <message>
        <source>its phases are not known</source>
        <translation>ihre Phasen sind nicht bekannt</translation>
    </message>
    <message>
        <source>per rank: size%1</source>
        <translation>je Rank: Größe%1</translation>
    </message>
    <message>
        <source>last to arrive</source>
        <translation>zuletzt angekommen</translation>
    </message>
    <message>
        <source>on average; at most %1</source>
        <translation>im Mittel; höchstens %1</translation>
    </message>
    <message>
        <source>of the fastest rank</source>
        <translation>des schnellsten Ranks</translation>
    </message>
    <message>
        <source>Shown only: the source does not state exactly what was measured.</source>
        <translation>Nur gezeigt: Die Quelle sagt nicht genau, was gemessen wurde.</translation>
    </message>
    <message>
        <source>Errors up to %1 % are green, from %2 % red; grey errors do not count.</source>
        <translation>Fehler bis %1 % sind grün, ab %2 % rot; graue Fehler zählen nicht.</translation>
    </message>
    <message>
        <source>No constant was fitted to any of these tables</source>
        <translation>Keine Konstante wurde an eine dieser Tabellen angepasst</translation>
    </message>
    <message>
        <source>Constants were fitted to %1 of these tables, which do not count in the errors</source>
        <translation>Konstanten wurden an %1 dieser Tabellen angepasst; sie zählen nicht zu den Fehlern</translation>
    </message>
    <message>
        <source>Kendall&apos;s τ of the order of the rows: 1 if prediction and publication agree</source>
        <translation>Kendalls τ der Reihenfolge der Zeilen: 1, wenn Vorhersage und Veröffentlichung übereinstimmen</translation>
    </message>
    <message>
        <source>fitted to it: no test</source>
        <translation>daran angepasst: kein Test</translation>
    </message>
    <message>
        <source>%1 to %2: the source is not exact</source>
        <translation>%1 bis %2: Die Quelle ist nicht genau</translation>
    </message>
    <message>
        <source>predicted / published</source>
        <translation>vorhergesagt / veröffentlicht</translation>
    </message>
    <message>
        <source>not judged yet</source>
        <translation>noch nicht bewertet</translation>
    </message>
    <message>
        <source>right</source>
        <translation>richtig</translation>
    </message>
    <message>
        <source>wrong</source>
        <translation>falsch</translation>
    </message>
    <message>
        <source>Try %1: %2 (%3)</source>
        <translation>Versuch %1: %2 (%3)</translation>
    </message>
    <message>
        <source>, %1</source>
        <translation>, %1</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>noch nicht</translation>
    </message>
    <message>
        <source>waits for a run</source>
        <translation>wartet auf einen Lauf</translation>
    </message>
    <message>
        <source>1st try</source>
        <translation>1. Versuch</translation>
    </message>
    <message>
        <source>2nd try</source>
        <translation>2. Versuch</translation>
    </message>
    <message>
        <source>later</source>
        <translation>später</translation>
    </message>
    <message>
        <source>student</source>
        <translation>Person</translation>
    </message>
    <message>
        <source>question %1</source>
        <translation>Frage %1</translation>
    </message>
    <message>
        <source>answered</source>
        <translation>beantwortet</translation>
    </message>
    <message>
        <source>not here now</source>
        <translation>jetzt nicht da</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>words of the question</source>
        <translation>Wortlaut der Frage</translation>
    </message>
    <message>
        <source>kind</source>
        <translation>Art</translation>
    </message>
    <message>
        <source>answer</source>
        <translation>Antwort</translation>
    </message>
    <message>
        <source>unit</source>
        <translation>Einheit</translation>
    </message>
    <message>
        <source>verdict</source>
        <translation>Urteil</translation>
    </message>
    <message>
        <source>try</source>
        <translation>Versuch</translation>
    </message>
    <message>
        <source>time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>1 answer</source>
        <translation>1 Antwort</translation>
    </message>
    <message>
        <source>%1 answers</source>
        <translation>%1 Antworten</translation>
    </message>
    <message>
        <source> (right)</source>
        <translation> (richtig)</translation>
    </message>
    <message>
        <source>%1%2: %3</source>
        <translation>%1%2: %3</translation>
    </message>
    <message>
        <source>%1 with another number of points are left out</source>
        <translation>%1 mit anderer Punktzahl sind ausgelassen</translation>
    </message>
    <message>
        <source>%1 needs the activations of %2, which is not placed yet.</source>
        <translation>%1 braucht die Aktivierungen von %2, die noch nicht gelegt ist.</translation>
    </message>
    <message>
        <source>%1 needs the activations that %2 keeps, which is not placed yet.</source>
        <translation>%1 braucht die Aktivierungen, die %2 behält; die Box ist noch nicht gelegt.</translation>
    </message>
    <message>
        <source>%1 is the second half: %2 comes before it.</source>
        <translation>%1 ist die zweite Hälfte: %2 kommt davor.</translation>
    </message>
    <message>
        <source>%1 needs the gradient of %2, which is not placed yet.</source>
        <translation>%1 braucht den Gradienten von %2, die noch nicht gelegt ist.</translation>
    </message>
    <message>
        <source>1 micro-batch</source>
        <translation>1 Micro-Batch</translation>
    </message>
    <message>
        <source>%1 micro-batches</source>
        <translation>%1 Micro-Batches</translation>
    </message>
    <message>
        <source>%1 of stage %2</source>
        <translation>%1 von Stufe %2</translation>
    </message>
    <message>
        <source>%1 runs on stage %2 only: its weights are there.</source>
        <translation>%1 läuft nur auf Stufe %2: Dort sind die Gewichte.</translation>
    </message>
    <message>
        <source>With %1 there, stage %2 would keep more than %3. A %4 frees one.</source>
        <translation>Mit %1 an dieser Stelle würde Stufe %2 mehr als %3 behalten. Ein %4 gibt einen frei.</translation>
    </message>
    <message>
        <source>Deadlock: %1 would wait for %2, and that for %1.</source>
        <translation>Verklemmung: %1 würde auf %2 warten, und das auf %1.</translation>
    </message>
    <message>
        <source>Click a box to put it at the end of its row, or drag it to its place. Coloured boxes are ready.</source>
        <translation>Ein Klick legt eine Box an das Ende ihrer Zeile; oder ziehen Sie sie an ihren Platz. Farbige Boxen sind bereit.</translation>
    </message>
    <message>
        <source>%1 of %2 boxes; length so far: %3.</source>
        <translation>%1 von %2 Boxen; Länge bisher: %3.</translation>
    </message>
    <message>
        <source>Complete: %1 units, bubble %2 % of (step × stages).</source>
        <translation>Vollständig: %1 Einheiten, Leerlauf %2 % von (Schritt × Stufen).</translation>
    </message>
    <message>
        <source>No order is shorter.</source>
        <translation>Keine Reihenfolge ist kürzer.</translation>
    </message>
    <message>
        <source>%1 units more than par.</source>
        <translation>%1 Einheiten mehr als Par.</translation>
    </message>
    <message>
        <source>That is par.</source>
        <translation>Das ist Par.</translation>
    </message>
    <message>
        <source>%1 units less than par.</source>
        <translation>%1 Einheiten weniger als Par.</translation>
    </message>
    <message>
        <source>No order takes less than %1 units.</source>
        <translation>Keine Reihenfolge dauert weniger als %1 Einheiten.</translation>
    </message>
    <message>
        <source>No known schedule keeps so few.</source>
        <translation>Kein bekannter Schedule behält so wenige.</translation>
    </message>
    <message>
        <source>Par is %1 units, by %2.</source>
        <translation>Par ist %1 Einheiten, mit %2.</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>box</source>
        <translation>Box</translation>
    </message>
    <message>
        <source>begin, units</source>
        <translation>Beginn, Einheiten</translation>
    </message>
    <message>
        <source>end, units</source>
        <translation>Ende, Einheiten</translation>
    </message>
    <message>
        <source>micro-batches kept after it</source>
        <translation>danach behaltene Micro-Batches</translation>
    </message>
    <message>
        <source>waiting + moving</source>
        <translation>Warten + Transfer</translation>
    </message>
    <message>
        <source>A single collective has no rate of samples or tokens. Its phases and bytes are in the Collectives view.</source>
        <translation>Eine einzelne kollektive Operation hat keine Rate von Samples oder Tokens. Ihre Phasen und Bytes stehen in der Ansicht „Kollektive“.</translation>
    </message>
    <message>
        <source>losses of replicas</source>
        <translation>Losses der Replikate</translation>
    </message>
    <message>
        <source>kernel workspace</source>
        <translation>Arbeitsspeicher der Kernel</translation>
    </message>
    <message>
        <source>driver and libraries of the device</source>
        <translation>Treiber und Bibliotheken des Geräts</translation>
    </message>
    <message>
        <source>kernel workspace on the host</source>
        <translation>Arbeitsspeicher der Kernel auf dem Host</translation>
    </message>
    <message>
        <source>%1, %2 clock</source>
        <translation>%1, %2-Uhr</translation>
    </message>
    <message>
        <source>times are</source>
        <translation>Zeiten sind</translation>
    </message>
    <message>
        <source>The shown step of B is %1 %2 than that of A (%3)</source>
        <translation>Der gezeigte Schritt von B ist %1 %2 als der von A (%3)</translation>
    </message>
    <message>
        <source>; A is %1, B is %2</source>
        <translation>; A ist %1, B ist %2</translation>
    </message>
    <message>
        <source>The ranks&apos; programs are not known, so it cannot be said whether one waits for another.</source>
        <translation>Die Programme der Ranks sind nicht bekannt, also lässt sich nicht sagen, ob einer auf einen anderen wartet.</translation>
    </message>
    <message>
        <source>The data ends in step %1</source>
        <translation>Die Daten enden in Schritt %1</translation>
    </message>
    <message>
        <source>the trace does not say it; over %1 ranks</source>
        <translation>das Trace nennt sie nicht; über %1 Ranks</translation>
    </message>
</context>
<context>
    <name>rankscope::app::AlternativesList</name>
    <message>
        <source>as now</source>
        <translation>wie jetzt</translation>
    </message>
    <message>
        <source>step %1, memory %2</source>
        <translation>Schritt %1, Speicher %2</translation>
    </message>
    <message>
        <source>,
bubble %1</source>
        <translation>,
Leerlauf %1</translation>
    </message>
    <message>
        <source>One change away</source>
        <translation>Eine Änderung entfernt</translation>
    </message>
    <message>
        <source>Show anyway</source>
        <translation>Trotzdem zeigen</translation>
    </message>
    <message>
        <source>Predicting nearby plans…</source>
        <translation>Benachbarte Pläne werden vorhergesagt…</translation>
    </message>
    <message>
        <source>Plans one change away: same training, same number of ranks; predicted from the cluster&apos;s figures</source>
        <translation>Pläne mit einer einzigen Änderung: gleiches Training, gleich viele Ranks; vorhergesagt mit den Werten des Clusters</translation>
    </message>
    <message>
        <source>Show all results without an answer</source>
        <translation>Alle Ergebnisse ohne Antwort zeigen</translation>
    </message>
    <message>
        <source>Not available: this plan cannot run, or has too many ops to predict its variants.</source>
        <translation>Nicht verfügbar: Dieser Plan kann nicht laufen oder hat zu viele Ops, um seine Varianten vorherzusagen.</translation>
    </message>
    <message>
        <source>No single change is predicted to shorten the step by 1 % or reduce the memory by 10 %.</source>
        <translation>Keine einzelne Änderung verkürzt den Schritt laut Vorhersage um 1 % oder verringert den Speicher um 10 %.</translation>
    </message>
    <message>
        <source>Apply this change; Ctrl+Z undoes it</source>
        <translation>Diese Änderung übernehmen; Strg+Z macht sie rückgängig</translation>
    </message>
</context>
<context>
    <name>rankscope::app::AnswerBook</name>
    <message>
        <source>the file is now %1.</source>
        <translation>die Datei heißt jetzt %1.</translation>
    </message>
    <message>
        <source>Your answer could not be saved in %1: %2</source>
        <translation>Ihre Antwort konnte nicht in %1 gespeichert werden: %2</translation>
    </message>
    <message>
        <source>The saved answers in %1 cannot be read (%2); %3</source>
        <translation>Die gespeicherten Antworten in %1 können nicht gelesen werden (%2); %3</translation>
    </message>
    <message>
        <source>from another version</source>
        <translation>von einer anderen Version</translation>
    </message>
    <message>
        <source>new answers are not saved.</source>
        <translation>neue Antworten werden nicht gespeichert.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::AnswersPlot</name>
    <message>
        <source>nobody has answered yet</source>
        <translation>noch hat niemand geantwortet</translation>
    </message>
    <message>
        <source>line: right, %1</source>
        <translation>Linie: richtig, %1</translation>
    </message>
    <message>
        <source>line: right, %1; dashed: usual mistakes</source>
        <translation>Linie: richtig, %1; gestrichelt: häufige Fehler</translation>
    </message>
    <message>
        <source>%1 other answers</source>
        <translation>%1 andere Antworten</translation>
    </message>
    <message>
        <source>line: median, box: half of the class</source>
        <translation>Linie: Median, Kasten: Hälfte des Kurses</translation>
    </message>
    <message>
        <source>line: median, box: half of the class, dashed: right</source>
        <translation>Linie: Median, Kasten: Hälfte des Kurses, gestrichelt: richtig</translation>
    </message>
    <message>
        <source>step 0</source>
        <translation>Schritt 0</translation>
    </message>
    <message>
        <source>rank 0</source>
        <translation>Rank 0</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>%1 %2: median %3, quartiles %4 and %5</source>
        <translation>%1 %2: Median %3, Quartile %4 und %5</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>; right: %1</source>
        <translation>; richtig: %1</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Banner</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Close this message</source>
        <translation>Diese Meldung schließen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ChoicePalette</name>
    <message>
        <source>%1: matches</source>
        <translation>%1: Treffer</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ClassRoom</name>
    <message>
        <source>Teaching: %1, %2</source>
        <translation>Unterricht: %1, %2</translation>
    </message>
    <message>
        <source>1 student</source>
        <translation>1 Studierende(r)</translation>
    </message>
    <message>
        <source>%1 students</source>
        <translation>%1 Studierende</translation>
    </message>
    <message>
        <source>1 answer</source>
        <translation>1 Antwort</translation>
    </message>
    <message>
        <source>%1 answers</source>
        <translation>%1 Antworten</translation>
    </message>
    <message>
        <source>, %1 refused</source>
        <translation>, %1 abgelehnt</translation>
    </message>
    <message>
        <source>, the list of names cannot be written: %1</source>
        <translation>, die Namensliste kann nicht geschrieben werden: %1</translation>
    </message>
    <message>
        <source>Not in the class: %1</source>
        <translation>Nicht im Kurs: %1</translation>
    </message>
    <message>
        <source>In a class: looking for the teacher…</source>
        <translation>Im Kurs: Die Lehrperson wird gesucht…</translation>
    </message>
    <message>
        <source>In a class: following the teacher</source>
        <translation>Im Kurs: folgt der Lehrperson</translation>
    </message>
    <message>
        <source>, %1 with a wrong key</source>
        <translation>, %1 mit falschem Schlüssel</translation>
    </message>
    <message>
        <source>, %1 unreadable messages</source>
        <translation>, %1 nicht lesbare Nachrichten</translation>
    </message>
    <message>
        <source>In a class: not following</source>
        <translation>Im Kurs: folgt nicht</translation>
    </message>
    <message>
        <source>The teacher does not get this answer: %1</source>
        <translation>Die Lehrperson erhält diese Antwort nicht: %1</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ClassWindow</name>
    <message>
        <source>student</source>
        <translation>Person</translation>
    </message>
    <message>
        <source>Who has answered what</source>
        <translation>Wer was geantwortet hat</translation>
    </message>
    <message>
        <source>Mark what is right</source>
        <translation>Richtige Antwort markieren</translation>
    </message>
    <message>
        <source>The class</source>
        <translation>Der Kurs</translation>
    </message>
    <message>
        <source>The question whose answers are shown</source>
        <translation>Die Frage, deren Antworten gezeigt werden</translation>
    </message>
    <message>
        <source>Off: the class may see this window before it is told</source>
        <translation>Aus: So darf der Kurs dieses Fenster vor der Auflösung sehen</translation>
    </message>
    <message>
        <source>Export CSV…</source>
        <translation>CSV exportieren…</translation>
    </message>
    <message>
        <source>All answers to all lessons of this class: a row for each student, question and try</source>
        <translation>Alle Antworten auf alle Lektionen dieses Kurses: eine Zeile je Person, Frage und Versuch</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Question %1: %2</source>
        <translation>Frage %1: %2</translation>
    </message>
    <message>
        <source>No lesson is open. %1</source>
        <translation>Keine Lektion ist offen. %1</translation>
    </message>
    <message>
        <source>%1 · %2</source>
        <translation>%1 · %2</translation>
    </message>
    <message>
        <source>What is right is not known yet: a run says it.</source>
        <translation>Die richtige Antwort ist noch nicht bekannt: Ein Lauf liefert sie.</translation>
    </message>
    <message>
        <source>Right: %1.</source>
        <translation>Richtig: %1.</translation>
    </message>
    <message>
        <source>1 student has answered.</source>
        <translation>1 Person hat geantwortet.</translation>
    </message>
    <message>
        <source>%1 students have answered.</source>
        <translation>%1 Studierende haben geantwortet.</translation>
    </message>
    <message>
        <source>Export all answers of the class</source>
        <translation>Alle Antworten des Kurses exportieren</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>Tabellen (*.csv)</translation>
    </message>
</context>
<context>
    <name>rankscope::app::CommandPalette</name>
    <message>
        <source>No command matches</source>
        <translation>Kein Befehl passt</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>Befehl</translation>
    </message>
    <message>
        <source>Type a command…</source>
        <translation>Befehl eingeben…</translation>
    </message>
</context>
<context>
    <name>rankscope::app::CompareView</name>
    <message>
        <source>Time line of run A</source>
        <translation>Zeitleiste von Lauf A</translation>
    </message>
    <message>
        <source>Time line of run B</source>
        <translation>Zeitleiste von Lauf B</translation>
    </message>
    <message>
        <source>Compare with…</source>
        <translation>Vergleichen mit…</translation>
    </message>
    <message>
        <source>Differences of the two runs</source>
        <translation>Unterschiede der beiden Läufe</translation>
    </message>
    <message>
        <source>A recording…</source>
        <translation>Eine Aufzeichnung…</translation>
    </message>
    <message>
        <source>Nothing</source>
        <translation>Nichts</translation>
    </message>
    <message>
        <source>Compare with a recording</source>
        <translation>Mit einer Aufzeichnung vergleichen</translation>
    </message>
    <message>
        <source>Recordings (*.mcap)</source>
        <translation>Aufzeichnungen (*.mcap)</translation>
    </message>
    <message>
        <source>as it ran</source>
        <translation>wie gelaufen</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>A</source>
        <translation>A</translation>
    </message>
    <message>
        <source>A: %1, %2</source>
        <translation>A: %1, %2</translation>
    </message>
    <message>
        <source>B: %1</source>
        <translation>B: %1</translation>
    </message>
    <message>
        <source>Reading %1</source>
        <translation>%1 wird gelesen</translation>
    </message>
    <message>
        <source>Nothing to compare with yet</source>
        <translation>Noch nichts zum Vergleichen</translation>
    </message>
    <message>
        <source>Steps to compare</source>
        <translation>Zu vergleichende Schritte</translation>
    </message>
    <message>
        <source>Previous run: %1</source>
        <translation>Voriger Lauf: %1</translation>
    </message>
    <message>
        <source>Previous run (none)</source>
        <translation>Voriger Lauf (keiner)</translation>
    </message>
    <message>
        <source>Current view, saved: %1</source>
        <translation>Aktuelle Ansicht, gespeichert: %1</translation>
    </message>
    <message>
        <source>Current view (empty)</source>
        <translation>Aktuelle Ansicht (leer)</translation>
    </message>
    <message>
        <source>%1 % read.</source>
        <translation>%1 % gelesen.</translation>
    </message>
    <message>
        <source>Run, change the plan on the right and run again: the two runs are shown here side by side, step by step. Or choose a recording or save the current view with the button above.</source>
        <translation>Führen Sie den Plan aus, ändern Sie ihn rechts, und führen Sie ihn wieder aus: Hier erscheinen die beiden Läufe nebeneinander, Schritt für Schritt. Oder wählen Sie mit der Schaltfläche oben eine Aufzeichnung, oder speichern Sie die aktuelle Ansicht.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::CurveChart</name>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
</context>
<context>
    <name>rankscope::app::DataView</name>
    <message>
        <source>Show anyway</source>
        <translation>Trotzdem zeigen</translation>
    </message>
    <message>
        <source>Hidden until you answer the question on the left and run.</source>
        <translation>Verborgen, bis Sie die Frage links beantworten und den Plan ausführen.</translation>
    </message>
    <message>
        <source>Show all results without an answer</source>
        <translation>Alle Ergebnisse ohne Antwort zeigen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::EngineChild</name>
    <message>
        <source>The engine %1 could not be started: %2</source>
        <translation>Die Engine %1 konnte nicht gestartet werden: %2</translation>
    </message>
    <message>
        <source>The engine refused the scenario%1</source>
        <translation>Die Engine hat das Szenario abgelehnt%1</translation>
    </message>
    <message>
        <source>The run failed (exit status %1)%2</source>
        <translation>Der Lauf ist gescheitert (Exit-Status %1)%2</translation>
    </message>
    <message>
        <source>A signal ended the engine%1</source>
        <translation>Ein Signal hat die Engine beendet%1</translation>
    </message>
    <message>
        <source>rankscope-engine is neither in the folder of this program nor on PATH.</source>
        <translation>rankscope-engine liegt weder im Ordner dieses Programms noch im PATH.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ExchangePainter</name>
    <message>
        <source>send of parameters from a server</source>
        <translation>Senden von Parametern von einem Server</translation>
    </message>
    <message>
        <source>send of gradients to a server</source>
        <translation>Senden von Gradienten an einen Server</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ranks</translation>
    </message>
    <message>
        <source>phases unknown</source>
        <translation>Phasen unbekannt</translation>
    </message>
    <message>
        <source>recorded</source>
        <translation>aufgezeichnet</translation>
    </message>
    <message>
        <source>not timed</source>
        <translation>ohne Zeiten</translation>
    </message>
    <message>
        <source>phase %1 of %2: %3</source>
        <translation>Phase %1 von %2: %3</translation>
    </message>
    <message>
        <source>Phases unknown: the library&apos;s algorithm hides them. Set collective in the plan to one of Rankscope&apos;s, such as ring, to see them.</source>
        <translation>Phasen unbekannt: Der Algorithmus der Bibliothek verbirgt sie. Setzen Sie collective im Plan auf einen von Rankscope, etwa ring, um sie zu sehen.</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>all</source>
        <translation>alle</translation>
    </message>
    <message>
        <source>thin: waiting; full: moving bytes</source>
        <translation>dünn: Warten; voll: Transfer</translation>
    </message>
    <message>
        <source>times not recorded</source>
        <translation>Zeiten nicht aufgezeichnet</translation>
    </message>
    <message>
        <source>not recorded</source>
        <translation>nicht aufgezeichnet</translation>
    </message>
    <message>
        <source>0</source>
        <translation>0</translation>
    </message>
    <message>
        <source>A thin line under a rank&apos;s bar is a channel of the library&apos;s kernel, or a transfer of it over the network. Within a host the library does not report which chunk moves when, or to which rank.</source>
        <translation>Eine dünne Linie unter dem Balken eines Ranks ist ein Kanal des Kernels der Bibliothek oder eine seiner Übertragungen über das Netz. Innerhalb eines Hosts teilt die Bibliothek nicht mit, welcher Chunk wann zu welchem Rank geht.</translation>
    </message>
    <message>
        <source>A cell is a chunk of the buffer (%1 here). It fills as the parts of more ranks are summed in it; when full, it has all %2.</source>
        <translation>Eine Zelle ist ein Chunk des Puffers (hier %1). Sie füllt sich, während die Teile weiterer Ranks in ihr summiert werden; voll enthält sie alle %2.</translation>
    </message>
    <message>
        <source>A cell is a chunk of the buffer (%1 here). It is full if the rank has it.</source>
        <translation>Eine Zelle ist ein Chunk des Puffers (hier %1). Sie ist voll, wenn der Rank ihn hat.</translation>
    </message>
    <message>
        <source>Phases unknown: the trace has only when each rank was in the op.</source>
        <translation>Phasen unbekannt: Das Trace enthält nur, wann jeder Rank in der Op war.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ExchangePlayer</name>
    <message>
        <source>1 phase/s</source>
        <translation>1 Phase/s</translation>
    </message>
    <message>
        <source>%1 phases/s</source>
        <translation>%1 Phasen/s</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Play or pause (Space)</source>
        <translation>Abspielen oder anhalten (Leertaste)</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Geschwindigkeit</translation>
    </message>
    <message>
        <source>Phases a second, or the recorded times slowed down</source>
        <translation>Phasen je Sekunde, oder die aufgezeichneten Zeiten verlangsamt</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Not available for folded plans</source>
        <translation>Für zusammengefasste Pläne nicht verfügbar</translation>
    </message>
    <message>
        <source>one phase in %1 s</source>
        <translation>eine Phase in %1 s</translation>
    </message>
    <message>
        <source>Previous phase (,)</source>
        <translation>Vorige Phase (,)</translation>
    </message>
    <message>
        <source>Next phase (.)</source>
        <translation>Nächste Phase (.)</translation>
    </message>
    <message>
        <source>The selected collective, phase by phase</source>
        <translation>Das gewählte Kollektiv, Phase für Phase</translation>
    </message>
    <message>
        <source>Time in the collective</source>
        <translation>Zeitpunkt im Kollektiv</translation>
    </message>
    <message>
        <source>Identical ranks are folded into one. Their messages are counted but have no times: the table shows the bytes of each purpose.</source>
        <translation>Identische Ranks sind zu einem zusammengefasst. Ihre Nachrichten sind gezählt, haben aber keine Zeiten: Die Tabelle zeigt die Bytes jedes Zwecks.</translation>
    </message>
    <message>
        <source>No collective is selected</source>
        <translation>Kein Kollektiv gewählt</translation>
    </message>
    <message>
        <source>Select a row of the table, or a collective or message in the time line.</source>
        <translation>Wählen Sie eine Zeile der Tabelle, oder ein Kollektiv oder eine Nachricht in der Zeitleiste.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ExperimentLog</name>
    <message>
        <source>the lesson&apos;s plan</source>
        <translation>der Plan der Lektion</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ExperimentsView</name>
    <message>
        <source>pending</source>
        <translation>ausstehend</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>done</source>
        <translation>fertig</translation>
    </message>
    <message>
        <source>experiment</source>
        <translation>Experiment</translation>
    </message>
    <message>
        <source>obtained</source>
        <translation>Ursprung</translation>
    </message>
    <message>
        <source>step, ms</source>
        <translation>Schritt, ms</translation>
    </message>
    <message>
        <source>bubble, %</source>
        <translation>Leerlauf, %</translation>
    </message>
    <message>
        <source>peak memory, MiB</source>
        <translation>Speicherspitze, MiB</translation>
    </message>
    <message>
        <source>MFU, %</source>
        <translation>MFU, %</translation>
    </message>
    <message>
        <source>Experiments with this scenario</source>
        <translation>Experimente mit diesem Szenario</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>No experiment yet</source>
        <translation>Noch kein Experiment</translation>
    </message>
    <message>
        <source>Show the selected plan in the window</source>
        <translation>Den gewählten Plan im Fenster zeigen</translation>
    </message>
    <message>
        <source>Compare the two selected plans in the Compare view</source>
        <translation>Die beiden gewählten Pläne in der Ansicht Vergleich nebeneinander zeigen</translation>
    </message>
    <message>
        <source>Output of the command</source>
        <translation>Ausgabe des Befehls</translation>
    </message>
    <message>
        <source>Select two rows (Ctrl+click) to compare them.</source>
        <translation>Wählen Sie zwei Zeilen (Strg und Klick), um sie zu vergleichen.</translation>
    </message>
    <message>
        <source>Experiments need a scenario</source>
        <translation>Experimente brauchen ein Szenario</translation>
    </message>
    <message>
        <source>This is a recording or a run elsewhere. Open a lesson or a scenario to try plans.</source>
        <translation>Das ist eine Aufzeichnung oder ein Lauf anderswo. Öffnen Sie eine Lektion oder ein Szenario, um Pläne zu probieren.</translation>
    </message>
    <message>
        <source>Each run, and each command of the lesson that you click, adds a row here. Two rows can be compared.</source>
        <translation>Jeder Lauf und jeder Befehl der Lektion, den Sie anklicken, fügt hier eine Zeile hinzu. Zwei Zeilen lassen sich vergleichen.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::FactsTable</name>
    <message>
        <source>%1 more in a larger view</source>
        <translation>%1 weitere in einer größeren Ansicht</translation>
    </message>
    <message>
        <source>facts</source>
        <translation>Angaben</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Feed</name>
    <message>
        <source>%1: reading was cancelled</source>
        <translation>%1: Das Lesen wurde abgebrochen</translation>
    </message>
    <message>
        <source>reading %1</source>
        <translation>%1 wird gelesen</translation>
    </message>
    <message>
        <source>%1: reading was cancelled; the part read so far is shown</source>
        <translation>%1: Das Lesen wurde abgebrochen; der bisher gelesene Teil wird gezeigt</translation>
    </message>
</context>
<context>
    <name>rankscope::app::FormatRanges</name>
    <message>
        <source>Gradients over the range of each format</source>
        <translation>Gradienten über dem Bereich jedes Formats</translation>
    </message>
    <message>
        <source>No gradients are counted</source>
        <translation>Keine Gradienten gezählt</translation>
    </message>
    <message>
        <source>A run counts its gradients by magnitude where its file has magnitudes_every = 1 under [train]. The lesson Precision has it: open it and press Run, or open a recording of it.</source>
        <translation>Ein Lauf zählt seine Gradienten nach Größe, wenn in seiner Datei unter [train] magnitudes_every = 1 steht. Die Lektion Precision hat das: Öffnen Sie sie und drücken Sie Ausführen, oder öffnen Sie eine Aufzeichnung davon.</translation>
    </message>
    <message>
        <source>, times the loss scale %1</source>
        <translation>, mal Loss-Skala %1</translation>
    </message>
    <message>
        <source>Gradients of step %1 by magnitude%2; the highest bar is %3 of all, %4 are zero</source>
        <translation>Gradienten von Schritt %1 nach Größe%2; der höchste Balken ist %3 von allen, %4 sind null</translation>
    </message>
    <message>
        <source>largest not known: </source>
        <translation>größte nicht bekannt: </translation>
    </message>
    <message>
        <source>× %1: </source>
        <translation>× %1: </translation>
    </message>
    <message>
        <source>%1, gradients times %2
from %3, with all digits from %4, below %5
%6</source>
        <translation>%1, Gradienten mal %2
ab %3, mit allen Stellen ab %4, unter %5
%6</translation>
    </message>
    <message>
        <source>below %1: %2 of all</source>
        <translation>unter %1: %2 von allen</translation>
    </message>
    <message>
        <source>from %1 up: %2 of all</source>
        <translation>ab %1: %2 von allen</translation>
    </message>
    <message>
        <source>from %1 up to %2: %3 of all</source>
        <translation>von %1 bis %2: %3 von allen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::FormatRows</name>
    <message>
        <source>Bits of the number in each format</source>
        <translation>Bits der Zahl in jedem Format</translation>
    </message>
    <message>
        <source>Arrow keys choose a bit, Space flips it</source>
        <translation>Pfeiltasten wählen ein Bit, die Leertaste kippt es</translation>
    </message>
    <message>
        <source>sign</source>
        <translation>Vorzeichen</translation>
    </message>
    <message>
        <source>exponent</source>
        <translation>Exponent</translation>
    </message>
    <message>
        <source>mantissa; of int8 the whole number</source>
        <translation>Mantisse; bei int8 die ganze Zahl</translation>
    </message>
    <message>
        <source>the sign</source>
        <translation>das Vorzeichen</translation>
    </message>
    <message>
        <source>whole number</source>
        <translation>ganze Zahl</translation>
    </message>
    <message>
        <source>mantissa</source>
        <translation>Mantisse</translation>
    </message>
    <message>
        <source>%1, bit %2: %3. A click flips it, and the number follows.</source>
        <translation>%1, Bit %2: %3. Ein Klick kippt es, und die Zahl folgt.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::FormatsView</name>
    <message>
        <source>Number</source>
        <translation>Zahl</translation>
    </message>
    <message>
        <source>Update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>largest scale for each</source>
        <translation>größte Skala je Format</translation>
    </message>
    <message>
        <source>What scales save</source>
        <translation>Was Skalen erhalten</translation>
    </message>
    <message>
        <source>A number</source>
        <translation>Eine Zahl</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>Scales</source>
        <translation>Skalen</translation>
    </message>
    <message>
        <source>What a number becomes in each format, bit by bit</source>
        <translation>Was aus einer Zahl in jedem Format wird, Bit für Bit</translation>
    </message>
    <message>
        <source>Where the open run&apos;s gradients fall in the range of each format</source>
        <translation>Wo die Gradienten des offenen Laufs im Bereich jedes Formats liegen</translation>
    </message>
    <message>
        <source>What scales for all, for each tensor and for each block save</source>
        <translation>Was Skalen für alle, für jeden Tensor und für jeden Block erhalten</translation>
    </message>
    <message>
        <source>A number (1.001, 2^-24, 1/1000, inf), or bits: 0x3f802108 of fp32, bf16:0x3f80 of another format</source>
        <translation>Eine Zahl (1.001, 2^-24, 1/1000, inf) oder Bits: 0x3f802108 von fp32, bf16:0x3f80 eines anderen Formats</translation>
    </message>
    <message>
        <source>What is added to the number, as an update to a weight; the sum is rounded once</source>
        <translation>Was zur Zahl addiert wird, wie ein Update zu einem Gewicht; die Summe wird einmal gerundet</translation>
    </message>
    <message>
        <source>Scale of int8</source>
        <translation>Skala von int8</translation>
    </message>
    <message>
        <source>What 1 of an int8 means: its numbers are −128 to 127 times this</source>
        <translation>Was 1 in int8 bedeutet: Seine Zahlen sind −128 bis 127 mal dieser Wert</translation>
    </message>
    <message>
        <source>int8 scale </source>
        <translation>int8-Skala </translation>
    </message>
    <message>
        <source>The gradients are multiplied, for each format, by the largest power of two with nothing beyond</source>
        <translation>Die Gradienten werden für jedes Format mit der größten Zweierpotenz multipliziert, bei der nichts darüber liegt</translation>
    </message>
    <message>
        <source>Power of two that gradients are multiplied by</source>
        <translation>Zweierpotenz, mit der Gradienten multipliziert werden</translation>
    </message>
    <message>
        <source>The gradients are multiplied by this power of two, as by a loss scale</source>
        <translation>Die Gradienten werden mit dieser Zweierpotenz multipliziert, wie mit einer Loss-Skala</translation>
    </message>
    <message>
        <source>times 2^</source>
        <translation>mal 2^</translation>
    </message>
    <message>
        <source>computed from the definitions of the formats; no run</source>
        <translation>aus den Definitionen der Formate berechnet; kein Lauf</translation>
    </message>
    <message>
        <source>computed of tensors that are drawn by a formula; no run</source>
        <translation>aus Tensoren berechnet, die eine Formel erzeugt; kein Lauf</translation>
    </message>
    <message>
        <source>%1 in each format, rounded to the nearest number, ties to the even one. Click a bit to flip it.</source>
        <translation>%1 in jedem Format, zur nächsten Zahl gerundet, bei Gleichstand zur geraden. Ein Klick kippt ein Bit.</translation>
    </message>
    <message>
        <source>Below: less than the smallest number, so zero or that one. int8: a whole number times a power of two.</source>
        <translation>Darunter: kleiner als die kleinste Zahl, also null oder diese. int8: eine ganze Zahl mal eine Zweierpotenz.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::GapStrip</name>
    <message>
        <source>exposed tensor communication</source>
        <translation>nicht verdeckte Tensor-Kommunikation</translation>
    </message>
    <message>
        <source>exposed transfers</source>
        <translation>nicht verdeckte Übertragungen</translation>
    </message>
    <message>
        <source>exposed server traffic</source>
        <translation>nicht verdeckter Serververkehr</translation>
    </message>
    <message>
        <source>exposed all-reduce</source>
        <translation>nicht verdecktes All-Reduce</translation>
    </message>
    <message>
        <source>exposed ZeRO communication</source>
        <translation>nicht verdeckte ZeRO-Kommunikation</translation>
    </message>
    <message>
        <source>Where the step goes</source>
        <translation>Wofür die Zeit des Schritts verwendet wird</translation>
    </message>
    <message>
        <source>Show anyway</source>
        <translation>Trotzdem zeigen</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>the collective</source>
        <translation>das Kollektiv</translation>
    </message>
    <message>
        <source>Not available for folded plans.</source>
        <translation>Für zusammengefasste Pläne nicht verfügbar.</translation>
    </message>
    <message>
        <source>Nothing yet: compute, bubble and exposed communication of a step</source>
        <translation>Noch nichts: Compute, Leerlauf und nicht verdeckte Kommunikation eines Schritts</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>%1 of a step of %2, mean over the workers</source>
        <translation>%1 eines Schritts von %2, Mittel über die Worker</translation>
    </message>
    <message>
        <source>%1 of a step of %2, mean over the ranks</source>
        <translation>%1 eines Schritts von %2, Mittel über die Ranks</translation>
    </message>
    <message>
        <source>Show all results without an answer</source>
        <translation>Alle Ergebnisse ohne Antwort zeigen</translation>
    </message>
    <message>
        <source>Prediction only.</source>
        <translation>Nur eine Vorhersage.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::GridFold</name>
    <message>
        <source>replica %1</source>
        <translation>Replikat %1</translation>
    </message>
    <message>
        <source>%1 others</source>
        <translation>%1 andere</translation>
    </message>
    <message>
        <source>%1 replicas</source>
        <translation>%1 Replikate</translation>
    </message>
    <message>
        <source>%1–%2</source>
        <translation>%1–%2</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ranks</translation>
    </message>
    <message>
        <source>%1 ranks, %2 slow</source>
        <translation>%1 Ranks, %2 langsam</translation>
    </message>
    <message>
        <source>%1 identical ranks</source>
        <translation>%1 identische Ranks</translation>
    </message>
</context>
<context>
    <name>rankscope::app::GridView</name>
    <message>
        <source>No ranks to show yet</source>
        <translation>Noch keine Ranks</translation>
    </message>
    <message>
        <source>stage 00</source>
        <translation>Stufe 00</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>&lt;b&gt;%1&lt;/b&gt;: %2 … %3, stage %4&lt;table&gt;</source>
        <translation>&lt;b&gt;%1&lt;/b&gt;: %2 … %3, Stufe %4&lt;table&gt;</translation>
    </message>
    <message>
        <source>%1, mean</source>
        <translation>%1, Mittel</translation>
    </message>
    <message>
        <source>&lt;b&gt;rank %1&lt;/b&gt;: parameter server %2&lt;table&gt;</source>
        <translation>&lt;b&gt;Rank %1&lt;/b&gt;: Parameterserver %2&lt;table&gt;</translation>
    </message>
    <message>
        <source>&lt;b&gt;rank %1&lt;/b&gt;: stage %2, replica %3, tensor %4&lt;table&gt;</source>
        <translation>&lt;b&gt;Rank %1&lt;/b&gt;: Stufe %2, Replikat %3, Tensor %4&lt;table&gt;</translation>
    </message>
    <message>
        <source>pipeline group</source>
        <translation>Pipeline-Gruppe</translation>
    </message>
    <message>
        <source>data group</source>
        <translation>Datengruppe</translation>
    </message>
    <message>
        <source>tensor group</source>
        <translation>Tensorgruppe</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>stage</source>
        <translation>Stufe</translation>
    </message>
    <message>
        <source>replica</source>
        <translation>Replikat</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>, bytes</source>
        <translation>, Bytes</translation>
    </message>
    <message>
        <source>, seconds</source>
        <translation>, Sekunden</translation>
    </message>
    <message>
        <source>Ranks sorted by the quantity</source>
        <translation>Ranks nach der Größe geordnet</translation>
    </message>
    <message>
        <source>Quantity shown by colour</source>
        <translation>Größe, die als Farbe gezeigt wird</translation>
    </message>
    <message>
        <source>A run or a prediction fills this view: the data × tensor × pipeline grid, each rank coloured by its use of the step or by its memory.</source>
        <translation>Ein Lauf oder eine Vorhersage füllt diese Ansicht: das Gitter Daten × Tensor × Pipeline, jeder Rank gefärbt nach der Verwendung des Schritts oder nach seinem Speicher.</translation>
    </message>
    <message>
        <source>Not known for each rank: this plan of %1 ranks is folded (identical ranks are one). The mean over all ranks is in &quot;Where the step goes&quot;; memory is known for each stage.</source>
        <translation>Nicht für jeden Rank bekannt: Dieser Plan mit %1 Ranks ist zusammengefasst (identische Ranks zu einem). Das Mittel über alle Ranks steht unter „Wofür die Zeit des Schritts verwendet wird“; der Speicher ist für jede Stufe bekannt.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::HangView</name>
    <message>
        <source>Which ranks wait for which</source>
        <translation>Welche Ranks auf welche warten</translation>
    </message>
    <message>
        <source>Current op of every lane</source>
        <translation>Aktuelle Op jeder Spur</translation>
    </message>
    <message>
        <source>Communications with missing ranks</source>
        <translation>Kommunikation mit fehlenden Ranks</translation>
    </message>
    <message>
        <source>Lanes of all ranks</source>
        <translation>Spuren aller Ranks</translation>
    </message>
</context>
<context>
    <name>rankscope::app::HeatMap</name>
    <message>
        <source>Bytes from rank to rank in a step</source>
        <translation>Bytes von Rank zu Rank in einem Schritt</translation>
    </message>
    <message>
        <source>rank %1 to rank %2: </source>
        <translation>Rank %1 an Rank %2: </translation>
    </message>
    <message>
        <source>as predicted</source>
        <translation>wie vorhergesagt</translation>
    </message>
    <message>
        <source>predicted %1, %2 more</source>
        <translation>vorhergesagt %1, %2 mehr</translation>
    </message>
    <message>
        <source>predicted %1, %2 less</source>
        <translation>vorhergesagt %1, %2 weniger</translation>
    </message>
    <message>
        <source>to rank (receives)</source>
        <translation>an Rank (empfängt)</translation>
    </message>
    <message>
        <source>to</source>
        <translation>an</translation>
    </message>
    <message>
        <source>from rank (sends)</source>
        <translation>von Rank (sendet)</translation>
    </message>
    <message>
        <source>from</source>
        <translation>von</translation>
    </message>
    <message>
        <source>Rank to rank · %1</source>
        <translation>Rank zu Rank · %1</translation>
    </message>
    <message>
        <source>%1 per step, predicted</source>
        <translation>%1 je Schritt, vorhergesagt</translation>
    </message>
    <message>
        <source>%1 per step, predicted; the sender could not count its bytes</source>
        <translation>%1 je Schritt, vorhergesagt; der Sender konnte seine Bytes nicht zählen</translation>
    </message>
    <message>
        <source>%1 per step, counted; %2</source>
        <translation>%1 je Schritt, gezählt; %2</translation>
    </message>
    <message>
        <source>%1 per step, counted by the sender</source>
        <translation>%1 je Schritt, vom Sender gezählt</translation>
    </message>
    <message>
        <source>%1 per step, counted; dotted: not counted, predicted</source>
        <translation>%1 je Schritt, gezählt; gepunktet: nicht gezählt, vorhergesagt</translation>
    </message>
    <message>
        <source>%1 per step in messages; the collectives&apos; own bytes are not known</source>
        <translation>%1 je Schritt in Nachrichten; die Bytes der Kollektiven selbst sind nicht bekannt</translation>
    </message>
</context>
<context>
    <name>rankscope::app::HelpSheet</name>
    <message>
        <source>Keys</source>
        <translation>Tasten</translation>
    </message>
    <message>
        <source>Time line</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>W  S</source>
        <translation>W  S</translation>
    </message>
    <message>
        <source>zoom in, zoom out</source>
        <translation>vergrößern, verkleinern</translation>
    </message>
    <message>
        <source>A  D</source>
        <translation>A  D</translation>
    </message>
    <message>
        <source>move left, move right</source>
        <translation>nach links, nach rechts</translation>
    </message>
    <message>
        <source>wheel</source>
        <translation>Mausrad</translation>
    </message>
    <message>
        <source>zoom at the pointer</source>
        <translation>am Zeiger vergrößern</translation>
    </message>
    <message>
        <source>drag</source>
        <translation>Ziehen</translation>
    </message>
    <message>
        <source>move</source>
        <translation>verschieben</translation>
    </message>
    <message>
        <source>Shift+drag</source>
        <translation>Umschalt+Ziehen</translation>
    </message>
    <message>
        <source>F</source>
        <translation>F</translation>
    </message>
    <message>
        <source>fit the selection, or the step</source>
        <translation>Auswahl oder Schritt einpassen</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
    <message>
        <source>next op, previous op</source>
        <translation>nächste Op, vorige Op</translation>
    </message>
    <message>
        <source>next op on any rank, previous</source>
        <translation>nächste Op auf irgendeinem Rank, vorige</translation>
    </message>
    <message>
        <source>the same time on another rank</source>
        <translation>dieselbe Zeit auf einem anderen Rank</translation>
    </message>
    <message>
        <source>next step, previous step</source>
        <translation>nächster Schritt, voriger Schritt</translation>
    </message>
    <message>
        <source>R</source>
        <translation>R</translation>
    </message>
    <message>
        <source>G</source>
        <translation>G</translation>
    </message>
    <message>
        <source>group ranks by stage, tensor or data group</source>
        <translation>Ranks nach Stufe, Tensor- oder Datengruppe ordnen</translation>
    </message>
    <message>
        <source>T</source>
        <translation>T</translation>
    </message>
    <message>
        <source>PgUp  PgDn</source>
        <translation>Bild↑  Bild↓</translation>
    </message>
    <message>
        <source>Space</source>
        <translation>Leertaste</translation>
    </message>
    <message>
        <source>play in slow motion, pause</source>
        <translation>in Zeitlupe abspielen, anhalten</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>select a range</source>
        <translation>Bereich wählen</translation>
    </message>
    <message>
        <source>show everything</source>
        <translation>alles zeigen</translation>
    </message>
    <message>
        <source>set range to selected op</source>
        <translation>gewählte Op als Bereich</translation>
    </message>
    <message>
        <source>pin or unpin the rank at the top</source>
        <translation>Rank oben anheften oder lösen</translation>
    </message>
    <message>
        <source>scroll ranks</source>
        <translation>durch die Ranks blättern</translation>
    </message>
    <message>
        <source>clear selection</source>
        <translation>Auswahl aufheben</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ImportanceBars</name>
    <message>
        <source>Importance of each knob</source>
        <translation>Bedeutung jeder Stellgröße</translation>
    </message>
    <message>
        <source>Share of the time variance due to each knob alone</source>
        <translation>Anteil jeder Stellgröße allein an der Varianz der Zeit</translation>
    </message>
</context>
<context>
    <name>rankscope::app::LabPanel</name>
    <message>
        <source>LAB %1 OF %2</source>
        <translation>LAB %1 VON %2</translation>
    </message>
    <message>
        <source>Nothing is open</source>
        <translation>Nichts ist offen</translation>
    </message>
    <message>
        <source>This scenario has no lesson. Change the plan on the right, or press Run.</source>
        <translation>Dieses Szenario hat keine Lektion. Ändern Sie rechts den Plan, oder drücken Sie „Lauf“.</translation>
    </message>
    <message>
        <source>before you look</source>
        <translation>vor dem Hinsehen</translation>
    </message>
    <message>
        <source>before you run</source>
        <translation>vor dem Lauf</translation>
    </message>
    <message>
        <source>A question %1 ↓</source>
        <translation>Eine Frage %1 ↓</translation>
    </message>
    <message>
        <source>%1 questions %2 ↓</source>
        <translation>%1 Fragen %2 ↓</translation>
    </message>
    <message>
        <source>Compare and Explain unlock after you answer.</source>
        <translation>„Vergleichen“ und „Erklären“ erscheinen nach Ihrer Antwort.</translation>
    </message>
    <message>
        <source>Compare and Explain unlock after you answer and run.</source>
        <translation>„Vergleichen“ und „Erklären“ erscheinen nach Ihrer Antwort und dem Lauf.</translation>
    </message>
    <message>
        <source>Show anyway</source>
        <translation>Trotzdem zeigen</translation>
    </message>
    <message>
        <source>The lesson</source>
        <translation>Die Lektion</translation>
    </message>
    <message>
        <source>computed</source>
        <translation>berechnet</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>Computed</source>
        <translation>Berechnet</translation>
    </message>
    <message>
        <source>Simulation</source>
        <translation>Simulation</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Computing the paths…</source>
        <translation>Die Pfade werden berechnet…</translation>
    </message>
    <message>
        <source>Run with %1 to check.</source>
        <translation>Zum Prüfen mit %1 ausführen.</translation>
    </message>
    <message>
        <source>Simulating…</source>
        <translation>Simulation läuft…</translation>
    </message>
    <message>
        <source>Reset the plan to the lesson&apos;s and press Run to check.</source>
        <translation>Setzen Sie den Plan auf den der Lektion zurück, und drücken Sie „Lauf“, um zu prüfen.</translation>
    </message>
    <message>
        <source>Press Run to check.</source>
        <translation>Drücken Sie „Lauf“, um zu prüfen.</translation>
    </message>
    <message>
        <source>Hidden until you answer the question on the left.</source>
        <translation>Verborgen, bis Sie die Frage links beantworten.</translation>
    </message>
    <message>
        <source>Hidden until you answer the question on the left and run.</source>
        <translation>Verborgen, bis Sie die Frage links beantworten und den Plan ausführen.</translation>
    </message>
    <message>
        <source>The same in PyTorch</source>
        <translation>Dasselbe in PyTorch</translation>
    </message>
    <message>
        <source>The same in PyTorch: %1</source>
        <translation>Dasselbe in PyTorch: %1</translation>
    </message>
    <message>
        <source>Next: %1</source>
        <translation>Weiter: %1</translation>
    </message>
    <message>
        <source>Question</source>
        <translation>Frage</translation>
    </message>
    <message>
        <source>Question %1 of %2</source>
        <translation>Frage %1 von %2</translation>
    </message>
    <message>
        <source>Choose a lab above, or open a scenario (.toml) or a recording (.mcap) with Ctrl+O. rankscope tcp://HOST:PORT watches a run elsewhere.</source>
        <translation>Wählen Sie oben ein Lab, oder öffnen Sie mit Strg+O ein Szenario (.toml) oder eine Aufzeichnung (.mcap). rankscope tcp://HOST:PORT beobachtet einen Lauf anderswo.</translation>
    </message>
    <message>
        <source>The results are hidden until you answer</source>
        <translation>Die Ergebnisse bleiben verborgen, bis Sie antworten</translation>
    </message>
    <message>
        <source>Show all results without an answer</source>
        <translation>Alle Ergebnisse ohne Antwort zeigen</translation>
    </message>
    <message>
        <source>Who has answered what</source>
        <translation>Wer was geantwortet hat</translation>
    </message>
    <message>
        <source>Show 1 answer</source>
        <translation>1 Antwort zeigen</translation>
    </message>
    <message>
        <source>Show %1 answers</source>
        <translation>%1 Antworten zeigen</translation>
    </message>
    <message>
        <source>The class: 1 answer</source>
        <translation>Der Kurs: 1 Antwort</translation>
    </message>
    <message>
        <source>The class: %1 answers</source>
        <translation>Der Kurs: %1 Antworten</translation>
    </message>
</context>
<context>
    <name>rankscope::app::LessonText</name>
    <message>
        <source>Hide the answer</source>
        <translation>Antwort verbergen</translation>
    </message>
    <message>
        <source>Show the answer</source>
        <translation>Antwort zeigen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::LiveFeed</name>
    <message>
        <source>%1 messages could not be read and were skipped: %2</source>
        <translation>%1 Nachrichten waren nicht lesbar und wurden ausgelassen: %2</translation>
    </message>
    <message>
        <source>connection lost: nothing has arrived for %1 s</source>
        <translation>Verbindung verloren: seit %1 s ist nichts angekommen</translation>
    </message>
    <message>
        <source>connected again</source>
        <translation>wieder verbunden</translation>
    </message>
</context>
<context>
    <name>rankscope::app::MagnitudeChart</name>
    <message>
        <source>magnitude, times the loss scale</source>
        <translation>Betrag, mal Loss-Skala</translation>
    </message>
    <message>
        <source>magnitude</source>
        <translation>Betrag</translation>
    </message>
    <message>
        <source>fp16</source>
        <translation>fp16</translation>
    </message>
    <message>
        <source>subnormal</source>
        <translation>subnormal</translation>
    </message>
    <message>
        <source>Gradients by magnitude</source>
        <translation>Gradienten nach Betrag</translation>
    </message>
    <message>
        <source>step %1: %2 below the fp16 range, %3 above it</source>
        <translation>Schritt %1: %2 unterhalb des Bereichs von fp16, %3 oberhalb</translation>
    </message>
    <message>
        <source>from %1 to %2: %3 of all</source>
        <translation>von %1 bis %2: %3 von allen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::MainWindow</name>
    <message>
        <source> UTC</source>
        <translation> UTC</translation>
    </message>
    <message>
        <source>Rankscope</source>
        <translation>Rankscope</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>Hang ⚠</source>
        <translation>Stillstand ⚠</translation>
    </message>
    <message>
        <source>Hang</source>
        <translation>Stillstand</translation>
    </message>
    <message>
        <source>Output of the engine</source>
        <translation>Ausgabe der Engine</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Run the plan (Ctrl+R)</source>
        <translation>Den Plan ausführen (Strg+R)</translation>
    </message>
    <message>
        <source>Open a scenario to run it (Ctrl+R)</source>
        <translation>Öffnen Sie ein Szenario, um es auszuführen (Strg+R)</translation>
    </message>
    <message>
        <source>Stop (Ctrl+.)</source>
        <translation>Stopp (Strg+.)</translation>
    </message>
    <message>
        <source>The run of another program: %1 ranks (%2). It has no plan, so nothing is predicted.</source>
        <translation>Der Lauf eines anderen Programms: %1 Ranks (%2). Er hat keinen Plan, also ist nichts vorhergesagt.</translation>
    </message>
    <message>
        <source>Ran on %1, %2 steps planned over %3 ranks (%4, %5), started %6.</source>
        <translation>Gelaufen auf %1, %2 Schritte geplant über %3 Ranks (%4, %5), gestartet %6.</translation>
    </message>
    <message>
        <source>%1 – Rankscope</source>
        <translation>%1 – Rankscope</translation>
    </message>
    <message>
        <source>The lesson cannot be read: %1</source>
        <translation>Die Lektion kann nicht gelesen werden: %1</translation>
    </message>
    <message>
        <source>This plan cannot run: %1</source>
        <translation>Dieser Plan kann nicht laufen: %1</translation>
    </message>
    <message>
        <source>Open a scenario or a recording…</source>
        <translation>Szenario oder Aufzeichnung öffnen…</translation>
    </message>
    <message>
        <source>Welcome page: lessons and courses</source>
        <translation>Startseite: Lektionen und Kurse</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Open latest recording</source>
        <translation>Neueste Aufzeichnung öffnen</translation>
    </message>
    <message>
        <source>Follow the run</source>
        <translation>Dem Lauf folgen</translation>
    </message>
    <message>
        <source>Export this view…</source>
        <translation>Diese Ansicht exportieren…</translation>
    </message>
    <message>
        <source>Save a picture of the window…</source>
        <translation>Bild des Fensters speichern…</translation>
    </message>
    <message>
        <source>the whole window</source>
        <translation>das ganze Fenster</translation>
    </message>
    <message>
        <source>Present this view</source>
        <translation>Diese Ansicht vorführen</translation>
    </message>
    <message>
        <source>Switch theme: dark, light, high contrast</source>
        <translation>Farben wechseln: dunkel, hell, hoher Kontrast</translation>
    </message>
    <message>
        <source>Command palette</source>
        <translation>Befehlspalette</translation>
    </message>
    <message>
        <source>Command palette (Ctrl+K)</source>
        <translation>Befehlspalette (Strg+K)</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Keyboard shortcuts (?)</source>
        <translation>Tastenkürzel (?)</translation>
    </message>
    <message>
        <source>Show %1</source>
        <translation>%1 zeigen</translation>
    </message>
    <message>
        <source>Open lab: %1</source>
        <translation>Lab öffnen: %1</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Open recent</source>
        <translation>Zuletzt geöffnet</translation>
    </message>
    <message>
        <source>View</source>
        <translation>Ansicht</translation>
    </message>
    <message>
        <source>Class</source>
        <translation>Kurs</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache (Language)</translation>
    </message>
    <message>
        <source>The window is in %1 when Rankscope is started again.</source>
        <translation>Das Fenster erscheint auf %1, wenn Rankscope neu gestartet wird.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>Wiederholen</translation>
    </message>
    <message>
        <source>Undo %1</source>
        <translation>Rückgängig: %1</translation>
    </message>
    <message>
        <source>Teach a class on this machine…</source>
        <translation>Auf diesem Rechner unterrichten…</translation>
    </message>
    <message>
        <source>Write the file that students join with</source>
        <translation>Datei schreiben, mit der Studierende beitreten</translation>
    </message>
    <message>
        <source>Join files (*.join)</source>
        <translation>Beitrittsdateien (*.join)</translation>
    </message>
    <message>
        <source>Teach a class over the network, with keys…</source>
        <translation>Über das Netz unterrichten, mit Schlüsseln…</translation>
    </message>
    <message>
        <source>Teach a class over the network</source>
        <translation>Über das Netz unterrichten</translation>
    </message>
    <message>
        <source>This machine&apos;s address, as students reach it</source>
        <translation>Adresse dieses Rechners, wie Studierende ihn erreichen</translation>
    </message>
    <message>
        <source>Join a class…</source>
        <translation>Einem Kurs beitreten…</translation>
    </message>
    <message>
        <source>The teacher&apos;s join file</source>
        <translation>Beitrittsdatei der Lehrperson</translation>
    </message>
    <message>
        <source>Join a class</source>
        <translation>Einem Kurs beitreten</translation>
    </message>
    <message>
        <source>Your name</source>
        <translation>Ihr Name</translation>
    </message>
    <message>
        <source>Follow the teacher</source>
        <translation>Der Lehrperson folgen</translation>
    </message>
    <message>
        <source>Leave the class</source>
        <translation>Den Kurs verlassen</translation>
    </message>
    <message>
        <source>A class is open; students join with %1</source>
        <translation>Ein Kurs ist offen; Studierende treten mit %1 bei</translation>
    </message>
    <message>
        <source>Find an op, a rank, a tensor, a mark or a lesson…</source>
        <translation>Op, Rank, Tensor, Markierung oder Lektion suchen…</translation>
    </message>
    <message>
        <source>Find</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Nothing to copy: the view shows no table and nothing is selected</source>
        <translation>Nichts zu kopieren: Die Ansicht zeigt keine Tabelle, und nichts ist ausgewählt</translation>
    </message>
    <message>
        <source>Print this view…</source>
        <translation>Diese Ansicht drucken…</translation>
    </message>
    <message>
        <source>Manual</source>
        <translation>Handbuch</translation>
    </message>
    <message>
        <source>About Rankscope</source>
        <translation>Über Rankscope</translation>
    </message>
    <message>
        <source>lesson</source>
        <translation>Lektion</translation>
    </message>
    <message>
        <source>%1 is in the program, but not in the data of this step</source>
        <translation>%1 ist im Programm, aber nicht in den Daten dieses Schritts</translation>
    </message>
    <message>
        <source>Fold or unfold: %1</source>
        <translation>Ein- oder ausklappen: %1</translation>
    </message>
    <message>
        <source>Fold or unfold: Where the step goes</source>
        <translation>Ein- oder ausklappen: Wofür die Zeit des Schritts verwendet wird</translation>
    </message>
    <message>
        <source>Detach / dock view</source>
        <translation>Ansicht ablösen / andocken</translation>
    </message>
    <message>
        <source>Reset layout</source>
        <translation>Anordnung zurücksetzen</translation>
    </message>
    <message>
        <source>the lesson&apos;s plan</source>
        <translation>der Plan der Lektion</translation>
    </message>
    <message>
        <source>Mark this moment or op…</source>
        <translation>Diesen Moment oder diese Op markieren…</translation>
    </message>
    <message>
        <source>Marks…</source>
        <translation>Markierungen…</translation>
    </message>
    <message>
        <source>Marks</source>
        <translation>Markierungen</translation>
    </message>
    <message>
        <source>Find a mark…</source>
        <translation>Markierung suchen…</translation>
    </message>
    <message>
        <source>No mark has these words</source>
        <translation>Keine Markierung hat diese Wörter</translation>
    </message>
    <message>
        <source>No marks yet: Ctrl+D makes one</source>
        <translation>Noch keine Markierungen: Strg+D macht eine</translation>
    </message>
    <message>
        <source>Not saved: %1</source>
        <translation>Nicht gespeichert: %1</translation>
    </message>
    <message>
        <source>New mark</source>
        <translation>Neue Markierung</translation>
    </message>
    <message>
        <source>Change a mark</source>
        <translation>Markierung ändern</translation>
    </message>
    <message>
        <source>Note on %1</source>
        <translation>Notiz zu %1</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>“%1” marks a time that is not in the data</source>
        <translation>„%1“ markiert eine Zeit, die nicht in den Daten ist</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Erneut versuchen</translation>
    </message>
    <message>
        <source>Could not open %1</source>
        <translation>%1 konnte nicht geöffnet werden</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Opening %1 (%2 %)</source>
        <translation>%1 wird geöffnet (%2 %)</translation>
    </message>
    <message>
        <source>no answer yet</source>
        <translation>noch keine Antwort</translation>
    </message>
    <message>
        <source>Connecting to %1 (%2 s, %3)</source>
        <translation>Verbindung mit %1 wird aufgebaut (%2 s, %3)</translation>
    </message>
    <message>
        <source>The run failed: %1</source>
        <translation>Der Lauf ist gescheitert: %1</translation>
    </message>
    <message>
        <source>Show log</source>
        <translation>Protokoll zeigen</translation>
    </message>
    <message>
        <source>Attach again</source>
        <translation>Wieder verbinden</translation>
    </message>
    <message>
        <source>The teacher has run this lab. Your window shows a prediction: press Run to train it here.</source>
        <translation>Die Lehrperson hat dieses Lab ausgeführt. Ihr Fenster zeigt eine Vorhersage: Drücken Sie „Lauf“, um es hier zu trainieren.</translation>
    </message>
    <message>
        <source>Opening</source>
        <translation>Wird geöffnet</translation>
    </message>
    <message>
        <source>Parts are shown as they are read.</source>
        <translation>Teile erscheinen, sobald sie gelesen sind.</translation>
    </message>
    <message>
        <source>Ranks start, and the cost of each op is measured before they train.</source>
        <translation>Die Ranks starten, und die Kosten jeder Op werden vor dem Training gemessen.</translation>
    </message>
    <message>
        <source>The run failed</source>
        <translation>Der Lauf ist gescheitert</translation>
    </message>
    <message>
        <source>Nothing is open</source>
        <translation>Nichts ist offen</translation>
    </message>
    <message>
        <source>Open a lab, a scenario or a recording (Ctrl+O).</source>
        <translation>Öffnen Sie ein Lab, ein Szenario oder eine Aufzeichnung (Strg+O).</translation>
    </message>
    <message>
        <source>This plan cannot run</source>
        <translation>Dieser Plan kann nicht laufen</translation>
    </message>
    <message>
        <source>Nothing to show yet</source>
        <translation>Noch nichts zu zeigen</translation>
    </message>
    <message>
        <source>Press Run to train this scenario.</source>
        <translation>Drücken Sie „Lauf“, um dieses Szenario zu trainieren.</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Nothing yet</source>
        <translation>Noch nichts</translation>
    </message>
    <message>
        <source> · Esc leaves</source>
        <translation> · Esc beendet</translation>
    </message>
    <message>
        <source>Picture (*.png);;Drawing (*.svg)</source>
        <translation>Bild (*.png);;Zeichnung (*.svg)</translation>
    </message>
    <message>
        <source>Picture (*.png);;Drawing (*.svg);;Table (*.csv)</source>
        <translation>Bild (*.png);;Zeichnung (*.svg);;Tabelle (*.csv)</translation>
    </message>
    <message>
        <source>Save: %1</source>
        <translation>Speichern: %1</translation>
    </message>
    <message>
        <source>saved %1</source>
        <translation>gespeichert: %1</translation>
    </message>
    <message>
        <source>The engine&apos;s output appears here.</source>
        <translation>Hier erscheint die Ausgabe der Engine.</translation>
    </message>
    <message>
        <source>Nothing is running</source>
        <translation>Nichts läuft</translation>
    </message>
    <message>
        <source>Too large to run here; a simulation is shown.</source>
        <translation>Hier zu groß zum Ausführen; gezeigt wird eine Simulation.</translation>
    </message>
    <message>
        <source>Copy selection</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Words of a name in any order: “backward m3 rank 2”, “c_fc weight”, “zero”</source>
        <translation>Wörter eines Namens in beliebiger Reihenfolge: „backward m3 rank 2“, „c_fc weight“, „zero“</translation>
    </message>
    <message>
        <source>No lesson has these words; open a plan or a run to find ops</source>
        <translation>Keine Lektion hat diese Wörter; öffnen Sie einen Plan oder einen Lauf, um Ops zu finden</translation>
    </message>
    <message>
        <source>Nothing matches all of these words</source>
        <translation>Nichts enthält alle diese Wörter</translation>
    </message>
    <message>
        <source>More matches: add a word</source>
        <translation>Es gibt mehr Treffer: Fügen Sie ein Wort hinzu</translation>
    </message>
    <message>
        <source>Maximise / restore the lower view</source>
        <translation>Untere Ansicht maximieren / wiederherstellen</translation>
    </message>
    <message>
        <source>Enter: go to the mark; Ctrl+D then changes or deletes it</source>
        <translation>Enter: zur Markierung gehen; Strg+D ändert oder löscht sie dann</translation>
    </message>
    <message>
        <source>A note, saved in the recording</source>
        <translation>Eine Notiz, in der Aufzeichnung gespeichert</translation>
    </message>
    <message>
        <source>Detached from %1. The run continues there.</source>
        <translation>Von %1 getrennt. Der Lauf geht dort weiter.</translation>
    </message>
    <message>
        <source>The first step is running</source>
        <translation>Der erste Schritt läuft</translation>
    </message>
    <message>
        <source>Stopping the run</source>
        <translation>Der Lauf wird angehalten</translation>
    </message>
    <message>
        <source>%1: no such view</source>
        <translation>%1: keine solche Ansicht</translation>
    </message>
    <message>
        <source>Who has answered what…</source>
        <translation>Wer was geantwortet hat…</translation>
    </message>
    <message>
        <source>Open a scenario first: its model is trained.</source>
        <translation>Öffnen Sie zuerst ein Szenario: Dessen Modell wird trainiert.</translation>
    </message>
    <message>
        <source>A run is in progress. Stop it first, or wait for its end.</source>
        <translation>Ein Lauf ist im Gange. Beenden Sie ihn zuerst, oder warten Sie auf sein Ende.</translation>
    </message>
    <message>
        <source>A prediction of %1 steps over %2 ranks. Nothing ran.</source>
        <translation>Eine Vorhersage von %1 Schritten über %2 Ranks. Nichts wurde ausgeführt.</translation>
    </message>
    <message>
        <source>Press Run to compare it with a run.</source>
        <translation>Drücken Sie „Lauf“, um sie mit einem Lauf zu vergleichen.</translation>
    </message>
    <message>
        <source>The first step has not arrived yet.</source>
        <translation>Der erste Schritt ist noch nicht eingetroffen.</translation>
    </message>
    <message>
        <source>Too large to run here.</source>
        <translation>Zu groß, um hier zu laufen.</translation>
    </message>
    <message>
        <source>This plan cannot run.</source>
        <translation>Dieser Plan kann nicht laufen.</translation>
    </message>
    <message>
        <source>Nothing ran.</source>
        <translation>Nichts wurde ausgeführt.</translation>
    </message>
    <message>
        <source>Open a scenario to run it.</source>
        <translation>Öffnen Sie ein Szenario, um es auszuführen.</translation>
    </message>
    <message>
        <source>Present the lesson</source>
        <translation>Lektion präsentieren</translation>
    </message>
    <message>
        <source>The connection to %1 is lost: nothing has arrived since %2. What arrived before is shown, and the window tries to connect again.</source>
        <translation>Die Verbindung zu %1 ist verloren: Seit %2 ist nichts angekommen. Gezeigt wird, was vorher ankam; das Fenster versucht, sich wieder zu verbinden.</translation>
    </message>
    <message>
        <source>Stop watching</source>
        <translation>Nicht mehr beobachten</translation>
    </message>
    <message>
        <source>Detached from %1: %2. The run continues there.</source>
        <translation>Von %1 getrennt: %2. Der Lauf geht dort weiter.</translation>
    </message>
    <message>
        <source>Scenarios, recordings and PyTorch traces (*.toml *.mcap *.json *.json.gz);;All files (*)</source>
        <translation>Szenarien, Aufzeichnungen und PyTorch-Traces (*.toml *.mcap *.json *.json.gz);;Alle Dateien (*)</translation>
    </message>
</context>
<context>
    <name>rankscope::app::MarkBook</name>
    <message>
        <source>The marks of this recording are still being read.</source>
        <translation>Die Markierungen dieser Aufzeichnung werden noch gelesen.</translation>
    </message>
    <message>
        <source>Marks are saved in the recording: wait until the run has ended.</source>
        <translation>Markierungen werden in der Aufzeichnung gespeichert: Warten Sie, bis der Lauf beendet ist.</translation>
    </message>
    <message>
        <source>Marks are saved in the recording: wait until it is read.</source>
        <translation>Markierungen werden in der Aufzeichnung gespeichert: Warten Sie, bis sie gelesen ist.</translation>
    </message>
    <message>
        <source>Marks are saved in a recording, but this run is not recorded.</source>
        <translation>Markierungen werden in einer Aufzeichnung gespeichert, aber dieser Lauf wird nicht aufgezeichnet.</translation>
    </message>
    <message>
        <source>Marks are saved in the recording, but the file no longer exists: %1</source>
        <translation>Markierungen werden in der Aufzeichnung gespeichert, aber die Datei gibt es nicht mehr: %1</translation>
    </message>
</context>
<context>
    <name>rankscope::app::MemoryView</name>
    <message>
        <source>The rank whose memory is shown over time</source>
        <translation>Der Rank, dessen Speicher im Zeitverlauf gezeigt wird</translation>
    </message>
    <message>
        <source>stage %1, %2 identical ranks</source>
        <translation>Stufe %1, %2 identische Ranks</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>No memory to show yet</source>
        <translation>Noch kein Speicher zu zeigen</translation>
    </message>
    <message>
        <source>%1 over time</source>
        <translation>%1 im Zeitverlauf</translation>
    </message>
    <message>
        <source>%1 over time; dashed: predicted, at most %2</source>
        <translation>%1 im Zeitverlauf; gestrichelt: vorhergesagt, höchstens %2</translation>
    </message>
    <message>
        <source>every stage at its peak</source>
        <translation>jede Stufe bei ihrer Spitze</translation>
    </message>
    <message>
        <source>every rank at its peak</source>
        <translation>jeder Rank bei seiner Spitze</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1, Schritt %2</translation>
    </message>
    <message>
        <source>peaks, step %1</source>
        <translation>Spitzen, Schritt %1</translation>
    </message>
    <message>
        <source>peaks</source>
        <translation>Spitzen</translation>
    </message>
    <message>
        <source>at the cursor</source>
        <translation>am Cursor</translation>
    </message>
    <message>
        <source>at the peak</source>
        <translation>bei der Spitze</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>at, ns; or its peak</source>
        <translation>um, ns; oder seine Spitze</translation>
    </message>
    <message>
        <source>%1, bytes</source>
        <translation>%1, Bytes</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>Spitze</translation>
    </message>
    <message>
        <source>%1 at its peak</source>
        <translation>%1 bei seiner Spitze</translation>
    </message>
    <message>
        <source> &amp;nbsp; predicted %1</source>
        <translation> &amp;nbsp; vorhergesagt %1</translation>
    </message>
    <message>
        <source>alive after %1:&lt;table&gt;</source>
        <translation>am Leben nach %1:&lt;table&gt;</translation>
    </message>
    <message>
        <source>alive while %1 runs:&lt;table&gt;</source>
        <translation>am Leben während %1:&lt;table&gt;</translation>
    </message>
    <message>
        <source>and %1 more</source>
        <translation>und %1 weitere</translation>
    </message>
    <message>
        <source>Rank to show over time</source>
        <translation>Rank, der im Zeitverlauf gezeigt wird</translation>
    </message>
    <message>
        <source>A run or a prediction fills this view: every rank&apos;s parameters, gradients, optimizer state, activations, buffers and workspace over the step, and its data in host memory.</source>
        <translation>Ein Lauf oder eine Vorhersage füllt diese Ansicht: Parameter, Gradienten, Optimiererzustand, Aktivierungen, Puffer und Arbeitsspeicher jedes Ranks über den Schritt, und seine Daten im Speicher des Hosts.</translation>
    </message>
    <message>
        <source>host (not on the device)</source>
        <translation>Host (nicht auf dem Gerät)</translation>
    </message>
    <message>
        <source>device total, bytes</source>
        <translation>Summe des Geräts, Bytes</translation>
    </message>
    <message>
        <source>predicted total, bytes</source>
        <translation>vorhergesagte Summe, Bytes</translation>
    </message>
    <message>
        <source>%1: not known, details were lost here</source>
        <translation>%1: nicht bekannt, hier gingen Einzelheiten verloren</translation>
    </message>
    <message>
        <source>in host memory</source>
        <translation>im Speicher des Hosts</translation>
    </message>
    <message>
        <source>%1 over time; dashed: predicted</source>
        <translation>%1 im Zeitverlauf; gestrichelt: vorhergesagt</translation>
    </message>
</context>
<context>
    <name>rankscope::app::NumberBox</name>
    <message>
        <source>42 or 3/11</source>
        <translation>42 oder 3/11</translation>
    </message>
    <message>
        <source>A number, or arithmetic: + − × / ^ ( ) sqrt ln log2 exp</source>
        <translation>Eine Zahl oder Rechnung: + − × / ^ ( ) sqrt ln log2 exp</translation>
    </message>
</context>
<context>
    <name>rankscope::app::OrderBox</name>
    <message>
        <source>Earlier</source>
        <translation>Früher</translation>
    </message>
    <message>
        <source>Later</source>
        <translation>Später</translation>
    </message>
    <message>
        <source>%1. %2</source>
        <translation>%1. %2</translation>
    </message>
    <message>
        <source>%1: earlier</source>
        <translation>%1: früher</translation>
    </message>
    <message>
        <source>%1: later</source>
        <translation>%1: später</translation>
    </message>
    <message>
        <source>Drag an item to its place; or choose it, and move it with the buttons or with Alt+↑ and Alt+↓</source>
        <translation>Ziehen Sie einen Eintrag an seinen Platz, oder wählen Sie ihn und verschieben Sie ihn mit den Knöpfen oder mit Alt+↑ und Alt+↓</translation>
    </message>
</context>
<context>
    <name>rankscope::app::OrderPicture</name>
    <message>
        <source>The order as a picture</source>
        <translation>Die Reihenfolge als Bild</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>with equal stages and no communication cost, in units of a forward pass</source>
        <translation>bei gleichen Stufen und ohne Kommunikationskosten, in Einheiten eines Forward</translation>
    </message>
    <message>
        <source>the last valid order, </source>
        <translation>die letzte gültige Reihenfolge, </translation>
    </message>
    <message>
        <source>%1, units %2 to %3 of %4. Click: show it in the text.</source>
        <translation>%1, Einheiten %2 bis %3 von %4. Klick: im Text zeigen.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::OtherRun</name>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1 contains no run</source>
        <translation>%1 enthält keinen Lauf</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PathPlayer</name>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Play or pause (Space)</source>
        <translation>Abspielen oder anhalten (Leertaste)</translation>
    </message>
    <message>
        <source>Step of the paths</source>
        <translation>Schritt der Pfade</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>Schritt %1 von %2</translation>
    </message>
    <message>
        <source>Previous step (,)</source>
        <translation>Voriger Schritt (,)</translation>
    </message>
    <message>
        <source>Next step (.)</source>
        <translation>Nächster Schritt (.)</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PathsModel</name>
    <message>
        <source>diverged, %1</source>
        <translation>divergiert, %1</translation>
    </message>
    <message>
        <source>diverges</source>
        <translation>divergiert</translation>
    </message>
    <message>
        <source>from step %1</source>
        <translation>ab Schritt %1</translation>
    </message>
    <message>
        <source>not yet</source>
        <translation>noch nicht</translation>
    </message>
    <message>
        <source>The learning rate. A double click, or typing, changes it.</source>
        <translation>Die Lernrate. Ein Doppelklick oder Tippen ändert sie.</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Ticked ones are drawn</source>
        <translation>Angekreuzte werden gezeichnet</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>Learning rate: a double click changes it</source>
        <translation>Lernrate: Ein Doppelklick ändert sie</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>At the present step</source>
        <translation>Beim aktuellen Schritt</translation>
    </message>
    <message>
        <source>distance</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>At the present step, to the nearest minimum</source>
        <translation>Beim aktuellen Schritt, zum nächsten Minimum</translation>
    </message>
    <message>
        <source>step length</source>
        <translation>Schrittlänge</translation>
    </message>
    <message>
        <source>Of the step that led here</source>
        <translation>Des Schritts, der hierher führte</translation>
    </message>
    <message>
        <source>within 1 %</source>
        <translation>innerhalb 1 %</translation>
    </message>
    <message>
        <source>From where on the loss stays within 1 % of the way from the start&apos;s to the least</source>
        <translation>Ab wann der Loss innerhalb von 1 % der Strecke vom Start zum kleinsten Wert bleibt</translation>
    </message>
    <message>
        <source>state, B</source>
        <translation>Zustand, B</translation>
    </message>
    <message>
        <source>Bytes of optimizer state per parameter of a large fp32 matrix</source>
        <translation>Bytes an Optimiererzustand je Parameter einer großen fp32-Matrix</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PathsView</name>
    <message>
        <source>Reset</source>
        <translation>Zurücksetzen</translation>
    </message>
    <message>
        <source>Optimizers</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>Surface</source>
        <translation>Fläche</translation>
    </message>
    <message>
        <source>Condition number of the ravine</source>
        <translation>Konditionszahl der Schlucht</translation>
    </message>
    <message>
        <source>κ </source>
        <translation>κ </translation>
    </message>
    <message>
        <source>Noise of gradients</source>
        <translation>Rauschen der Gradienten</translation>
    </message>
    <message>
        <source>Standard deviation of the noise in each component of a gradient, the same for all optimizers</source>
        <translation>Standardabweichung des Rauschens in jeder Komponente eines Gradienten, gleich für alle Optimierer</translation>
    </message>
    <message>
        <source>noise </source>
        <translation>Rauschen </translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>Schritte</translation>
    </message>
    <message>
        <source> steps</source>
        <translation> Schritte</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>No optimizer is ticked</source>
        <translation>Kein Optimierer angekreuzt</translation>
    </message>
    <message>
        <source>Tick one in the table below.</source>
        <translation>Kreuzen Sie unten in der Tabelle einen an.</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>Optimierer</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>x</source>
        <translation>x</translation>
    </message>
    <message>
        <source>y</source>
        <translation>y</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>Hidden until you answer the questions on the left.</source>
        <translation>Verborgen, bis Sie die Fragen links beantworten.</translation>
    </message>
    <message>
        <source>Condition number: largest curvature divided by the smallest</source>
        <translation>Konditionszahl: größte Krümmung geteilt durch kleinste</translation>
    </message>
    <message>
        <source>Default rates, start, steps and noise of this surface</source>
        <translation>Übliche Raten, Start, Schritte und Rauschen dieser Fläche</translation>
    </message>
    <message>
        <source>computed by the engine&apos;s optimizers in fp64 on two numbers; no model is trained</source>
        <translation>berechnet von den Optimierern der Engine in fp64 auf zwei Zahlen; kein Modell wird trainiert</translation>
    </message>
    <message>
        <source>Loss above the minimum, by step</source>
        <translation>Loss über dem Minimum, nach Schritt</translation>
    </message>
    <message>
        <source>Loss above the minimum, by step; values below %1 are drawn at %1</source>
        <translation>Loss über dem Minimum, nach Schritt; Werte unter %1 sind bei %1 gezeichnet</translation>
    </message>
    <message>
        <source>Start here</source>
        <translation>Hier beginnen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PlanPanel</name>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>Edit schedule order…</source>
        <translation>Schedule bearbeiten…</translation>
    </message>
    <message>
        <source>Reset to file</source>
        <translation>Auf Datei zurücksetzen</translation>
    </message>
    <message>
        <source>Undo the changes to the plan</source>
        <translation>Die Änderungen am Plan zurücknehmen</translation>
    </message>
    <message>
        <source>This plan</source>
        <translation>Dieser Plan</translation>
    </message>
    <message>
        <source>ideal</source>
        <translation>ideal</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>operation</source>
        <translation>Operation</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>Bytes</translation>
    </message>
    <message>
        <source>root</source>
        <translation>Wurzel</translation>
    </message>
    <message>
        <source>data</source>
        <translation>Daten</translation>
    </message>
    <message>
        <source>tensor</source>
        <translation>Tensor</translation>
    </message>
    <message>
        <source>Ranks that share every layer</source>
        <translation>Ranks, die sich jede Schicht teilen</translation>
    </message>
    <message>
        <source>sequence parallel</source>
        <translation>sequenzparallel</translation>
    </message>
    <message>
        <source>pipeline</source>
        <translation>Pipeline</translation>
    </message>
    <message>
        <source>Stages that the layers are split over</source>
        <translation>Stufen, auf die die Schichten verteilt sind</translation>
    </message>
    <message>
        <source>virtual stages</source>
        <translation>virtuelle Stufen</translation>
    </message>
    <message>
        <source>layers per stage</source>
        <translation>Schichten je Stufe</translation>
    </message>
    <message>
        <source>micro-batches</source>
        <translation>Micro-Batches</translation>
    </message>
    <message>
        <source>global batch</source>
        <translation>globaler Batch</translation>
    </message>
    <message>
        <source>schedule</source>
        <translation>Schedule</translation>
    </message>
    <message>
        <source>recompute</source>
        <translation>Neuberechnung</translation>
    </message>
    <message>
        <source>recompute every n-th block</source>
        <translation>jeden n-ten Block behalten</translation>
    </message>
    <message>
        <source>precision</source>
        <translation>Präzision</translation>
    </message>
    <message>
        <source>Element type of the computation</source>
        <translation>Elementtyp der Berechnung</translation>
    </message>
    <message>
        <source>logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>Type of the logits in 16 bits: wide is fp32, narrow is the type of the activations</source>
        <translation>Typ der Logits in 16 Bit: wide ist fp32, narrow der Typ der Aktivierungen</translation>
    </message>
    <message>
        <source>data parallel</source>
        <translation>datenparallel</translation>
    </message>
    <message>
        <source>servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>staleness</source>
        <translation>Staleness</translation>
    </message>
    <message>
        <source>ZeRO stage</source>
        <translation>ZeRO-Stufe</translation>
    </message>
    <message>
        <source>offload</source>
        <translation>Auslagerung</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>Kollektiv</translation>
    </message>
    <message>
        <source>bucket, MiB</source>
        <translation>Bucket, MiB</translation>
    </message>
    <message>
        <source>Write the order of each stage&apos;s forward and backward passes by hand</source>
        <translation>Die Reihenfolge der Forwards und Backwards jeder Stufe von Hand schreiben</translation>
    </message>
    <message>
        <source>The collective that is run in each step</source>
        <translation>Das Kollektiv, das in jedem Schritt läuft</translation>
    </message>
    <message>
        <source>Size of the whole tensor; some collectives split it into one part per rank</source>
        <translation>Größe des ganzen Tensors; einige Kollektive teilen ihn in einen Teil je Rank</translation>
    </message>
    <message>
        <source>The rank that sends or collects</source>
        <translation>Der Rank, der sendet oder sammelt</translation>
    </message>
    <message>
        <source>Data-parallel replicas; for a single collective, its ranks</source>
        <translation>Datenparallele Replikate; bei einem einzelnen Kollektiv seine Ranks</translation>
    </message>
    <message>
        <source>Tensor ranks also split the norms and residual sums, by token position</source>
        <translation>Tensor-Ranks teilen sich auch Norms und residuale Summen, nach Token-Position</translation>
    </message>
    <message>
        <source>Chunks of layers per rank (interleaved schedules)</source>
        <translation>Chunks von Schichten je Rank (Interleaved-Schedules)</translation>
    </message>
    <message>
        <source>even; cost: equal compute; or the number of layers of each chunk, such as 3 2 2 1</source>
        <translation>even: gleich viele; cost: gleicher Rechenaufwand; oder die Zahl der Schichten jedes Chunks, etwa 3 2 2 1</translation>
    </message>
    <message>
        <source>Parts of a replica&apos;s batch in each step</source>
        <translation>Teile des Batches eines Replikats in jedem Schritt</translation>
    </message>
    <message>
        <source>Samples per step over all replicas</source>
        <translation>Beispiele je Schritt über alle Replikate</translation>
    </message>
    <message>
        <source>Order of a stage&apos;s forward and backward passes; by-hand: as written in the text</source>
        <translation>Reihenfolge der Forwards und Backwards einer Stufe; by-hand: wie im Text geschrieben</translation>
    </message>
    <message>
        <source>Activations that are recomputed instead of stored</source>
        <translation>Aktivierungen, die neu berechnet statt gespeichert werden</translation>
    </message>
    <message>
        <source>The input of every n-th block of a chunk is stored, the rest is recomputed</source>
        <translation>Die Eingabe jedes n-ten Blocks eines Chunks wird gespeichert, der Rest neu berechnet</translation>
    </message>
    <message>
        <source>Where gradients are summed and parameters are updated: on every rank, on a main device, or on separate parameter servers</source>
        <translation>Wo Gradienten summiert und Parameter aktualisiert werden: auf jedem Rank, auf einem Hauptgerät oder auf eigenen Parameterservern</translation>
    </message>
    <message>
        <source>Parameter servers; each stores an equal part of the parameters</source>
        <translation>Parameterserver; jeder speichert einen gleich großen Teil der Parameter</translation>
    </message>
    <message>
        <source>Number of steps by which a worker&apos;s parameters may be out of date; 0 is synchronous</source>
        <translation>Zahl der Schritte, um die die Parameter eines Workers veraltet sein dürfen; 0 ist synchron</translation>
    </message>
    <message>
        <source>0: nothing sharded; 1: optimizer states; 2: also gradients; 3: also parameters</source>
        <translation>0: nichts verteilt; 1: Optimiererzustände; 2: auch Gradienten; 3: auch Parameter</translation>
    </message>
    <message>
        <source>What is stored in host memory: optimizer states, which the host then updates</source>
        <translation>Was im Speicher des Hosts liegt: Optimiererzustände, die dann der Host aktualisiert</translation>
    </message>
    <message>
        <source>Algorithm of collectives: the library&apos;s own, or one with visible phases and counted bytes</source>
        <translation>Algorithmus der Kollektive: der eigene der Bibliothek, oder einer mit sichtbaren Phasen und gezählten Bytes</translation>
    </message>
    <message>
        <source>Size of gradients reduced together; the first bucket is at most 1 MiB</source>
        <translation>Größe der zusammen reduzierten Gradienten; der erste Bucket hat höchstens 1 MiB</translation>
    </message>
    <message>
        <source>weight stashing</source>
        <translation>Weight Stashing</translation>
    </message>
    <message>
        <source>Each stage keeps the weights of a micro-batch&apos;s forward until its backward</source>
        <translation>Jede Stufe behält die Gewichte des Forward eines Micro-Batches bis zu seinem Backward</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PlanSearcher</name>
    <message>
        <source>exhaustive</source>
        <translation>vollständig</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>Bayesian</source>
        <translation>bayessch</translation>
    </message>
    <message>
        <source>Listing plans…</source>
        <translation>Pläne werden aufgezählt…</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PointBox</name>
    <message>
        <source>Selected: %1</source>
        <translation>Gewählt: %1</translation>
    </message>
    <message>
        <source>Click it in the time line.</source>
        <translation>Klicken Sie in der Zeitleiste darauf.</translation>
    </message>
    <message>
        <source>Click it in the Grid, or in the time line.</source>
        <translation>Klicken Sie im Gitter oder in der Zeitleiste darauf.</translation>
    </message>
    <message>
        <source>Click it in the Topology view, or in the Collectives view&apos;s map.</source>
        <translation>Klicken Sie in der Ansicht Topologie oder in der Karte der Ansicht Kollektive darauf.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ProgramView</name>
    <message>
        <source>Which text</source>
        <translation>Welcher Text</translation>
    </message>
    <message>
        <source>stage order (editable)</source>
        <translation>Reihenfolge der Stufen (bearbeitbar)</translation>
    </message>
    <message>
        <source>The program&apos;s text</source>
        <translation>Text des Programms</translation>
    </message>
    <message>
        <source>program of rank %1</source>
        <translation>Programm von Rank %1</translation>
    </message>
    <message>
        <source>Line %1: %2</source>
        <translation>Zeile %1: %2</translation>
    </message>
    <message>
        <source>No program yet</source>
        <translation>Noch kein Programm</translation>
    </message>
    <message>
        <source>%1 ops in program order (read only): one line per op with the ops it waits for, its bytes and buffers</source>
        <translation>%1 Ops in Programmreihenfolge (nur lesbar): je Zeile eine Op mit den Ops, auf die sie wartet, ihren Bytes und Puffern</translation>
    </message>
    <message>
        <source>%1 ops, valid</source>
        <translation>%1 Ops, gültig</translation>
    </message>
    <message>
        <source>Open a scenario: the order of each stage&apos;s forward and backward passes is shown here as text and can be edited.</source>
        <translation>Öffnen Sie ein Szenario: Hier erscheint die Reihenfolge der Forwards und Backwards jeder Stufe als Text, den Sie bearbeiten können.</translation>
    </message>
    <message>
        <source>%1 ops; ideal bubble (equal stages, no communication): %2</source>
        <translation>%1 Ops; idealer Leerlauf (gleiche Stufen, keine Kommunikation): %2</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Proof</name>
    <message>
        <source>losses</source>
        <translation>Losses</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>✓ Same training: all %1 tensors identical to one rank</source>
        <translation>✓ Gleiches Training: alle %1 Tensoren identisch mit einem Rank</translation>
    </message>
    <message>
        <source>✓ Same training as on one rank</source>
        <translation>✓ Gleiches Training wie auf einem Rank</translation>
    </message>
    <message>
        <source>✗ Not the same training</source>
        <translation>✗ Nicht das gleiche Training</translation>
    </message>
    <message>
        <source>: %1 tensors, %2 bit-equal; largest relative error %3, of %4 (tolerance %5)</source>
        <translation>: %1 Tensoren, %2 bitgleich; größter relativer Fehler %3, von %4 (Toleranz %5)</translation>
    </message>
    <message>
        <source>✓ Every rank has the defined result: %1 numbers in each of %2 steps</source>
        <translation>✓ Jeder Rank hat das definierte Ergebnis: %1 Zahlen in jedem von %2 Schritten</translation>
    </message>
    <message>
        <source>✗ Not the defined result: %1</source>
        <translation>✗ Nicht das definierte Ergebnis: %1</translation>
    </message>
    <message>
        <source>Not shown: no difference found, but %1</source>
        <translation>Nicht gezeigt: kein Unterschied gefunden, aber %1</translation>
    </message>
    <message>
        <source>✓ Same training as a sequential replay of its arrivals</source>
        <translation>✓ Gleiches Training wie eine sequentielle Wiederholung seiner Ankünfte</translation>
    </message>
    <message>
        <source>✗ Not the same training as on one rank, which has no stale weights</source>
        <translation>✗ Nicht das gleiche Training wie auf einem Rank, der keine veralteten Gewichte hat</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ProofSection</name>
    <message>
        <source>Same training?</source>
        <translation>Gleiches Training?</translation>
    </message>
    <message>
        <source>As defined?</source>
        <translation>Wie definiert?</translation>
    </message>
    <message>
        <source>Training five steps under this plan and on one rank…</source>
        <translation>Fünf Schritte werden mit diesem Plan und auf einem Rank trainiert…</translation>
    </message>
    <message>
        <source>Not checked yet. Trains 5 steps on one rank and compares.</source>
        <translation>Noch nicht geprüft. Trainiert 5 Schritte auf einem Rank und vergleicht.</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Verify against one rank</source>
        <translation>Mit einem Rank vergleichen</translation>
    </message>
    <message>
        <source>Verify against the definition</source>
        <translation>Mit der Definition vergleichen</translation>
    </message>
    <message>
        <source>Running five steps and comparing the result of every rank…</source>
        <translation>Fünf Schritte laufen, und das Ergebnis jedes Ranks wird verglichen…</translation>
    </message>
    <message>
        <source>Not checked yet. Runs 5 steps and compares the result of every rank.</source>
        <translation>Noch nicht geprüft. Führt 5 Schritte aus und vergleicht das Ergebnis jedes Ranks.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PuzzleBoard</name>
    <message>
        <source>Board of the puzzle</source>
        <translation>Spielfeld des Puzzles</translation>
    </message>
    <message>
        <source>Arrow keys choose a box, Enter places it, Delete takes it back, Shift with an arrow moves it.</source>
        <translation>Pfeiltasten wählen eine Box, Enter legt sie, Entf nimmt sie zurück, Umschalt mit einem Pfeil verschiebt sie.</translation>
    </message>
    <message>
        <source>stage %1</source>
        <translation>Stufe %1</translation>
    </message>
    <message>
        <source>peak: %1 kept</source>
        <translation>Spitze: %1</translation>
    </message>
    <message>
        <source>keeps %1 of %2</source>
        <translation>behält %1 von %2</translation>
    </message>
    <message>
        <source>keeps %1</source>
        <translation>behält %1</translation>
    </message>
    <message>
        <source>par %1</source>
        <translation>Par %1</translation>
    </message>
    <message>
        <source>units</source>
        <translation>Einheiten</translation>
    </message>
    <message>
        <source>units; to place:</source>
        <translation>Einheiten; offen:</translation>
    </message>
    <message>
        <source>%1 is ready. A click places it.</source>
        <translation>%1 ist bereit. Ein Klick legt sie.</translation>
    </message>
    <message>
        <source>%1: from %2 to %3 units; %4 kept after it.
Drag it to move it, or out of its row to take it back.</source>
        <translation>%1: von %2 bis %3 Einheiten; danach %4 behalten.
Ziehen verschiebt sie; aus der Zeile heraus nimmt sie zurück.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::PuzzleView</name>
    <message>
        <source>halves</source>
        <translation>Hälften</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Rückgängig</translation>
    </message>
    <message>
        <source>Run it</source>
        <translation>Ausführen</translation>
    </message>
    <message>
        <source>Stages</source>
        <translation>Stufen</translation>
    </message>
    <message>
        <source> stages</source>
        <translation> Stufen</translation>
    </message>
    <message>
        <source>Stages of the pipeline, with one chunk each. Another number begins with an empty board.</source>
        <translation>Stufen der Pipeline, mit je einem Chunk. Eine andere Zahl beginnt mit leerem Spielfeld.</translation>
    </message>
    <message>
        <source>Micro-batches</source>
        <translation>Micro-Batches</translation>
    </message>
    <message>
        <source> micro-batches</source>
        <translation> Micro-Batches</translation>
    </message>
    <message>
        <source>Micro-batches of a step. Another number begins with an empty board.</source>
        <translation>Micro-Batches eines Schritts. Eine andere Zahl beginnt mit leerem Spielfeld.</translation>
    </message>
    <message>
        <source>Micro-batches that a stage may keep</source>
        <translation>Micro-Batches, die eine Stufe behalten darf</translation>
    </message>
    <message>
        <source> kept at most</source>
        <translation> behalten</translation>
    </message>
    <message>
        <source>keeps any number</source>
        <translation>behält beliebig viele</translation>
    </message>
    <message>
        <source>How many micro-batches&apos; activations a stage may keep at a time: from a forward to the end of its backward. Another number begins with an empty board.</source>
        <translation>Von wie vielen Micro-Batches eine Stufe gleichzeitig die Aktivierungen behalten darf: von einem Forward bis zum Ende seines Backward. Eine andere Zahl beginnt mit leerem Spielfeld.</translation>
    </message>
    <message>
        <source>Backward in halves: boxes I (input gradient, which the stage before waits for) and W (weight gradient) instead of B</source>
        <translation>Backward in Hälften: Boxen I (Gradient der Eingabe, auf den die Stufe davor wartet) und W (Gradient der Gewichte) statt B</translation>
    </message>
    <message>
        <source>The board before the last move</source>
        <translation>Das Spielfeld vor dem letzten Zug</translation>
    </message>
    <message>
        <source>puzzle, %1 units</source>
        <translation>Puzzle, %1 Einheiten</translation>
    </message>
    <message>
        <source>Orders</source>
        <translation>Reihenfolgen</translation>
    </message>
    <message>
        <source>Empty the board, or put a known schedule on it</source>
        <translation>Das Spielfeld leeren, oder einen bekannten Schedule darauf legen</translation>
    </message>
    <message>
        <source>empty board</source>
        <translation>leeres Spielfeld</translation>
    </message>
    <message>
        <source>show par</source>
        <translation>Par zeigen</translation>
    </message>
    <message>
        <source>Par is in the menu Orders.</source>
        <translation>Par steht im Menü Reihenfolgen.</translation>
    </message>
    <message>
        <source>Train the open scenario with this order: schedule = &quot;by-hand&quot;</source>
        <translation>Das geöffnete Szenario mit dieser Reihenfolge trainieren: schedule = &quot;by-hand&quot;</translation>
    </message>
    <message>
        <source>Place all boxes first.</source>
        <translation>Legen Sie zuerst alle Boxen.</translation>
    </message>
    <message>
        <source>textbook times: F 1 unit, B 2, messages 0; no run</source>
        <translation>Zeiten des Lehrbuchs: F 1 Einheit, B 2, Nachrichten 0; kein Lauf</translation>
    </message>
</context>
<context>
    <name>rankscope::app::QuestionCard</name>
    <message>
        <source>Drawing saved.</source>
        <translation>Zeichnung gespeichert.</translation>
    </message>
    <message>
        <source>Your answer: %1.</source>
        <translation>Ihre Antwort: %1.</translation>
    </message>
    <message>
        <source>Run this variant</source>
        <translation>Diese Variante ausführen</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>Submit drawing</source>
        <translation>Zeichnung abgeben</translation>
    </message>
    <message>
        <source>Submit</source>
        <translation>Abgeben</translation>
    </message>
    <message>
        <source>You: %1.</source>
        <translation>Sie: %1.</translation>
    </message>
    <message>
        <source>Right: %1.</source>
        <translation>Richtig: %1.</translation>
    </message>
    <message>
        <source>By the formula: %1.</source>
        <translation>Nach der Formel: %1.</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation>%1: %2.</translation>
    </message>
    <message>
        <source>Show these paths</source>
        <translation>Diese Pfade zeigen</translation>
    </message>
    <message>
        <source>Answered on %1.</source>
        <translation>Beantwortet am %1.</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Show rank %1 in the view</source>
        <translation>Rank %1 in der Ansicht zeigen</translation>
    </message>
    <message>
        <source>Show the op in the view</source>
        <translation>Die Op in der Ansicht zeigen</translation>
    </message>
    <message>
        <source>Show it in the view</source>
        <translation>In der Ansicht zeigen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::RangeView</name>
    <message>
        <source>where the gap comes from</source>
        <translation>woher der Abstand kommt</translation>
    </message>
    <message>
        <source>Where the gap comes from</source>
        <translation>Woher der Abstand kommt</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>as</source>
        <translation>als</translation>
    </message>
    <message>
        <source>length, s</source>
        <translation>Länge, s</translation>
    </message>
    <message>
        <source>Not available for folded plans</source>
        <translation>Für zusammengefasste Pläne nicht verfügbar</translation>
    </message>
    <message>
        <source>Shares of the selected time by rank</source>
        <translation>Anteile der gewählten Zeit nach Rank</translation>
    </message>
    <message>
        <source>The %1 ranks of this plan are folded (identical ranks are one), and their ops have no separate times. The shares of the whole step are in &quot;Where the step goes&quot;.</source>
        <translation>Die %1 Ranks dieses Plans sind zusammengefasst (identische Ranks zu einem), und ihre Ops haben keine eigenen Zeiten. Die Anteile des ganzen Schritts stehen unter „Wofür die Zeit des Schritts verwendet wird“.</translation>
    </message>
    <message>
        <source>No step to analyse yet</source>
        <translation>Noch kein Schritt zu zerlegen</translation>
    </message>
    <message>
        <source>A run or a prediction fills this view: shift and drag in the time line to select a range. It then shows the time of every rank in the range, and the prediction for the same ops.</source>
        <translation>Ein Lauf oder eine Vorhersage füllt diese Ansicht: Umschalt und Ziehen in der Zeitleiste wählen einen Bereich. Dann erscheint hier die Zeit jedes Ranks darin, mit der Vorhersage für dieselben Ops.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::RooflineView</name>
    <message>
        <source>Ops of the step</source>
        <translation>Ops des Schritts</translation>
    </message>
    <message>
        <source>Which roof</source>
        <translation>Welches Dach</translation>
    </message>
    <message>
        <source>No kernels to show</source>
        <translation>Keine Kernel zu zeigen</translation>
    </message>
    <message>
        <source>Measured roof</source>
        <translation>Gemessenes Dach</translation>
    </message>
    <message>
        <source>Roof of the cluster file</source>
        <translation>Dach aus der Clusterdatei</translation>
    </message>
    <message>
        <source>Measured: the fastest matrix product and the fastest large copy on the run&apos;s machine (rankscope-engine peak).</source>
        <translation>Gemessen: das schnellste Matrixprodukt und die schnellste große Kopie auf dem Rechner des Laufs (rankscope-engine peak).</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Rows</name>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>length</source>
        <translation>Länge</translation>
    </message>
    <message>
        <source>%1 workers, mean</source>
        <translation>%1 Worker, Mittel</translation>
    </message>
    <message>
        <source>all ranks, mean</source>
        <translation>alle Ranks, Mittel</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>ideal</source>
        <translation>ideal</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ScalingView</name>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>%1 by ranks</source>
        <translation>%1 nach Ranks</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>Ranks</translation>
    </message>
    <message>
        <source>Efficiency by ranks</source>
        <translation>Effizienz nach Ranks</translation>
    </message>
    <message>
        <source>Step by ranks</source>
        <translation>Schritt nach Ranks</translation>
    </message>
    <message>
        <source>What is scaled</source>
        <translation>Was skaliert wird</translation>
    </message>
    <message>
        <source>What grows</source>
        <translation>Was wächst</translation>
    </message>
    <message>
        <source>Strong or weak</source>
        <translation>Stark oder schwach</translation>
    </message>
    <message>
        <source>Open a sweep…</source>
        <translation>Sweep öffnen…</translation>
    </message>
    <message>
        <source>A recording of rankscope-engine sweep --record</source>
        <translation>Eine Aufzeichnung von rankscope-engine sweep --record</translation>
    </message>
    <message>
        <source>Scaling by number of ranks</source>
        <translation>Skalierung nach Zahl der Ranks</translation>
    </message>
    <message>
        <source>this plan</source>
        <translation>dieser Plan</translation>
    </message>
    <message>
        <source>a sweep…</source>
        <translation>ein Sweep…</translation>
    </message>
    <message>
        <source>Open a sweep</source>
        <translation>Sweep öffnen</translation>
    </message>
    <message>
        <source>Sweeps (*.mcap)</source>
        <translation>Sweeps (*.mcap)</translation>
    </message>
    <message>
        <source>Measuring on 1, 2, 4, … ranks</source>
        <translation>Messung auf 1, 2, 4, … Ranks</translation>
    </message>
    <message>
        <source>Stop measuring</source>
        <translation>Messung anhalten</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Kein Plan ist offen</translation>
    </message>
    <message>
        <source>Predicting…</source>
        <translation>Vorhersage läuft…</translation>
    </message>
    <message>
        <source>Strong: the global batch is constant. Weak: it grows with the ranks.</source>
        <translation>Stark: Der globale Batch ist konstant. Schwach: Er wächst mit den Ranks.</translation>
    </message>
    <message>
        <source>Run this plan on 1, 2, 4 and 8 ranks, %1 steps each, and draw the measured values over the curves</source>
        <translation>Diesen Plan auf 1, 2, 4 und 8 Ranks mit je %1 Schritten ausführen und die Messwerte über die Kurven zeichnen</translation>
    </message>
    <message>
        <source>Nothing to run: open a scenario that can run, not a recording, and wait until its run has ended</source>
        <translation>Nichts auszuführen: Öffnen Sie ein ausführbares Szenario, keine Aufzeichnung, und warten Sie, bis sein Lauf beendet ist</translation>
    </message>
    <message>
        <source>The engine is measuring</source>
        <translation>Die Engine misst</translation>
    </message>
    <message>
        <source>Nothing to scale here</source>
        <translation>Hier gibt es nichts zu skalieren</translation>
    </message>
    <message>
        <source>Open a scenario to predict its plan on 1, 2, 4, … ranks, or open a sweep recorded by rankscope-engine, or choose published results.</source>
        <translation>Öffnen Sie ein Szenario, um seinen Plan auf 1, 2, 4, … Ranks vorherzusagen, oder einen von rankscope-engine aufgezeichneten Sweep, oder wählen Sie veröffentlichte Ergebnisse.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Screenshot</name>
    <message>
        <source>%1: no answer within %2 s</source>
        <translation>%1: keine Antwort innerhalb von %2 s</translation>
    </message>
    <message>
        <source>no data to draw arrived within %1 s</source>
        <translation>innerhalb von %1 s kamen keine Daten zum Zeichnen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::SearchView</name>
    <message>
        <source>out of memory</source>
        <translation>Speicher reicht nicht</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>passt</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>front</source>
        <translation>Front</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>The plan that was open when the search began:
step %1, memory %2</source>
        <translation>Der Plan, der zu Beginn der Suche offen war:
Schritt %1, Speicher %2</translation>
    </message>
    <message>
        <source>chosen</source>
        <translation>gewählt</translation>
    </message>
    <message>
        <source>Best so far, by plans tried</source>
        <translation>Bester bisher, nach geprüften Plänen</translation>
    </message>
    <message>
        <source>plans tried</source>
        <translation>geprüfte Pläne</translation>
    </message>
    <message>
        <source>Use this plan</source>
        <translation>Diesen Plan nehmen</translation>
    </message>
    <message>
        <source>Fastest</source>
        <translation>Schnellster</translation>
    </message>
    <message>
        <source>fastest</source>
        <translation>schnellster</translation>
    </message>
    <message>
        <source> tries</source>
        <translation> Versuche</translation>
    </message>
    <message>
        <source>Tries of random and Bayesian search</source>
        <translation>Versuche der zufälligen und der bayesschen Suche</translation>
    </message>
    <message>
        <source>How many plans random and Bayesian search try; exhaustive search tries all</source>
        <translation>Wie viele Pläne die zufällige und die bayessche Suche prüfen; die vollständige prüft alle</translation>
    </message>
    <message>
        <source>seed </source>
        <translation>Seed </translation>
    </message>
    <message>
        <source>Seed of random and Bayesian search</source>
        <translation>Seed der zufälligen und der bayesschen Suche</translation>
    </message>
    <message>
        <source>Plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>Tries</source>
        <translation>Versuche</translation>
    </message>
    <message>
        <source>Knobs</source>
        <translation>Stellgrößen</translation>
    </message>
    <message>
        <source>SIMULATED: every plan is predicted from the figures of cluster &apos;%1&apos;, %2; nothing ran</source>
        <translation>SIMULIERT: Jeder Plan ist mit den Werten des Clusters „%1“ vorhergesagt, %2; nichts ist gelaufen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>Searching…</source>
        <translation>Suche läuft…</translation>
    </message>
    <message>
        <source>No plan is open</source>
        <translation>Kein Plan ist offen</translation>
    </message>
    <message>
        <source>Plans: memory against step time</source>
        <translation>Pläne: Speicher gegen Schrittzeit</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>Schrittzeit</translation>
    </message>
    <message>
        <source>memory per device</source>
        <translation>Speicher je Gerät</translation>
    </message>
    <message>
        <source>Plans: memory against step time; %1 outside the axes</source>
        <translation>Pläne: Speicher gegen Schrittzeit; %1 außerhalb der Achsen</translation>
    </message>
    <message>
        <source>The selected plan</source>
        <translation>Der gewählte Plan</translation>
    </message>
    <message>
        <source>A different seed tries different plans; both strategies begin with the same ten</source>
        <translation>Ein anderer Seed prüft andere Pläne; beide Strategien beginnen mit denselben zehn</translation>
    </message>
    <message>
        <source>Apply this plan; Ctrl+Z undoes it</source>
        <translation>Diesen Plan übernehmen; Strg+Z macht es rückgängig</translation>
    </message>
    <message>
        <source>Select the fastest plan that fits</source>
        <translation>Den schnellsten Plan wählen, der passt</translation>
    </message>
    <message>
        <source>. Knobs that depend on each other, such as tensor, pipeline and data, share their effect, so the sum may be more than 100 %.</source>
        <translation>. Stellgrößen, die voneinander abhängen, wie Tensor, Pipeline und Daten, teilen sich ihren Einfluss, daher kann die Summe über 100 % liegen.</translation>
    </message>
    <message>
        <source>Predict plans for the same training on the same number of ranks; nothing runs</source>
        <translation>Pläne für das gleiche Training auf gleich vielen Ranks vorhersagen; nichts läuft</translation>
    </message>
    <message>
        <source>Open a scenario to search its plans</source>
        <translation>Öffnen Sie ein Szenario, um seine Pläne zu durchsuchen</translation>
    </message>
    <message>
        <source>The plans of this scenario cannot be searched</source>
        <translation>Die Pläne dieses Szenarios können nicht durchsucht werden</translation>
    </message>
    <message>
        <source>Open a scenario to search its plans.</source>
        <translation>Öffnen Sie ein Szenario, um seine Pläne zu durchsuchen.</translation>
    </message>
    <message>
        <source>No search yet</source>
        <translation>Noch keine Suche</translation>
    </message>
    <message>
        <source>Search predicts plans for the same training on the same number of ranks (%1), by random, Bayesian and exhaustive search, and shows each plan as a point: time against memory. Nothing runs.</source>
        <translation>Die Suche sagt Pläne für das gleiche Training auf der gleichen Zahl von Ranks (%1) voraus, zufällig, bayessch und vollständig, und zeigt jeden Plan als Punkt: Zeit gegen Speicher. Nichts läuft.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Session</name>
    <message>
        <source>No prediction: %1</source>
        <translation>Keine Vorhersage: %1</translation>
    </message>
    <message>
        <source>connected; the run has not begun</source>
        <translation>verbunden; der Lauf hat noch nicht begonnen</translation>
    </message>
    <message>
        <source>stopped before it finished a step</source>
        <translation>angehalten, bevor ein Schritt fertig war</translation>
    </message>
    <message>
        <source>stopped after step %1</source>
        <translation>angehalten nach Schritt %1</translation>
    </message>
    <message>
        <source>The engine was started but has not answered for %1 s</source>
        <translation>Die Engine wurde gestartet, hat aber %1 s lang nicht geantwortet</translation>
    </message>
    <message>
        <source>%1: contains no run</source>
        <translation>%1: enthält keinen Lauf</translation>
    </message>
    <message>
        <source>no answer for %1 s%2; check the address and that the run is still active</source>
        <translation>keine Antwort seit %1 s%2; prüfen Sie die Adresse, und ob der Lauf noch aktiv ist</translation>
    </message>
    <message>
        <source>the run continues</source>
        <translation>der Lauf geht weiter</translation>
    </message>
    <message>
        <source>%1; the run continues</source>
        <translation>%1; der Lauf geht weiter</translation>
    </message>
    <message>
        <source>The loss is not finite since step %1</source>
        <translation>Der Loss ist seit Schritt %1 nicht mehr endlich</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ShareGuess</name>
    <message>
        <source>your guess</source>
        <translation>Ihre Schätzung</translation>
    </message>
    <message>
        <source>Drag the edge: the hatched part is your guess</source>
        <translation>Ziehen Sie die Kante: Der schraffierte Teil ist Ihre Schätzung</translation>
    </message>
    <message>
        <source>Drag the edge: the coloured part is your guess</source>
        <translation>Ziehen Sie die Kante: Der farbige Teil ist Ihre Schätzung</translation>
    </message>
</context>
<context>
    <name>rankscope::app::SidePanel</name>
    <message>
        <source>Fold to a strip (%1)</source>
        <translation>Zu einem Streifen einklappen (%1)</translation>
    </message>
    <message>
        <source>Fold: %1</source>
        <translation>Einklappen: %1</translation>
    </message>
    <message>
        <source>Unfold (%1)</source>
        <translation>Ausklappen (%1)</translation>
    </message>
    <message>
        <source>Unfold: %1</source>
        <translation>Ausklappen: %1</translation>
    </message>
    <message>
        <source>Drag: width of the panel. Double click: fold it.</source>
        <translation>Ziehen: Breite der Leiste. Doppelklick: einklappen.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Sketch</name>
    <message>
        <source>draw here</source>
        <translation>hier zeichnen</translation>
    </message>
    <message>
        <source>line = %1</source>
        <translation>Linie = %1</translation>
    </message>
    <message>
        <source>Draw with the pointer, or select a %1 with ← and → and change its value with ↑ and ↓</source>
        <translation>Zeichnen Sie mit dem Zeiger; oder wählen Sie mit ← und → eine Stelle (%1), und ändern Sie mit ↑ und ↓ ihren Wert</translation>
    </message>
</context>
<context>
    <name>rankscope::app::SplitHandle</name>
    <message>
        <source>Height of the lower view</source>
        <translation>Höhe der unteren Ansicht</translation>
    </message>
    <message>
        <source>Drag, or ↑ and ↓: height of the lower view. Double click: maximise (F9).</source>
        <translation>Ziehen, oder ↑ und ↓: Höhe der unteren Ansicht. Doppelklick: maximieren (F9).</translation>
    </message>
</context>
<context>
    <name>rankscope::app::StatusLine</name>
    <message>
        <source>nothing is open</source>
        <translation>nichts ist offen</translation>
    </message>
    <message>
        <source>opening</source>
        <translation>wird geöffnet</translation>
    </message>
    <message>
        <source>ready</source>
        <translation>bereit</translation>
    </message>
    <message>
        <source>starting the engine</source>
        <translation>Engine startet</translation>
    </message>
    <message>
        <source>running</source>
        <translation>läuft</translation>
    </message>
    <message>
        <source>stopping</source>
        <translation>wird angehalten</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>beendet</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>gescheitert</translation>
    </message>
    <message>
        <source>predicting</source>
        <translation>Vorhersage läuft</translation>
    </message>
    <message>
        <source>detached</source>
        <translation>getrennt</translation>
    </message>
    <message>
        <source>%1 ranks (%2 shown)</source>
        <translation>%1 Ranks (%2 gezeigt)</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rank</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ranks</translation>
    </message>
    <message>
        <source>%1 events</source>
        <translation>%1 Ereignisse</translation>
    </message>
    <message>
        <source>%1 dropped</source>
        <translation>%1 verworfen</translation>
    </message>
    <message>
        <source>recording to %1</source>
        <translation>Aufzeichnung nach %1</translation>
    </message>
    <message>
        <source>recorded to %1</source>
        <translation>aufgezeichnet in %1</translation>
    </message>
    <message>
        <source>1 mark</source>
        <translation>1 Markierung</translation>
    </message>
    <message>
        <source>%1 marks</source>
        <translation>%1 Markierungen</translation>
    </message>
    <message>
        <source> (Ctrl+Shift+D)</source>
        <translation> (Strg+Umschalt+D)</translation>
    </message>
    <message>
        <source>the latest %1 are stored</source>
        <translation>die letzten %1 werden gespeichert</translation>
    </message>
    <message>
        <source>cannot run here</source>
        <translation>kann hier nicht laufen</translation>
    </message>
    <message>
        <source>no data for %1 s</source>
        <translation>seit %1 s keine Daten</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Stepper</name>
    <message>
        <source>%1, slider</source>
        <translation>%1, Schieberegler</translation>
    </message>
    <message>
        <source>decrease %1</source>
        <translation>%1 verringern</translation>
    </message>
    <message>
        <source>increase %1</source>
        <translation>%1 erhöhen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::SurfacePicture</name>
    <message>
        <source>Paths on the surface</source>
        <translation>Pfade auf der Fläche</translation>
    </message>
    <message>
        <source>No paths</source>
        <translation>Keine Pfade</translation>
    </message>
    <message>
        <source>x</source>
        <translation>x</translation>
    </message>
    <message>
        <source>y</source>
        <translation>y</translation>
    </message>
    <message>
        <source>minimum</source>
        <translation>Minimum</translation>
    </message>
    <message>
        <source>saddle</source>
        <translation>Sattel</translation>
    </message>
    <message>
        <source>start</source>
        <translation>Start</translation>
    </message>
    <message>
        <source>%1, beyond</source>
        <translation>%1, außerhalb</translation>
    </message>
    <message>
        <source>Computing the paths…</source>
        <translation>Die Pfade werden berechnet…</translation>
    </message>
    <message>
        <source>rankscope-engine paths is running.</source>
        <translation>rankscope-engine paths läuft.</translation>
    </message>
    <message>
        <source>contours: loss above the minimum, at 1, 2, 5, 10, …</source>
        <translation>Höhenlinien: Loss über dem Minimum, bei 1, 2, 5, 10, …</translation>
    </message>
    <message>
        <source>shallow minimum</source>
        <translation>flaches Minimum</translation>
    </message>
    <message>
        <source>%1: loss %2
Double click: start here.</source>
        <translation>%1: Loss %2
Doppelklick: hier beginnen.</translation>
    </message>
    <message>
        <source>%1, step %2
%3: loss %4
length of its last step %5, rate %6</source>
        <translation>%1, Schritt %2
%3: Loss %4
Länge des letzten Schritts %5, Rate %6</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TabOverflow</name>
    <message>
        <source>More ▾</source>
        <translation>Mehr ▾</translation>
    </message>
    <message>
        <source>More views</source>
        <translation>Weitere Ansichten</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TimelinePainter</name>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TimelineView</name>
    <message>
        <source>%1 · rank %2</source>
        <translation>%1 · Rank %2</translation>
    </message>
    <message>
        <source>Copy its details</source>
        <translation>Einzelheiten kopieren</translation>
    </message>
    <message>
        <source>Zoom to it</source>
        <translation>Darauf zoomen</translation>
    </message>
    <message>
        <source>Set range to it</source>
        <translation>Als Bereich wählen</translation>
    </message>
    <message>
        <source>Mark it…</source>
        <translation>Markieren…</translation>
    </message>
    <message>
        <source>Show its rank&apos;s memory</source>
        <translation>Speicher des Ranks zeigen</translation>
    </message>
    <message>
        <source>Show it in the program</source>
        <translation>Im Programm zeigen</translation>
    </message>
    <message>
        <source>Show its transfers</source>
        <translation>Übertragungen zeigen</translation>
    </message>
    <message>
        <source>Unpin rank %1</source>
        <translation>Rank %1 lösen</translation>
    </message>
    <message>
        <source>Pin rank %1 to the top</source>
        <translation>Rank %1 oben anheften</translation>
    </message>
    <message>
        <source>Fold rank %1</source>
        <translation>Rank %1 zuklappen</translation>
    </message>
    <message>
        <source>Open rank %1</source>
        <translation>Rank %1 aufklappen</translation>
    </message>
    <message>
        <source>Close %1</source>
        <translation>%1 zuklappen</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 aufklappen</translation>
    </message>
    <message>
        <source>Expand all</source>
        <translation>Alle aufklappen</translation>
    </message>
    <message>
        <source>Collapse all</source>
        <translation>Alle zuklappen</translation>
    </message>
    <message>
        <source>Unpin all</source>
        <translation>Alle lösen</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>Rank</translation>
    </message>
    <message>
        <source>lane</source>
        <translation>Spur</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>op</source>
        <translation>Op</translation>
    </message>
    <message>
        <source>obtained</source>
        <translation>Ursprung</translation>
    </message>
    <message>
        <source>begin, ns</source>
        <translation>Beginn, ns</translation>
    </message>
    <message>
        <source>moving from, ns</source>
        <translation>Übertragung ab, ns</translation>
    </message>
    <message>
        <source>end, ns</source>
        <translation>Ende, ns</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>%1 on rank %2</source>
        <translation>%1 auf Rank %2</translation>
    </message>
    <message>
        <source>a moment</source>
        <translation>ein Moment</translation>
    </message>
    <message>
        <source>Change the note…</source>
        <translation>Notiz ändern…</translation>
    </message>
    <message>
        <source>Delete this mark</source>
        <translation>Diese Markierung löschen</translation>
    </message>
    <message>
        <source>Mark this moment…</source>
        <translation>Diesen Moment markieren…</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>B receive</source>
        <translation>B empfangen</translation>
    </message>
    <message>
        <source>range %1</source>
        <translation>Bereich %1</translation>
    </message>
    <message>
        <source>average here: %1</source>
        <translation>hier im Mittel: %1</translation>
    </message>
    <message>
        <source>height of a colour: mean share of the ranks&apos; time</source>
        <translation>Höhe einer Farbe: mittlerer Anteil an der Zeit der Ranks</translation>
    </message>
    <message>
        <source>click its name to collapse it</source>
        <translation>Klick auf den Namen klappt zu</translation>
    </message>
    <message>
        <source>click its name to expand it</source>
        <translation>Klick auf den Namen klappt auf</translation>
    </message>
    <message>
        <source>a time range</source>
        <translation>ein Zeitbereich</translation>
    </message>
    <message>
        <source>Go to the mark</source>
        <translation>Zur Markierung gehen</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TopBar</name>
    <message>
        <source>SIMULATED</source>
        <translation>SIMULIERT</translation>
    </message>
    <message>
        <source>LIVE</source>
        <translation>LIVE</translation>
    </message>
    <message>
        <source>ENDED</source>
        <translation>BEENDET</translation>
    </message>
    <message>
        <source>DETACHED</source>
        <translation>GETRENNT</translation>
    </message>
    <message>
        <source>RECORDED</source>
        <translation>AUFGEZEICHNET</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>wall clock, ± %1</source>
        <translation>Echtzeituhr, ± %1</translation>
    </message>
    <message>
        <source>wall clock</source>
        <translation>Echtzeituhr</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>emuliert</translation>
    </message>
    <message>
        <source>device clock: measured costs, modelled links</source>
        <translation>Geräteuhr: gemessene Kosten, modellierte Links</translation>
    </message>
    <message>
        <source>device clock</source>
        <translation>Geräteuhr</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>device clock: modelled costs and links</source>
        <translation>Geräteuhr: modellierte Kosten und Links</translation>
    </message>
    <message>
        <source>Rankscope ▾</source>
        <translation>Rankscope ▾</translation>
    </message>
    <message>
        <source>Menu (F10)</source>
        <translation>Menü (F10)</translation>
    </message>
    <message>
        <source>Commands</source>
        <translation>Befehle</translation>
    </message>
    <message>
        <source>Command palette (Ctrl+K)</source>
        <translation>Befehlspalette (Strg+K)</translation>
    </message>
    <message>
        <source>Keyboard shortcuts (?)</source>
        <translation>Tastenkürzel (?)</translation>
    </message>
    <message>
        <source>Previous step ([)</source>
        <translation>Voriger Schritt ([)</translation>
    </message>
    <message>
        <source>Next step (])</source>
        <translation>Nächster Schritt (])</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>Abspielen</translation>
    </message>
    <message>
        <source>Play the step in slow motion (Space)</source>
        <translation>Schritt in Zeitlupe abspielen (Leertaste)</translation>
    </message>
    <message>
        <source>Steps and playing</source>
        <translation>Schritte und Abspielen</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>Lauf</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Stopp</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>Lab or scenario</source>
        <translation>Lab oder Szenario</translation>
    </message>
    <message>
        <source>Playback speed</source>
        <translation>Abspielgeschwindigkeit</translation>
    </message>
    <message>
        <source>%1  %2</source>
        <translation>%1  %2</translation>
    </message>
    <message>
        <source>Recording %1</source>
        <translation>Aufzeichnung %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Opened</source>
        <translation>Geöffnet</translation>
    </message>
    <message>
        <source>SIMULATED, A NODE LOST</source>
        <translation>SIMULIERT, EIN KNOTEN VERLOREN</translation>
    </message>
    <message>
        <source>reading, %p %</source>
        <translation>lesen, %p %</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Pause (Space)</source>
        <translation>Anhalten (Leertaste)</translation>
    </message>
    <message>
        <source>Play in slow motion (Space)</source>
        <translation>In Zeitlupe abspielen (Leertaste)</translation>
    </message>
    <message>
        <source>NO DATA</source>
        <translation>KEINE DATEN</translation>
    </message>
    <message>
        <source>CONNECTION LOST</source>
        <translation>VERBINDUNG VERLOREN</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TopologyView</name>
    <message>
        <source>Load of the links by kind</source>
        <translation>Last der Links nach Art</translation>
    </message>
    <message>
        <source>Load of every link, the busiest first</source>
        <translation>Last jedes Links, die größte zuerst</translation>
    </message>
    <message>
        <source>%1 · %2, in a step of %3</source>
        <translation>%1 · %2, in einem Schritt von %3</translation>
    </message>
    <message>
        <source>No links to show</source>
        <translation>Keine Links zu zeigen</translation>
    </message>
    <message>
        <source>uplink busy</source>
        <translation>Auslastung des Uplinks</translation>
    </message>
    <message>
        <source>%1 of the step</source>
        <translation>%1 des Schritts</translation>
    </message>
    <message>
        <source>no traffic</source>
        <translation>kein Verkehr</translation>
    </message>
    <message>
        <source>the network between them</source>
        <translation>das Netz dazwischen</translation>
    </message>
    <message>
        <source>Open a scenario to see the links of its cluster and the traffic of its plan.</source>
        <translation>Öffnen Sie ein Szenario, um die Links seines Clusters und den Verkehr seines Plans zu sehen.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TrafficModel</name>
    <message>
        <source>%1–%2, mean %3</source>
        <translation>%1–%2, Ø %3</translation>
    </message>
    <message>
        <source>mean %1</source>
        <translation>Ø %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>purpose</source>
        <translation>Zweck</translation>
    </message>
    <message>
        <source>op</source>
        <translation>Op</translation>
    </message>
    <message>
        <source>algorithm</source>
        <translation>Algorithmus</translation>
    </message>
    <message>
        <source>bus
bandwidth</source>
        <translation>Bus-
bandbreite</translation>
    </message>
    <message>
        <source>Algorithm in the plan; auto is the library&apos;s own, whose phases are not visible</source>
        <translation>Algorithmus im Plan; auto ist der eigene der Bibliothek, dessen Phasen nicht sichtbar sind</translation>
    </message>
    <message>
        <source>Ops of one rank in one step: the mean over senders of messages, or over members of a collective</source>
        <translation>Ops eines Ranks in einem Schritt: das Mittel über die Sender von Nachrichten oder über die Mitglieder eines Kollektivs</translation>
    </message>
    <message>
        <source>Bytes that one rank sends in one step, counted at the transport: the mean over senders of messages, or over members of a collective; – if the library hides them</source>
        <translation>Bytes, die ein Rank in einem Schritt sendet, am Transport gezählt: das Mittel über die Sender von Nachrichten oder über die Mitglieder eines Kollektivs; –, wenn die Bibliothek sie verbirgt</translation>
    </message>
    <message>
        <source>Bytes that one rank sends in one step by the plan&apos;s algorithm: the mean over senders of messages, or over members of a collective, of which not all may send</source>
        <translation>Bytes, die ein Rank nach dem Algorithmus des Plans in einem Schritt sendet: das Mittel über die Sender von Nachrichten oder über die Mitglieder eines Kollektivs, von denen nicht alle senden müssen</translation>
    </message>
    <message>
        <source>Time inside the ops of one rank in the selected step, before the peer arrived: the mean over all ranks that send or receive</source>
        <translation>Zeit in den Ops eines Ranks im gewählten Schritt, bevor der Partner kam: Mittel über alle Ranks, die senden oder empfangen</translation>
    </message>
    <message>
        <source>Mean time inside the ops of one rank in the selected step while bytes moved. Bytes divided by this time are the bandwidth of a message.</source>
        <translation>Mittlere Zeit in den Ops eines Ranks im gewählten Schritt, während Bytes übertragen wurden. Bytes durch diese Zeit ist die Bandbreite einer Nachricht.</translation>
    </message>
    <message>
        <source>As in nccl-tests: size divided by the time of the last rank to arrive, times 2(n−1)/n for an all-reduce, (n−1)/n for gathers and reduce-scatters</source>
        <translation>Wie bei nccl-tests: Größe durch die Zeit des zuletzt angekommenen Ranks, mal 2(n−1)/n bei All-Reduce, (n−1)/n bei Gather und Reduce-Scatter</translation>
    </message>
    <message>
        <source>count
per rank</source>
        <translation>Anzahl
je Rank</translation>
    </message>
    <message>
        <source>sent
per rank</source>
        <translation>gesendet
je Rank</translation>
    </message>
    <message>
        <source>predicted
per rank</source>
        <translation>Vorhersage
je Rank</translation>
    </message>
    <message>
        <source>waiting
per rank</source>
        <translation>Warten
je Rank</translation>
    </message>
    <message>
        <source>transfer
per rank</source>
        <translation>Transfer
je Rank</translation>
    </message>
    <message>
        <source>given
per rank</source>
        <translation>gegeben
je Rank</translation>
    </message>
    <message>
        <source>Bytes that one rank gives to these ops in one step, as the trace says: the size of its messages, or of its part in the collectives; a library may send more or fewer</source>
        <translation>Bytes, die ein Rank diesen Ops in einem Schritt gibt, wie das Trace sagt: die Größe seiner Nachrichten oder seines Teils der Kollektiven; eine Bibliothek sendet vielleicht mehr oder weniger</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TrafficView</name>
    <message>
        <source>Traffic of a step by purpose</source>
        <translation>Verkehr eines Schritts nach Zweck</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>Tabelle</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>Phasen</translation>
    </message>
    <message>
        <source>Rank to rank</source>
        <translation>Rank zu Rank</translation>
    </message>
    <message>
        <source>purpose</source>
        <translation>Zweck</translation>
    </message>
    <message>
        <source>op</source>
        <translation>Op</translation>
    </message>
    <message>
        <source>members</source>
        <translation>Mitglieder</translation>
    </message>
    <message>
        <source>algorithm</source>
        <translation>Algorithmus</translation>
    </message>
    <message>
        <source>bus bandwidth, bytes/s</source>
        <translation>Busbandbreite, Bytes/s</translation>
    </message>
    <message>
        <source>all traffic</source>
        <translation>aller Verkehr</translation>
    </message>
    <message>
        <source>No traffic to show yet</source>
        <translation>Noch kein Verkehr zu zeigen</translation>
    </message>
    <message>
        <source>Op of this row to play</source>
        <translation>Abzuspielende Op dieser Zeile</translation>
    </message>
    <message>
        <source>count per rank and step</source>
        <translation>Anzahl je Rank und Schritt</translation>
    </message>
    <message>
        <source>sent per rank, bytes</source>
        <translation>gesendet je Rank, Bytes</translation>
    </message>
    <message>
        <source>predicted per rank, bytes</source>
        <translation>vorhergesagt je Rank, Bytes</translation>
    </message>
    <message>
        <source>waiting per rank, s</source>
        <translation>Warten je Rank, s</translation>
    </message>
    <message>
        <source>transfer per rank, s</source>
        <translation>Übertragung je Rank, s</translation>
    </message>
    <message>
        <source>A single rank sends nothing</source>
        <translation>Ein einzelner Rank sendet nichts</translation>
    </message>
    <message>
        <source>Set data, tensor or pipeline above 1 in the plan to list the traffic between ranks here.</source>
        <translation>Setzen Sie im Plan Daten, Tensor oder Pipeline über 1, um hier den Verkehr zwischen Ranks zu sehen.</translation>
    </message>
    <message>
        <source>A run or a prediction fills this view: every transfer and collective of a step by purpose, its bytes, the predicted bytes, the time spent waiting and the time in which bytes moved.</source>
        <translation>Ein Lauf oder eine Vorhersage füllt diese Ansicht: jede Übertragung und jedes Kollektiv eines Schritts nach Zweck, die Bytes, die vorhergesagten Bytes, die Wartezeit und die Zeit, in der Bytes übertragen wurden.</translation>
    </message>
    <message>
        <source>given per rank, bytes</source>
        <translation>gegeben je Rank, Bytes</translation>
    </message>
</context>
<context>
    <name>rankscope::app::TrainingView</name>
    <message>
        <source>of the GPU, by NVML</source>
        <translation>der GPU, nach NVML</translation>
    </message>
    <message>
        <source>of %1 GPUs, by NVML</source>
        <translation>von %1 GPUs, nach NVML</translation>
    </message>
    <message>
        <source>%1; dashed: predicted, %2</source>
        <translation>%1; gestrichelt: vorhergesagt, %2</translation>
    </message>
    <message>
        <source>Loss, nats per token</source>
        <translation>Loss, Nats je Token</translation>
    </message>
    <message>
        <source>Gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>Loss scale</source>
        <translation>Loss-Skala</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>Tokens je Sekunde</translation>
    </message>
    <message>
        <source>MFU, % of the peak</source>
        <translation>MFU, % der Spitze</translation>
    </message>
    <message>
        <source>Power, watts</source>
        <translation>Leistung, Watt</translation>
    </message>
    <message>
        <source>dashed: entropy of the data, %1</source>
        <translation>gestrichelt: Entropie der Daten, %1</translation>
    </message>
    <message>
        <source>Loss, nats per image</source>
        <translation>Loss, Nats je Bild</translation>
    </message>
    <message>
        <source>Images per second</source>
        <translation>Bilder je Sekunde</translation>
    </message>
    <message>
        <source>before clipping; a gap is an overflow: no update</source>
        <translation>vor dem Clipping; eine Lücke ist ein Überlauf: kein Update</translation>
    </message>
    <message>
        <source>over all parameters, before clipping</source>
        <translation>über alle Parameter, vor dem Clipping</translation>
    </message>
    <message>
        <source>of all ranks</source>
        <translation>von allen Ranks</translation>
    </message>
    <message>
        <source>dashed: HFU, with recomputation</source>
        <translation>gestrichelt: HFU, mit Neuberechnung</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>loss, nats per token</source>
        <translation>Loss, Nats je Token</translation>
    </message>
    <message>
        <source>gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>Lernrate</translation>
    </message>
    <message>
        <source>loss scale</source>
        <translation>Loss-Skala</translation>
    </message>
    <message>
        <source>tokens per second</source>
        <translation>Tokens je Sekunde</translation>
    </message>
    <message>
        <source>MFU, %</source>
        <translation>MFU, %</translation>
    </message>
    <message>
        <source>power, W</source>
        <translation>Leistung, W</translation>
    </message>
    <message>
        <source>HFU, %</source>
        <translation>HFU, %</translation>
    </message>
    <message>
        <source>Its phases and bytes are in the Collectives view. A scenario with a model has a loss to show here.</source>
        <translation>Seine Phasen und Bytes zeigt die Ansicht Kollektive. Ein Szenario mit einem Modell hat hier einen Loss.</translation>
    </message>
    <message>
        <source>of everything on the processors, by RAPL</source>
        <translation>von allem auf den Prozessoren, nach RAPL</translation>
    </message>
    <message>
        <source>of everything on the processors of %1 hosts, by RAPL</source>
        <translation>von allem auf den Prozessoren von %1 Hosts, nach RAPL</translation>
    </message>
    <message>
        <source>fp16: halved after an overflow</source>
        <translation>fp16: nach einem Überlauf halbiert</translation>
    </message>
    <message>
        <source>A single collective trains nothing</source>
        <translation>Ein einzelnes Kollektiv trainiert nichts</translation>
    </message>
    <message>
        <source>No training yet</source>
        <translation>Noch kein Training</translation>
    </message>
    <message>
        <source>Press Run.</source>
        <translation>Drücken Sie „Lauf“.</translation>
    </message>
    <message>
        <source>A run&apos;s loss, gradient norm and tokens per second appear here step by step. A prediction alone has no loss.</source>
        <translation>Loss, Gradientennorm und Token pro Sekunde eines Laufs erscheinen hier Schritt für Schritt. Eine Vorhersage allein hat keinen Loss.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ValidationView</name>
    <message>
        <source>Published tables</source>
        <translation>Veröffentlichte Tabellen</translation>
    </message>
    <message>
        <source>Rows of the published table</source>
        <translation>Zeilen der veröffentlichten Tabelle</translation>
    </message>
    <message>
        <source>Source: %1</source>
        <translation>Quelle: %1</translation>
    </message>
    <message>
        <source>Constants: %1</source>
        <translation>Konstanten: %1</translation>
    </message>
    <message>
        <source>The published rows cannot be predicted</source>
        <translation>Die veröffentlichten Zeilen können nicht vorhergesagt werden</translation>
    </message>
    <message>
        <source>Predicting published measurements…</source>
        <translation>Veröffentlichte Messungen werden vorhergesagt…</translation>
    </message>
    <message>
        <source>Every row under scenarios/published is predicted from its cluster file.</source>
        <translation>Jede Zeile unter scenarios/published wird mit der Datei ihres Clusters vorhergesagt.</translation>
    </message>
    <message>
        <source>SIMULATED, with published figures</source>
        <translation>SIMULIERT, mit veröffentlichten Werten</translation>
    </message>
</context>
<context>
    <name>rankscope::app::ViewHistory</name>
    <message>
        <source>plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>layout</source>
        <translation>Anordnung</translation>
    </message>
    <message>
        <source>mark</source>
        <translation>Markierung</translation>
    </message>
    <message>
        <source>selection</source>
        <translation>Auswahl</translation>
    </message>
    <message>
        <source>range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>zoom</source>
        <translation>Zoom</translation>
    </message>
</context>
<context>
    <name>rankscope::app::WelcomePage</name>
    <message>
        <source>Rankscope</source>
        <translation>Rankscope</translation>
    </message>
    <message>
        <source>A laboratory for distributed training: predict what a cluster does, run it here, compare, and explain.</source>
        <translation>Ein Labor für verteiltes Training: vorhersagen, was ein Cluster tut, es hier ausführen, vergleichen und erklären.</translation>
    </message>
    <message>
        <source>Learn</source>
        <translation>Lernen</translation>
    </message>
    <message>
        <source>Begin with the first lesson</source>
        <translation>Mit der ersten Lektion beginnen</translation>
    </message>
    <message>
        <source>%1 (%2 minutes)</source>
        <translation>%1 (%2 Minuten)</translation>
    </message>
    <message>
        <source>Open a recording or a scenario…</source>
        <translation>Aufzeichnung oder Szenario öffnen…</translation>
    </message>
    <message>
        <source>Address of a run, or its join file</source>
        <translation>Adresse eines Laufs oder seine Beitrittsdatei</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>Beobachten</translation>
    </message>
    <message>
        <source>Manual (F1)</source>
        <translation>Handbuch (F1)</translation>
    </message>
    <message>
        <source>Courses</source>
        <translation>Kurse</translation>
    </message>
    <message>
        <source>Course</source>
        <translation>Kurs</translation>
    </message>
    <message>
        <source>Continue: %1</source>
        <translation>Fortsetzen: %1</translation>
    </message>
    <message>
        <source>%1  %2</source>
        <translation>%1  %2</translation>
    </message>
    <message>
        <source>✓ answered</source>
        <translation>✓ beantwortet</translation>
    </message>
    <message>
        <source>%1 of %2 answered</source>
        <translation>%1 von %2 beantwortet</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
    <message>
        <source>View a run</source>
        <translation>Einen Lauf ansehen</translation>
    </message>
    <message>
        <source>Watch a run on this machine or on a cluster: give its address or its join file.</source>
        <translation>Einen Lauf auf diesem Rechner oder einem Cluster beobachten: Geben Sie seine Adresse oder seine Beitrittsdatei an.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::Workspace</name>
    <message>
        <source>▲ Time line</source>
        <translation>▲ Zeitleiste</translation>
    </message>
    <message>
        <source>Back to the time line</source>
        <translation>Zurück zur Zeitleiste</translation>
    </message>
    <message>
        <source>Show the time line again (Esc)</source>
        <translation>Die Zeitleiste wieder zeigen (Esc)</translation>
    </message>
    <message>
        <source>Lower views</source>
        <translation>Untere Ansichten</translation>
    </message>
    <message>
        <source>Dock view</source>
        <translation>Ansicht andocken</translation>
    </message>
    <message>
        <source>Detach view</source>
        <translation>Ansicht ablösen</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>⤢ More room</source>
        <translation>⤢ Mehr Platz</translation>
    </message>
    <message>
        <source>%1 needs %2 × %3 pixels.</source>
        <translation>%1 braucht %2 × %3 Pixel.</translation>
    </message>
    <message>
        <source>Maximise</source>
        <translation>Maximieren</translation>
    </message>
    <message>
        <source>Maximise the lower view (F9)</source>
        <translation>Untere Ansicht maximieren (F9)</translation>
    </message>
    <message>
        <source>Maximise it (F9)</source>
        <translation>Maximieren (F9)</translation>
    </message>
    <message>
        <source>%1 is in a separate window.</source>
        <translation>%1 ist in einem eigenen Fenster.</translation>
    </message>
</context>
<context>
    <name>rankscope::app::text</name>
    <message>
        <source>%1, with %2 and %3 more</source>
        <translation>%1, mit %2 und %3 weiteren</translation>
    </message>
    <message>
        <source>%1, with %2</source>
        <translation>%1, mit %2</translation>
    </message>
    <message>
        <source>images / s</source>
        <translation>Bilder / s</translation>
    </message>
    <message>
        <source>tokens / s</source>
        <translation>Tokens / s</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>arithmetic</source>
        <translation>Arithmetik</translation>
    </message>
    <message>
        <source>%1 FLOP per byte, %2
%3 ops of %4</source>
        <translation>%1 FLOP je Byte, %2
%3 Ops von %4</translation>
    </message>
    <message>
        <source>FLOP per byte</source>
        <translation>FLOP je Byte</translation>
    </message>
    <message>
        <source>TFLOP/s of a device</source>
        <translation>TFLOP/s eines Geräts</translation>
    </message>
    <message>
        <source>GFLOP/s of a device</source>
        <translation>GFLOP/s eines Geräts</translation>
    </message>
    <message>
        <source>roof</source>
        <translation>Dach</translation>
    </message>
    <message>
        <source>simulated</source>
        <translation>simuliert</translation>
    </message>
    <message>
        <source>Kernels: dots %1, rings simulated</source>
        <translation>Kernel: Punkte %1, Ringe simuliert</translation>
    </message>
    <message>
        <source>Kernels, simulated</source>
        <translation>Kernel, simuliert</translation>
    </message>
    <message>
        <source>op</source>
        <translation>Op</translation>
    </message>
    <message>
        <source>FLOP/byte</source>
        <translation>FLOP/Byte</translation>
    </message>
    <message>
        <source>speed</source>
        <translation>Rate</translation>
    </message>
    <message>
        <source>of the roof</source>
        <translation>vom Dach</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>Grenze</translation>
    </message>
    <message>
        <source>time of one</source>
        <translation>Zeit je Op</translation>
    </message>
    <message>
        <source>ops</source>
        <translation>Ops</translation>
    </message>
    <message>
        <source>obtained</source>
        <translation>Ursprung</translation>
    </message>
    <message>
        <source>FLOPs of one</source>
        <translation>FLOPs je Op</translation>
    </message>
    <message>
        <source>bytes of one</source>
        <translation>Bytes je Op</translation>
    </message>
    <message>
        <source>time of one, s</source>
        <translation>Zeit je Op, s</translation>
    </message>
    <message>
        <source>speed, FLOP/s</source>
        <translation>Rate, FLOP/s</translation>
    </message>
    <message>
        <source>roof there, FLOP/s</source>
        <translation>Dach dort, FLOP/s</translation>
    </message>
    <message>
        <source>First-order Sobol&apos; index of log(step time): exact, over the %1 plans that fit</source>
        <translation>Sobol-Index erster Ordnung von log(Schrittzeit): exakt, über die %1 Pläne, die passen</translation>
    </message>
    <message>
        <source>First-order Sobol&apos; index of log(step time): guessed by a forest from %1 random tries</source>
        <translation>Sobol-Index erster Ordnung von log(Schrittzeit): von einem Random Forest aus %1 zufälligen Versuchen geschätzt</translation>
    </message>
    <message>
        <source>Out of memory: it needs %1, a device has %2.</source>
        <translation>Der Speicher reicht nicht: Der Plan braucht %1, ein Gerät hat %2.</translation>
    </message>
    <message>
        <source>The runner-up: </source>
        <translation>Der zweite: </translation>
    </message>
    <message>
        <source>as fast as the fastest.</source>
        <translation>so schnell wie der schnellste.</translation>
    </message>
    <message>
        <source>%1 (%2) slower than the fastest</source>
        <translation>%1 (%2) langsamer als der schnellste</translation>
    </message>
    <message>
        <source>: </source>
        <translation>: </translation>
    </message>
    <message>
        <source>step</source>
        <translation>Schritt</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>no</source>
        <translation>nein</translation>
    </message>
    <message>
        <source>in it: %1</source>
        <translation>darin: %1</translation>
    </message>
    <message>
        <source>plan</source>
        <translation>Plan</translation>
    </message>
    <message>
        <source>fate</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>step, s</source>
        <translation>Schritt, s</translation>
    </message>
    <message>
        <source>memory, bytes</source>
        <translation>Speicher, Bytes</translation>
    </message>
    <message>
        <source>plans that it represents</source>
        <translation>Pläne, die er vertritt</translation>
    </message>
    <message>
        <source>%1, s</source>
        <translation>%1, s</translation>
    </message>
    <message>
        <source>%1: %2 of %3 plans tried, %4 out of memory</source>
        <translation>%1: %2 von %3 Plänen geprüft, bei %4 reicht der Speicher nicht</translation>
    </message>
    <message>
        <source>, %1 refused</source>
        <translation>, %1 abgelehnt</translation>
    </message>
    <message>
        <source>, none fits</source>
        <translation>, keiner passt</translation>
    </message>
    <message>
        <source>, best %1</source>
        <translation>, bester %1</translation>
    </message>
    <message>
        <source>step %1, memory %2</source>
        <translation>Schritt %1, Speicher %2</translation>
    </message>
    <message>
        <source>step at least %1, needs %2: out of memory</source>
        <translation>Schritt mindestens %1, braucht %2: Speicher reicht nicht</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>Time line</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>every rank</source>
        <translation>jeder Rank</translation>
    </message>
    <message>
        <source>predicted</source>
        <translation>vorhergesagt</translation>
    </message>
    <message>
        <source>W S zoom · A D move · F fit · . , next and previous op · [ ] step · shift-drag selects a range · G groups</source>
        <translation>W S Zoom · A D verschieben · F einpassen · . , nächste und vorige Op · [ ] Schritt · Umschalt+Ziehen wählt einen Bereich · G ordnet</translation>
    </message>
    <message>
        <source>a group&apos;s row: heights are shares of its ranks · </source>
        <translation>Zeile einer Gruppe: Höhen sind Anteile ihrer Ranks · </translation>
    </message>
    <message>
        <source>
%1 of the roof; limited by %2</source>
        <translation>
%1 des Dachs; begrenzt durch: %2</translation>
    </message>
    <message>
        <source>
Faster than memory allows: its operands were in cache</source>
        <translation>
Schneller, als der Speicher erlaubt: Die Operanden lagen im Cache</translation>
    </message>
    <message>
        <source>This plan is predicted chunk by chunk for identical ranks: it has no separate times for kernels. Open a smaller plan, or run one.</source>
        <translation>Dieser Plan wird Chunk für Chunk für identische Ranks vorhergesagt: Für Kernel gibt es keine eigenen Zeiten. Öffnen Sie einen kleineren Plan, oder führen Sie einen aus.</translation>
    </message>
    <message>
        <source>Predicting the plan…</source>
        <translation>Der Plan wird vorhergesagt…</translation>
    </message>
    <message>
        <source>Open a scenario or a recording to see the kernels of its step under the roof of their machine.</source>
        <translation>Öffnen Sie ein Szenario oder eine Aufzeichnung, um die Kernel des Schritts unter dem Dach ihres Rechners zu sehen.</translation>
    </message>
    <message>
        <source>No op of this step does any compute.</source>
        <translation>Keine Op dieses Schritts rechnet etwas.</translation>
    </message>
    <message>
        <source>The fastest tried plan that fits.</source>
        <translation>Der schnellste geprüfte Plan, der passt.</translation>
    </message>
    <message>
        <source>step, lower bound</source>
        <translation>Schritt, untere Grenze</translation>
    </message>
    <message>
        <source>on the Pareto front</source>
        <translation>auf der Pareto-Front</translation>
    </message>
    <message>
        <source>represents %1 plans that are nearly the same</source>
        <translation>steht für %1 fast gleiche Pläne</translation>
    </message>
    <message>
        <source>Click: show its numbers</source>
        <translation>Klick: die Zahlen zeigen</translation>
    </message>
    <message>
        <source>this pattern is no number</source>
        <translation>dieses Muster ist keine Zahl</translation>
    </message>
    <message>
        <source>this pattern is infinity</source>
        <translation>dieses Muster ist unendlich</translation>
    </message>
    <message>
        <source>  (exponent %1 − %2)</source>
        <translation>  (Exponent %1 − %2)</translation>
    </message>
    <message>
        <source>%1 zero</source>
        <translation>%1 null</translation>
    </message>
    <message>
        <source>  (exponent 0: no 1 in front)</source>
        <translation>  (Exponent 0: keine 1 davor)</translation>
    </message>
    <message>
        <source>from %1 to %2, evenly spaced</source>
        <translation>von %1 bis %2, gleichmäßig verteilt</translation>
    </message>
    <message>
        <source>from %1 (normal: %2) to %3; %4 digits</source>
        <translation>ab %1 (normal: %2) bis %3; %4 Stellen</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>exakt</translation>
    </message>
    <message>
        <source>rounded</source>
        <translation>gerundet</translation>
    </message>
    <message>
        <source>subnormal, exact</source>
        <translation>subnormal, exakt</translation>
    </message>
    <message>
        <source>subnormal, rounded</source>
        <translation>subnormal, gerundet</translation>
    </message>
    <message>
        <source>underflow</source>
        <translation>Unterlauf</translation>
    </message>
    <message>
        <source>overflow: stops at the end</source>
        <translation>Überlauf: bleibt am Ende</translation>
    </message>
    <message>
        <source>overflow</source>
        <translation>Überlauf</translation>
    </message>
    <message>
        <source>no finite number</source>
        <translation>keine endliche Zahl</translation>
    </message>
    <message>
        <source>spacing %1</source>
        <translation>Abstand %1</translation>
    </message>
    <message>
        <source>no error; %1</source>
        <translation>kein Fehler; %1</translation>
    </message>
    <message>
        <source>error %1; %2</source>
        <translation>Fehler %1; %2</translation>
    </message>
    <message>
        <source>%1: no sum</source>
        <translation>%1: keine Summe</translation>
    </message>
    <message>
        <source>no update</source>
        <translation>kein Update</translation>
    </message>
    <message>
        <source>%1: lost</source>
        <translation>%1: verloren</translation>
    </message>
    <message>
        <source>%1: overflow</source>
        <translation>%1: Überlauf</translation>
    </message>
    <message>
        <source>%1 = %2: %3 of it</source>
        <translation>%1 = %2: %3 davon</translation>
    </message>
    <message>
        <source>format</source>
        <translation>Format</translation>
    </message>
    <message>
        <source>number</source>
        <translation>Zahl</translation>
    </message>
    <message>
        <source>bits</source>
        <translation>Bits</translation>
    </message>
    <message>
        <source>value</source>
        <translation>Wert</translation>
    </message>
    <message>
        <source>outcome</source>
        <translation>Ergebnis</translation>
    </message>
    <message>
        <source>error</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>relative error</source>
        <translation>relativer Fehler</translation>
    </message>
    <message>
        <source>spacing</source>
        <translation>Abstand</translation>
    </message>
    <message>
        <source>update</source>
        <translation>Update</translation>
    </message>
    <message>
        <source>value after update</source>
        <translation>Wert nach Update</translation>
    </message>
    <message>
        <source>update lost</source>
        <translation>Update verloren</translation>
    </message>
    <message>
        <source>smallest subnormal</source>
        <translation>kleinste subnormale</translation>
    </message>
    <message>
        <source>smallest normal</source>
        <translation>kleinste normale</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>größte</translation>
    </message>
    <message>
        <source>decimal digits</source>
        <translation>Dezimalstellen</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 bis %2</translation>
    </message>
    <message>
        <source>%1 below, %2 beyond, %3 with fewer digits</source>
        <translation>%1 darunter, %2 darüber, %3 mit weniger Stellen</translation>
    </message>
    <message>
        <source>multiplied by 2^</source>
        <translation>multipliziert mit 2^</translation>
    </message>
    <message>
        <source>zero, %</source>
        <translation>null, %</translation>
    </message>
    <message>
        <source>below, %</source>
        <translation>darunter, %</translation>
    </message>
    <message>
        <source>fewer digits, %</source>
        <translation>weniger Stellen, %</translation>
    </message>
    <message>
        <source>normal, %</source>
        <translation>normal, %</translation>
    </message>
    <message>
        <source>at the upper end, %</source>
        <translation>am oberen Ende, %</translation>
    </message>
    <message>
        <source>beyond, %</source>
        <translation>darüber, %</translation>
    </message>
    <message>
        <source>no scale</source>
        <translation>keine Skala</translation>
    </message>
    <message>
        <source>one for all</source>
        <translation>eine für alle</translation>
    </message>
    <message>
        <source>one per tensor</source>
        <translation>eine je Tensor</translation>
    </message>
    <message>
        <source>one per %1 numbers</source>
        <translation>eine je %1 Zahlen</translation>
    </message>
    <message>
        <source>scale</source>
        <translation>Skala</translation>
    </message>
    <message>
        <source>become zero</source>
        <translation>werden null</translation>
    </message>
    <message>
        <source>beyond</source>
        <translation>darüber</translation>
    </message>
    <message>
        <source>largest error</source>
        <translation>größter Fehler</translation>
    </message>
    <message>
        <source>in the tensor</source>
        <translation>im Tensor</translation>
    </message>
    <message>
        <source>scales kept</source>
        <translation>gespeicherte Skalen</translation>
    </message>
    <message>
        <source>Of all numbers that are not zero</source>
        <translation>Von allen Zahlen, die nicht null sind</translation>
    </message>
    <message>
        <source>Length of the error over the tensor&apos;s length, of the tensor in which that is largest</source>
        <translation>Länge des Fehlers durch Länge des Tensors, für den Tensor, in dem sie am größten ist</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Not from a run: four tensors of %1 numbers, drawn by a formula: %2.</source>
        <translation>Nicht aus einem Lauf: vier Tensoren von %1 Zahlen, durch eine Formel erzeugt: %2.</translation>
    </message>
    <message>
        <source>Roof: %1 (%2, %3), %4 (memory, %5)</source>
        <translation>Dach: %1 (%2, %3), %4 (Speicher, %5)</translation>
    </message>
    <message>
        <source>best product on %1</source>
        <translation>bestes Produkt auf %1</translation>
    </message>
    <message>
        <source>cluster &apos;%1&apos;</source>
        <translation>Cluster „%1“</translation>
    </message>
    <message>
        <source>large copies</source>
        <translation>große Kopien</translation>
    </message>
    <message>
        <source>communication is hidden: make the time line higher (F9) · </source>
        <translation>Kommunikation ist verborgen: die Zeitleiste höher machen (F9) · </translation>
    </message>
</context>
<context>
    <name>std</name>
    <message>
        <source>Time line</source>
        <translation>Zeitleiste</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>Range</source>
        <translation>Bereich</translation>
    </message>
    <message>
        <source>Collectives</source>
        <translation>Kollektive</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>Training</translation>
    </message>
    <message>
        <source>Scaling</source>
        <translation>Skalierung</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suche</translation>
    </message>
    <message>
        <source>Roofline</source>
        <translation>Roofline</translation>
    </message>
    <message>
        <source>Paths</source>
        <translation>Pfade</translation>
    </message>
    <message>
        <source>Validation</source>
        <translation>Validierung</translation>
    </message>
    <message>
        <source>Grid</source>
        <translation>Gitter</translation>
    </message>
    <message>
        <source>Topology</source>
        <translation>Topologie</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>Hang</source>
        <translation>Stillstand</translation>
    </message>
    <message>
        <source>Compare</source>
        <translation>Vergleichen</translation>
    </message>
    <message>
        <source>Experiments</source>
        <translation>Experimente</translation>
    </message>
    <message>
        <source>Nothing to show yet</source>
        <translation>Noch nichts zu zeigen</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 und %2 weitere</translation>
    </message>
    <message>
        <source>, micro-batch %1</source>
        <translation>, Micro-Batch %1</translation>
    </message>
    <message>
        <source>, block %1</source>
        <translation>, Block %1</translation>
    </message>
    <message>
        <source>, rank %1</source>
        <translation>, Rank %1</translation>
    </message>
    <message>
        <source>, step %1</source>
        <translation>, Schritt %1</translation>
    </message>
    <message>
        <source> (not recorded)</source>
        <translation> (nicht aufgezeichnet)</translation>
    </message>
    <message>
        <source> (at the same moment)</source>
        <translation> (im selben Moment)</translation>
    </message>
    <message>
        <source> (began %1 later)</source>
        <translation> (begann %1 später)</translation>
    </message>
    <message>
        <source> (began %1 earlier)</source>
        <translation> (begann %1 früher)</translation>
    </message>
    <message>
        <source> (ended %1 later)</source>
        <translation> (endete %1 später)</translation>
    </message>
    <message>
        <source> (ended %1 earlier)</source>
        <translation> (endete %1 früher)</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>untätig</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>unbekannt</translation>
    </message>
    <message>
        <source>links busy %1</source>
        <translation>Links ausgelastet %1</translation>
    </message>
    <message>
        <source>collectives %1</source>
        <translation>Kollektive %1</translation>
    </message>
    <message>
        <source>all ranks</source>
        <translation>alle Ranks</translation>
    </message>
    <message>
        <source>tensor group of %1</source>
        <translation>Tensorgruppe von %1</translation>
    </message>
    <message>
        <source>data group of %1</source>
        <translation>Datengruppe von %1</translation>
    </message>
    <message>
        <source>1 rank</source>
        <translation>1 Rank</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 Ranks</translation>
    </message>
    <message>
        <source>server %1</source>
        <translation>Server %1</translation>
    </message>
    <message>
        <source>rank %1 is slow; %2 others wait</source>
        <translation>Rank %1 ist langsam; %2 andere warten</translation>
    </message>
    <message>
        <source>%1 identical ranks</source>
        <translation>%1 identische Ranks</translation>
    </message>
    <message>
        <source>gradients</source>
        <translation>Gradienten</translation>
    </message>
    <message>
        <source>parameter shards</source>
        <translation>Parameter-Shards</translation>
    </message>
    <message>
        <source>gradient shards</source>
        <translation>Gradienten-Shards</translation>
    </message>
    <message>
        <source>partial activations</source>
        <translation>Teilaktivierungen</translation>
    </message>
    <message>
        <source>activations</source>
        <translation>Aktivierungen</translation>
    </message>
    <message>
        <source>activation gradients</source>
        <translation>Aktivierungsgradienten</translation>
    </message>
    <message>
        <source>the tied embedding&apos;s gradient</source>
        <translation>Gradienten des geteilten Embeddings</translation>
    </message>
    <message>
        <source>the gradient norm</source>
        <translation>Gradientennorm</translation>
    </message>
    <message>
        <source>the loss</source>
        <translation>Loss</translation>
    </message>
    <message>
        <source>server traffic</source>
        <translation>Verkehr mit Servern</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>Beispielen</translation>
    </message>
    <message>
        <source>optimizer states</source>
        <translation>Optimiererzuständen</translation>
    </message>
    <message>
        <source>waited %1 for rank %2</source>
        <translation>wartete %1 auf Rank %2</translation>
    </message>
    <message>
        <source>waited %1</source>
        <translation>wartete %1</translation>
    </message>
    <message>
        <source>backward, input gradient</source>
        <translation>Backward, Eingabegradient</translation>
    </message>
    <message>
        <source>backward, weight gradient</source>
        <translation>Backward, Gewichtsgradient</translation>
    </message>
    <message>
        <source>load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>load batch</source>
        <translation>Batch laden</translation>
    </message>
    <message>
        <source>check against the definition</source>
        <translation>Prüfung gegen die Definition</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>Schritt %1</translation>
    </message>
    <message>
        <source>bubble %1 of the workers&apos; step</source>
        <translation>Leerlauf %1 des Schritts der Worker</translation>
    </message>
    <message>
        <source>bubble %1 of the step</source>
        <translation>Leerlauf %1 des Schritts</translation>
    </message>
    <message>
        <source>ideal %1</source>
        <translation>ideal %1</translation>
    </message>
    <message>
        <source>predicted %1</source>
        <translation>vorhergesagt %1</translation>
    </message>
    <message>
        <source>random numbers</source>
        <translation>Zufallszahlen</translation>
    </message>
    <message>
        <source>op unknown to this version</source>
        <translation>eine dieser Version unbekannte Op</translation>
    </message>
    <message>
        <source>rank %1 is slow; 1 other waits</source>
        <translation>Rank %1 ist langsam; 1 anderer wartet</translation>
    </message>
    <message>
        <source>1 identical rank</source>
        <translation>1 identischer Rank</translation>
    </message>
    <message>
        <source>Formats</source>
        <translation>Formate</translation>
    </message>
    <message>
        <source>Puzzle</source>
        <translation>Puzzle</translation>
    </message>
    <message>
        <source>losses</source>
        <translation>Losses</translation>
    </message>
</context>
</TS>
