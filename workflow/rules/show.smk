# show: figures and tables, from collected tables only. Redrawing never refits.
for key, shown in [(paper, group) for paper in PLAN.papers for group in shown_together(paper)]:
    first = [*map(figure_file, shown["figures"]), *(f"table{number}" for number in shown["tables"])][0]

    rule:
        name:
            f"show_{key}_{first}"
        input:
            code=shown_code(key, **shown),
            tables=shown_inputs(key, **shown),
        output:
            figures=[path for number in shown["figures"] for path in marked_figure(key, number)],
            tables=[path for number in shown["tables"] for path in marked_table(key, number)],
        log:
            f"logs/{SCALE}/show/{key}/{first}.log",
        benchmark:
            f"benchmarks/{SCALE}/show/{key}/figures/{first}.tsv"
        # The most figures first, so that no long job is left for the end, where cores would stand idle.
        priority: min(9, len(shown["figures"]))
        localrule: True
        conda:
            "../envs/formalsynth.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=code_of_job,
            figures=figures_told(key, **shown),
            made_from=made_from_tables,
            modules=shown_modules(key, **shown),
            private=private_of(key),
            tables=tables_told(key, **shown),
        message:
            f"Making figures and tables of {key}: {', '.join([*shown['figures'], *(f'table {one}' for one in shown['tables'])])}"
        script:
            "../scripts/show.py"


for key in PLAN.papers:

    rule:
        name:
            key
        input:
            targets(key),
        message:
            "Everything of this paper is made"
