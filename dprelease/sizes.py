"""How much a request, a plan, a zip of a release and the ledger may name: all limits of the package on input."""

from __future__ import annotations

MAX_PARTS = 64
"""Parts of one request, and statistics of a plan."""
MAX_DRAWS = 10**6
"""Releases of one part."""
MAX_COMPARED_CELLS = 1 << 20
"""Releases times cells, where mechanisms are compared."""
MAX_GROUP_LINES = 200
"""Lines of one question about groups."""
MAX_LINE_CELLS = 1 << 14
"""Cells of the table that such lines make."""
MAX_LINE_CHARACTERS = 400
"""Characters of such a line."""
MAX_QUANTILES = 99
"""Quantiles of one statistic."""
MAX_FILES = 4 * MAX_PARTS
"""Files of a release's zip."""
MAX_UNPACKED = 64
"""Megabytes of files that are verified, unpacked, on a page that takes uploads."""
MAX_EPSILON = 10**6
"""Epsilon of a ledger: far above any budget, and within 64 bits."""
MAX_WORDS = 200
"""Characters of a name or a reason in the ledger."""
