# results: the replicates of all papers and studies in one table, which formalsynth.results reads.
rule write_results:
    input:
        code=code_of("formalsynth.results"),
        replicates=[f"results/{SCALE}/{key}/{id}/replicates.csv" for key, paper in PLAN.papers.items() for id in paper.scenarios],
    output:
        results="<results>/results.csv",
    log:
        "<logs>/write_results.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of_job,
        made_from=made_from_all,
        private=[folder for key in PLAN.papers for folder in private_of(key)],
        told=results_told(),
    message:
        "Writing the table of all results: {output.results}"
    script:
        "../scripts/write_results.py"
