# own: two targets for the study of a confidential file. Snakemake tracks no output of either: each runs whenever it is requested.
rule validate:
    log:
        "<logs>/validate.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=30,
    params:
        folder=lambda wildcards: JOBS.study_folder(),
        python=sys.executable,  # quoted already, in common.smk
    message:
        "Comparing the file of {params.folder} with its schema"
    shell:
        "umask 077; {params.python} -m formalsynth.cli check {params.folder:q} 2>&1 | tee {log:q}"


rule release:
    log:
        "<logs>/release.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=240,
    params:
        folder=lambda wildcards: JOBS.study_folder(),
        python=sys.executable,  # quoted already, in common.smk
    message:
        "Making the release that {params.folder} declares"
    shell:
        "umask 077; {params.python} -m formalsynth.cli release {params.folder:q} 2>&1 | tee {log:q}"
