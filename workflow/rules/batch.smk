# batch: simulate, fit, measure and, if requested, audit one batch of replicates in one job. It keeps <batch>/data.npz,
# <batch>/audited.csv and, for every synthesizer, <batch>/{synthesizer}.fit.npz, <batch>/{synthesizer}.measure.npz and
# <batch>/{synthesizer}.replicates.csv. These are not output of the rule: Snakemake removes output before a job, and the job reuses
# the files that are still valid.
rule run_batch:
    input:
        checked=is_batch(study=False),
        executable=lambda wildcards: scenario(wildcards).program(),
        public=lambda wildcards: scenario(wildcards).public_programs(),
        passed=lambda wildcards: ancient(scenario(wildcards).passed_checks()),
    output:
        audit="<batch>/audit.csv",
        replicates="<batch>/replicates.csv",
        records="<batch>/records.csv",
        values="<batch>/values.csv",
        sets="<batch>/sets.csv",
        draws="<batch>/draws.csv",
    log:
        "<logs>/run_batch/{paper}/{scenario}/{batch}.log",
    benchmark:
        "<benchmarks>/run_batch/{paper}/{scenario}/{batch}.tsv"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        **learned("run_batch", Needs(1500, 240)),
    params:
        code=lambda wildcards: scenario(wildcards).batch_code(wildcards.batch),
        job=lambda wildcards: scenario(wildcards).batch_job(wildcards.batch),
        private=private_folders,
    message:
        "Simulating, fitting and measuring {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/run_batch.py"
