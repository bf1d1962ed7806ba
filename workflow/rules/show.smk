# show: figures and tables, from collected tables only. Redrawing never refits.
for key, display in [(key, display) for key, jobs in JOBS.papers.items() for display in jobs.display_jobs()]:

    rule:
        name:
            f"show_{key}_{display.name}"
        input:
            code=ancient(display.code),
            tables=display.inputs,
        output:
            figures=[path for number in display.figures for path in marked_figure(display.jobs, number)],
            tables=[path for number in display.tables for path in marked_table(display.jobs, number)],
        log:
            f"logs/{SCALE}/show/{key}/{display.name}.log",
        benchmark:
            f"benchmarks/{SCALE}/show/{key}/figures/{display.name}.tsv"
        # Jobs with the most figures start first, so no long job is left for the end, when cores would be idle.
        priority: min(9, len(display.figures))
        localrule: True
        conda:
            "../envs/formalsynth.yaml"
        threads: 1
        resources:
            mem_mb=1000,
            runtime=10,
        params:
            code=code_of_job,
            figures=display.figure_entries(),
            made_from=specifications_of_tables,
            modules=display.modules,
            origin=origin_of(display.jobs),
            private=display.jobs.private,
            tables=display.table_entries(),
        message:
            f"Making figures and tables of {key}: {display.contents}"
        script:
            "../scripts/show.py"


# PDFs are for print. A PDF takes as long as all other files of its figure, so it is made only on request.
rule draw_pdf:
    input:
        code=lambda wildcards: ancient(paper(wildcards).pdf_job(wildcards.figure).code),
        table="<figures>/{paper}/{figure}.csv",
    output:
        pdf="<figures>/{paper}/{figure}.pdf",
    log:
        "<logs>/draw_pdf/{paper}/{figure}.log",
    wildcard_constraints:
        paper=JOBS.pdf_pattern(),
        figure=r"fig\w+",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=code_of_job,
        display=lambda wildcards: paper(wildcards).pdf_job(wildcards.figure).figure_entries()[0]["display"],
        modules=lambda wildcards: paper(wildcards).pdf_job(wildcards.figure).modules,
        origin=lambda wildcards, input: origin_of(paper(wildcards))(wildcards, input),
        private=private_folders,
    message:
        "Drawing {output.pdf}"
    script:
        "../scripts/draw_pdf.py"


rule pdf:
    input:
        JOBS.pdfs(),
    message:
        "The PDF of every figure is made"


for key, jobs in JOBS.papers.items():

    rule:
        name:
            key
        input:
            jobs.targets(),
        message:
            "All files of this paper are made"
