# Fork the jobs of this machine from one process that has imported the libraries, which otherwise takes up to a second for each job.
import atexit
import subprocess

from snakemake.benchmark import benchmarked
from snakemake.script import PythonScript

from formalsynth.jobs import job_server

IMPORTED = (
    "snakemake.script",
    "formalsynth.steps.collect",
    "formalsynth.steps.fit",
    "formalsynth.steps.measure",
    "formalsynth.steps.study",
    "formalsynth.show.draw",
    "formalsynth.show.captions",
    "formalsynth.ledger.judge",
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
    here = workflow.local_exec and not workflow.touch and sys.platform == "linux"
    if not here or sum(1 for _ in jobs) <= job_server.FEW_JOBS:
        return
    try:
        server = job_server.JobServer(shlex.split(sys.executable), IMPORTED)
    except OSError:
        return
    atexit.register(server.close)
    execute_alone = PythonScript.execute_script

    def execute_script(script, fname, edit=False):
        elsewhere = script.conda_env or script.container_img or script.env_modules or script.shadow_dir
        if elsewhere or script.threads != 1 or script.resources.get("shell_exec"):
            return execute_alone(script, fname, edit)
        try:
            with server.job(fname, job_server.environment_of_job(script.resources.get("tmpdir"))) as job:
                measured = script.bench_record is not None
                with benchmarked(job.pid if measured else False, script.bench_record):
                    code = job.wait()
        except job_server.ServerLostError:
            return execute_alone(script, fname, edit)
        if code:
            raise subprocess.CalledProcessError(code, fname)

    PythonScript.execute_script = execute_script
