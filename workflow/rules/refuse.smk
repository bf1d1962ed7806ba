# refuse: paths that look like results and are none of this run, each with a sentence about what there is.
rule refuse_scale:
    input:
        refuse_scale,
    output:
        "{folder}/{other}/{rest}",
    wildcard_constraints:
        folder="figures|results",
        other="|".join(re.escape(one) for one in PLAN.config.scales if one != SCALE) or "(?!)",
        rest=r"[^/]+/.+",


rule refuse_paper:
    input:
        refuse_paper,
    output:
        "{folder}/{paper}/{rest}",
    wildcard_constraints:
        folder=rf"(?:figures|results)/{re.escape(SCALE)}",
        paper=rf"(?!(?:{'|'.join(map(re.escape, PLAN.papers))})/)[A-Za-z][A-Za-z0-9_.]*",
        rest=r"fig\w+\.\w+|table\w+\.\w+|[^/]+/(?:replicates|records|sets|values|draws|details)\.csv",
