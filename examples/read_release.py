"""Mean of a column from all data sets of a release: python read_release.py FOLDER COLUMN.

The release's own combine.py adds the error that noise and sampling cause, for analyses that were declared before the release.
"""

import runpy
import sys
from pathlib import Path

import pandas as pd

folder, column = Path(sys.argv[1]), sys.argv[2]
sets = [pd.read_csv(path) for path in sorted(folder.glob("synthetic_*.csv"))]
combine = runpy.run_path(str(folder / "combine.py"))["combine"]
declared = pd.read_csv(folder / "analyses.csv")["analysis"]
analysis = f"mean of {column}" if f"mean of {column}" in set(declared) else None
estimate, error, interval = combine([rows[column].mean() for rows in sets], analysis)
print(f"mean of {column} from {len(sets)} sets: {estimate:.4g}, standard error {error}, 95 % interval {interval}")
