# study: replicates that one function runs whole, where no Stan is needed. Its rows have the columns that measure writes, and
# go the same way from there.
ruleorder: run_study > measure_batch


rule run_study:
    input:
        code=code("study", study=True),
    output:
        details="<batch>/study.details.csv",
        rows="<batch>/study.replicates.csv",
    log:
        "<logs>/run_study/{paper}/{scenario}/{batch}.log",
    benchmark:
        "<benchmarks>/run_study/{paper}/{scenario}/{batch}.tsv"
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=growing(2000),
        runtime=growing(60),
    params:
        job=study_job,
    message:
        "Running {wildcards.paper} {wildcards.scenario}, batch {wildcards.batch}"
    script:
        "../scripts/run_study.py"


rule collect_details:
    input:
        code=code("collect_details", study=True),
        tables=every_batch("study.details.csv"),
    output:
        table="<results>/{paper}/{scenario}/details.csv",
    log:
        "<logs>/collect_details/{paper}/{scenario}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        made_from=made_from_details,
    message:
        "Collecting the details of {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect_details.py"
