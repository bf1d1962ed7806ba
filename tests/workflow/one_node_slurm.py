"""A Slurm of one node from the system's packages, which needs neither systemd nor root."""

import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

DAEMONS = ("munged", "slurmctld", "slurmd")
COMMANDS = ("munge", "sbatch", "scancel", "scontrol", "sinfo", "squeue", "srun")
SEARCHED = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])
CPUS, MEMORY = 4, 16000
"""Declared resources of the node, independent of the machine: test jobs are small, and their queue should be short."""
SETTINGS = """\
ClusterName=tests
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=5
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
ReturnToService=2
MinJobAge=3600
SlurmdParameters=config_overrides
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=tests Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def find(program):
    """Path of a program; daemons are often outside a user's search path."""
    return shutil.which(program, path=SEARCHED)


def free_ports():
    """Ports below those that the system gives to connections, of which one could take a port before its daemon does."""
    for port in random.sample(range(10_000, 32_000), 1000):
        with socket.socket() as listener, suppress(OSError):
            listener.bind(("127.0.0.1", port))
            yield port


def prepare(folder):
    """The cluster's files, and its environment: where its settings are, and a search path on which `srun` finds them."""
    for name in ("state", "spool", "bin"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o400)
    key.chmod(0o600)
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    settings, ports = folder / "slurm.conf", free_ports()
    text = SETTINGS.format(
        folder=folder, host=socket.gethostname().split(".")[0], user=subprocess.check_output(["id", "-un"], text=True).strip(),
        controller_port=next(ports), node_port=next(ports), cpus=CPUS, memory=MEMORY,
    )  # fmt: skip
    settings.write_text(text)
    # Snakemake's job steps run without SLURM_CONF and would look for a cluster's settings in /etc.
    srun = folder / "bin" / "srun"
    srun.write_text(f'#!/bin/sh\nSLURM_CONF={settings} exec {find("srun")} "$@"\n')
    srun.chmod(0o755)
    path = os.pathsep.join([str(folder / "bin"), str(Path(sys.executable).parent), SEARCHED])
    return {"SLURM_CONF": str(settings), "PATH": path}


def start(folder, environment):
    """Start the daemons; each goes to the background by itself."""
    munged = [find("munged"), "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket"]
    munged += [f"--pid-file={folder}/munged.pid", f"--log-file={folder}/munged.log", f"--seed-file={folder}/munged.seed"]
    for command in (munged, [find("slurmctld"), "-i"], [find("slurmd")]):
        done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{command[0]} does not start: {done.stderr}")


def wait_until_idle(folder, environment, seconds=600):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        state = subprocess.run(
            [find("sinfo"), "-h", "-o", "%T"], env=os.environ | environment, capture_output=True, text=True, check=False
        )
        if state.stdout.strip() == "idle":
            return
        time.sleep(0.2)
    logs = [f"{name}:\n{(folder / name).read_text()[-2000:]}" for name in ("slurmctld.log", "slurmd.log")]
    raise RuntimeError("\n".join(["Slurm does not start", *logs]))


def stop(folder):
    """End the daemons by their own process ids, and wait for them."""
    for name in reversed(DAEMONS):
        file = folder / f"{name}.pid"
        if not file.exists():
            continue
        process = int(file.read_text())
        try:
            os.kill(process, signal.SIGTERM)
            for _ in range(100):
                os.kill(process, 0)
                time.sleep(0.1)
        except ProcessLookupError:
            pass


def missing():
    """Programs of Slurm that are not installed."""
    return [name for name in (*DAEMONS, *COMMANDS) if find(name) is None]


@contextmanager
def one_node_slurm():
    """Run a cluster; what it yields is the environment in which Slurm's commands speak to it."""
    # A short path: the munge socket's may have no more than a hundred letters.
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))
    try:
        environment = prepare(folder)
        start(folder, environment)
        wait_until_idle(folder, environment)
        yield environment
    finally:
        stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
