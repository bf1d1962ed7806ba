# refuse: figures, tables and whole folders that this run does not make; the run ends with a message that lists what it makes.
rule refuse:
    input:
        lambda wildcards: REPORTED.refuse_path(wildcards.unmade),
    output:
        "{unmade}",
    wildcard_constraints:
        unmade=REPORTED.unmade_pattern(),
