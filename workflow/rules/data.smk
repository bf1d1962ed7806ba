# data: an explicit target that downloads the real data files that have a public address, each with its checksum.
rule data:
    log:
        "<logs>/data.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=30,
    params:
        folder=PLAN.config.data_folder,
        python=sys.executable,  # quoted already, in common.smk
    message:
        "Fetching real data into {params.folder}"
    shell:
        "{params.python} -m formalsynth.steps.fetch {params.folder:q} 2>&1 | tee {log:q}"
