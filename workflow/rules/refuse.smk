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
        rest=r"fig\w+\.\w+|table\w+\.\w+|[^/]+/(?:audit|replicates|records|sets|values|draws|details)\.csv",


# A figure or table that no rule makes is asked for by mistake, or needs data that are absent.
rule refuse_figure:
    input:
        refuse_figure,
    output:
        "<figures>/{missing}.{kind}",
    wildcard_constraints:
        kind="csv|pdf|png|svg|txt",
        missing=rf"(?!(?:{made_figures()})\.)({'|'.join(PLAN.papers)})/fig\w+",


rule refuse_table:
    input:
        refuse_table,
    output:
        "<results>/{paper}/table{table_number}.{kind}",
    wildcard_constraints:
        kind="csv|txt",
        paper="|".join(rf"{key}(?!/table(?:{'|'.join(map(str, one.tables)) or '(?!)'})\.)" for key, one in PLAN.papers.items()),


rule refuse_table_of_a_study:
    input:
        refuse_kind,
    output:
        "<results>/{paper}/{scenario}/{table}.csv",
    wildcard_constraints:
        paper=of_scenarios(study=False),
        table="details",


rule refuse_table_of_fits:
    input:
        refuse_kind,
    output:
        "<results>/{paper}/{scenario}/{table}.csv",
    wildcard_constraints:
        paper=of_scenarios(study=True),
        table="audit|draws|records|sets|values",
