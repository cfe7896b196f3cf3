"""All benchmarks, or those named: `python -m benchmarks [trials] [net] [limits] …`."""

from __future__ import annotations

import importlib
import os
import sys

ALL = {
    "trials": "speed.trials",
    "net": "speed.net",
    "promises": "promises.main",
    "marginals": "marginals.main",
    "limits": "speed.limits",
    "ranges": "ranges.main",
    "range_limits": "ranges.limits",
    "groups": "groups.report.errors",
    "group_intervals": "groups.report.intervals",
    "labels": "labels.main",
    "regret": "regret.main",
    "whole_table": "synthetic.rows.main",
    "utility": "synthetic.usefulness.main",
    "random_dp_figures": "random_dp_figures.main",
    "upload": "files.upload",
    "engines": "files.engines",
    "repaint": "repaint.main",
    "sessions": "sessions.main",
    "reads": "reads.main",
}

chosen = sys.argv[1:] or list(ALL)
unknown = sorted(set(chosen) - set(ALL))
if unknown:
    sys.exit(f"Unknown benchmark {', '.join(unknown)}; there are {', '.join(ALL)}.")
os.environ["DPSCOPE_CACHE"] = "0"  # work is timed, and not whether it was done before
for name in chosen:
    print(f"== {name}", flush=True)
    module, _, function = ALL[name].rpartition(".")
    getattr(importlib.import_module(f"benchmarks.{module}"), function)()
