# fit: Stan for one synthesizer on one batch. Its weights come from what was measured of its parents, so the one rule
# calls itself along the parents named in the paper's config.
rule fit_batch:
    input:
        code=code("fit", study=False),
        data="<batch>/data.npz",
        executable=program,
        fits=parents("fit.npz", members=False),
        measures=parents("measure.npz", members=False),
    output:
        fit="<batch>/{synthesizer}.fit.npz",
    log:
        "<logs>/fit_batch/{paper}/{scenario}/{batch}/{synthesizer}.log",
    benchmark:
        "<benchmarks>/fit_batch/{paper}/{scenario}/{batch}/{synthesizer}.tsv"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(60),
    params:
        job=fit_job,
        made_from=made_from_fit,
    message:
        "Fitting {wildcards.synthesizer} to {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/fit_batch.py"
