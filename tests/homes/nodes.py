"""potluck-node in a namespace, as its owner starts it, and what it says of itself."""
import json
import os
import signal
import subprocess
import time

import network

PORT = 7000


class Node:
    def __init__(self, program, namespace, folder, *options, environment=None):
        self.program, self.namespace, self.folder, self.options = str(program), namespace, folder, list(options)
        self.environment = environment or {}
        self.process = None
        folder.mkdir(parents=True)

    def start(self, *words):
        output = open(self.folder.with_suffix(".log"), "ab")
        # The internet profile: nothing is set that a person would not have. One thread each, for all share one computer.
        environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
        environment.update(self.environment)
        self.process = subprocess.Popen(
            [*self.launcher(), self.program, "--data-dir", str(self.folder), "--trainer-threads", "1", *self.options,
             *words], stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, env=environment,
            preexec_fn=self.before_start)

    def launcher(self):
        """The words that put the program into its namespace."""
        return ["ip", "netns", "exec", network.PREFIX + self.namespace, "nice", "-n", "5"]

    before_start = None  # what the process itself does first: a subclass may set limits

    def start_again(self):
        """With what its data folder says; the verb it was started with first is for a folder that is in no run."""
        self.start("serve", "--standalone")

    def ask(self, *words):
        """The answer of a command to the running node as JSON; None if there is none."""
        done = subprocess.run([self.program, "--data-dir", str(self.folder), *words, "--json"], capture_output=True,
                              text=True)
        return json.loads(done.stdout) if done.returncode == 0 else None

    def why(self):
        """What it does, as the code of its reason; None if it does not answer yet."""
        return (self.ask("status") or {"why": {"code": None}})["why"]["code"]

    def is_connected(self, member):
        """Whether it has a session with that one."""
        run = (self.ask("status") or {}).get("run") or {}
        return any(one["id"] == member and one["connected"] for one in run.get("members", []))

    def printed(self, start):
        """The first line that begins so, without that; None if there is none yet."""
        for line in self.folder.with_suffix(".log").read_text(errors="replace").splitlines():
            if line.startswith(start):
                return line[len(start):].strip()
        return None

    def sleep(self, seconds):
        """The computer sleeps: neither the node nor its trainer does anything."""
        inside = subprocess.run(["ip", "netns", "pids", network.PREFIX + self.namespace], capture_output=True, text=True,
                                check=True).stdout.split()
        for what in (signal.SIGSTOP, signal.SIGCONT):
            for process in inside:
                os.kill(int(process), what)
            if what == signal.SIGSTOP:
                time.sleep(seconds)

    def kill(self):
        """As a power cut does: nobody is told."""
        self.process.kill()
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Window(Node):
    """The window of a person who starts a run by clicks; its node listens at an address that others reach."""

    def start(self, clicks, address, text):
        output = open(self.folder.with_suffix(".log"), "ab")
        wrapper = self.folder.with_suffix(".sh")
        wrapper.write_text(f'#!/bin/sh\nexec "{self.program}" "$@" --port {PORT} --address {address}:{PORT} '
                           "--trainer-threads 1\n", encoding="utf-8")
        wrapper.chmod(0o755)
        environment = {name: value for name, value in os.environ.items() if not name.startswith("POTLUCK_")}
        environment["QT_QPA_PLATFORM"] = "offscreen"
        self.process = subprocess.Popen(
            ["ip", "netns", "exec", network.PREFIX + self.namespace, "nice", "-n", "5", str(clicks), str(wrapper),
             str(self.folder), str(text)], stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT,
            env=environment)


def wait_for(what, seconds, sentence, every=0.5):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(every)
    raise AssertionError(sentence)
