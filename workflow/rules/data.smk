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
    message:
        "Fetching real data into {params.folder}"
    shell:
        "python -m formalsynth.data.fetch {params.folder} 2>&1 | tee {log}"
