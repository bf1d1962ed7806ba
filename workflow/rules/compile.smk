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
rule compile_program:
    input:
        code=lambda wildcards: ancient([PROGRAMS[wildcards.program], *FUNCTIONS, MAIN]),
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
        mem_mb=3000,
        runtime=10,
    params:
        code=code_of_job,
    message:
        "Compiling the Stan program {wildcards.program}"
    script:
        "../scripts/compile_program.py"


# The user's own Stan program is checked against its contract before it is used in any fit.
rule check_program:
    input:
        code=ancient(code_files("formalsynth.contract.program", "formalsynth.families.own_program")),
        executable="<programs>/{own_program}",
    output:
        passed="<programs>/{own_program}.checked",
    log:
        "<logs>/check_program/{own_program}.log",
    wildcard_constraints:
        own_program=join_names(JOBS.own_programs),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of_job,
        module=lambda wildcards: str(JOBS.own_programs[wildcards.own_program]),
        uses=lambda wildcards: PLAN.uses_of(wildcards.own_program),
    message:
        "Checking the Stan program {wildcards.own_program} against its contract"
    script:
        "../scripts/check_program.py"


# The user's own family is checked, too, on a few records and with a short fit.
rule check_family:
    input:
        code=lambda wildcards: ancient(
            code_files("formalsynth.contract.family", "formalsynth.steps.simulate", *JOBS.family_modules(wildcards.own_family))
        ),
        executable=lambda wildcards: f"results/stan/{JOBS.own_families[wildcards.own_family].program}",
    output:
        passed="<results>/checks/{own_family}.checked",
    log:
        "<logs>/check_family/{own_family}.log",
    wildcard_constraints:
        own_family=join_names(JOBS.own_families),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of_job,
        modules=lambda wildcards: JOBS.family_modules(wildcards.own_family),
        job=lambda wildcards: dict(JOBS.family_trial(wildcards.own_family).plain()),
        priors=lambda wildcards: JOBS.own_families[wildcards.own_family].priors,
    message:
        "Checking the family {wildcards.own_family} against its contract"
    script:
        "../scripts/check_family.py"
