# study: replicates that one function runs from start to end, without Stan. Its rows have the same columns as those of a batch of
# fits, and are processed in the same way from there.
rule run_study:
    input:
        checked=is_batch(study=True),
    output:
        details="<batch>/study.details.csv",
        replicates="<batch>/study.replicates.csv",
    log:
        "<logs>/run_study/{paper}/{scenario}/{batch}.log",
    benchmark:
        "<benchmarks>/run_study/{paper}/{scenario}/{batch}.tsv"
    # Before batches of fits: studies include the longest jobs.
    priority: 10
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        **learned("run_study", Needs(2000, 60)),
    params:
        code=lambda wildcards: scenario(wildcards).batch_code(wildcards.batch),
        job=lambda wildcards: scenario(wildcards).study_job(wildcards.batch),
        private=private_folders,
    message:
        "Running {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/run_study.py"
