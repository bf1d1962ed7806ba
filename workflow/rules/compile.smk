# CmdStan, which is found or installed once, and the Stan programs, which are compiled once.
rule find_cmdstan:
    output:
        # The record belongs to set-up, so --delete-all-output leaves it.
        record=[] if any(given.startswith("--delete-all") for given in sys.argv) else ".cmdstan/cmdstan.json",
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
        "Finding or building CmdStan (seconds if it is already there, otherwise about 2 minutes; see {log})"
    script:
        "../scripts/find_cmdstan.py"


# All function files are inputs of every program, since there are few, and so is the main file linked to it. Their content, which
# is a parameter of the job, decides whether to compile again, not their times, which a checkout changes.
rule compile:
    input:
        code=lambda wildcards: ancient([PROGRAMS[wildcards.program], *FUNCTIONS, MAIN]),
        cmdstan=rules.find_cmdstan.output.record,
    output:
        executable="<programs>/{program}",
    log:
        "<logs>/compile/{program}.log",
    benchmark:
        "<benchmarks>/compile/{program}.tsv"
    # Every fit waits for its program.
    priority: 20
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=3000,
        runtime=10,
    params:
        by=code_of("compile"),
        code=code_of_job,
    message:
        "Compiling the Stan program {wildcards.program}"
    script:
        "../scripts/compile.py"


# The user's own Stan program is checked against its contract before it is used in any fit.
rule check_program:
    input:
        executable="<programs>/{own_program}",
    output:
        passed="<programs>/{own_program}.checked",
    log:
        "<logs>/check_program/{own_program}.log",
    wildcard_constraints:
        own_program=join_names(PLAN.own_programs),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of("check_program", "formalsynth.families.own_program"),
        module=lambda wildcards: str(PLAN.own_programs[wildcards.own_program]),
        uses=lambda wildcards: PLAN.uses_of(wildcards.own_program),
    message:
        "Checking the Stan program {wildcards.own_program} against its contract"
    script:
        "../scripts/check_program.py"


# Families and mechanisms are checked before the first fit that uses them, and again after a change of their code: those of the
# package on a few made-up records, a user's own family on a few of its own.
rule check_contracts:
    input:
        executable=lambda wildcards: scenario(wildcards).family_program(),
    output:
        passed="<results>/checks/{paper}/{scenario}.checked",
    log:
        "<logs>/check_contracts/{paper}/{scenario}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda wildcards: code_of("check_contracts", *scenario(wildcards).trial_modules()),
        modules=lambda wildcards: scenario(wildcards).trial_modules(),
        job=lambda wildcards: scenario(wildcards).trial_job(),
        family=lambda wildcards: scenario(wildcards).scenario.family,
        priors=lambda wildcards: scenario(wildcards).scenario.priors,
        uses=lambda wildcards: scenario(wildcards).tried_mechanisms(),
    message:
        "Checking the family and the mechanisms of {wildcards.paper} {wildcards.scenario} against their contracts"
    script:
        "../scripts/check_contracts.py"
