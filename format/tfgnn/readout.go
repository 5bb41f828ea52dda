package tfgnn

import (
	"regexp"
	"strings"
)

// The names of the auxiliary sets that tell a model where to read out its results (TF-GNN's structured readout). The
// node set has one node per output. Edge sets named NODESET/KEY lead into it from the nodes that hold the values of a
// key.
const (
	ReadoutName   = "_readout"
	ReadoutSource = ReadoutName + "/source" // of a link
	ReadoutTarget = ReadoutName + "/target"

	// shadowPrefix begins the names of node sets that represent an edge set.
	shadowPrefix = "_shadow/"
)

var (
	readoutSet  = regexp.MustCompile(`\A_readout(:[a-zA-Z0-9_]+)?\z`)
	readoutEdge = regexp.MustCompile(`\A([\pL\pN_]+)(/.+)?\z`)
)

// readouts checks the readout sets. TF-GNN always checks _readout. It checks _readout:TAG only when a program asks
// for that tag, so faults there are warnings here.
func (c *checker) readouts() {
	for _, name := range c.nodeSets.names {
		switch {
		case name == ReadoutName:
			c.readout(name, &c.faults)
		case readoutSet.MatchString(name):
			c.readout(name, &c.warnings)
		}
	}
}

func (c *checker) readout(set string, faults *list) {
	type from struct{ key, source string }
	seen, edges := map[from]string{}, 0
	for _, name := range c.edgeSets.names {
		rest, ok := strings.CutPrefix(name, set+"/")
		if !ok {
			continue
		}
		edges++
		at, e := fieldPath{}.entry("edge_sets", name), c.schema.EdgeSets[name]
		m := readoutEdge.FindStringSubmatch(rest)
		if m == nil {
			faults.add(at, "found the name %q, expected %s/KEY or %s/KEY/SUFFIX, the key of letters, digits and underscores", name, set, set)
			continue
		}
		if e.GetTarget() != set {
			faults.add(at.field("target"), "found %q, expected %q, the node set that is read out", e.GetTarget(), set)
		}
		if shadowed, ok := strings.CutPrefix(e.GetSource(), shadowPrefix); ok && c.schema.EdgeSets[shadowed] == nil {
			faults.add(at.field("source"), "found %q, the shadow of edge set %q, expected %s", e.GetSource(), shadowed, c.edgeSets.expected(shadowed))
		}
		k := from{m[1], e.GetSource()}
		if other, twice := seen[k]; twice {
			faults.add(at, "found key %q from %q as in edge set %q, expected each pair of key and source once", k.key, k.source, other)
		}
		seen[k] = name
	}
	if edges == 0 {
		faults.add(fieldPath{}.entry("node_sets", set), "found no edge sets %s/KEY, expected at least one that leads into it", set)
	}
}
