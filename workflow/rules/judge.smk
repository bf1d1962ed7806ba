# judge: the ledger of claims, from collected tables only.
rule judge_claims:
    input:
        code=judge_code,
        tables=claim_inputs,
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
        claims=claims_told,
        code=code_of_job,
        judged=JUDGED,
        made_from=made_from_tables,
        modules=judge_modules,
        private=private_folders,
        root=ROOT,
        thresholds=THRESHOLDS,
    message:
        "Judging the claims of {wildcards.paper}"
    script:
        "../scripts/judge_claims.py"


rule write_ledger:
    input:
        ledgers=[f"results/{SCALE}/{key}/claims.csv" for key in CLAIMING],
    output:
        ledger=(
            "<results>/claims.csv"
            if CONFIDENTIAL
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
        private=[folder for key in CLAIMING for folder in private_of(key)],
    message:
        "Writing the ledger of claims"
    script:
        "../scripts/write_ledger.py"
