# judge: the ledger of claims, from collected tables only.
rule judge_claims:
    input:
        code=lambda wildcards: ancient(paper(wildcards).judge_code()),
        tables=lambda wildcards: paper(wildcards).claim_inputs(),
    output:
        ledger="<results>/{paper}/claims.csv",
    log:
        "<logs>/judge_claims/{paper}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        claims=lambda wildcards: paper(wildcards).claims(),
        code=code_of_job,
        judged=PLAN.config.size.judged,
        made_from=specifications_of_tables,
        modules=lambda wildcards: paper(wildcards).judge_modules(),
        private=private_folders,
        root=PLAN.config.root_seed,
        thresholds=PLAN.config.verdicts.model_dump(),
    message:
        "Judging the claims of {wildcards.paper}"
    script:
        "../scripts/judge_claims.py"


rule write_ledger:
    input:
        ledgers=REPORTED.ledgers,
    output:
        ledger=(
            "<results>/claims.csv"
            if REPORTED.confidential
            else report(
                "<results>/claims.csv", caption="../report/ledger.rst", category="Claims", labels={"shows": "ledger of claims"}
            )
        ),
    log:
        "<logs>/write_ledger.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        private=[folder for jobs in REPORTED.papers.values() if jobs.ledger for folder in jobs.private],
    message:
        "Writing the ledger of claims"
    script:
        "../scripts/write_ledger.py"
