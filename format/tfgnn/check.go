package tfgnn

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/suggest"
)

// The feature names that TF-GNN's encoding reserves: the number of items of a set, and the ends of an edge set.
const (
	SizeName   = "#size"
	SourceName = "#source"
	TargetName = "#target"
)

// IDName is the name of the feature that keeps the original ids of nodes.
const IDName = "#id"

// FeatureKey is the key of a feature in an Example. kind is "context", "nodes" or "edges"; set is ignored for the
// context. A key cannot be split into its parts again, since names may contain dots.
func FeatureKey(kind, set, feature string) string {
	if kind == "context" {
		return "context/" + feature
	}
	return kind + "/" + set + "." + feature
}

// RaggedKey is the key of the row lengths of a ragged dimension of the feature that has the given key. Dimension 1 is
// the first one after the items.
func RaggedKey(key string, dim int) string { return fmt.Sprintf("%s.d%d", key, dim) }

var auxiliary = regexp.MustCompile(`^[_#!%.^~][a-zA-Z0-9_]*`)

// IsAuxiliary says whether TF-GNN's models ignore a set of that name.
func IsAuxiliary(set string) bool { return auxiliary.MatchString(set) }

// maxRank bounds the dimensions of a feature, including the dimension of the items, as TensorFlow does.
const maxRank = 254

// supported lists the dtypes of features by number.
var supported = []tfgnnpb.DataType{
	tfgnnpb.DataType_DT_FLOAT, tfgnnpb.DataType_DT_DOUBLE, tfgnnpb.DataType_DT_INT32, tfgnnpb.DataType_DT_UINT8,
	tfgnnpb.DataType_DT_INT16, tfgnnpb.DataType_DT_INT8, tfgnnpb.DataType_DT_STRING, tfgnnpb.DataType_DT_INT64,
	tfgnnpb.DataType_DT_BOOL, tfgnnpb.DataType_DT_BFLOAT16, tfgnnpb.DataType_DT_UINT16, tfgnnpb.DataType_DT_HALF,
	tfgnnpb.DataType_DT_UINT32, tfgnnpb.DataType_DT_UINT64,
}

// Supported says whether a feature may have the dtype: bool, integers, floats and strings.
func Supported(d tfgnnpb.DataType) bool { return slices.Contains(supported, d) }

// CheckSchema checks a schema. The error joins all faults, each a *Fault. Warnings are what TF-GNN warns of, and
// parts of the schema that are valid but are probably a mistake.
func CheckSchema(schema *tfgnnpb.GraphSchema) (warnings []string, err error) {
	c := checkSchema(schema)
	for _, w := range c.warnings {
		warnings = append(warnings, w.Error())
	}
	return warnings, joined(c.faults)
}

// checker collects the faults of a schema, and the owner of every key.
type checker struct {
	schema   *tfgnnpb.GraphSchema
	faults   list
	warnings list
	keys     map[string]string

	nodeSets, edgeSets, context known
}

func checkSchema(schema *tfgnnpb.GraphSchema) *checker {
	c := &checker{schema: schema, keys: map[string]string{}, nodeSets: knownOf("the node sets", schema.NodeSets),
		edgeSets: knownOf("the edge sets", schema.EdgeSets), context: knownOf("the context's features", schema.GetContext().GetFeatures())}
	c.unknown(nil, schema.ProtoReflect())
	c.features(fieldPath{}.field("context"), "context", "", schema.GetContext().GetFeatures())
	for _, name := range sortedKeys(schema.NodeSets) {
		set, at := schema.NodeSets[name], fieldPath{}.entry("node_sets", name)
		c.set(at, "nodes", name, set.GetFeatures(), set.GetContext())
	}
	for _, name := range sortedKeys(schema.EdgeSets) {
		set, at := schema.EdgeSets[name], fieldPath{}.entry("edge_sets", name)
		c.set(at, "edges", name, set.GetFeatures(), set.GetContext())
		c.end(at, "source", set.GetSource())
		c.end(at, "target", set.GetTarget())
		c.key(at.field("source"), FeatureKey("edges", name, SourceName))
		c.key(at.field("target"), FeatureKey("edges", name, TargetName))
	}
	c.readouts()
	return c
}

// unknown warns of fields that a binary file can hold and text cannot.
func (c *checker) unknown(at fieldPath, m protoreflect.Message) {
	for b := m.GetUnknown(); len(b) > 0; {
		num, _, n := protowire.ConsumeField(b)
		if n < 0 {
			return
		}
		c.warnings.add(at, "found the unknown field %d; a binary copy keeps it, a text copy cannot", num)
		b = b[n:]
	}
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		if !m.Has(f) || f.Message() == nil {
			continue
		}
		switch v := m.Get(f); {
		case f.IsMap():
			if f.MapValue().Message() == nil {
				continue
			}
			entries := map[string]protoreflect.Message{}
			v.Map().Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
				entries[k.String()] = v.Message()
				return true
			})
			for _, k := range sortedKeys(entries) {
				c.unknown(at.entry(string(f.Name()), k), entries[k])
			}
		case f.IsList():
			for i := range v.List().Len() {
				c.unknown(at.element(string(f.Name()), i), v.List().Get(i).Message())
			}
		default:
			c.unknown(at.field(string(f.Name())), v.Message())
		}
	}
}

func (c *checker) set(at fieldPath, kind, name string, features map[string]*tfgnnpb.Feature, context []string) {
	c.name(at, "set", name)
	c.key(at, FeatureKey(kind, name, SizeName))
	c.features(at, kind, name, features)
	for i, f := range context {
		if c.schema.GetContext().GetFeatures()[f] == nil {
			c.faults.add(at.element("context", i), "found context feature %q, expected %s", f, c.context.expected(f))
		}
	}
}

// name checks the name of a set or feature, which becomes a part of a key.
func (c *checker) name(at fieldPath, what, name string) {
	if name == "" {
		c.faults.add(at, "found an empty name, expected a name of the %s", what)
	}
	if !utf8.ValidString(name) {
		c.faults.add(at, "found a name that is not UTF-8, expected UTF-8, as in all keys of an Example; rename the %s", what)
	}
}

func (c *checker) end(at fieldPath, end, set string) {
	switch {
	case c.schema.NodeSets[set] != nil:
	case set == "":
		c.faults.add(at.field(end), "found no %s, expected %s", end, c.nodeSets.expected(""))
	default:
		c.faults.add(at.field(end), "found %q, expected %s", set, c.nodeSets.expected(set))
	}
}

// key records that the element at a path has the key. A key that is already taken is a fault.
func (c *checker) key(at fieldPath, key string) {
	if owner, taken := c.keys[key]; taken {
		c.faults.add(at, "found the same key %q in an Example as that of %s, expected different keys; rename one of them", key, owner)
		return
	}
	c.keys[key] = at.String()
}

func (c *checker) features(at fieldPath, kind, set string, features map[string]*tfgnnpb.Feature) {
	for _, name := range sortedKeys(features) {
		f, at := features[name], at.entry("features", name)
		reserved := kind != "context" && name == SizeName || kind == "edges" && (name == SourceName || name == TargetName)
		c.name(at, "feature", name)
		switch {
		case reserved:
			c.faults.add(at, "found the name %s, which the encoding uses itself, expected another name; rename the feature", name)
		case strings.HasPrefix(name, "#") && name != IDName && name != "#weight":
			c.warnings.add(at, "found the name %s; TF-GNN reserves names that begin with #", name)
		}
		switch d := f.GetDtype(); {
		case f.GetDtype() == tfgnnpb.DataType_DT_INVALID: // also if absent
			c.faults.add(at.field("dtype"), "found no dtype, expected one of %s", dtypeNames())
		case !Supported(d):
			c.faults.add(at.field("dtype"), "found dtype %s, expected one of %s", d, dtypeNames())
		}
		key := FeatureKey(kind, set, name)
		if !reserved {
			c.key(at, key)
		}
		c.shape(at.field("shape"), key, f)
	}
}

func (c *checker) shape(at fieldPath, key string, f *tfgnnpb.Feature) {
	if f.GetShape().GetUnknownRank() {
		c.faults.add(at.field("unknown_rank"), "found a shape of unknown rank, expected its dimensions, of size -1 where they vary")
	}
	dims, values := f.GetShape().GetDim(), int64(1)
	if len(dims) >= maxRank {
		c.faults.add(at, "found %d dimensions, expected at most %d", len(dims), maxRank-1)
		return
	}
	for i, d := range dims {
		at := at.element("dim", i)
		switch n := d.GetSize(); {
		case n == -1:
			c.key(at, RaggedKey(key, i+1))
		case n < 1:
			c.faults.add(at.field("size"), "found size %d, expected a size of at least 1, or -1 where it varies", n)
		case values > math.MaxInt32/n:
			c.faults.add(at.field("size"), "found a shape of more than %d values, expected at most that number", math.MaxInt32)
		default:
			values *= n
		}
		if d.GetName() != "" && f.Description == nil {
			c.faults.add(at.field("name"), "found the name %q of a dimension, expected none, as TF-GNN refuses it in a feature without a description; put it into the feature's description", d.GetName())
		}
	}
	if len(dims) == 1 && dims[0].GetSize() == 1 {
		c.warnings.add(at, "found shape [1], a vector of one value; leave the shape out for a scalar")
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

const (
	// listed bounds the names that an error lists.
	listed = 12
	// hinted bounds the names among which a similar one is searched for.
	hinted = 1000
)

// known holds the names of the things of a kind.
type known struct {
	what  string
	names []string // sorted
}

func knownOf[V any](what string, m map[string]V) known { return known{what, sortedKeys(m)} }

// expected lists the names, and adds the one that a wrong name probably means.
func (k known) expected(found string) string {
	switch n := len(k.names); {
	case n == 0:
		return fmt.Sprintf("one of %s, but there are none", k.what)
	case n > listed:
		hint := ""
		if n <= hinted {
			hint = suggest.Hint(found, k.names)
		}
		return fmt.Sprintf("one of %s [%s, and %d more]%s", k.what, strings.Join(k.names[:listed], ", "), n-listed, hint)
	}
	return fmt.Sprintf("one of %s [%s]%s", k.what, strings.Join(k.names, ", "), suggest.Hint(found, k.names))
}

func dtypeNames() string {
	var all []string
	for _, d := range supported {
		all = append(all, d.String())
	}
	return strings.Join(all, ", ")
}
