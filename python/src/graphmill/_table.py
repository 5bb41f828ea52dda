"""What the table of the options says about keywords of loaders. make generate writes this file, from internal/options."""

CHOICES = {
    "direction": ("in", "out"),
    "expand": ("new", "all"),
    "scope": ("batch", "seed", "epoch"),
    "sampler": ("neighbor", "labor", "ladies", "fastgcn", "hgt", "shadow", "ppr", "walk", "cluster", "saint-node", "saint-edge", "saint-walk"),
    "temporal_strategy": ("uniform", "recent", "last"),
    "negatives_how": ("binary", "triplet", "in-batch"),
    "negatives_strict": ("no", "count", "error"),
    "negatives_linked": ("ever", "before"),
    "negatives_when": ("existing", "any"),
    "subgraph_type": ("directional", "bidirectional", "induced"),
    "age_unit": ("seconds", "minutes", "hours", "days", "weeks", "years"),
    "executor": ("auto", "memory", "stream"),
}
DEFAULTS = {
    "direction": "in",
    "expand": "new",
    "scope": "batch",
    "sampler": "neighbor",
    "temporal_strategy": "uniform",
    "negatives_how": "binary",
    "negatives_strict": "no",
    "negatives_linked": "ever",
    "negatives_when": "",
    "subgraph_type": "directional",
    "age_unit": "days",
    "executor": "auto",
}
FLAGS = {  # of keywords whose flags have other names
    "subgraph_type": "subgraph",
    "x": "joined",
}
SETS = ("cluster", "saint-node", "saint-edge", "saint-walk")  # samplers whose batches are the subgraphs of sets of nodes
