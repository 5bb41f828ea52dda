package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/tagged"
)

// planJSON is the JSON of a plan, as testdata/reference/sampling.py reads it. Pointers distinguish a missing field from
// zero.
type planJSON struct {
	SeedType  json.RawMessage `json:"seed_type"`
	SeedEdges string          `json:"seed_edges,omitempty"`
	Scope     *string         `json:"scope"`
	Expand    *string         `json:"expand"`
	Negatives *negativesJSON  `json:"negatives,omitempty"`
	Exclude   *excludeJSON    `json:"exclude,omitempty"`
	Subgraph  *string         `json:"subgraph,omitempty"`
	Ops       *[]opJSON       `json:"ops"`
	Hops      *int            `json:"hops,omitempty"`
	Before    *beforeJSON     `json:"before,omitempty"`

	Messages map[string]*Messages `json:"messages,omitempty"`
}

type opJSON struct {
	From   *[]int  `json:"from"`
	Edges  *string `json:"edges"`
	Dir    *string `json:"dir"`
	Take   *int    `json:"take"`
	How    *string `json:"how"`
	Column string  `json:"column,omitempty"`
	Hop    *int    `json:"hop,omitempty"`
	Parameters
}

type negativesJSON struct {
	How    *string  `json:"how"`
	Each   *float64 `json:"each"`
	By     *string  `json:"by,omitempty"`
	Column string   `json:"column,omitempty"`
	Strict *string  `json:"strict,omitempty"`
	Linked *string  `json:"linked,omitempty"`

	Times map[string]string `json:"times,omitempty"`
}

type excludeJSON struct {
	Reverse string `json:"reverse,omitempty"`
}

type beforeJSON struct {
	Column      *string           `json:"column,omitempty"`
	Columns     map[string]string `json:"columns,omitempty"`
	NodeColumns map[string]string `json:"node_columns,omitempty"`
	OrEqual     *bool             `json:"or_equal"`
	Untimed     []string          `json:"untimed,omitempty"`
	Window      *float64          `json:"window,omitempty"`
}

// The fields of a plan's objects.
var (
	planFields = fieldsOf[planJSON]()
	opFields   = fieldsOf[opJSON]()
	partFields = map[string][]string{
		"negatives": fieldsOf[negativesJSON](),
		"exclude":   fieldsOf[excludeJSON](),
		"before":    fieldsOf[beforeJSON](),
	}
)

// fieldsOf is the names of the fields of a struct in JSON.
func fieldsOf[T any]() []string {
	var names []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// ParsePlan reads the JSON of a plan. It refuses unknown and missing fields (only "seed_type", "scope", "expand" and
// "ops" are needed; of an op "from", "edges", "dir" and "take"; of negatives "how" and "each"; of before "or_equal" and a
// column), and plans without a meaning. Errors begin with name and, where the JSON is at fault, with the line.
func ParsePlan(name string, data []byte) (*Plan, error) {
	var raw planJSON
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&raw); err != nil {
		return nil, planError(name, data, d.InputOffset(), err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, planError(name, data, d.InputOffset(), errors.New("found more after the plan, expected one JSON object; remove what follows the last brace"))
	}
	if err := foldedFields(data); err != nil {
		return nil, planError(name, data, 0, err)
	}
	p, err := raw.plan()
	if err == nil {
		err = p.check()
	}
	if err != nil {
		if !errors.Is(err, ErrPlan) {
			err = tagged.Errorf(ErrPlan, "%w", err)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, nil
}

// unknownField begins the error of the decoder for a field that a plan does not have.
const unknownField = "json: unknown field "

// foldedFields refuses names that differ from the fields of a plan in case. The decoder takes these, and other readers
// of the file would not.
func foldedFields(data []byte) error {
	known := func(b []byte, names ...string) (map[string]json.RawMessage, error) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal(b, &m); err != nil {
			return nil, err
		}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			if !slices.Contains(names, name) {
				return nil, errors.New(unknownField + strconv.Quote(name))
			}
		}
		return m, nil
	}
	m, err := known(data, planFields...)
	if err != nil {
		return err
	}
	for _, part := range slices.Sorted(maps.Keys(partFields)) {
		if b := m[part]; b != nil {
			if _, err := known(b, partFields[part]...); err != nil {
				return err
			}
		}
	}
	var messages map[string]json.RawMessage
	if b := m["messages"]; b != nil {
		if err := json.Unmarshal(b, &messages); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		if _, err := known(messages[name], fieldsOf[Messages]()...); err != nil {
			return err
		}
	}
	var ops []json.RawMessage
	if b := m["ops"]; b != nil {
		if err := json.Unmarshal(b, &ops); err != nil {
			return err
		}
	}
	for _, o := range ops {
		if _, err := known(o, opFields...); err != nil {
			return err
		}
	}
	return nil
}

// planError adds the name and the line to a JSON error.
func planError(name string, data []byte, at int64, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		at = syntax.Offset
	case errors.As(err, &kind):
		at = kind.Offset
		field := strings.Replace(kind.Field, "Parameters.", "", 1) // the decoder names embedded structs
		err = fmt.Errorf("found %s in %s, expected %s", kind.Value, field, kind.Type)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at = int64(len(data))
		err = errors.New("found the end of the file, expected a plan; docs/plan.md has examples of plans")
	}
	field, unknown := strings.CutPrefix(err.Error(), unknownField)
	if unknown {
		at = int64(max(bytes.Index(data, []byte(field)), 0))
		err = fmt.Errorf("found unknown field %s, expected the fields of a plan; remove it, or correct its name as in docs/plan.md", field)
	}
	line := 1 + bytes.Count(data[:min(max(at, 0), int64(len(data)))], []byte("\n"))
	return tagged.Errorf(ErrPlan, "%s:%d: %w", name, line, err)
}

func (r *planJSON) plan() (*Plan, error) {
	p := &Plan{}
	var one string
	if len(r.SeedType) == 0 {
		return nil, missing("seed_type")
	}
	if json.Unmarshal(r.SeedType, &one) == nil {
		p.SeedType = []string{one}
	} else if json.Unmarshal(r.SeedType, &p.SeedType) != nil || len(p.SeedType) != 2 {
		return nil, fmt.Errorf("found seed_type %s, expected a node type, or a list of two", r.SeedType)
	}
	scope, err := numberOfName("scope", r.Scope, scopeNames)
	if err != nil {
		return nil, err
	}
	expand, err := numberOfName("expand", r.Expand, expandNames)
	if err != nil {
		return nil, err
	}
	p.Scope, p.Expand, p.SeedEdges = Scope(scope), Expand(expand), r.SeedEdges
	if err := r.links(p); err != nil {
		return nil, err
	}
	if r.Ops == nil {
		return nil, missing("ops")
	}
	for i, o := range *r.Ops {
		op, err := o.op()
		if err != nil {
			return nil, fmt.Errorf("op %d: %w", i+1, err)
		}
		p.Ops = append(p.Ops, op)
	}
	if r.Hops != nil {
		if *r.Hops < 1 && (*r.Hops < 0 || len(p.Ops) > 0) {
			return nil, fmt.Errorf("found hops %d, expected as many as the ops have", *r.Hops)
		}
		p.Hops = *r.Hops
	}
	for _, name := range slices.Sorted(maps.Keys(r.Messages)) {
		m := r.Messages[name]
		if m == nil {
			return nil, fmt.Errorf("found messages without a column for %s, expected {\"column\": NAME, \"values\": [VALUE]}; leave the edge type out to take all of its edges", name)
		}
		if p.Messages == nil {
			p.Messages = map[string]Messages{}
		}
		p.Messages[name] = *m
	}
	if r.Before != nil {
		if p.Before, err = r.Before.before(); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// links sets what a plan says about link seeds, and the kind of its subgraphs.
func (r *planJSON) links(p *Plan) error {
	kind, err := optional("subgraph", r.Subgraph, kindNames)
	if err != nil {
		return err
	}
	p.Kind = SubgraphKind(kind)
	if r.Exclude != nil {
		p.Exclude = &Exclude{Reverse: r.Exclude.Reverse}
	}
	n := r.Negatives
	if n == nil {
		return nil
	}
	if n.Each == nil {
		return missing("negatives.each")
	}
	how, err := numberOfName("negatives.how", n.How, corruptionNames)
	if err != nil {
		return err
	}
	by, err := optional("negatives.by", n.By, weightingNames)
	if err != nil {
		return err
	}
	strict, err := optional("negatives.strict", n.Strict, strictNames)
	if err != nil {
		return err
	}
	linked, err := optional("negatives.linked", n.Linked, linkedNames)
	if err != nil {
		return err
	}
	p.Negatives = &Negatives{How: Corruption(how), Each: *n.Each, By: Weighting(by), Column: n.Column, Strict: Strict(strict), Linked: Linked(linked), Times: n.Times}
	return nil
}

func (b *beforeJSON) before() (*Before, error) {
	if b.OrEqual == nil {
		return nil, missing("before.or_equal")
	}
	out := &Before{Columns: b.Columns, NodeColumns: b.NodeColumns, OrEqual: *b.OrEqual, Untimed: b.Untimed}
	if b.Column != nil {
		out.Column = *b.Column
	} else if b.Columns == nil && b.NodeColumns == nil {
		return nil, missing("before.column")
	}
	if b.Window != nil {
		if out.Window = *b.Window; out.Window == 0 {
			return nil, errors.New("found before.window 0, expected a length above 0; leave it out for no bound")
		}
	}
	return out, nil
}

func (o *opJSON) op() (Op, error) {
	switch {
	case o.From == nil:
		return Op{}, missing("from")
	case o.Edges == nil:
		return Op{}, missing("edges")
	case o.Dir == nil:
		return Op{}, missing("dir")
	case o.Take == nil:
		return Op{}, missing("take")
	}
	op := Op{From: *o.From, Edges: *o.Edges, Take: *o.Take, Column: o.Column, Parameters: o.Parameters}
	var err error
	if op.Dir, err = graph.ParseDirection(*o.Dir); err != nil {
		return Op{}, err
	}
	if o.Hop != nil {
		if *o.Hop < 1 {
			return Op{}, fmt.Errorf("found hop %d, expected one from 1", *o.Hop)
		}
		op.Hop = *o.Hop
	}
	if o.How != nil {
		how, err := numberOfName("how", o.How, howNames)
		if err != nil {
			return Op{}, err
		}
		op.How = How(how)
	}
	return op, nil
}

func missing(field string) error {
	return fmt.Errorf("found no %s, expected one; add it, as the examples in docs/plan.md do", field)
}

func numberOfName(field string, s *string, names []string) (int, error) {
	if s == nil {
		return 0, missing(field)
	}
	i := slices.Index(names, *s)
	if i < 0 {
		return 0, fmt.Errorf("found %s %q, expected one of %q", field, *s, names)
	}
	return i, nil
}

// optional is named, and 0 for a name that is not given.
func optional(field string, s *string, names []string) (int, error) {
	if s == nil {
		return 0, nil
	}
	return numberOfName(field, s, names)
}

// MarshalJSON writes the plan for ParsePlan and for the reference.
func (p *Plan) MarshalJSON() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	seedType, err := json.Marshal(p.SeedType)
	if !p.Link() {
		seedType, err = json.Marshal(p.SeedType[0])
	}
	if err != nil {
		return nil, err
	}
	scope, expand := p.Scope.String(), p.Expand.String()
	ops := make([]opJSON, len(p.Ops))
	for i := range p.Ops {
		o := &p.Ops[i]
		dir, how, from := o.Dir.String(), o.How.String(), o.From
		if from == nil {
			from = []int{}
		}
		ops[i] = opJSON{From: &from, Edges: &o.Edges, Dir: &dir, Take: &o.Take, How: &how, Column: o.Column, Parameters: o.Parameters}
		if o.Hop != 0 {
			ops[i].Hop = &o.Hop
		}
	}
	raw := planJSON{SeedType: seedType, Scope: &scope, Expand: &expand, Ops: &ops}
	if p.Hops != 0 {
		raw.Hops = &p.Hops
	}
	raw.SeedEdges = p.SeedEdges
	for name, m := range p.Messages {
		if raw.Messages == nil {
			raw.Messages = map[string]*Messages{}
		}
		raw.Messages[name] = &m
	}
	if n := p.Negatives; n != nil {
		how, by, strict := n.How.String(), n.By.String(), n.Strict.String()
		raw.Negatives = &negativesJSON{How: &how, Each: &n.Each, By: &by, Column: n.Column, Strict: &strict, Times: n.Times}
		if n.Linked != LinkedEver {
			linked := linkedNames[n.Linked]
			raw.Negatives.Linked = &linked
		}
	}
	if p.Exclude != nil {
		raw.Exclude = &excludeJSON{Reverse: p.Exclude.Reverse}
	}
	if p.Kind != Directional {
		kind := p.Kind.String()
		raw.Subgraph = &kind
	}
	if b := p.Before; b != nil {
		raw.Before = &beforeJSON{Columns: b.Columns, NodeColumns: b.NodeColumns, OrEqual: &b.OrEqual, Untimed: b.Untimed}
		if b.Column != "" {
			raw.Before.Column = &b.Column
		}
		if b.Window != 0 {
			raw.Before.Window = &b.Window
		}
	}
	return json.Marshal(raw)
}

// UnmarshalJSON is ParsePlan for a plan inside another JSON document.
func (p *Plan) UnmarshalJSON(data []byte) error {
	q, err := ParsePlan("plan", data)
	if err != nil {
		return err
	}
	*p = *q
	return nil
}
