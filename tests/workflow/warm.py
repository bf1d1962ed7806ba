"""Snakemake with its imports done: a process that has loaded it and forks for each command.

Loading Snakemake and the packages that it and the workflow use takes longer than most of the commands in the tests. A fork runs
Snakemake's own command line, with the command's environment and output. Commands must have the process's ``PYTHONPATH``. With
another copy of the workflow, they load that copy's package themselves.

As a program it reads one command a line from its standard input, as JSON, and writes the exit status of each.
"""

import importlib
import json
import os
import subprocess
import sys
import threading
import traceback

LOADED = (
    "snakemake.cli", "snakemake.report", "snakemake.linting", "nbformat", "smart_open", "scipy.special", "formalsynth.plan.jobs",
    "formalsynth.plan.load", "formalsynth.report.describe", "formalsynth.stan.main",
)  # fmt: skip
"""Modules that commands load: Snakemake with its formats of scripts and files, and those that read the plan."""


class WarmSnakemake:
    """Gives commands to a process that has loaded Snakemake."""

    def __init__(self, environment):
        """Start the process, which loads with the environment that commands have."""
        self.server = subprocess.Popen(
            [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def run(self, arguments, log, environment, timeout=900, copied=False):
        """The exit status of a command whose output goes to a file; after the timeout, in seconds, the process is ended.

        ``copied`` is True for another copy of the workflow.
        """
        words = [str(argument) for argument in arguments]
        command = {"arguments": words, "log": str(log), "environment": environment, "copied": copied}
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
        importlib.import_module(name)
    sys.modules["formalsynth.plan.model"].find_all()
    sources = sys.modules["formalsynth.runtime.sources"]
    sources.code_digest(sources.sources("formalsynth.steps.run", "formalsynth.steps.study", "formalsynth.contract.program"))
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
        if command["copied"]:
            for name in [name for name in sys.modules if name.partition(".")[0] == "formalsynth"]:
                del sys.modules[name]
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
