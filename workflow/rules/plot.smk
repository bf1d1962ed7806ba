# plot: one figure, from collected tables only. Redrawing never refits.
FIGURE = "<figures>/{paper}/{figure}"


rule plot:
    input:
        tables=lambda wildcards: figure_job(wildcards).inputs,
    output:
        caption=f"{FIGURE}.txt",
        png=f"{FIGURE}.png",
        svg=report(f"{FIGURE}.svg", **described("figure")),
        table=f"{FIGURE}.csv",
    log:
        "<logs>/plot/{paper}/{figure}.log",
    benchmark:
        "<benchmarks>/plot/{paper}/figures/{figure}.tsv"
    wildcard_constraints:
        paper=JOBS.displays_pattern(confidential=False),
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda wildcards: figure_job(wildcards).code("plot"),
        display=lambda wildcards: figure_job(wildcards).plain,
        modules=lambda wildcards: figure_job(wildcards).modules,
        origin=origin_of,
        private=private_folders,
    message:
        "Plotting {wildcards.paper} {wildcards.figure}"
    script:
        "../scripts/plot.py"


# Snakemake's own report contains no figure of an unpublished file.
use rule plot as plot_confidential with:
    output:
        caption=f"{FIGURE}.txt",
        png=f"{FIGURE}.png",
        svg=f"{FIGURE}.svg",
        table=f"{FIGURE}.csv",
    wildcard_constraints:
        paper=JOBS.displays_pattern(confidential=True),
    localrule: True


# PDFs are for print. A PDF takes as long as all other files of its figure, so it is made only on request.
rule draw_pdf:
    input:
        table=f"{FIGURE}.csv",
    output:
        pdf=f"{FIGURE}.pdf",
    log:
        "<logs>/draw_pdf/{paper}/{figure}.log",
    localrule: True
    conda:
        "../envs/formalsynth.yaml"
    threads: 1
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        code=lambda wildcards: figure_job(wildcards).code("draw_pdf"),
        display=lambda wildcards: figure_job(wildcards).plain,
        modules=lambda wildcards: figure_job(wildcards).modules,
        origin=origin_of,
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
