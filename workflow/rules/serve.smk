# Fork the jobs of this machine from one process that has imported the libraries, which otherwise takes up to a second for each job.
import subprocess

from snakemake.benchmark import benchmarked
from snakemake.script import PythonScript

from formalsynth_workflow.jobs import forked

IMPORTED = (
    "snakemake.script",
    "filelock",
    "formalsynth.core.loops",
    "formalsynth_workflow.steps.collect",
    "formalsynth_workflow.steps.fit",
    "formalsynth_workflow.steps.measure",
    "formalsynth_workflow.steps.study",
    "formalsynth_workflow.show.draw",
    "formalsynth_workflow.show.captions",
    "formalsynth_workflow.ledger.judge",
    "matplotlib.figure",
    "matplotlib.backends.backend_agg",
    "matplotlib.backends.backend_svg",
    "scipy.optimize",
    "scipy.spatial",
    "scipy.stats",
    "seaborn",
    "sklearn.linear_model",
)


def serve_jobs():
    """Start the server, and have Snakemake use it for scripts that need neither another environment nor several threads."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False)
    open_streams = None not in (sys.stdin, sys.stdout, sys.stderr)  # a socket of the server could take the place of another
    here = workflow.local_exec and not workflow.touch and sys.platform == "linux" and open_streams
    if not here or sum(1 for _ in jobs) <= forked.FEW_JOBS:
        return
    try:
        forked.start_server(shlex.split(sys.executable)[0], IMPORTED)
    except OSError:
        return
    execute_alone = PythonScript.execute_script

    def execute_script(script, fname, edit=False):
        elsewhere = script.conda_env or script.container_img or script.env_modules or script.shadow_dir
        if elsewhere or script.threads != 1 or script.resources.get("shell_exec"):
            return execute_alone(script, fname, edit)
        environment = forked.environment_of_job(script.resources.get("tmpdir"))
        record = script.bench_record
        code = forked.run_script(fname, environment, lambda pid: benchmarked(pid if record is not None else False, record))
        if code:
            raise subprocess.CalledProcessError(code, fname)

    PythonScript.execute_script = execute_script
