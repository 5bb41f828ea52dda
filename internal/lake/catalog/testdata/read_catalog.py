"""Prints the rows of a table that pyiceberg reads of a catalog, sorted, one a line.

    python read_catalog.py TABLE

The environment has the catalog "x".
"""

import sys

from pyiceberg.catalog import load_catalog

table = load_catalog("x").load_table(tuple(sys.argv[1].split("/"))).scan().to_arrow()
for row in sorted(zip(*(table[c].to_pylist() for c in ("src", "dst")))):
    print(*row)
