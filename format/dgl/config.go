package dgl

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// Config is the configuration of a partitioned graph, the file <graph_name>.json.
type Config struct {
	GraphName string
	Method    string // part_method
	HaloHops  int
	// Nodes and Edges are the types in the order of their numbers, which is DGL's: sorted by name. Edge types are
	// "src:rel:dst". The types of a homogeneous graph are "_N" and "_N:_E:_N".
	Nodes, Edges []TypeRanges
	// Bools are the features whose bytes are bools, such as "paper/train_mask". The files store them as Uint8, as
	// DGL's server requires. DGL ignores the key.
	Bools []string
	// Parts are the files of each part.
	Parts []PartFiles
}

// TypeRanges gives the new ids of a type: part p owns the ids in [r[0], r[1]), where r is Ranges[p]. In the order of
// (part, type) the ranges follow one another from 0 on. The type-wise id of a node or edge is its index among those
// of its type.
type TypeRanges struct {
	Name   string
	Ranges [][2]int64
}

// PartFiles are the files of a part, relative to the configuration.
type PartFiles struct {
	NodeFeats string `json:"node_feats"`
	EdgeFeats string `json:"edge_feats"`
	Graph     string `json:"part_graph"`
}

// Count is the number of nodes or edges of the type.
func (t *TypeRanges) Count() (n int64) {
	for _, r := range t.Ranges {
		n += r[1] - r[0]
	}
	return n
}

// total is the number of nodes or edges of all types.
func total(types []TypeRanges) (n int64) {
	for i := range types {
		n += types[i].Count()
	}
	return n
}

// maxConfig bounds the bytes of a configuration. It allows 65536 parts of some dozen types.
const maxConfig = 1 << 28

type configJSON struct {
	GraphName  *string               `json:"graph_name"`
	NumNodes   *int64                `json:"num_nodes"`
	NumEdges   *int64                `json:"num_edges"`
	PartMethod *string               `json:"part_method"`
	NumParts   *int                  `json:"num_parts"`
	HaloHops   *int                  `json:"halo_hops"`
	NodeMap    map[string][][2]int64 `json:"node_map"`
	EdgeMap    map[string][][2]int64 `json:"edge_map"`
	NodeTypes  map[string]int        `json:"ntypes"`
	EdgeTypes  map[string]int        `json:"etypes"`
	Bools      []string              `json:"bool_features"`
}

// IsConfig says whether a JSON file is a configuration, by the keys that no other file of DGL has.
func IsConfig(fsys vfs.FS, name string) (bool, error) {
	b, err := vfs.ReadFile(fsys, name, maxConfig)
	if err != nil {
		return false, err
	}
	var keys struct {
		Parts json.RawMessage `json:"num_parts"`
		Map   json.RawMessage `json:"node_map"`
	}
	return json.Unmarshal(b, &keys) == nil && keys.Parts != nil && keys.Map != nil, nil
}

// ReadConfig reads and checks a configuration. The files of the parts are in its folder, unless outside allows
// others.
func ReadConfig(fsys vfs.FS, name string, outside bool) (*Config, error) {
	b, err := vfs.ReadFile(fsys, name, maxConfig)
	if err != nil {
		return nil, err
	}
	c, err := parseConfig(b)
	for i := 0; err == nil && !outside && i < len(c.Parts); i++ {
		for _, f := range []string{c.Parts[i].NodeFeats, c.Parts[i].EdgeFeats, c.Parts[i].Graph} {
			if !filepath.IsLocal(f) {
				err = bad("part-%d: found the file %q, expected one within the folder of the configuration; allow files outside of it with `AllowOutside`", i, f)
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

func parseConfig(b []byte) (*Config, error) {
	var j configJSON
	var raw map[string]json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, bad("found no JSON object (%w), expected one", err)
	}
	if err := json.Unmarshal(b, &j); err != nil {
		return nil, bad("found %w, expected the configuration that DGL's partition_graph writes; make the parts again with DGL 1.0 or later", err)
	}
	for _, key := range []struct {
		name string
		have bool
	}{{"graph_name", j.GraphName != nil}, {"num_nodes", j.NumNodes != nil}, {"num_edges", j.NumEdges != nil}, {"part_method", j.PartMethod != nil},
		{"num_parts", j.NumParts != nil}, {"halo_hops", j.HaloHops != nil}, {"node_map", j.NodeMap != nil}, {"edge_map", j.EdgeMap != nil},
		{"ntypes", j.NodeTypes != nil}, {"etypes", j.EdgeTypes != nil}} {
		if !key.have {
			return nil, bad("found no key %s, expected it in the configuration of a partitioned graph", key.name)
		}
	}
	c := &Config{GraphName: *j.GraphName, Method: *j.PartMethod, HaloHops: *j.HaloHops, Bools: j.Bools}
	var err error
	if c.Nodes, err = byNumber("ntypes", "node_map", j.NodeTypes, j.NodeMap); err != nil {
		return nil, err
	}
	if c.Edges, err = byNumber("etypes", "edge_map", j.EdgeTypes, j.EdgeMap); err != nil {
		return nil, err
	}
	if *j.NumParts < 1 || *j.NumParts > len(raw) {
		return nil, bad("found %d parts, expected at least 1, and part-0, part-1, ... for each", *j.NumParts)
	}
	for p := range *j.NumParts {
		key := "part-" + strconv.Itoa(p)
		var f PartFiles
		if raw[key] == nil {
			return nil, bad("found no key %s, expected the files of each of %d parts", key, *j.NumParts)
		}
		if err := json.Unmarshal(raw[key], &f); err != nil {
			return nil, bad("%s: %w", key, err)
		}
		c.Parts = append(c.Parts, f)
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if n := total(c.Nodes); n != *j.NumNodes {
		return nil, bad("found num_nodes %d, expected %d, the sum of the ranges of node_map", *j.NumNodes, n)
	}
	if n := total(c.Edges); n != *j.NumEdges {
		return nil, bad("found num_edges %d, expected %d, the sum of the ranges of edge_map", *j.NumEdges, n)
	}
	return c, nil
}

// byNumber lists types in the order of their numbers.
func byNumber(numbers, maps string, number map[string]int, ranges map[string][][2]int64) ([]TypeRanges, error) {
	list := make([]TypeRanges, len(number))
	names := make([]string, 0, len(number))
	for name := range number {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		i := number[name]
		if i < 0 || i >= len(list) || list[i].Name != "" {
			return nil, bad("%s: found number %d for %q, expected each of 0 to %d once", numbers, i, name, len(list)-1)
		}
		r, ok := ranges[name]
		if !ok {
			return nil, bad("%s: found no ranges of %q, expected ranges of each type", maps, name)
		}
		list[i] = TypeRanges{name, r}
	}
	if len(ranges) != len(list) {
		return nil, bad("%s: found %d types, expected the %d of %s", maps, len(ranges), len(list), numbers)
	}
	return list, nil
}

// Check checks that the types and ranges of a configuration describe a partitioned graph.
func (c *Config) Check() error {
	switch {
	case c.GraphName == "":
		return bad("found an empty graph_name, expected a name")
	case c.HaloHops < 0:
		return bad("found halo_hops %d, expected at least 0", c.HaloHops)
	case len(c.Nodes) == 0:
		return bad("found no node types, expected at least one")
	}
	node := map[string]bool{}
	for _, t := range c.Nodes {
		if t.Name == "" || strings.ContainsAny(t.Name, ":/") {
			return bad("found node type %q, expected a name without ':' and '/'", t.Name)
		}
		node[t.Name] = true
	}
	for _, t := range c.Edges {
		p := strings.Split(t.Name, ":")
		if len(p) != 3 || p[1] == "" || !node[p[0]] || !node[p[2]] || strings.Contains(t.Name, "/") {
			return bad("found edge type %q, expected src:rel:dst with node types of the graph", t.Name)
		}
	}
	if err := c.ranges("node_map", c.Nodes); err != nil {
		return err
	}
	return c.ranges("edge_map", c.Edges)
}

func (c *Config) ranges(what string, types []TypeRanges) error {
	for _, t := range types {
		if len(t.Ranges) != len(c.Parts) {
			return bad("%s %s: found %d ranges, expected one for each of %d parts", what, t.Name, len(t.Ranges), len(c.Parts))
		}
	}
	var at int64
	for p := range c.Parts {
		for _, t := range types {
			r := t.Ranges[p]
			if r[0] == r[1] && r[0] >= 0 { // an empty range can be anywhere
				continue
			}
			if r[0] != at || r[1] < r[0] {
				return bad("%s %s, part %d: found the range [%d, %d), expected it to begin at %d, where the range before it ends", what, t.Name, p, r[0], r[1], at)
			}
			at = r[1]
		}
	}
	return nil
}

// JSON returns the text of the file. Equal configurations give equal bytes.
func (c *Config) JSON() []byte {
	var b strings.Builder
	quote := func(s string) string {
		q, _ := json.Marshal(s) // marshalling a string cannot fail
		return string(q)
	}
	fmt.Fprintf(&b, "{\n    \"graph_name\": %s,\n    \"num_nodes\": %d,\n    \"num_edges\": %d,\n    \"part_method\": %s,\n    \"num_parts\": %d,\n    \"halo_hops\": %d,\n",
		quote(c.GraphName), total(c.Nodes), total(c.Edges), quote(c.Method), len(c.Parts), c.HaloHops)
	for _, m := range []struct {
		key   string
		types []TypeRanges
		entry func(i int, t TypeRanges) string
	}{{"node_map", c.Nodes, rangesText}, {"edge_map", c.Edges, rangesText}, {"ntypes", c.Nodes, numberText}, {"etypes", c.Edges, numberText}} {
		var entries []string
		for i, t := range m.types {
			entries = append(entries, fmt.Sprintf("\n        %s: %s", quote(t.Name), m.entry(i, t)))
		}
		fmt.Fprintf(&b, "    %q: {%s\n    },\n", m.key, strings.Join(entries, ","))
	}
	if len(c.Bools) > 0 {
		var list []string
		for _, name := range c.Bools {
			list = append(list, quote(name))
		}
		fmt.Fprintf(&b, "    \"bool_features\": [%s],\n", strings.Join(list, ", "))
	}
	for p, f := range c.Parts {
		comma := ","
		if p == len(c.Parts)-1 {
			comma = ""
		}
		fmt.Fprintf(&b, "    \"part-%d\": {\n        \"node_feats\": %s,\n        \"edge_feats\": %s,\n        \"part_graph\": %s\n    }%s\n",
			p, quote(f.NodeFeats), quote(f.EdgeFeats), quote(f.Graph), comma)
	}
	b.WriteString("}\n")
	return []byte(b.String())
}

func numberText(i int, _ TypeRanges) string { return strconv.Itoa(i) }

func rangesText(_ int, t TypeRanges) string {
	var list []string
	for _, r := range t.Ranges {
		list = append(list, fmt.Sprintf("[%d, %d]", r[0], r[1]))
	}
	return "[" + strings.Join(list, ", ") + "]"
}
