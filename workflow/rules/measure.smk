# measure: draws become record bounds, weights for the children, synthetic data, utility and diagnostics.
rule measure_batch:
    input:
        code=code("measure"),
        data="<batch>/data.npz",
        fit="<batch>/{synthesizer}.fit.npz",
        fits=parents("fit.npz", members=True),
        measures=parents("measure.npz", members=True),
    output:
        arrays="<batch>/{synthesizer}.measure.npz",
        rows="<batch>/{synthesizer}.replicates.csv",
    log:
        "<logs>/measure_batch/{paper}/{scenario}/{batch}/{synthesizer}.log",
    benchmark:
        "<benchmarks>/measure_batch/{paper}/{scenario}/{batch}/{synthesizer}.tsv"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=growing(1500),
        runtime=growing(60),
    params:
        job=measure_job,
        made_from=made_from_measure,
    message:
        "Measuring {wildcards.synthesizer} on {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/measure_batch.py"
