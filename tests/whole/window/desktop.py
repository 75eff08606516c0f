# SPDX-License-Identifier: GPL-3.0-or-later
"""A desktop for one test: an X server without a screen (Xvfb), a session bus, a window manager (openbox), keys, mouse.

A test's file calls main(), which starts the file again inside dbus-run-session, with its own home folder. All started
programs end with the test, also if the test is killed."""

import ctypes
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

SKIPPED = 77  # the status that CTest reports as "skipped"
LIMIT = 180  # seconds of a wait: it only ends what hangs, and a busy machine is several times slower than an idle one
PROGRAMS = ("Xvfb", "openbox", "xdotool", "dbus-run-session", "dbus-daemon", "import", "xprop")


class Failed(Exception):
    pass


def is_long():
    """Whether `bash tests/run.sh --long` runs."""
    return "RANKSCOPE_LONG_TESTS" in os.environ


def wait_for(what, condition, seconds=LIMIT):
    """The first true value of `condition`, or Failed with what did not happen."""
    end = time.monotonic() + seconds
    pause = 0.01
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Failed(f"not within {seconds} s: {what() if callable(what) else what}")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)


def _end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def start(command, **options):
    return subprocess.Popen(command, preexec_fn=_end_with_parent, **options)


def run(command, seconds=LIMIT, **options):
    return subprocess.run(command, timeout=seconds, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


class Desktop:
    """A screen of `width` x `height` pixels with a window manager."""

    def __init__(self, folder, width, height):
        self.folder, self.width, self.height = folder, width, height
        self.out = open(os.path.join(folder, "desktop.log"), "a")
        self.server = self.manager = None
        try:
            self._start_server()
            self._start_manager()
        except Exception:
            self.close()
            raise

    def _start_server(self):
        # A random number: servers that search for the first free one at the same time would get the same one.
        for _ in range(20):
            number = random.randrange(100, 10000)
            if os.path.exists(f"/tmp/.X11-unix/X{number}") or os.path.exists(f"/tmp/.X{number}-lock"):
                continue
            read, write = os.pipe()
            self.server = start(
                ["Xvfb", f":{number}", "-displayfd", str(write), "-screen", "0", f"{self.width}x{self.height}x24",
                 "-nolisten", "tcp"], pass_fds=(write,), stdout=self.out, stderr=self.out)
            os.close(write)
            with os.fdopen(read) as pipe:
                if pipe.readline().strip():
                    self.display = f":{number}"
                    self.use()
                    return
            self.server.wait()
        raise Failed("Xvfb did not start: see desktop.log")

    def _start_manager(self):
        def manages():
            if self.manager is None or self.manager.poll() is not None:
                self.manager = start(["openbox", "--sm-disable"], stdout=self.out, stderr=self.out)
            return "_NET_SUPPORTING_WM_CHECK" in run(["xprop", "-root"]).stdout

        wait_for("openbox manages the screen", manages)

    def close(self):
        for process in (self.manager, self.server):
            if process is not None:
                process.terminate()  # the server then removes its socket and its lock
                process.wait(20)
        self.out.close()

    def use(self):
        """From now on, programs, keys and the mouse use this screen: there may be another one."""
        os.environ["DISPLAY"] = self.display

    def key(self, *keys):
        run(["xdotool", "key", "--clearmodifiers", "--delay", "5", *keys])

    def type(self, text):
        run(["xdotool", "type", "--delay", "5", text])

    def click(self, x, y, button=1, times=1):
        run(["xdotool", "mousemove", "--sync", str(int(x)), str(int(y)), "click", "--repeat", str(times), "--delay",
             "60", str(button)])

    def drag(self, x, y, to_x, to_y):
        middle = ((x + to_x) // 2, (y + to_y) // 2)
        run(["xdotool", "mousemove", "--sync", str(x), str(y), "mousedown", "1",
             "mousemove", "--sync", str(middle[0]), str(middle[1]),
             "mousemove", "--sync", str(to_x), str(to_y), "mouseup", "1"])

    def picture(self, name):
        path = os.path.join(self.folder, name + ".png")
        run(["import", "-silent", "-window", "root", path])
        return path

    def colours(self, x, y, width, height):
        """The number of colours in that part of the screen."""
        result = run(["import", "-silent", "-window", "root", "-crop", f"{width}x{height}+{x}+{y}", "+repage", "-format",
                      "%k", "info:"])
        return int(result.stdout.split()[-1])


def _why_not():
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    try:
        import gi

        gi.require_version("Atspi", "2.0")
        from gi.repository import Atspi  # noqa: F401
    except (ImportError, ValueError):
        missing.append("python3-gi with gir1.2-atspi-2.0")
    if not os.path.exists("/usr/libexec/at-spi-bus-launcher") and not os.path.exists("/usr/lib/at-spi2-core/at-spi-bus-launcher"):
        missing.append("at-spi2-core")
    return missing


def main(test):
    """Runs test(program, folder, *arguments of the command line) in its own session."""
    program, pictures = sys.argv[1:3]
    if "RANKSCOPE_OWN_SESSION" not in os.environ:
        missing = _why_not()
        if missing:
            print(f"skipped: this machine lacks {', '.join(missing)} (resources/setup/packages.txt)")
            return SKIPPED
        environment = dict(os.environ, RANKSCOPE_OWN_SESSION="1", QT_LINUX_ACCESSIBILITY_ALWAYS_ON="1", QT_QPA_PLATFORM="xcb",
                           LC_ALL="C.UTF-8", NO_AT_BRIDGE="0")
        for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_SCALE_FACTOR", "AT_SPI_BUS_ADDRESS"):
            environment.pop(name, None)
        with tempfile.TemporaryDirectory() as home:
            environment.update(HOME=home, XDG_RUNTIME_DIR=home)
            os.chmod(home, 0o700)
            session = start(["dbus-run-session", "--", sys.executable, *sys.argv], env=environment)
            return session.wait()
    os.makedirs(pictures, exist_ok=True)
    began = time.monotonic()
    try:
        test(program, pictures, *sys.argv[3:])
    except Failed as failure:
        print(f"FAILED: {failure}")
        return 1
    except Exception:  # a picture was saved at the failure
        traceback.print_exc()
        return 1
    print(f"passed in {time.monotonic() - began:.0f} s")
    return 0
