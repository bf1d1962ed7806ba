# show: figures and tables, from collected tables only. Redrawing never refits.
for key, numbers, tables in [group for paper in PLAN.papers for group in drawn_together(paper)]:

    rule:
        name:
            f"draw_{key}_{figure_file(numbers[0])}"
        input:
            code=figure_code(key, numbers),
            tables=tables,
        output:
            [path for number in numbers for path in marked_figure(key, number)],
        log:
            f"logs/{SCALE}/draw_figures/{key}/{figure_file(numbers[0])}.log",
        localrule: True
        conda:
            "../envs/formalsynth.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            figures=figures_told(key, numbers),
            made_from=made_from_tables,
            modules=figure_modules(key, numbers),
        message:
            f"Drawing figure {', '.join(numbers)} of {key}"
        script:
            "../scripts/draw_figures.py"


# A figure that no rule above makes is asked for by mistake, or needs data that are absent.
rule refuse_figure:
    input:
        refuse_figure,
    output:
        "<figures>/{missing}.{kind}",
    wildcard_constraints:
        kind="csv|png|svg|txt",
        missing=rf"(?!(?:{made_figures()})\.)({'|'.join(PLAN.papers)})/fig\w+",


rule write_table:
    input:
        code=table_code,
        tables=table_inputs,
    output:
        caption="<results>/{paper}/table{table_number}.txt",
        table=report(
            "<results>/{paper}/table{table_number}.csv",
            caption="../report/shown.rst",
            category=paper_title,
            labels=table_labels,
        ),
    log:
        "<logs>/write_table/{paper}/table{table_number}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        display=table_told,
        made_from=made_from_tables,
        modules=table_modules,
    message:
        "Writing table {wildcards.table_number} of {wildcards.paper}"
    script:
        "../scripts/write_table.py"


for key in PLAN.papers:

    rule:
        name:
            key
        input:
            targets(key),
        message:
            "Everything of this paper is made"
