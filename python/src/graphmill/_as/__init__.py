"""Batches, packs, graphs and loaders as objects of frameworks, and collections as data sets.

`pyg`, `dgl`, `jraph`, `tfgnn` and `torch` import their framework, so that they are imported on first use, by `_makers`. `ray` and `datasets`
have functions that users call, and import it in them.
"""
