# results: the replicates of all papers and studies in one table, which formalsynth_workflow.results reads.
rule write_results:
    input:
        replicates=REPORTED.replicates,
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
        code=code_of("write_results"),
        private=REPORTED.private,
        scenarios=REPORTED.scenario_summaries(),
    message:
        "Writing the table of all results: {output.results}"
    script:
        "../scripts/write_results.py"
