# study: replicates that one function runs from start to end, without Stan. Its rows have the same columns as those of fits.
rule study:
    input:
        planned(),
    output:
        details=f"{BATCH}/details.csv",
        replicates=f"{BATCH}/replicates.csv",
    log:
        "<logs>/study/{paper}/{scenario}/seeds{seeds}.log",
    benchmark:
        "<benchmarks>/study/{paper}/{scenario}/seeds{seeds}.tsv"
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=True),
    # Before the fits: studies are among the longest jobs.
    priority: 10
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(2000),
        runtime=minutes(60),
    params:
        data_folder=data_folder,
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).study_job(wildcards.seeds),
    message:
        "Running {wildcards.paper} {wildcards.scenario}, replicates {wildcards.seeds}"
    script:
        "../scripts/study.py"
