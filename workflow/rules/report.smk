# report: static pages with everything that the run has to show. Dates, commit and costs are looked up by the job, so that none
# of them makes the report again.
rule write_report:
    input:
        claims_by=[workflow.source_path("../scripts/judge_claims.py"), str(PACKAGE / "claims.py")],
        cmdstan=[rules.find_cmdstan.output.record] if PROGRAMS else [],
        code=report_code(),
        config=report_config(),
        figures_by=[workflow.source_path("../scripts/draw_figures.py"), str(PACKAGE / "steps" / "show.py")],
        ledger=[rules.write_ledger.output.ledger] if CLAIMING else [],
        replicates=[f"results/{SCALE}/{key}/{id}/replicates.csv" for key, paper in PLAN.papers.items() for id in paper.scenarios],
        shown=report_shown(),
        tables_by=[workflow.source_path("../scripts/write_table.py"), str(PACKAGE / "steps" / "show.py")],
        templates=TEMPLATES,
    output:
        index="<results>/report/index.html",
    log:
        "<logs>/write_report.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        benchmarks=f"benchmarks/{SCALE}",
        told=describe(PLAN),
    message:
        "Writing the report: {output.index}"
    script:
        "../scripts/write_report.py"
