"""Ages at the times of seeds of cases: python ages.py CASES ANSWERS, both as JSON."""

from __future__ import annotations

import json
import sys

import features

with open(sys.argv[1]) as f:
    cases = json.load(f)
answers = [
    features.age_at_seed(
        float(c["time"]) if c["float_time"] else int(c["time"]),
        float(c["seed"]) if c["float_seed"] else int(c["seed"]),
        c["time_per_second"],
        c["seed_per_second"],
        c["unit"],
    )
    for c in cases
]
with open(sys.argv[2], "w") as f:
    json.dump(answers, f)
