# report: static pages with all results of the run. The job itself looks up dates, commit and costs, so a change in them does not
# cause the report to be rebuilt.
rule write_report:
    input:
        claims_by=ancient([workflow.source_path("../scripts/judge.py"), *REPORTED.claim_sources()]),
        cmdstan=[rules.find_cmdstan.output.record] if REPORTED.plan.programs() else [],
        config=REPORTED.report_config(),
        figures_by=ancient([workflow.source_path("../scripts/plot.py"), *REPORTED.figure_sources()]),
        ledger=[rules.join_verdicts.output.ledger] if REPORTED.ledgers else [],
        replicates=REPORTED.replicates,
        shown=REPORTED.report_inputs(),
        tables_by=ancient([workflow.source_path("../scripts/tabulate.py"), *REPORTED.table_sources()]),
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
        code=REPORTED.report_code(),
        config=config_of_job,
        modules=REPORTED.report_modules(),
        private=[f"{REPORTED.results}/report"] if REPORTED.confidential else [],
        sent=False,
        run_info=dict(describe(REPORTED.plan).plain()),
    message:
        "Writing the report: {output.index}"
    script:
        "../scripts/write_report.py"


# share: the part of the report that may be sent to others; it contains nothing made from unpublished data.
use rule write_report as share with:
    output:
        index="<results>/share/index.html",
    log:
        "<logs>/share.log",
    # Snakemake does not inherit this from the other rule.
    localrule: True
    params:
        benchmarks=f"benchmarks/{SCALE}",
        code=REPORTED.report_code(),
        modules=REPORTED.report_modules(),
        private=[],
        sent=True,
        run_info=dict(describe(REPORTED.plan).plain()),
    message:
        "Writing the part of the report that may be sent: {output.index}"
