package sampling

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/batch"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/option"
)

// orderCase is a graph of 6 nodes, of which the seeds are 5, 1 and 3, or 3 links among them.
func orderCase(link bool) (*graph.Graph, *planned) {
	column := func(name string, values ...int32) *graph.Column {
		return &graph.Column{Name: name, DType: graph.Int32, Rows: len(values), Values: graph.Bytes(values)}
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "paper", Count: 6, Columns: []*graph.Column{
		column("year", 9, 2, 9, 0, 9, 1), column("#hidden", 0, 0, 0, 0, 0, 0),
	}}}}
	p := &planned{plan: &sample.Plan{SeedType: []string{"paper"}}, job: sample.Job{Seeds: []uint32{5, 1, 3}}}
	if link {
		p.plan.SeedType = []string{"paper", "paper"}
		p.job.Seeds = []uint32{5, 1, 3, 3, 0, 2}
		p.columns = []*graph.Column{column("stars", 1, 2, 0)}
	}
	return g, p
}

// An order is the order of package batch, by the values that the seeds have.
func TestSeedOrder(t *testing.T) {
	weighted, errWeighted := batch.Weighted([]float64{1, 2, 0}, 3)
	stratified, errStratified := batch.Stratified([]uint32{1, 2, 0})
	windowed, errWindowed := batch.Windowed(3, 2, 1)
	if err := errors.Join(errWeighted, errStratified, errWindowed); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		link bool
		want batch.Order
	}{
		{"weighted:year", false, weighted},
		{"weighted:stars", true, weighted},
		{"stratified:year", false, stratified},
		{"stratified:stars", true, stratified},
		{"windowed:2,1", false, windowed},
		{"windowed:2,1", true, windowed},
	} {
		g, p := orderCase(c.link)
		got, err := seedOrder(c.text, g, p)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		for epoch := range uint64(5) {
			a, b := make([]uint64, 3), make([]uint64, 3)
			got.Epoch(7, epoch).Fill(a, 0)
			c.want.Epoch(7, epoch).Fill(b, 0)
			if !slices.Equal(a, b) {
				t.Errorf("%s, epoch %d: found %v, expected %v", c.text, epoch, a, b)
			}
		}
	}
}

// What is no order is a fault of the options.
func TestBadSeedOrder(t *testing.T) {
	for text, want := range map[string]string{
		"shuffled":         "expected weighted:COLUMN, stratified:COLUMN or windowed:BLOCK,BLOCKS",
		"weighted":         `no column "" of node type paper, expected one of year`,
		"weighted:stars":   `no column "stars" of node type paper, expected one of year`,
		"windowed:2":       "such as windowed:4096,16",
		"windowed:0,1":     "such as windowed:4096,16",
		"windowed:1,0":     "such as windowed:4096,16",
		"windowed:1,2,3":   "such as windowed:4096,16",
		"windowed:-1,2":    "such as windowed:4096,16",
		"windowed:1e3,2":   "such as windowed:4096,16",
		"weighted:#hidden": "expected a positive and finite one",
	} {
		g, p := orderCase(false)
		_, err := seedOrder(text, g, p)
		if !errors.Is(err, option.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: found %v, expected a usage error with %q", text, err, want)
		}
	}
	g, p := orderCase(false)
	if o, err := seedOrder("", g, p); o != nil || err != nil {
		t.Errorf("found %v, %v, expected no order", o, err)
	}
}
