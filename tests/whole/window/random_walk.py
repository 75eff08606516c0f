# SPDX-License-Identifier: GPL-3.0-or-later
"""Random actions of a hurried user: clicks, drags, keys, words in fields, commands of the palette. The program must not
crash, must respond to a screen reader, and must end at Ctrl+Q. Takes this number of seconds:

    python3 random_walk.py PROGRAM FOLDER [SEED [SECONDS]]

The actions are in FOLDER/actions.log. What happens also depends on time, so a seed repeats the actions, not always the
fault."""

import os
import random
import string
import sys
import time

from desktop import Desktop, Failed, is_long, main, run, wait_for
from program import Program, fresh_profile

WIDTH, HEIGHT = 1366, 768
TITLE = 24  # pixels: its buttons belong to the window manager
MOST_ACTIONS = 400  # of one program
OPENED = ((), ("one-step",), ("pipeline-1f1b", "--run"), ("collectives-eight", "--run"), ("gpt3-175b",), ("pipeline-puzzle",),
          ("optimizer-paths",), ("data-parallel", "--run"))
WORDS = ("27.3", "100*3/11", "1/0", "-5", "1e999", "nan", "9999999", "0", "", "plan.data=3", "micro_batches=0", "é漢字",
         "'\"<b>", "tcp://127.0.0.1:1", "/no/such/file", "pipeline-gpipe")
NAMED_KEYS = ("Tab", "Return", "Escape", "Up", "Down", "Left", "Right", "Home", "End", "Page_Up", "Page_Down", "F1", "F9", "F11",
              "Delete", "BackSpace", "space", "period", "comma", "bracketleft", "bracketright", "question", "Menu")
KEYS = (*NAMED_KEYS, *string.ascii_lowercase, *string.digits,
        *(f"{held}+{key}" for held in ("ctrl", "ctrl+shift", "shift", "alt") for key in
          (*string.ascii_lowercase, *string.digits, "Up", "Down", "Left", "Right") if (held, key) != ("ctrl", "q")))
ROLES = ("push button", "toggle button", "check box", "combo box", "text", "spin button", "menu item", "page tab", "slider",
         "radio button", "link", "table", "list")


class Walk:
    def __init__(self, desktop, seed, log):
        self.desktop, self.log, self.random = desktop, log, random.Random(seed)
        self.program = None

    def place(self):
        return self.random.randrange(WIDTH), self.random.randrange(TITLE, HEIGHT)

    def click(self):
        self.write("click", *(place := self.place()))
        self.desktop.click(*place, button=self.random.choice((1, 1, 1, 3)), times=self.random.choice((1, 1, 1, 2)))

    def wheel(self):
        self.write("wheel", *(place := self.place()))
        self.desktop.click(*place, button=self.random.choice((4, 5)), times=self.random.randrange(1, 8))

    def drag(self):
        held = self.random.random() < 0.3
        self.write("drag with shift" if held else "drag", *(ends := self.place() + self.place()))
        if held:
            run(["xdotool", "keydown", "shift"])
        self.desktop.drag(*ends)
        if held:
            run(["xdotool", "keyup", "shift"])

    def key(self):
        self.write("key", key := self.random.choice(KEYS))
        self.desktop.key(key)

    def words(self):
        self.write("type", words := self.random.choice(WORDS))
        self.desktop.type(words)
        if self.random.random() < 0.6:
            self.desktop.key("Return")

    def command(self):
        self.write("command", number := self.random.randrange(60))
        self.desktop.key("ctrl+k", *["Down"] * number, "Return")

    def part(self):
        """What a screen reader can name is pressed more often than by a random click."""
        parts = [part for part in self.program.parts() if part.role in ROLES and part.width > 0 and part.height > 0]
        if parts:
            part = self.random.choice(parts)
            self.write("press", part)
            self.desktop.click(*part.centre)

    def write(self, *words):
        print(*words, file=self.log, flush=True)

    def check_alive(self):
        status = self.program.process.poll()
        if status not in (None, 0):
            raise Failed(f"the program ended with {status}: {open(self.program.log).read()[-2000:]}")
        return status is None

    def responds(self):
        return not self.check_alive() or self.program.parts()

    def run_program(self, program, until):
        self.program = program
        actions = ((self.click, 30), (self.wheel, 6), (self.drag, 10), (self.key, 25), (self.words, 6), (self.command, 3),
                   (self.part, 25))
        for number in range(1, MOST_ACTIONS + 1):
            if time.monotonic() > until or not self.check_alive():
                break
            self.random.choices([act for act, _ in actions], [weight for _, weight in actions])[0]()
            if number % 20 == 0:
                wait_for("the window responds to a screen reader", self.responds)
        if self.check_alive():
            self.desktop.key(*["Escape"] * 6)  # menus, dialogs, a presentation
            self.desktop.key("ctrl+q")
            wait_for("Ctrl+Q ends the program", lambda: not self.check_alive())
        return number


def test(binary, folder, seed="1", seconds="30"):
    if is_long():
        seconds = 60
    desktop = Desktop(folder, WIDTH, HEIGHT)
    until = time.monotonic() + float(seconds)
    actions = programs = 0
    with open(os.path.join(folder, "actions.log"), "w") as log:
        walk = Walk(desktop, int(seed), log)
        try:
            while time.monotonic() < until:
                arguments = walk.random.choice(OPENED)
                walk.write("start", *arguments)
                program = Program(binary, desktop, fresh_profile(folder, f"profile-{programs}"), arguments)
                programs += 1
                try:
                    actions += walk.run_program(program, until)
                finally:
                    program.kill()
        except Exception:
            desktop.picture("random-walk")
            raise
        finally:
            desktop.close()
    print(f"{actions} actions in {programs} programs")


if __name__ == "__main__":
    sys.exit(main(test))
