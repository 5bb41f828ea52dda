//go:build interop

package examples_test

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/proof"
)

// relational is docs/relational-training.md with fewer people and random seeds, in the folder $1.
const relational = `
python relational-postgres/shop.py 2000 | psql -q "$DATABASE"
psql --csv "$DATABASE" -f relational-postgres/rows.sql > "$1/rows.csv"
"$GRAPHMILL_COMMAND" import "$DATABASE" --time-column orders.at --time-column reviews.at --out "$1/shop.store"
python -W ignore relational-postgres/train.py "$1/shop.store" "$1/rows.csv" 2
for table in people items orders reviews; do psql --csv "$DATABASE" -c "TABLE $table" > "$1/$table.csv"; done
python -W ignore relational-postgres/relbench_peer.py "$1" "$1/rows.csv" 2
`

// A database of PostgreSQL becomes a graph, and a network on it forecasts who orders again: far better than by the number of their
// orders, and as well as on RelBench's graph. The examples check that no batch has a row of its seed's future.
func TestPeerRelational(t *testing.T) {
	proof.OnlyLong(t, "trains for 29 s on a server of PostgreSQL; python/tests/test_databases.py reads from one")
	server, err := filepath.Abs("../python/tests/server.py")
	if err != nil {
		t.Fatal(err)
	}
	out := python(t, "databases", server, "bash", "-euo", "pipefail", "-c", relational, "bash", t.TempDir())
	trivial, ours, theirs := figure(t, out, "orders of the last 30 days: test AUROC"), figure(t, out, "graphmill: test AUROC"), figure(t, out, "RelBench and PyG: test AUROC")
	if ours < trivial+0.1 {
		t.Errorf("found a test AUROC of %.3f, and %.3f by the number of orders, expected 0.1 more", ours, trivial)
	}
	if math.Abs(ours-theirs) > 0.05 {
		t.Errorf("found a test AUROC of %.3f, and %.3f on RelBench's graph, expected them within 0.05", ours, theirs)
	}
}
