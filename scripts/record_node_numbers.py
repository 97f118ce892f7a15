"""Records what Node prints for many numbers, for machines without Node.

Writes tests/data/ecmascript_numbers.txt.xz: lines of a JSON number literal, a tab, and what
``String(Number(literal))`` gives. The numbers come from a seeded generator, so a second run on any
machine writes the same lines. Integer literals beyond 2**53 are left out: their digits are kept.

Usage: ``python scripts/record_node_numbers.py``
"""

from __future__ import annotations

import lzma
import math
import random
import struct
import subprocess
from pathlib import Path

TABLE = Path(__file__).parent.parent / "tests" / "data" / "ecmascript_numbers.txt.xz"
PRINT_EACH = r"""
const lines = require("fs").readFileSync(0, "utf8").trimEnd().split("\n");
process.stdout.write(lines.map((line) => line + "\t" + String(Number(line)) + "\n").join(""));
"""

TRAPS = """
5 5.0 5e0 5E+0 50e-1 0.5e1 -5 -5.0 0 -0 0.0 -0.0 0e0 -0e-5 1e21 1e+21 1E21 1e20 1e22 -1e21
999999999999999900000.0 1000000000000000100000.0 123456789012345680000.0 1.2345678901234568e20
123456789012345680000e0 0.000001 0.0000001 1e-6 1e-7 1.5e-6 1.5e-7 0.0000015 0.00000015 123e-20
123e-8 -1e-7 4.9e-324 5e-324 2.2250738585072014e-308 1.7976931348623157e308 9007199254740991
9007199254740992 -9007199254740991 9007199254740993.0 4503599627370496.5 0.1 0.2 0.30000000000000004
100 1e2 1.0e2 100.00 1e1 12e1 1e15 1e16 1e17 1e18 1.1e15 1.1e16 1.1e17 1.1e20 1.1e21 1e100 1e-100
123456.789 0.001 1.10 -1.10 1e-400 -1e-400 5e-325 1.7976931348623158e308
""".split()


def literals(seed: int = 20) -> list[str]:
    """The traps, then numbers of every kind; none is beyond the range of a double."""
    chance = random.Random(seed)  # noqa: S311 - reproducible, nothing secret
    found = list(TRAPS)
    for exponent in range(-330, 309):
        found += [f"1e{exponent}", f"{chance.randrange(1, 10**6) / 1000}e{min(exponent, 304)}"]
    while len(found) < 5000:
        double = struct.unpack("<d", struct.pack("<Q", chance.getrandbits(64)))[0]
        if math.isfinite(double):
            found.append(repr(double))
    while len(found) < 7000:  # around the borders between plain and exponent notation
        exponent = chance.choice([*range(-9, -4), *range(13, 23)])
        digits = chance.randrange(1, 18)
        found.append(f"{chance.uniform(1, 10):.{digits}f}e{exponent}")
    while len(found) < 10500:
        whole, digits = chance.randrange(-(10**4), 10**4), chance.randrange(1, 4)
        fraction = chance.randrange(10**digits)
        found.append(f"{whole}.{fraction:0{digits}}")
    while len(found) < 12000:
        found.append(str(chance.randrange(-(2**53), 2**53) >> chance.randrange(53)))
    return found


def main() -> None:
    """Asks Node and writes the table."""
    answers = subprocess.run(  # noqa: S603 - our own text, no shell
        ["node", "-e", PRINT_EACH],  # noqa: S607 - whichever node is on the PATH
        input="\n".join(literals()).encode(),
        capture_output=True,
        check=True,
    ).stdout
    TABLE.write_bytes(lzma.compress(answers, preset=9 | lzma.PRESET_EXTREME))
    print(f"{TABLE.name}: {answers.count(10)} numbers, {TABLE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
