"""CmdStan: what comes back from a good fit, a bad fit and a fit that has to be repeated."""

import contextlib
import errno
import json
import math
import re
import signal
import tempfile
from pathlib import Path

import numpy as np
import pytest

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import load
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.fit import DIAGNOSTICS, Fit
from formalsynth.stan.sample import CAREFUL, Chain, sample

load(["formalsynth.families.linear"])
FAMILY = FAMILIES["lognormal_regression"]
# One warm-up iteration leaves the step size untuned: the chain does not move and has no R-hat. A hundred of them are enough.
NEEDS_A_REFIT = SamplerSettings(warmup=1, draws=400, rhat_max=1.5, ess_min=100, divergences_max=100_000, attempts=3, lengthen=100)


@pytest.fixture
def data(generator):
    """Stan data of 200 skewed records."""
    z = generator.normal(2, 1, 200)
    records = Records(np.exp(z + 1 + generator.standard_normal(200)), np.column_stack([np.ones(200), z]))
    return FAMILY.stan_data(records, generator.uniform(size=200), FAMILY.priors)


@pytest.fixture
def run(program, data):
    """Sample with some data changed."""

    def run(settings=None, seed=3, **changes):
        return sample(program, data | changes, FAMILY.inits(data), FAMILY.parameters, seed, settings or SamplerSettings())

    return run


@pytest.mark.stan
def test_a_good_fit_has_its_draws_and_diagnostics(run):
    fit = run(SamplerSettings(draws=700, ess_min=100))
    assert (fit.status, fit.reason, fit.attempts, fit.seed) == ("ok", "", 1, 3)
    assert fit.draws["beta"].shape == (700, 2)
    assert fit.draws["sigma"].shape == (700,)
    assert np.isfinite([getattr(fit, name) for name in DIAGNOSTICS]).all()
    assert fit.rhat_max < 1.05
    assert min(fit.ess_bulk_min, fit.ess_tail_min) >= 100
    assert fit.treedepth_hits == 0
    assert fit.seconds > 0


@pytest.mark.stan
@pytest.mark.parametrize(("refits", "served"), [(0, True), (1, True), (0, False)])
def test_draws_are_those_that_cmdstanpy_gives_for_the_seed(run, program, data, refits, served, tmp_path, monkeypatch):
    """Bit by bit, through its own writing of the data and reading of the draws, in the serving process and without it."""
    import cmdstanpy

    if not served:
        monkeypatch.setattr("formalsynth.stan.sample.ask", lambda executable, request: None)

    settings = SamplerSettings(**[{"warmup": 200, "draws": 150, "ess_min": 10}, dict(NEEDS_A_REFIT) | {"lengthen": 20}][refits])
    fit, seed = run(settings), 3 + refits
    lost = bool(refits) and run(settings.model_copy(update={"attempts": 1})).divergences > 0
    thin, delta = settings.lengthen**refits, CAREFUL if lost else settings.adapt_delta
    kept = {key: np.asarray(value).tolist() for key, value in data.items()}
    start = {key: np.asarray(value).tolist() for key, value in FAMILY.inits(data).items()}
    oracle = cmdstanpy.CmdStanModel(exe_file=program).sample(
        data=kept, inits=start, seed=seed, chains=1, output_dir=tmp_path, sig_figs=14, metric="dense", adapt_delta=delta,
        iter_warmup=settings.warmup * thin, iter_sampling=settings.draws * thin, thin=thin, max_treedepth=10, show_progress=False,
    )  # fmt: skip
    assert (fit.status, fit.seed) == ("ok", seed)
    for name, draws in fit.draws.items():
        np.testing.assert_array_equal(draws, oracle.stan_variable(name), strict=True)
    assert fit.divergences == oracle.divergences.sum()
    assert fit.treedepth_hits == oracle.max_treedepths.sum()


@pytest.mark.stan
def test_a_seed_is_a_posterior_and_another_seed_is_another(run):
    first, same, other = run(seed=3), run(seed=3), run(seed=4)
    assert (first.draws["beta"] == same.draws["beta"]).all()
    assert (first.draws["sigma"] == same.draws["sigma"]).all()
    assert not (first.draws["sigma"] == other.draws["sigma"]).any()


@pytest.mark.stan
def test_a_fit_that_does_not_pass_the_gate_is_repeated_and_longer(run):
    fit = run(NEEDS_A_REFIT)
    assert (fit.status, fit.reason) == ("ok", "")
    assert fit.attempts == 2
    assert fit.seed == 4  # that of the refit
    assert fit.draws["beta"].shape == (400, 2)
    assert fit.draws["sigma"].shape == (400,)


@pytest.mark.parametrize(("divergences", "delta"), [(0, 0.65), (3, CAREFUL)])
def test_steps_get_shorter_only_where_a_fit_diverged(monkeypatch, divergences, delta):
    """Other fits only need more draws, of which shorter steps give fewer in the same time."""
    asked = []

    def chain(executable, data, inits, parameters, seed, lengths):
        asked.append(lengths)
        return Chain({"mu": np.repeat(np.arange(10.0), 40)}, divergences, 0)

    monkeypatch.setattr("formalsynth.stan.sample.run_chain", chain)
    fit = sample(Path("none"), {}, {}, ("mu",), 3, SamplerSettings(draws=400, adapt_delta=0.65, attempts=3, lengthen=4))
    assert fit.status == "failed"
    assert [settings.thin for settings in asked] == [1, 4, 16]
    assert [settings.adapt_delta for settings in asked] == [0.65, delta, delta]


@pytest.mark.stan
def test_a_chain_that_does_not_move_never_passes(run):
    """It has no R-hat and, by the usual formula, as many effective draws as it has draws."""
    fit = run(SamplerSettings(warmup=1, draws=400, attempts=1, rhat_max=1e9, ess_min=1, divergences_max=100_000))
    assert fit.status == "failed"
    assert fit.reason.startswith("gate: R-hat nan")


@pytest.mark.stan
@pytest.mark.parametrize(
    ("gate", "reason"),
    [({"ess_min": 1e6}, r"gate: effective draws \d+ below 1000000"), ({"rhat_max": 0.5}, r"gate: R-hat \d\.\d{3} above 0\.5")],
)
def test_a_fit_that_never_passes_has_a_reason_and_no_draws(run, gate, reason):
    # Not checked: no R-hat of a chain is below 0.5.
    fit = run(SamplerSettings(warmup=200, draws=200, attempts=2).model_copy(update=gate))
    assert fit.status == "failed"
    assert fit.attempts == 2
    assert fit.draws == {}
    assert re.match(reason, fit.reason), fit.reason


def json_refuses(value):
    """Error of Python for a value that JSON does not have."""
    with pytest.raises(ValueError) as caught:
        json.dumps(value, allow_nan=False)
    return str(caught.value)


@pytest.mark.stan
@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"residual_squares": -1.0}, "residual_squares"),
        ({"p": 3}, "theta_hat"),
        ({"prior_sd": 0.0}, "Log probability evaluates to log(0), i.e. negative infinity."),
        ({"theta_hat": np.array([np.nan, 0.0])}, json_refuses([math.nan, 0.0])),
        ({"weight_total": np.inf}, json_refuses(math.inf)),
    ],
)
def test_data_that_stan_refuses_are_a_failed_fit_with_the_cause(run, changes, cause):
    fit = run(SamplerSettings(attempts=2), **changes)
    assert fit.status == "failed"
    assert fit.draws == {}
    assert fit.reason.startswith("CmdStan stopped: ")
    assert "\n" not in fit.reason
    assert cause in fit.reason


@pytest.fixture
def around(program, data, tmp_path):
    """Sample with a shell script before the program, which serves no fits; ``calls`` lists the seeds that it sampled with."""
    calls = tmp_path / "calls"

    def around(script, settings=None):
        wrapper = tmp_path / "wrapper"
        go = f'exec {program} "$@"'
        seed = 'seed=$(echo "$*" | sed -n "s/.*random seed=\\([0-9]*\\).*/\\1/p")'
        wrapper.write_text(
            f"#!/bin/sh\n[ $1 != serve ] || exit 1\n{seed}\n[ $seed ] || {go}\necho $seed >> {calls}\n{script}\n{go}\n"
        )
        wrapper.chmod(0o755)
        return sample(wrapper, data, FAMILY.inits(data), FAMILY.parameters, 3, settings or SamplerSettings())

    around.calls = calls
    return around


@pytest.mark.stan
def test_a_chain_that_was_killed_is_sampled_again_as_it_was(run, around, tmp_path):
    """Its seed and length stay, and it is one attempt: that a chain was killed changes no number."""
    fit, undisturbed = around(f"[ -e {tmp_path}/killed ] || {{ touch {tmp_path}/killed; kill -9 $$; }}"), run()
    assert (fit.status, fit.reason, fit.seed, fit.attempts) == ("ok", "", 3, 1)
    assert around.calls.read_text().split() == ["3", "3"]
    assert (fit.draws["beta"] == undisturbed.draws["beta"]).all()
    assert (fit.draws["sigma"] == undisturbed.draws["sigma"]).all()


@pytest.mark.stan
def test_a_chain_that_was_killed_uses_up_none_of_its_refits(around, tmp_path):
    """Killed twice, it still has all attempts that its settings give it, and no more."""
    killed = f"[ -e {tmp_path}/two ] || {{ [ ! -e {tmp_path}/one ] || touch {tmp_path}/two; touch {tmp_path}/one; kill -9 $$; }}"
    fit = around(f'{killed}\n[ "$seed" = 4 ] || exit 3', SamplerSettings(attempts=2))
    assert (fit.status, fit.reason, fit.seed, fit.attempts) == ("ok", "", 4, 2)
    assert around.calls.read_text().split() == ["3", "3", "3", "4"]


@pytest.mark.stan
@pytest.mark.parametrize("script", ["exit 3", "kill -s SEGV $$"])
def test_a_chain_that_dies_with_one_seed_is_sampled_with_the_next(around, script):
    fit = around(f'[ "$seed" != 3 ] || {script}', SamplerSettings(draws=200, ess_min=10))
    assert (fit.status, fit.reason, fit.seed, fit.attempts) == ("ok", "", 4, 2)
    assert around.calls.read_text().split() == ["3", "4"]


def of_signal(number):
    return f"signal {int(number)} ({signal.strsignal(number)})"


@pytest.mark.stan
@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 3", "exit status 3"),
        ("echo 'Exception: the matrix is singular'; exit 70", "Exception: the matrix is singular"),
        ("kill -s SEGV $$", of_signal(signal.SIGSEGV)),
        ("echo 'Exception: rejected'; kill -s ABRT $$", of_signal(signal.SIGABRT)),
        ("kill -s FPE $$", of_signal(signal.SIGFPE)),
        ("kill -s ILL $$", of_signal(signal.SIGILL)),
        ("echo 'what is wrong' >&2; kill -s ABRT $$", f"{of_signal(signal.SIGABRT)}: what is wrong"),
        ("exit 0", "it wrote 0 of 1000 draws"),
        ("echo 'no such thing' >&2; echo 'refresh = 0'; exit 1", "no such thing"),
        ("echo 'Exception: passing'; echo 'Exception: at the end' >&2; exit 1", "Exception: at the end"),
        ("echo \"Exception: lost (in '/a b/c/some.stan', line 3)\"; exit 1", "Exception: lost (in 'some.stan', line 3)"),
    ],
)
def test_a_chain_that_always_dies_is_a_failed_fit_with_the_reason(around, script, reason):
    fit = around(script, SamplerSettings(attempts=2))
    assert (fit.status, fit.attempts, fit.draws) == ("failed", 2, {})
    assert fit.reason == f"CmdStan stopped: {reason}"
    assert around.calls.read_text().split() == ["3", "4"]


@pytest.mark.stan
@pytest.mark.parametrize(
    ("name", "question"),
    [
        ("KILL", "is there enough memory?"), ("XCPU", "is processor time limited (ulimit -t)?"),
        ("BUS", "is the disk full, or was a file replaced?"), ("USR1", "what sent it?"), ("TERM", "what sent it?"),
        ("USR2", "what sent it?"),
    ],
)  # fmt: skip
def test_a_chain_that_is_always_ended_from_outside_is_no_fit_at_all(around, name, question):
    """Whatever the settings say of refits, and with the same seed each time."""
    with pytest.raises(OSError) as caught:
        around(f"echo 'Exception: rejected'; kill -s {name} $$", SamplerSettings(attempts=2))
    ended = f"CmdStan was ended by {of_signal(signal.Signals[f'SIG{name}'])} 3 times, which does not depend on the posterior"
    assert str(caught.value) == f"{ended}: {question} Run again"
    assert around.calls.read_text().split() == ["3", "3", "3"]


SHORT = r"did not have enough memory.*raise the limit \(ulimit -v.*run fewer jobs"


@pytest.mark.stan
@pytest.mark.parametrize(
    ("script", "words", "number"),
    [
        ("ulimit -f 8", r"could not write to .*/formalsynth-.*File too large.*: raise the limit \(ulimit -f\)", errno.EFBIG),
        ("echo 'terminate called: std::bad_alloc' >&2; kill -s ABRT $$", SHORT, errno.ENOMEM),
        ("echo std::bad_alloc >&2; exit 1", SHORT, errno.ENOMEM),
        # CmdStan goes on where a point of its path has no room, as if the point were rejected
        ("echo 'Exception: std::bad_alloc [origin: bad_alloc]'", SHORT, errno.ENOMEM),
        (
            "echo './program: error while loading shared libraries: libtbb.so.2: no such file' >&2; exit 127",
            r"/wrapper cannot be started \(libtbb.so.2: no such file\): set CmdStan up again", errno.ENOEXEC,
        ),
    ],
)  # fmt: skip
def test_a_cause_outside_the_posterior_is_no_failed_fit_and_is_tried_once(around, script, words, number):
    """Another attempt would write as much, and need as much memory."""
    with pytest.raises(OSError, match=words) as caught:
        around(script)
    assert caught.value.errno == number
    assert around.calls.read_text().split() == ["3"]


@pytest.mark.stan
@pytest.mark.parametrize("megabytes", [4, 8])
def test_a_limit_on_memory_is_no_failed_fit(around, megabytes):
    """Either the loader or the program runs out first, depending on the machine; with a little more room it samples."""
    with contextlib.suppress(OSError):
        assert around(f"ulimit -v {1024 * megabytes}").status == "ok"


@pytest.mark.stan
@pytest.mark.parametrize(("content", "mode"), [(b"\x7fELF, but not much of it", 0o755), (b"#!/bin/sh\n", 0o644)])
def test_a_program_that_cannot_be_started_is_no_fit_at_all(data, tmp_path, content, mode):
    """An error that stops the job and names the file: a run must not end with nothing but failed rows."""
    broken = tmp_path / "program"
    broken.write_bytes(content)
    broken.chmod(mode)
    with pytest.raises(OSError, match=str(broken)):
        sample(broken, data, FAMILY.inits(data), FAMILY.parameters, 1, SamplerSettings(attempts=1))


@pytest.mark.stan
@pytest.mark.parametrize("kilobytes", [8, 20, 100])
def test_a_full_disk_is_no_failed_fit(run, small_disk, kilobytes, monkeypatch):
    """CmdStan itself ends as if all were well, with fewer draws or none. A served fit writes no file."""
    monkeypatch.setattr("formalsynth.stan.sample.ask", lambda executable, request: None)
    folder = small_disk(kilobytes)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with pytest.raises(OSError, match=rf"could not write to {folder}/.*No space left.*: make room, or set TMPDIR to another"):
        run()
    assert list(folder.iterdir()) == []


@pytest.mark.stan
@pytest.mark.parametrize(("weight_total", "outcome"), [(50.0, "ok"), (-1.0, "failed")])
def test_no_temporary_folder_is_left(run, tmp_path, monkeypatch, weight_total, outcome):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert run(weight_total=weight_total).status == outcome
    assert list(tmp_path.iterdir()) == []


def test_an_empty_fit_has_no_values():
    fit = Fit("failed", "not run")
    assert fit.draws == {}
    assert np.isnan([fit.rhat_max, fit.ess_bulk_min, fit.ess_tail_min]).all()
