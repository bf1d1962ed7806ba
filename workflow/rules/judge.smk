# judge: the ledger of claims, from collected tables only.
rule judge:
    input:
        tables=lambda wildcards: paper(wildcards).claim_inputs(),
    output:
        ledger="<results>/{paper}/claims.csv",
    log:
        "<logs>/judge/{paper}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        claims=lambda wildcards: paper(wildcards).claims(),
        code=lambda wildcards: paper(wildcards).judge_code(),
        judged=PLAN.config.size.judged,
        modules=lambda wildcards: paper(wildcards).judge_modules(),
        private=private_folders,
        root=PLAN.config.root_seed,
        thresholds=PLAN.config.verdicts.model_dump(),
    message:
        "Judging the claims of {wildcards.paper}"
    script:
        "../scripts/judge.py"


rule join_verdicts:
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
        "<logs>/join_verdicts.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        code=code_of("join_verdicts"),
        private=[folder for jobs in REPORTED.papers.values() if jobs.ledger for folder in jobs.private],
    message:
        "Writing the ledger of claims"
    script:
        "../scripts/join_verdicts.py"
