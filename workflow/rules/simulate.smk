# simulate: the confidential data of one batch of replicates.
rule simulate_batch:
    input:
        code=code("simulate", study=False),
    output:
        data="<batch>/data.npz",
    log:
        "<logs>/simulate_batch/{paper}/{scenario}/{batch}.log",
    benchmark:
        "<benchmarks>/simulate_batch/{paper}/{scenario}/{batch}.tsv"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        job=simulate_job,
    message:
        "Simulating {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/simulate_batch.py"
