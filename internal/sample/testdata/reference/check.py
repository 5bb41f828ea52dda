"""Answers sampling cases by the reference: a list of {graph, plan, seeds, ...} in, their results out.

A null in a column is NaN, which JSON lacks. "fanouts" in place of "plan" is compiled first.
"""

import json
import sys

from sampling import from_fanouts, positives, sample

NAN = float("nan")


def answer(case):
    for e in case["graph"]["edges"].values():
        for name, column in e.items():
            e[name] = [NAN if x is None else x for x in column]
    for columns in case["graph"].get("columns", {}).values():
        for name, column in columns.items():
            columns[name] = [NAN if x is None else x for x in column]
    plan = case["plan"]
    if "nodes" in case:
        return positives(case["graph"], plan, case["nodes"], case["seed"], case["epoch"], case.get("times"))
    if "fanouts" in plan:
        plan = from_fanouts(plan.pop("fanouts"), list(case["graph"]["edges"]), plan.pop("seed_type"), **plan)
    r = sample(case["graph"], plan, case["seeds"], case["seed"], case["epoch"], case["unit"], case.get("time"), case.get("listed"))
    return {"plan": plan, **r}


json.dump([answer(c) for c in json.load(open(sys.argv[1]))], open(sys.argv[2], "w"))
