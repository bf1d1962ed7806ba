# collect: combine the tables of all batches and synthesizers into those of the scenario.
rule collect:
    input:
        audited=lambda wildcards: scenario(wildcards).files("audit.csv", scenario(wildcards).audited),
        data=lambda wildcards: scenario(wildcards).files("data.npz", scenario(wildcards).batches),
        draws=sample_of("draws"),
        records=sample_of("records"),
        replicates=lambda wildcards: scenario(wildcards).files_of(
            scenario(wildcards).scenario.synthesizers, "replicates.csv", scenario(wildcards).batches
        ),
        sets=sample_of("sets"),
        values=sample_of("values"),
    output:
        audit="<results>/{paper}/{scenario}/audit.csv",
        draws="<results>/{paper}/{scenario}/draws.csv",
        made_from="<results>/{paper}/{scenario}/made_from.txt",
        records="<results>/{paper}/{scenario}/records.csv",
        replicates="<results>/{paper}/{scenario}/replicates.csv",
        sets="<results>/{paper}/{scenario}/sets.csv",
        values="<results>/{paper}/{scenario}/values.csv",
    log:
        "<logs>/collect/{paper}/{scenario}.log",
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=False),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        made_from=lambda wildcards: scenario(wildcards).made_from,
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).collect_job(),
    message:
        "Collecting {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect.py"


rule collect_study:
    input:
        details=lambda wildcards: scenario(wildcards).files("details.csv", scenario(wildcards).batches),
        replicates=lambda wildcards: scenario(wildcards).files("replicates.csv", scenario(wildcards).batches),
    output:
        details="<results>/{paper}/{scenario}/details.csv",
        made_from="<results>/{paper}/{scenario}/made_from.txt",
        replicates="<results>/{paper}/{scenario}/replicates.csv",
    log:
        "<logs>/collect_study/{paper}/{scenario}.log",
    wildcard_constraints:
        paper=JOBS.papers_pattern(study=True),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(1000),
        runtime=minutes(10),
    params:
        code=code_of("collect_study"),
        made_from=lambda wildcards: scenario(wildcards).made_from,
        private=private_folders,
    message:
        "Collecting {wildcards.paper} {wildcards.scenario}"
    script:
        "../scripts/collect_study.py"
