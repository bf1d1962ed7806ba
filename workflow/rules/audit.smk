# audit: the privacy loss of one record on the neighbours of the first data sets, where a scenario has `audit:`.
rule audit:
    input:
        planned(audited=True),
        data=f"{BATCH}/data.npz",
        executable=lambda wildcards: scenario(wildcards).audit_program(),
        passed=lambda wildcards: ancient(scenario(wildcards).passed_checks()),
    output:
        audit=f"{BATCH}/audit.csv",
    log:
        "<logs>/audit/{paper}/{scenario}/seeds{seeds}.log",
    benchmark:
        "<benchmarks>/audit/{paper}/{scenario}/seeds{seeds}.tsv"
    # Before the fits: audits are among the longest jobs.
    priority: 10
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=memory(2000),
        runtime=minutes(240),
    params:
        private=private_folders,
        step=lambda wildcards: scenario(wildcards).audit_job(wildcards.seeds),
    message:
        "Auditing {wildcards.paper} {wildcards.scenario}, replicates {wildcards.seeds}"
    script:
        "../scripts/audit.py"
