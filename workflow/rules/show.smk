# show: figures and tables, from collected tables only. Redrawing never refits.
rule draw_figure:
    input:
        code=code("show"),
        tables=figure_inputs,
    output:
        csv="<figures>/{paper}/fig{number}.csv",
        png="<figures>/{paper}/fig{number}.png",
        svg="<figures>/{paper}/fig{number}.svg",
        txt="<figures>/{paper}/fig{number}.txt",
    log:
        "<logs>/draw_figure/{paper}/fig{number}.log",
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        display=display_spec("figures"),
        printed_again=printed_again,
    message:
        "Drawing figure {wildcards.number} of {wildcards.paper}"
    script:
        "../scripts/draw_figure.py"


rule write_table:
    input:
        code=code("show"),
        tables=table_inputs,
    output:
        caption="<results>/{paper}/table{table_number}.txt",
        table="<results>/{paper}/table{table_number}.csv",
    log:
        "<logs>/write_table/{paper}/table{table_number}.log",
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=10,
    params:
        display=display_spec("tables"),
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
