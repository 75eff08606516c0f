# SPDX-License-Identifier: GPL-3.0-or-later
"""Damaged, missing and unreachable sources: the window shows the error in a visible place, and continues."""

import os
import signal
import subprocess
import sys
import time

from desktop import Desktop, Failed, main, start, wait_for
from program import Program, fresh_profile
from sizes import check_places
from ten_minutes import label, record, step


def open_in_window(binary, folder, desktop, source, *words):
    """One of `words` is visible."""
    program = Program(binary, desktop, fresh_profile(folder, "profile-trouble"), [source])
    try:
        wait_for(f"the window says one of {words}", lambda: any(program.says(said) for said in words))
        check_places(program, program.still())
        program.quit()
    except Exception:
        desktop.picture("trouble-" + os.path.basename(source).replace(":", "-"))
        raise
    finally:
        program.kill()


def refuse_at_once(binary, folder, desktop, source):
    """A missing file is refused on the command line, in one line, with status 2."""
    from desktop import run

    result = run([binary, source])
    if result.returncode != 2 or os.path.basename(source) not in result.stdout:
        raise Failed(f"{source}: status {result.returncode}, '{result.stdout}'")


def stays_open(binary, folder, desktop, recording):
    """If a running window cannot open something, the recording stays open, and a line gives the reason."""
    program = Program(binary, desktop, fresh_profile(folder, "profile-stays"), [recording])
    try:
        wait_for("the recording is open", lambda: label(program) == "RECORDED")
        for key in ("ctrl+3", "ctrl+5", "F11", "Escape"):
            desktop.key(key)
        check_places(program, program.still())
        for name in ("noise.mcap", "wrong.toml"):
            desktop.key("ctrl+o")
            wait_for("a file can be chosen", program.has_popup)
            program.wait_for_focus()
            desktop.type(os.path.join(folder, name))
            desktop.key("Return")
            wait_for("the choice is closed", lambda: not program.has_popup())
            wait_for(f"a line says why {name} was not opened", lambda: program.says("Could not open " + name))
            if label(program) != "RECORDED":
                raise Failed(f"{name} took the recording's place: {label(program)}")
        program.quit()
    except Exception:
        desktop.picture("trouble-stays")
        raise
    finally:
        program.kill()


def loses_its_run(binary, folder, desktop):
    """A viewer that was stopped, as in a laptop that slept, continues; and what is no longer the present is not LIVE."""
    engine = os.path.join(os.path.dirname(binary), "rankscope-engine")
    log = open(os.path.join(folder, "watched.log"), "w+")
    small = [word for size in ("width=32", "heads=2", "context=16", "vocabulary=64") for word in ("--set", "model." + size)]
    run = start([engine, "run", "pipeline-1f1b", *small, "--steps", "100000000", "--publish", "tcp://127.0.0.1:*"],
                stdout=log, stderr=subprocess.STDOUT)  # steps so short that much is on its way to the window

    def endpoint():
        log.seek(0)
        return next((line.split()[1] for line in log if line.startswith("viewers: ")), None)

    program = None
    try:
        source = wait_for("the run is published", endpoint)
        program = Program(binary, desktop, fresh_profile(folder, "profile-watch"), [source])
        wait_for("the run is watched", lambda: label(program) == "LIVE")
        before = wait_for("a step is shown", lambda: step(program))
        program.process.send_signal(signal.SIGSTOP)
        time.sleep(20)  # its connection's heartbeat has ended, and the relay has filled it
        program.process.send_signal(signal.SIGCONT)
        wait_for("the window continues", lambda: label(program) == "LIVE" and step(program) > before)
        run.kill()
        run.wait()
        wait_for("the loss is said", lambda: label(program) == "CONNECTION LOST")
        wait_for("since when", lambda: program.says("is lost: nothing has arrived since "))
        check_places(program, program.still())
        program.quit()
    except Exception:
        desktop.picture("trouble-lost")
        raise
    finally:
        run.kill()
        if program is not None:
            program.kill()
        log.close()


def test(binary, folder):
    desktop = Desktop(folder, 1366, 768)
    try:
        loses_its_run(binary, folder, desktop)
        recording = record(binary, folder)
        whole = open(recording, "rb").read()
        files = {"cut.mcap": whole[: len(whole) // 2], "noise.mcap": os.urandom(4096), "empty.mcap": b"",
                 "wrong.toml": b"title = \n[plan]\npipeline = \"four\"\n"}
        for name, content in files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)
        refuse_at_once(binary, folder, desktop, os.path.join(folder, "missing.mcap"))
        for name, words in (("noise.mcap", "Could not open noise.mcap: not a trace"),
                            ("empty.mcap", "Could not open empty.mcap: the file is empty"),
                            ("wrong.toml", "Could not open wrong.toml"), ("cut.mcap", "cut.mcap is ")):
            open_in_window(binary, folder, desktop, os.path.join(folder, name), words)
        open_in_window(binary, folder, desktop, "tcp://127.0.0.1:9", "Connecting to tcp://127.0.0.1:9 (",
                       "no answer for ")  # after half a minute
        stays_open(binary, folder, desktop, recording)
    finally:
        desktop.close()


if __name__ == "__main__":
    sys.exit(main(test))
