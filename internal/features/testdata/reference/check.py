"""Reads cases of numbers from stdin, a JSON list of {what, how, fit, rows, count}, and writes the list of their results: {"state", "values"} or {"refused"}."""

import json
import sys

import features

out = []
for case in json.load(sys.stdin):
    fit, rows = case["fit"], case["rows"]
    try:
        if case["what"] == "fill":
            state = features.fit_impute(case["how"], fit, -7.0)
            values = [features.apply_impute(state, x) for x in rows]
        elif case["what"] == "buckets":
            state = features.fit_buckets(case["how"], fit, case["count"])
            values = [features.apply_buckets(state, x) for x in rows]
        else:
            state = features.fit_scale(case["how"], fit, 1000)
            values = [features.apply_scale(state, x) for x in rows]
        out.append({"state": state, "values": values})
    except features.Refused as e:
        out.append({"refused": str(e)})
json.dump(out, sys.stdout)
