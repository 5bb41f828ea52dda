"""Metrics of link prediction, recommendation, classification and regression, with NumPy alone.

`links` ranks positive links among their negatives, `lists` judges lists of items, `classes` classes of nodes, and `values`
numbers. Each returns `Scores`. `full_ranks` and `top_k` go through the scores of all items in blocks: the first for the filtered
ranking of knowledge graphs, which `ranked` turns into Scores, the second for the lists that `lists` takes.

`ogbl` and `tgbl` run the protocols of OGB's and TGB's link sets on a function that scores links, `tgbn` that of TGB's node sets on one that scores classes of nodes, and
`given` reads the links and negatives of these sets.

Arrays may be NumPy's, torch's on any device, or lists. Scores are compared in their own dtype, so float32 has the ties of float32.
Means are exactly rounded sums divided by their number: no order of the items and no size of a block changes a bit of them.
"""

from ._classes import classes
from ._full import full_ranks
from ._given import Given, Links
from ._links import links, ranked
from ._lists import lists
from ._protocols import given, ogbl, tgbl, tgbn
from ._scores import Scores
from ._tgb_nodes import Asked
from ._top import top_k
from ._values import values

__all__ = ["Asked", "Given", "Links", "Scores", "classes", "full_ranks", "given", "links", "lists", "ogbl", "ranked", "tgbl", "tgbn", "top_k", "values"]
