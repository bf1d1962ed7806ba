"""State of the fork server from which jobs start: it imports this module first, and with it the libraries that jobs use."""

import contextlib
import gc
import importlib
import io
import os
import signal
import sys
import tempfile

from formalsynth_workflow.jobs.forked import LIBRARIES

PATH = tuple(sys.path)
"""Folders in which the server, and not the program that started it, searches for modules."""
HANDLERS = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
"""Handlers of signals that end a run. They end jobs; the server ends with its owner."""

with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    for name in os.environ.get(LIBRARIES, "").split():
        with contextlib.suppress(Exception):  # it comes again, in a job's log, when a job needs the module
            importlib.import_module(name)
for number in HANDLERS:
    signal.signal(number, signal.SIG_IGN)
tempfile.tempdir = None  # a library may have asked for it, and jobs have their own
gc.freeze()  # otherwise the first search for reference cycles would copy all of this memory
