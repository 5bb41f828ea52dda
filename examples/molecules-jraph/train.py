"""Predicts the class of molecules with jraph, on packs: many small graphs in arrays of one shape, compiled once.

    graphmill pack mutag.coll --limit num_nodes=256 --limit num_edges=576 --max-graphs 16 --reserve --out mutag.plan
    python train.py mutag.plan mutag.coll

Ten networks train together, each on nine tenths of the molecules; each is tested on the other tenth.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jraph
import numpy as np
from graphmill import Collection, PackedLoader

GOAL = 0.80  # accuracy for "time to accuracy"
FOLDS, KINDS, WIDTH, LAYERS = 10, 7, 32, 3


def init(key: jax.Array) -> dict[str, Any]:
    def dense(key: jax.Array, rows: int, columns: int) -> dict[str, jax.Array]:
        return {"w": jax.random.normal(key, (rows, columns)) * (2 / rows) ** 0.5, "b": jnp.zeros(columns)}

    keys = jax.random.split(key, 2 * LAYERS + 2)
    return {
        "in": dense(keys[0], KINDS, WIDTH),
        "layers": [(dense(a, WIDTH, WIDTH), dense(b, WIDTH, WIDTH)) for a, b in zip(keys[1 : LAYERS + 1], keys[LAYERS + 1 :])],
        "out": dense(keys[-1], WIDTH, 2),
    }


def logits(p: dict[str, Any], g: jraph.GraphsTuple) -> jax.Array:
    """A graph isomorphism network: sums over neighbours, then over each graph."""
    dense: Callable[[dict[str, jax.Array], jax.Array], jax.Array] = lambda layer, x: x @ layer["w"] + layer["b"]
    h = jax.nn.relu(dense(p["in"], jax.nn.one_hot(g.nodes["kind"], KINDS)))
    for first, second in p["layers"]:
        around = jraph.segment_sum(h[g.senders], g.receivers, len(h))
        h = jax.nn.relu(dense(second, jax.nn.relu(dense(first, h + around))))
    graph = jnp.repeat(jnp.arange(len(g.n_node)), g.n_node, total_repeat_length=len(h))
    return dense(p["out"], jraph.segment_sum(h, graph, len(g.n_node)) / 16)


def loss(p: dict[str, Any], g: jraph.GraphsTuple, fold: jax.Array) -> jax.Array:
    """The mean loss over the pack's real graphs outside the fold."""
    mask = jraph.get_graph_padding_mask(g) & (g.globals["fold"] != fold)
    each = -jnp.take_along_axis(jax.nn.log_softmax(logits(p, g)), g.globals["label"][:, None], 1)[:, 0]
    return (each * mask).sum() / jnp.maximum(mask.sum(), 1)


def right(p: dict[str, Any], g: jraph.GraphsTuple, fold: jax.Array) -> jax.Array:
    mask = jraph.get_graph_padding_mask(g) & (g.globals["fold"] == fold)
    return ((logits(p, g).argmax(1) == g.globals["label"]) & mask).sum()


def adam(
    p: dict[str, Any], m: dict[str, Any], v: dict[str, Any], t: jax.Array, g: jraph.GraphsTuple, fold: jax.Array
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any], jax.Array]:
    value, grad = jax.value_and_grad(loss)(p, g, fold)
    m = jax.tree.map(lambda m, d: 0.9 * m + 0.1 * d, m, grad)
    v = jax.tree.map(lambda v, d: 0.999 * v + 0.001 * d * d, v, grad)
    rate = 0.01 / (1 + t / 200)
    scale = rate * jnp.sqrt(1 - 0.999**t) / (1 - 0.9**t)
    return jax.tree.map(lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8), p, m, v), m, v, value


def main(layout: str, collection: str) -> None:
    molecules = Collection(collection)
    label = np.asarray(molecules.context["label"])
    print(f"largest class: accuracy {np.bincount(label).max() / len(label):.3f}")
    packs = PackedLoader(layout, molecules, as_="jraph", seed=1)
    judged = list(PackedLoader(layout, molecules, as_="jraph"))
    folds = jnp.arange(FOLDS)
    step = jax.jit(jax.vmap(adam, in_axes=(0, 0, 0, None, None, 0)))
    count = jax.jit(jax.vmap(right, in_axes=(0, None, 0)))
    p = jax.vmap(init)(jax.random.split(jax.random.key(0), FOLDS))
    m = v = jax.tree.map(jnp.zeros_like, p)
    steps, seconds, waited, reached, first = 0, 0.0, 0.0, None, None
    for _ in range(50):
        start, _total, value = time.perf_counter(), 0, 0.0
        asked = start
        for g in packs:
            waited += time.perf_counter() - asked
            steps += 1
            p, m, v, now = step(p, m, v, jnp.float32(steps), g, folds)
            value += float(now.mean()) / len(packs)
            asked = time.perf_counter()
        seconds += time.perf_counter() - start
        first = value if first is None else first
        accuracy = sum(int(count(p, g, folds).sum()) for g in judged) / len(label)
        if accuracy >= GOAL and reached is None:
            reached = seconds
    print(f"packs: accuracy {accuracy:.3f}, {GOAL:.2f} after {reached or float('nan'):.1f} s, waited {waited / seconds:.0%} of the time")
    print(f"first epoch: loss {first:.3f}\nlast epoch: loss {value:.3f}")
    print(f"compiled: {step._cache_size()} time, {len(packs)} packs an epoch")


if __name__ == "__main__":
    main(*sys.argv[1:])
