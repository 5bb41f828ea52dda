"""Computes metrics by Graphmill and by other libraries, on the same random input in memory.

usage: peer_evaluate.py links|lists|auc --by graphmill|ogb|pyg|sklearn|torchmetrics --items N

links: N positives with 1,000 float32 negatives each: MRR and hits@1, 3 and 10. lists: N lists of 100 of 100,000 items, with 1 to 40 relevant items each: precision, recall,
NDCG, MAP, MRR and hits of the first 10. auc: N float32 scores of two classes. Imports and the making of the input are not timed, and everything has one thread. Prints one
JSON: items per second of CPU time, and one of the metrics, for a check.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("work", choices=["links", "lists", "auc"])
parser.add_argument("--by", choices=["graphmill", "ogb", "pyg", "sklearn", "torchmetrics"], required=True)
parser.add_argument("--items", type=int, required=True)
args = parser.parse_args()
NEGATIVES, LENGTH, ITEMS, RELEVANT, PASSES = 1000, 100, 100_000, 40, 3


def made() -> tuple[Any, Any]:
    """The input, which depends on the number of items alone. Each row has draws of its own, so that fewer rows are a part of more."""
    r = np.random.default_rng(0)
    n = args.items
    if args.work == "links":
        return r.random(n, np.float32) ** np.float32(0.01), r.random((n, NEGATIVES), np.float32)
    if args.work == "auc":
        label = r.integers(0, 2, n)
        return (r.random(n, np.float32) + label.astype(np.float32) / 4) / np.float32(1.25), label
    # Items of a list are apart by less than the number of all items, so they differ.
    top = (r.integers(0, ITEMS, (n, 1)) + np.cumsum(r.integers(1, ITEMS // LENGTH, (n, LENGTH)), axis=1)) % ITEMS
    top = r.permuted(top, axis=1)
    sizes = r.integers(1, RELEVANT + 1, n)
    row = np.repeat(np.arange(n), sizes)
    # Every second relevant item is in the list.
    item = np.where(np.arange(len(row)) % 2 == 0, top[row, r.integers(0, LENGTH, len(row))], r.integers(0, ITEMS, len(row)))
    return top, np.unique(np.stack([row, item]), axis=1)


def graphmill(a: Any, b: Any) -> float:
    from graphmill import evaluate

    if args.work == "links":
        return evaluate.links(a, b, ("mrr", "hits@1", "hits@3", "hits@10"))["mrr"]
    return evaluate.lists(a, b)["ndcg@10"] if args.work == "lists" else evaluate.classes(a, b, ("auc",))["auc"]


def ogb(a: Any, b: Any) -> float:
    found = evaluator.eval({"y_pred_pos": a, "y_pred_neg": b})
    return {name: float(x.mean()) for name, x in found.items()}["mrr_list"]


def pyg(a: Any, b: Any) -> float:
    from torch_geometric import metrics

    names = ("Precision", "Recall", "NDCG", "MAP", "MRR", "HitRatio")
    all_ = metrics.LinkPredMetricCollection({name: getattr(metrics, f"LinkPred{name}")(10) for name in names})
    all_.update(a, b)
    return float(all_.compute()["NDCG"])


def sklearn(a: Any, b: Any) -> float:
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(b, a))


def torchmetrics(a: Any, b: Any) -> float:
    if args.work == "auc":
        from torchmetrics.functional.classification import binary_auroc

        return float(binary_auroc(a, b))
    from torchmetrics.retrieval import RetrievalHitRate, RetrievalMRR

    scores = torch.cat([a[:, None], b], 1)
    target = torch.zeros(scores.shape, dtype=torch.bool)
    target[:, 0] = True
    query = torch.arange(len(a))[:, None].expand(scores.shape)
    found = [metric(scores, target, indexes=query) for metric in (RetrievalMRR(), *(RetrievalHitRate(top_k=k) for k in (1, 3, 10)))]
    return float(found[0])


a, b = made()
if args.by not in ("graphmill", "sklearn"):
    import torch

    torch.set_num_threads(1)
    a, b = torch.from_numpy(a), torch.from_numpy(b)
if args.by == "ogb":
    import sys

    sys.modules["outdated"] = None  # type: ignore[assignment]  # by which OGB asks PyPI for a newer version of itself
    from ogb.linkproppred import Evaluator

    evaluator = Evaluator("ogbl-citation2")
run = {"graphmill": graphmill, "ogb": ogb, "pyg": pyg, "sklearn": sklearn, "torchmetrics": torchmetrics}[args.by]
seconds = []
for _ in range(PASSES):
    start = time.process_time()
    value = run(a, b)
    seconds.append(time.process_time() - start)
print(json.dumps({"items": args.items, "value": value, "items_per_second": args.items / min(seconds)}))
