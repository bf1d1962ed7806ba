"""A file in the format of the 2017 SDR public-use file."""

from formalsynth.data.sdr import SDR_COLUMNS, SDR_RECORD

ROWS = [
    # salary, gender, age, weeks, EDTP, NDGMENGP
    (200_000, "M", 40, 52, "3", "12"),
    (0, "F", 30, 36, "3", "12"),
    (509_000, "F", 70, 2, "3", "12"),
    (95_000, "M", 35, 52, "4", "12"),  # a medical school
    (95_000, "M", 35, 52, "3", "11"),  # another field
    (9_999_998, "F", 45, 98, "L", "12"),  # not working
    (9_999_998, "F", 45, 52, "3", "12"),  # no salary
]
NAMES = ("SALARYP", "GENDER", "AGEGRP", "WKSWK", "EDTP", "NDGMENGP")


def fixed_width(path, rows=ROWS):
    lines = []
    for row in rows:
        line = [" "] * SDR_RECORD
        for name, value in zip(NAMES, row, strict=True):
            low, high = SDR_COLUMNS[name]
            line[low - 1 : high] = str(value).rjust(high - low + 1)
        lines.append("".join(line))
    path.write_text("\n".join(lines) + "\n")
    return path
