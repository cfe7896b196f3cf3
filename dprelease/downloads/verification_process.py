"""A program of its own that verifies uploaded files of a release; ``dprelease.downloads.uploads`` starts it."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Started without the environment, Python does not know where the project is.
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from dprelease.downloads.uploads import answer

    sys.exit(answer(Path(sys.argv[1]), memory=int(sys.argv[2]), seconds=int(sys.argv[3])))
