"""axe-core, which looks for what keeps people from using a page: fetched from npm once, and kept for all checkouts."""

import hashlib
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

VERSION = "4.14.1"
SHA256 = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
"""Checksum of the package on npm."""
FILE = Path("~/.cache/formalsynth", f"axe-core-{VERSION}.tgz").expanduser()
SERIOUS = ("serious", "critical")
RUN = """
const done = arguments[0];
axe.run(document, { resultTypes: ["violations"], preload: false }).then((found) => done(found.violations.map(
  (one) => [one.impact, one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160))])));
"""


def axe_script():
    """The script, or a skip where it cannot be had."""
    if not FILE.exists() and shutil.which("npm"):
        FILE.parent.mkdir(parents=True, exist_ok=True)
        command = ["npm", "pack", "--silent", "--pack-destination", str(FILE.parent), f"axe-core@{VERSION}"]
        subprocess.run(command, check=False, capture_output=True, timeout=120)
    if not FILE.exists():
        pytest.skip("no axe-core: it is fetched by npm")
    assert hashlib.sha256(FILE.read_bytes()).hexdigest() == SHA256, f"{FILE} is not the published package: delete it"
    with tarfile.open(FILE) as package:
        return package.extractfile("package/axe.min.js").read().decode()


def serious_findings(browser, script):
    """Findings of axe-core on the open page, without minor ones."""
    browser.execute_script(script)
    return [finding for finding in browser.execute_async_script(RUN) if finding[0] in SERIOUS]
