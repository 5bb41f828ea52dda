package tfgnn

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
)

// ErrInvalid is wrapped by errors of a schema that can be read but makes no sense.
var ErrInvalid = errors.New("not a valid message")

// The feature names that TF-GNN's encoding keeps for itself: the number of items
// of a set, and the ends of an edge set.
const (
	SizeName   = "#size"
	SourceName = "#source"
	TargetName = "#target"
)

// IDName is the feature that keeps the original ids of nodes.
const IDName = "#id"

// FeatureKey is the key of a feature in an Example: kind is "context", "nodes" or
// "edges", set is ignored for the context. The names are put together as they
// are: a key cannot be split again, since names may hold dots.
func FeatureKey(kind, set, feature string) string {
	if kind == "context" {
		return "context/" + feature
	}
	return kind + "/" + set + "." + feature
}

// RaggedKey is the key of the row lengths of tensor dimension dim (1 is the first
// behind the items) of the feature that has the given key.
func RaggedKey(key string, dim int) string { return fmt.Sprintf("%s.d%d", key, dim) }

var auxiliary = regexp.MustCompile(`^[_#!%.^~][a-zA-Z0-9_]*`)

// IsAuxiliary says whether TF-GNN's models pass over a set of that name.
func IsAuxiliary(set string) bool { return auxiliary.MatchString(set) }

// checker gathers what is wrong, and the owner of every key.
type checker struct {
	schema   *tfgnnpb.GraphSchema
	errs     []error
	warnings []string
	keys     map[string]string
}

func (c *checker) errorf(format string, args ...any) {
	c.errs = append(c.errs, fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrInvalid))
}

func (c *checker) warnf(format string, args ...any) {
	c.warnings = append(c.warnings, fmt.Sprintf(format, args...))
}

// CheckSchema checks what a schema says. All faults are reported, joined, in the
// order of the sets' names; warnings are what TF-GNN warns of, or refuses without
// need.
func CheckSchema(schema *tfgnnpb.GraphSchema) (warnings []string, err error) {
	c := &checker{schema: schema, keys: map[string]string{}}
	c.features("context", "", "the context", schema.GetContext().GetFeatures())
	for _, name := range sortedKeys(schema.NodeSets) {
		set, where := schema.NodeSets[name], fmt.Sprintf("node set %q", name)
		c.set("nodes", name, where, set.GetFeatures(), set.GetContext())
	}
	for _, name := range sortedKeys(schema.EdgeSets) {
		set, where := schema.EdgeSets[name], fmt.Sprintf("edge set %q", name)
		c.set("edges", name, where, set.GetFeatures(), set.GetContext())
		c.end(where, "source", set.GetSource())
		c.end(where, "target", set.GetTarget())
		c.key(FeatureKey("edges", name, SourceName), "the source of "+where)
		c.key(FeatureKey("edges", name, TargetName), "the target of "+where)
	}
	return c.warnings, errors.Join(c.errs...)
}

func (c *checker) set(kind, name, where string, features map[string]*tfgnnpb.Feature, context []string) {
	if name == "" {
		c.errorf("%s: found an empty name; give the set a name", where)
	}
	c.key(FeatureKey(kind, name, SizeName), "the size of "+where)
	c.features(kind, name, where, features)
	for _, f := range context {
		if _, ok := c.schema.GetContext().GetFeatures()[f]; !ok {
			c.errorf("%s: found a reference to context feature %q, expected one of [%s]", where, f, names(c.schema.GetContext().GetFeatures()))
		}
	}
}

func (c *checker) end(where, end, set string) {
	if _, ok := c.schema.NodeSets[set]; !ok {
		c.errorf("%s: found %s %q, expected one of the node sets [%s]", where, end, set, names(c.schema.NodeSets))
	}
}

// key claims a key of the encoding for one thing.
func (c *checker) key(key, owner string) {
	if other, taken := c.keys[key]; taken {
		c.errorf("%s and %s: found the same key %q in an Example, expected different ones; rename one of them", other, owner, key)
		return
	}
	c.keys[key] = owner
}

func (c *checker) features(kind, set, where string, features map[string]*tfgnnpb.Feature) {
	for _, name := range sortedKeys(features) {
		f, at := features[name], fmt.Sprintf("%s: feature %q", where, name)
		reserved := name == SizeName && kind != "context" || kind == "edges" && (name == SourceName || name == TargetName)
		switch {
		case name == "":
			c.errorf("%s: found an empty name; give the feature a name", at)
		case reserved:
			c.errorf("%s: found a name that the encoding uses itself; rename the feature", at)
		case name == SizeName, strings.HasPrefix(name, "#") && name != IDName && name != "#weight":
			c.warnf("%s: names with # are reserved by TF-GNN", at)
		}
		if f.Dtype == nil || f.GetDtype() == tfgnnpb.DataType_DT_INVALID {
			c.errorf("%s: found no dtype, expected one of %s", at, dtypeNames())
		}
		key := FeatureKey(kind, set, name)
		if !reserved {
			c.key(key, at)
		}
		c.shape(at, key, f)
	}
}

func (c *checker) shape(at, key string, f *tfgnnpb.Feature) {
	if f.GetShape().GetUnknownRank() {
		c.errorf("%s: found a shape of unknown rank, expected its dimensions", at)
	}
	dims, values, named := f.GetShape().GetDim(), int64(1), false
	for i, d := range dims {
		named = named || d.GetName() != ""
		switch n := d.GetSize(); {
		case n == -1:
			c.key(RaggedKey(key, i+1), fmt.Sprintf("%s (row lengths of dimension %d)", at, i+1))
		case n < 1:
			c.errorf("%s: found size %d of dimension %d, expected a size of at least 1, or -1 for a variable one", at, n, i+1)
		case values > math.MaxInt32/n:
			c.errorf("%s: found a shape of more than %d values, expected at most as many", at, math.MaxInt32)
		default:
			values *= n
		}
	}
	if len(dims) == 1 && dims[0].GetSize() == 1 {
		c.warnf("%s: shape [1] is a vector of one value; leave the shape out for a scalar", at)
	}
	if named && f.Description == nil {
		c.warnf("%s: TF-GNN refuses a name of a dimension where the feature has no description", at)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func names[V any](m map[string]V) string { return strings.Join(sortedKeys(m), ", ") }

func dtypeNames() string {
	var all []string
	for _, n := range slices.Sorted(maps.Keys(tfgnnpb.DataType_name)) {
		if n != int32(tfgnnpb.DataType_DT_INVALID) {
			all = append(all, tfgnnpb.DataType_name[n])
		}
	}
	return strings.Join(all, ", ")
}
