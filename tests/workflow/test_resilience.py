"""Faults that a run withstands: kills, damaged files, dying chains, a full disk, a second run, unusual places.

The long ones are marked slow: ``make test-slow`` runs them.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from processes import children, commands, is_alive, python_path, wait_for
from runs import (
    FIGURES,
    SCALE,
    SIMULATION,
    STUDIES,
    content,
    environment,
    kill,
    left_over,
    read_config,
    results,
    short,
    start,
    with_programs,
)

from formalsynth.runtime.files import read_table, sealed
from formalsynth_workflow.steps.fits import read_fits

pytestmark = [pytest.mark.workflow, pytest.mark.stan]

PROGRAM = Path("results", "stan", "linear_regression")
BATCH = SIMULATION / "seeds0000-0001"
STATISTICS = ["delta", "epsilon", "mean"]


def before_the_program(folder, script):
    """Put a shell script, which finds the Stan seed in ``$seed``, before each sampling of the compiled program.

    It serves no fits then, and is started for each. The program keeps its time, so that nothing is made again on its account.
    """
    program, moved, times = folder / PROGRAM, folder / "moved", (folder / PROGRAM).stat()
    program.rename(moved)
    seed = 'seed=$(echo "$*" | sed -n "s/.*random seed=\\([0-9]*\\).*/\\1/p")'
    with sealed(program) as partial:
        partial.write_text(f'#!/bin/sh\n[ "$1" != serve ] || exit 1\n{seed}\n[ $seed ] && {{ {script}\n}}\nexec {moved} "$@"\n')
        partial.chmod(0o755)
    os.utime(program, ns=(times.st_atime_ns, times.st_mtime_ns))


def forget(folder, *names):
    """Remove results, so that they are made again."""
    for name in names:
        for path in folder.glob(str(name)):
            path.unlink()


def test_a_second_run_in_a_folder_is_refused_and_harms_nothing(again, finished, repository, snakemake):
    busy, go, table = again / "busy", again / "go", SIMULATION / "replicates.csv"
    before_the_program(again, f"touch {busy}; while [ ! -e {go} ]; do sleep 0.05; done")
    forget(again, BATCH / "averaged_0.4_1.8" / "*.*", SIMULATION / "*.csv")
    first = start(again, "--cores", 1, table, snakefile=repository / "Snakefile")
    try:
        wait_for(busy.exists, first)
        locks = sorted((again / ".snakemake" / "locks").iterdir())
        second = snakemake(again, "--cores", 1, table)
        assert second.returncode != 0
        assert "Directory cannot be locked" in second.stdout
        assert "Traceback (most recent call last)" not in second.stdout
        assert len(second.stdout.splitlines()) < 40, second.stdout
        assert first.poll() is None
        assert sorted((again / ".snakemake" / "locks").iterdir()) == locks != []
        go.touch()
        assert first.wait(timeout=600) == 0, (again / "run.log").read_text()[-3000:]
    finally:
        if first.poll() is None:
            kill(first)
    assert results(again) == results(finished)


def test_a_chain_that_always_dies_is_a_row_with_its_reason_and_stops_nothing(folder, finished, completed):
    seeds = [fit.diagnostics["seed"] for fit in read_fits(finished / BATCH / "Unweighted" / "fit.npz")]
    attempts = read_config(folder)[0]["sampler"]["attempts"]
    dying = " ".join(f"| {seeds[1] + k}" for k in range(attempts))
    before_the_program(folder, f'case "$seed" in {dying.removeprefix("| ")}) kill -s SEGV $$;; esac')
    targets = [BATCH / id / "replicates.csv" for id in ("Unweighted", "Weighted")]
    completed(folder, "--cores", 1, *targets)
    for id, reason, tried in (
        ("Unweighted", "CmdStan stopped: signal 11 (Segmentation fault)", attempts),
        ("Weighted", "its parent Unweighted failed", 0),
    ):
        rows = read_table(folder / BATCH / id / "replicates.csv")
        rows = rows[rows["synthesizer"] == id].set_index("replicate")
        assert rows["status"].tolist() == ["ok", "failed"]
        assert rows.loc[1, "reason"] == reason
        assert rows.loc[1, "attempts"] == tried
        assert rows.loc[1, STATISTICS].isna().all()
        undisturbed = read_table(finished / BATCH / id / "replicates.csv")
        undisturbed = undisturbed[undisturbed["synthesizer"] == id].set_index("replicate")
        assert rows.loc[0, STATISTICS].equals(undisturbed.loc[0, STATISTICS])


def test_a_chain_that_is_always_killed_fails_its_job_and_is_sampled_by_the_next_run(folder, finished, completed, snakemake):
    target, enough = BATCH / "Weighted" / "replicates.csv", folder / "enough"
    before_the_program(folder, f"[ -e {enough} ] || kill -9 $$")
    run = snakemake(folder, "--cores", 1, target)
    assert run.returncode != 0
    reason = (
        "CmdStan was ended by signal 9 (Killed) 3 times, which does not depend on the posterior: is there enough memory? "
        "Run again"
    )
    assert len([line for line in run.stdout.splitlines() if line.endswith(reason)]) == 1, run.stdout
    assert [path.name for path in (folder / BATCH).glob("[!.]*")] == ["data.npz"]
    enough.touch()
    completed(folder, "--cores", 1, target)
    assert content(folder / target) == content(finished / target)


def test_a_job_whose_snakemake_was_killed_puts_nothing_over_a_later_run(again, repository, completed):
    """The job itself is not killed, and the later run has another seed."""
    target, busy, go = BATCH / "Weighted" / "fit.npz", again / "busy", again / "go"
    before_the_program(again, f"[ -e {busy} ] || {{ touch {busy}; while [ ! -e {go} ]; do sleep 0.05; done; }}")
    forget(again, target)
    first = start(again, "--cores", 1, target, snakefile=repository / "Snakefile")
    try:
        wait_for(busy.exists, first)
        first.kill()
        first.wait()
        completed(again, "--cores", 1, target, "--config", "root_seed=7")
        made = results(again)
        go.touch()
        wait_for(lambda: not group_lives(first.pid))
        assert results(again) == made
    finally:
        if group_lives(first.pid):
            kill(first)


def group_lives(group):
    """Check if any process of a group is alive."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def refused_as_damaged(run, path):
    assert run.returncode != 0
    sentences = [line for line in run.stdout.splitlines() if f"{path.name} is damaged (" in line]
    assert len(sentences) == 1, run.stdout
    assert sentences[0].endswith("): delete it and run again")


# Slow from here on. They make the short run, which has every kind of job.


def set_up(folder, reference):
    """Spare a folder the search for CmdStan and the compilers."""
    shutil.copytree(reference / ".cmdstan", folder / ".cmdstan", dirs_exist_ok=True)
    return with_programs(folder, reference)


MOMENTS = 20


@pytest.mark.slow
def test_runs_that_are_killed_at_random_moments_end_in_the_same_bytes(tmp_path, repository, cmdstan, reference):
    """SIGKILL to the whole process group again and again, from the first second to the last, until enough are killed.

    What has its name after a kill is what an undisturbed run writes there.
    """
    undisturbed, seconds = reference
    expected, generator = results(undisturbed), np.random.default_rng(20260205)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    moments = []
    for lap in range(100):
        if len(moments) >= MOMENTS:
            break
        folder = short(tmp_path / f"lap{lap}", repository, cmdstan)
        shutil.rmtree(folder / ".cmdstan")
        if lap:
            set_up(folder, undisturbed)
        while True:
            run = start(folder, "--cores", 2, snakefile=repository / "Snakefile", CMDSTAN=str(cmdstan), TMPDIR=str(temporary))
            moment = generator.uniform(0, seconds / 2)
            try:
                status = run.wait(timeout=moment if len(moments) < MOMENTS else 900)
                break
            except subprocess.TimeoutExpired:
                kill(run)
                moments.append(moment)
                files = results(folder)
                assert {name: files[name] == expected.get(name) for name in files} == dict.fromkeys(files, True)
                print(f"lap {lap}: killed after {moment:.1f} s with {len(files)} of {len(expected)} files")
        assert status == 0, (folder / "run.log").read_text()[-3000:]
        assert results(folder) == expected
        assert left_over(folder) == []
        # Snakemake's own folder, which is empty, and that of the fork server's socket remain when Snakemake is killed.
        left = {path.name: [inner.name.partition("-")[0] for inner in path.iterdir()] for path in temporary.iterdir()}
        assert all(name.startswith(("snakemake", "pymp-")) for name in left)
        assert all(inside in ([], ["listener"]) for inside in left.values())
        assert len(left) <= 2 * len(moments)
    assert len(moments) >= MOMENTS


def serving(folder):
    """Processes that serve fits of a folder's program."""
    wanted = [os.fsencode(folder / PROGRAM), b"serve"]
    return (pid for pid, arguments in commands() if arguments[:2] == wanted)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/cmdline").exists(), reason="processes are listed in /proc only by Linux")
def test_processes_that_serve_fits_are_killed_at_random_moments_and_nothing_differs(tmp_path, repository, cmdstan, reference):
    undisturbed, _ = reference
    expected, generator, killed = results(undisturbed), np.random.default_rng(20261125), 0
    for lap in range(20):
        if killed >= MOMENTS:
            break
        folder = set_up(short(tmp_path / f"lap{lap}", repository, cmdstan), undisturbed)
        run = start(folder, "--cores", 2, snakefile=repository / "Snakefile", CMDSTAN=str(cmdstan))
        while run.poll() is None:
            for process in serving(folder):
                time.sleep(generator.uniform(0, 0.05))
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
                    killed += 1
            time.sleep(0.002)
        assert run.returncode == 0, (folder / "run.log").read_text()[-3000:]
        assert results(folder) == expected
        assert left_over(folder) == []
    print(f"{killed} processes killed in {lap} runs")
    assert killed >= MOMENTS


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="jobs are forked from a server only on Linux")
def test_servers_of_jobs_are_killed_at_random_moments_and_nothing_differs(tmp_path, repository, cmdstan, reference):
    """The jobs of a killed server end with it, and the run fails; the next one makes their files."""
    undisturbed, _ = reference
    expected, generator, ended = results(undisturbed), np.random.default_rng(20261127), 0
    for lap in range(3):
        folder = set_up(short(tmp_path / f"lap{lap}", repository, cmdstan), undisturbed)
        run = start(folder, "--cores", 2, snakefile=repository / "Snakefile", CMDSTAN=str(cmdstan))
        wait_for(lambda run=run: server_of(run), run)
        server = server_of(run)
        time.sleep(generator.uniform(1 + lap, 2 + lap))
        jobs = children(server)
        with contextlib.suppress(ProcessLookupError):  # the run was faster
            os.kill(server, signal.SIGKILL)
        wait_for(lambda jobs=jobs: not any(map(is_alive, jobs)))
        ended += run.wait(timeout=900) != 0  # jobs may also start or end between the list and the kill
        files = results(folder)
        assert {name: files[name] == expected.get(name) for name in files} == dict.fromkeys(files, True)
        again = start(folder, "--cores", 2, snakefile=repository / "Snakefile", CMDSTAN=str(cmdstan))
        assert again.wait(timeout=900) == 0, (folder / "run.log").read_text()[-3000:]
        assert results(folder) == expected
        assert left_over(folder) == []
    assert ended


def server_of(run):
    """Process from which a run forks its jobs, if it has started."""
    with contextlib.suppress(ProcessLookupError):
        for pid, arguments in commands():
            if any(b"formalsynth_workflow.jobs.preloaded" in word for word in arguments) and os.getpgid(pid) == run.pid:
                return pid
    return None


STUDY = Path("results", SCALE, "zcdp", "accounting_n1000")
DAMAGES = [
    (BATCH / "data.npz", BATCH / "Unweighted" / "fit.npz"),
    (BATCH / "Unweighted" / "fit.npz", BATCH / "Weighted" / "fit.npz"),
    (BATCH / "Weighted" / "replicates.csv", SIMULATION / "replicates.csv"),
    (BATCH / "Weighted" / "records.csv", SIMULATION / "records.csv"),
    (SIMULATION / "replicates.csv", FIGURES / "fig02.csv"),
    (SIMULATION / "records.csv", FIGURES / "fig01.csv"),
    (Path("results", SCALE, "range", "claims.csv"), Path("results", SCALE, "claims.csv")),
    (STUDY / "seeds0000-0000" / "details.csv", STUDY / "details.csv"),
    (STUDY / "details.csv", Path("figures", SCALE, "zcdp", "fig02.csv")),
    (PROGRAM, Path("results", SCALE, "checks", "range", "simulation_n200.checked")),
    (Path(".cmdstan", "cmdstan.json"), PROGRAM),
]
"""A file, and one that is made from it."""


def truncate(content):
    return content[: len(content) // 2]


def flip(content):
    """Change one bit of the last digit, or of the last byte where there is none."""
    place = max((k for k, byte in enumerate(content) if 48 <= byte <= 57), default=len(content) - 1)
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


SEALED = [(*case, damage) for case in DAMAGES for damage in (truncate, flip)]
SEALED.remove((*DAMAGES[-1], flip))  # the record of CmdStan is one short line that is rewritten by each set-up, without a seal


@pytest.mark.slow
@pytest.mark.parametrize(("damaged", "reader", "damage"), SEALED, ids=[f"{case[0].name}-{case[2].__name__}" for case in SEALED])
def test_every_kind_of_damaged_file_is_named_and_made_again(tmp_path, reference, completed, snakemake, damaged, reader, damage):
    undisturbed, _ = reference
    folder = Path(shutil.copytree(undisturbed, tmp_path / "work"))
    path = folder / damaged
    path.write_bytes(damage(path.read_bytes()))
    refused_as_damaged(snakemake(folder, "--cores", 1, reader), path)
    path.unlink()
    completed(folder, "--cores", 1, reader)
    for made in {damaged, reader} - {PROGRAM, Path(".cmdstan", "cmdstan.json")}:
        assert content(folder / made) == content(undisturbed / made), made
    assert path.exists()


@pytest.mark.slow
@pytest.mark.parametrize("room", [0, 16, 250, 700])
def test_a_full_disk_is_a_clear_failure_and_the_run_resumes(room, small_disk, repository, cmdstan, reference, completed):
    """With so many kilobytes left for a run that needs about 4000, and then with enough."""
    undisturbed, _ = reference
    disk = small_disk(20_000)
    folder = set_up(short(disk / "work", repository, cmdstan), undisturbed)
    ballast = disk / "ballast"
    ballast.write_bytes(bytes(shutil.disk_usage(disk).free - room * 1024))
    run = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", repository / "Snakefile", "--directory", folder, "--cores", "1"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=environment(), timeout=600,
    )  # fmt: skip
    assert run.returncode != 0
    # with what jobs print because their logs have no room for it
    assert "No space left on device" in run.stdout
    said = [line for line in run.stdout.splitlines() if "could not be written because the disk is full" in line]
    assert all(line.endswith("(No space left on device): make room and run again") for line in said)
    assert all(f"results/{SCALE}/" in line or f"figures/{SCALE}/" in line for line in said)
    if room == 700:
        assert said, run.stdout[-5000:]
    files, expected = results(folder), results(undisturbed)
    assert {name: files[name] == expected.get(name) for name in files} == dict.fromkeys(files, True)
    ballast.unlink()
    completed(folder, "--cores", 1)
    assert results(folder) == expected
    assert left_over(folder) == []


@pytest.fixture
def read_only(tmp_path, cmdstan):
    """CmdStan where nobody can write, not even the superuser."""
    place = tmp_path / "cmdstan"
    place.mkdir()
    mounts = [["mount", "--bind", str(cmdstan), str(place)], ["mount", "-o", "remount,bind,ro", str(place)]]
    if shutil.which("mount") is None or any(
        subprocess.run(mount, capture_output=True, check=False).returncode for mount in mounts
    ):
        pytest.skip("CmdStan cannot be mounted read-only here: that takes Linux and its superuser")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.mark.slow
def test_a_read_only_cmdstan_is_enough(tmp_path, read_only, repository, cmdstan, reference, completed):
    with pytest.raises(OSError, match="Read-only"):
        (read_only / "new").touch()
    folder = short(tmp_path / "work", repository, cmdstan)
    shutil.rmtree(folder / ".cmdstan")
    completed(folder, "--cores", 1, BATCH / "Weighted" / "replicates.csv", CMDSTAN=str(read_only))
    assert json.loads((folder / ".cmdstan" / "cmdstan.json").read_text())["path"] == str(read_only)
    assert content(folder / BATCH / "Weighted" / "replicates.csv") == content(
        reference[0] / BATCH / "Weighted" / "replicates.csv"
    )


@pytest.mark.slow
def test_spaces_and_letters_of_any_language_in_every_path(tmp_path, repository, cmdstan, with_real_data):
    """The short run: the repository, its Python, the working folder, the data and the temporary folder."""
    place = tmp_path / "späte Prüfung, 最後 (1)"
    code = place / "formal synth"
    for name in ("Snakefile", "profiles", "stan", "workflow"):
        source = repository / name
        (shutil.copytree if source.is_dir() else shutil.copyfile)(source, ensured(code / name))
    (code / ".venv").symlink_to(sys.prefix, target_is_directory=True)
    python = code / ".venv" / "bin" / "python"
    data, temporary = place / "Daten für später", place / "temporärer Ordner"
    shutil.copytree(repository / "resources", data)
    temporary.mkdir()
    folder = short(place / "Arbeit & Ergebnis", repository, cmdstan, STUDIES, real=True)
    shutil.rmtree(folder / ".cmdstan")
    changes = {
        "CMDSTAN": str(cmdstan), "FORMALSYNTH_DATA": str(data), "OMP_NUM_THREADS": "1",
        "PYTHONPATH": python_path(code / "workflow" / "lib"), "TMPDIR": str(temporary),
    }  # fmt: skip
    run = subprocess.run(
        [python, "-m", "snakemake", "--snakefile", code / "Snakefile", "--directory", folder, "--cores", "2"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, env=os.environ | changes, timeout=3000,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-5000:]
    files, expected = results(folder), results(with_real_data)
    assert files.keys() == expected.keys()
    # Captions and pictures name the commit, which a copy of the repository does not know.
    assert [name for name in files if name.endswith((".csv", ".npz")) and files[name] != expected[name]] == []
    assert left_over(folder) == []
    assert list(temporary.iterdir()) == []


def ensured(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
