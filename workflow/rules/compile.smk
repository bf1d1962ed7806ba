# CmdStan and the Stan programs: found or installed once, compiled once.
rule find_cmdstan:
    output:
        record=".cmdstan/cmdstan.json",
    log:
        "<logs>/find_cmdstan.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 8
    resources:
        mem_mb=4000,
        runtime=60,
    message:
        "Finding or building CmdStan (seconds if it is there, else about 2 minutes; see {log})"
    script:
        "../scripts/find_cmdstan.py"


rule compile_program:
    input:
        functions=program_functions,
        source=program_source,
        cmdstan=rules.find_cmdstan.output.record,
    output:
        executable="<programs>/{program}",
    log:
        "<logs>/compile_program/{program}.log",
    benchmark:
        "<benchmarks>/compile_program/{program}.tsv"
    # Every fit waits for its program.
    priority: 20
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=2000,
        runtime=10,
    message:
        "Compiling the Stan program {wildcards.program}"
    script:
        "../scripts/compile_program.py"
