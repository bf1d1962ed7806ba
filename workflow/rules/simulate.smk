# simulate: the confidential data of a batch of replicates, drawn from a population or read from a file.
rule simulate:
    input:
        planned(),
    output:
        data=f"{BATCH}/data.npz",
    log:
        "<logs>/simulate/{paper}/{scenario}/seeds{seeds}.log",
    benchmark:
        "<benchmarks>/simulate/{paper}/{scenario}/seeds{seeds}.tsv"
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=False),
    group:
        "batch"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        data_folder=data_folder,
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).simulate_job(wildcards.seeds),
    message:
        "Simulating {wildcards.paper} {wildcards.scenario}, replicates {wildcards.seeds}"
    script:
        "../scripts/simulate.py"
