# collect: combine the tables of all batches into those of the scenario.
rule collect_batches:
    input:
        code=ancient(code_files("formalsynth.steps.collect")),
        audit=every_batch("audit.csv"),
        draws=every_batch("draws.csv"),
        records=every_batch("records.csv"),
        replicates=every_batch("replicates.csv"),
        sets=every_batch("sets.csv"),
        values=every_batch("values.csv"),
    output:
        audit="<results>/{paper}/{scenario}/audit.csv",
        draws="<results>/{paper}/{scenario}/draws.csv",
        records="<results>/{paper}/{scenario}/records.csv",
        replicates="<results>/{paper}/{scenario}/replicates.csv",
        sets="<results>/{paper}/{scenario}/sets.csv",
        values="<results>/{paper}/{scenario}/values.csv",
    log:
        "<logs>/collect_batches/{paper}/{scenario}.log",
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=False),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        batches_made_from=lambda wildcards: scenario(wildcards).batch_specifications,
        code=code_of_job,
        made_from=lambda wildcards: scenario(wildcards).specification,
        private=private_folders,
    message:
        "Collecting the batches of {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect_batches.py"


use rule collect_batches as collect_study with:
    input:
        code=ancient(code_files("formalsynth.steps.collect")),
        details=every_batch("study.details.csv"),
        replicates=every_batch("study.replicates.csv"),
    output:
        details="<results>/{paper}/{scenario}/details.csv",
        replicates="<results>/{paper}/{scenario}/replicates.csv",
    log:
        "<logs>/collect_study/{paper}/{scenario}.log",
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=True),
    # Snakemake does not inherit this from the other rule.
    localrule: True
