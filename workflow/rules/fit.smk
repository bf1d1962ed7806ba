# fit: the pseudo posterior of one synthesizer and the bounds of its records. Its weights come from the fits of its parents.
rule fit:
    input:
        planned(),
        data=f"{BATCH}/data.npz",
        executable=lambda wildcards: scenario(wildcards).program(wildcards.synthesizer),
        parents=lambda wildcards: fits_of(wildcards, synthesizer(wildcards).parents),
        passed=lambda wildcards: ancient(scenario(wildcards).passed_checks()),
        shared=lambda wildcards: fits_of(wildcards, {synthesizer(wildcards).fit} - {wildcards.synthesizer}),
    output:
        fit=f"{BATCH}/{{synthesizer}}/fit.npz",
    log:
        "<logs>/fit/{paper}/{scenario}/seeds{seeds}/{synthesizer}.log",
    benchmark:
        "<benchmarks>/fit/{paper}/{scenario}/seeds{seeds}/{synthesizer}.tsv"
    group:
        "batch"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        # A group requests the sum of the memory of the fits that can run at the same time, and of the time of those that cannot.
        mem_mb=memory(600),
        steps_of_batch=1,
        runtime=minutes(60),
    params:
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).fit_jobs[wildcards.synthesizer],
    message:
        "Fitting {wildcards.synthesizer} to {wildcards.paper} {wildcards.scenario}, replicates {wildcards.seeds}"
    script:
        "../scripts/fit.py"
