# measure: synthetic data, utility and bounds of one synthesizer. A new statistic refits nothing.
rule measure:
    input:
        planned(),
        data=f"{BATCH}/data.npz",
        executable=lambda wildcards: scenario(wildcards).own_program(),
        fit=f"{BATCH}/{{synthesizer}}/fit.npz",
    output:
        draws=f"{BATCH}/{{synthesizer}}/draws.csv",
        records=f"{BATCH}/{{synthesizer}}/records.csv",
        replicates=f"{BATCH}/{{synthesizer}}/replicates.csv",
        sets=f"{BATCH}/{{synthesizer}}/sets.csv",
        values=f"{BATCH}/{{synthesizer}}/values.csv",
    log:
        "<logs>/measure/{paper}/{scenario}/seeds{seeds}/{synthesizer}.log",
    benchmark:
        "<benchmarks>/measure/{paper}/{scenario}/seeds{seeds}/{synthesizer}.tsv"
    group:
        "batch"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(600),
        steps_of_batch=1,
        runtime=minutes(30),
    params:
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).measure_jobs[wildcards.synthesizer],
    message:
        "Measuring {wildcards.synthesizer} of {wildcards.paper} {wildcards.scenario}, replicates {wildcards.seeds}"
    script:
        "../scripts/measure.py"
