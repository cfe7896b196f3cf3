"""All benchmarks, or those named: `python -m benchmarks [trials] [net] [limits] …`."""

from __future__ import annotations

import importlib
import sys

ALL = (
    "trials",
    "net",
    "promises",
    "marginals",
    "limits",
    "ranges",
    "regret",
    "whole_table",
    "random_dp_figures",
    "upload",
    "engines",
    "repaint",
    "sessions",
)

chosen = sys.argv[1:] or list(ALL)
unknown = sorted(set(chosen) - set(ALL))
if unknown:
    sys.exit(f"Unknown benchmark {', '.join(unknown)}; there are {', '.join(ALL)}.")
for name in chosen:
    print(f"== {name}", flush=True)
    importlib.import_module(f"benchmarks.{name}").main()
