"""Targets of the fuzzer: what reads bytes from outside, with seeds and the errors it may raise.

Seeds and readers of files are those of the tests, whose folder is put on the path of modules.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

if str(ROOT / "tests") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests"))
