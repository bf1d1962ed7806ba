"""Snakemake with its imports done: a process that has loaded it and forks for each command.

To load Snakemake takes two seconds of processor time, as long as most of the commands that the tests give. What a fork runs is
Snakemake's own command line, with the command's environment and output; nothing of this project is loaded beforehand.

As a program it reads one command a line from its standard input, as JSON, and writes the exit status of each.
"""

import json
import os
import subprocess
import sys
import threading
import traceback

LOADED = ("snakemake.cli", "snakemake.report", "snakemake.linting", "numpy", "scipy.special", "pydantic", "yaml")
"""Modules that every command loads: Snakemake, and the packages with which the workflow reads its plan."""


class WarmSnakemake:
    """Gives commands to a process that has loaded Snakemake."""

    def __init__(self, environment):
        """Start the process, which loads with the environment that commands have."""
        self.server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, arguments, log, environment, timeout=900):
        """The exit status of a command whose output goes to a file; after the timeout, in seconds, the process is ended."""
        command = {"arguments": [str(argument) for argument in arguments], "log": str(log), "environment": environment}
        patience = threading.Timer(timeout, self.server.kill)
        patience.start()
        print(json.dumps(command), file=self.server.stdin, flush=True)
        answer = self.server.stdout.readline()
        patience.cancel()
        if not answer:
            raise TimeoutError(f"snakemake {arguments} did not end within {timeout} s, or its process was ended")
        return int(answer)

    def end(self):
        """End the process."""
        self.server.stdin.close()
        self.server.wait()


def serve():
    """Run the commands that are read, each in a fork."""
    for name in LOADED:
        __import__(name)
    answers = os.fdopen(os.dup(1), "w")
    for line in sys.stdin:
        command = json.loads(line)
        child = os.fork()
        if not child:
            follow(command)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), file=answers, flush=True)


def follow(command):
    """Be a command: never returns."""
    status = 1
    try:
        os.environ.clear()
        os.environ.update(command["environment"])
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(os.open(command["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), 1)
        os.dup2(1, 2)
        sys.argv = ["snakemake", *command["arguments"]]
        from snakemake.cli import main

        status = main() or 0
    except SystemExit as error:
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
        status = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


if __name__ == "__main__":
    serve()
