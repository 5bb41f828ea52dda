//go:build interop

package examples_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// makeData writes random data that can be learned, in the form of the examples' data sets.
const makeData = `
import gzip, pathlib, sys
import numpy as np
what, out = sys.argv[1], pathlib.Path(sys.argv[2])
draw = np.random.default_rng(1)


def papers():
    """Five classes, of which each has words of its own, and citations that stay within a class four times out of five."""
    n, classes, words, each = 2000, 5, 300, 12
    label = draw.integers(0, classes, n)
    own = np.arange(words).reshape(classes, -1)
    rows = [np.unique(np.where(draw.random(each) < 0.25, draw.choice(own[c], each), draw.integers(0, words, each))) for c in label]
    of = [np.flatnonzero(label == c) for c in range(classes)]
    src = draw.integers(0, n, 5000)
    dst = [int(draw.choice(of[label[s]])) if draw.random() < 0.8 else int(draw.integers(n)) for s in src]
    np.save(out / "labels.npy", label)
    np.save(out / "feat_indptr.npy", np.cumsum([0] + [len(r) for r in rows]))
    np.save(out / "feat_indices.npy", np.concatenate(rows).astype(np.int32))
    with gzip.open(out / "edges.csv.gz", "wt") as f:
        print("src,dst", file=f)
        for s, d in zip(src, dst):
            print(s, d, sep=",", file=f)


def molecules():
    """Trees of atoms with rings. The class is whether at least four bonds join the kinds 1 and 2."""
    kinds, label, src, dst, nodes, edges = [], [], [], [], [0], [0]
    for _ in range(300):
        n = int(draw.integers(10, 28))
        kind = draw.integers(0, 7, n) % 4
        bonds = {(int(draw.integers(v)), v) for v in range(1, n)} | {tuple(sorted(map(int, draw.choice(n, 2, replace=False)))) for _ in range(3)}
        label.append(sum({kind[a], kind[b]} == {1, 2} for a, b in bonds) >= 4)
        both = sorted(bonds | {(b, a) for a, b in bonds})
        kinds.extend(kind)
        src.extend(a for a, _ in both)
        dst.extend(b for _, b in both)
        nodes.append(len(kinds))
        edges.append(len(src))
    for name, x, dtype in (("graph_node_ptr", nodes, np.int64), ("graph_edge_ptr", edges, np.int64), ("node_tag", kinds, np.int32),
                           ("edge_src_local", src, np.int32), ("edge_dst_local", dst, np.int32), ("graph_label", label, np.int32)):
        np.save(out / f"{name}.npy", np.array(x, dtype))


def ranking():
    """Grades of a linear rule with noise."""
    rule = draw.normal(size=40) * (np.arange(40) < 12)
    for part, queries in (("train", 200), ("test", 50)):
        sizes = draw.integers(8, 24, queries)
        x = draw.random((sizes.sum(), 40)).round(2)
        y = np.clip(np.round(2 + x @ rule - rule.sum() / 2 + draw.normal(size=len(x)) * 0.5), 0, 4).astype(int)
        with gzip.open(out / f"rank.{part}.query.gz", "wt") as f:
            f.writelines(f"{s}\n" for s in sizes)
        with gzip.open(out / f"rank.{part}.gz", "wt") as f:
            f.writelines(f"{g} " + " ".join(f"{i + 1}:{v}" for i, v in enumerate(row)) + "\n" for g, row in zip(y, x))


{"papers": papers, "molecules": molecules, "ranking": ranking}[what]()
`

// made is a folder of random data.
func made(t *testing.T, what string) string {
	t.Helper()
	dir := t.TempDir()
	python(t, "tables", "-c", makeData, what, dir)
	return dir
}

// Random papers, molecules and queries are learned by the examples for Cora, MUTAG and LightGBM's data.
func TestPeerPapers(t *testing.T)    { trainPapers(t, made(t, "papers"), 0.75) }
func TestPeerMolecules(t *testing.T) { trainMolecules(t, made(t, "molecules")) }
func TestPeerRanking(t *testing.T)   { trainRanking(t, made(t, "ranking")) }

// TestPeerLargerThanMemory checks that the example trains by the stream executor, and that its neighbours teach.
func TestPeerLargerThanMemory(t *testing.T) {
	proof.OnlyLong(t, "trains for 44 s; python/tests/test_stream.py compares the batches")
	dir := t.TempDir()
	tables, store := filepath.Join(dir, "papers"), filepath.Join(dir, "papers.store")
	python(t, "pyg", "larger-than-memory/prepare.py", tables)
	graphmill(t, "import", tables, "--memory", "80MiB", "--out", store)
	out := python(t, "pyg", "larger-than-memory/train.py", store, "80MiB")
	timed(t, out)
	if !strings.Contains(out, "executor stream: the memory executor needs") {
		t.Errorf("found another executor than stream:\n%s", out)
	}
	with, without := figure(t, out, "with neighbours: validation accuracy"), figure(t, out, "without: validation accuracy")
	if with < 0.93 || with < without+0.4 {
		t.Errorf("found validation accuracy %.3f, and %.3f without neighbours, expected 0.4 more and at least 0.93", with, without)
	}
}
