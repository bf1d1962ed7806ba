# collect: batches into one table for each scenario, and the record-level tables of its single sample.
rule collect_replicates:
    input:
        code=code("collect_replicates"),
        data=data_batches,
        rows=every_fit("replicates.csv"),
    output:
        table="<results>/{paper}/{scenario}/replicates.csv",
    log:
        "<logs>/collect_replicates/{paper}/{scenario}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        job=collect_job,
        made_from=made_from_replicates,
    message:
        "Collecting the replicates of {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect_replicates.py"


rule collect_sample:
    input:
        code=code("collect_sample", study=False),
        data="<results>/{paper}/{scenario}/batches/0000/data.npz",
        fits=every_fit("fit.npz", first=True),
        measures=every_fit("measure.npz", first=True),
    output:
        draws="<results>/{paper}/{scenario}/draws.csv",
        records="<results>/{paper}/{scenario}/records.csv",
        sets="<results>/{paper}/{scenario}/sets.csv",
        values="<results>/{paper}/{scenario}/values.csv",
    log:
        "<logs>/collect_sample/{paper}/{scenario}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        job=collect_job,
        made_from=made_from_sample,
    message:
        "Collecting the single sample of {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect_sample.py"
