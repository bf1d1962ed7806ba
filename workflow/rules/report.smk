# report: static pages with everything that the run has to show. Dates, commit and costs are looked up by the job, so that none
# of them makes the report again.
rule write_report:
    input:
        claims_by=[workflow.source_path("../scripts/judge_claims.py"), *report_makers("claims")],
        cmdstan=[rules.find_cmdstan.output.record] if PROGRAMS else [],
        code=report_code(),
        config=report_config(),
        figures_by=[workflow.source_path("../scripts/show.py"), *report_makers("figures")],
        ledger=[rules.write_ledger.output.ledger] if CLAIMING else [],
        replicates=[f"results/{SCALE}/{key}/{id}/replicates.csv" for key, paper in PLAN.papers.items() for id in paper.scenarios],
        shown=report_shown(),
        tables_by=[workflow.source_path("../scripts/show.py"), *report_makers("tables")],
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
        code=code_of_job,
        config=config_of_job,
        made_from=made_from_all,
        modules=report_modules(),
        private=[f"results/{SCALE}/report"] if CONFIDENTIAL else [],
        sent=False,
        told=dict(describe(PLAN).plain()),
    message:
        "Writing the report: {output.index}"
    script:
        "../scripts/write_report.py"


# share: the part of the report that may be sent to others, without what is made from data that are not published.
use rule write_report as share with:
    output:
        index="<results>/share/index.html",
    log:
        "<logs>/share.log",
    # Snakemake does not take this over from the other rule.
    localrule: True
    params:
        benchmarks=f"benchmarks/{SCALE}",
        code=code_of_job,
        made_from=made_from_all,
        modules=report_modules(),
        private=[],
        sent=True,
        told=dict(describe(PLAN).plain()),
    message:
        "Writing what may be sent: {output.index}"
