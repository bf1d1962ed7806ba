# tabulate: one table, from collected tables only.
TABLE = "<results>/{paper}/table{table_number}"


rule tabulate:
    input:
        tables=lambda wildcards: table_job(wildcards).inputs,
    output:
        caption=f"{TABLE}.txt",
        table=report(f"{TABLE}.csv", **described("table")),
    log:
        "<logs>/tabulate/{paper}/table{table_number}.log",
    benchmark:
        "<benchmarks>/tabulate/{paper}/tables/table{table_number}.tsv"
    wildcard_constraints:
        paper=JOBS.displays_pattern(confidential=False),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda wildcards: table_job(wildcards).code("tabulate"),
        display=lambda wildcards: table_job(wildcards).plain,
        modules=lambda wildcards: table_job(wildcards).modules,
        origin=origin_of,
        private=private_folders,
    message:
        "Computing table {wildcards.table_number} of {wildcards.paper}"
    script:
        "../scripts/tabulate.py"


# Snakemake's own report contains no table of an unpublished file.
use rule tabulate as tabulate_confidential with:
    output:
        caption=f"{TABLE}.txt",
        table=f"{TABLE}.csv",
    wildcard_constraints:
        paper=JOBS.displays_pattern(confidential=True),
    localrule: True
