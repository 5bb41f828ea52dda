package graphmill

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/human"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/report"
)

// Division describes how a graph was divided into parts, and how good the division is. Its JSON is what the command
// partition prints with --json. A pair is two neighbouring nodes: it counts once, whatever edges join them.
type Division struct {
	Output string `json:"output"` // the folder of the assignment, or the file in the form of gpmetis, as it was named
	Method string `json:"method"`
	// OutOfCore says how multilevel divided a graph that did not fit the memory; nil: it was in memory.
	OutOfCore *DivisionOutOfCore `json:"out_of_core,omitempty"`
	Parts     int                `json:"parts"`
	Trainers  int                `json:"trainers_per_machine,omitempty"`
	Nodes     int                `json:"nodes"`     // nodes of all types
	Pairs     int64              `json:"pairs"`     // pairs of neighbours
	Cut       int64              `json:"cut"`       // pairs in different parts
	CutShare  float64            `json:"cut_share"` // Cut / Pairs
	// Volume is the total communication volume: the sum, over all nodes, of the number of other parts in which the node
	// has neighbours.
	Volume   int64 `json:"volume"`
	Boundary int64 `json:"boundary_nodes"` // nodes with a neighbour in another part
	// Balance is the weight of the heaviest part divided by the mean, for each quantity that is balanced.
	Balance map[string]float64 `json:"balance"`
	// Within reports whether every part, and every trainer's share of one, keeps PartitionOptions.Imbalance.
	Within      bool    `json:"within_imbalance"`
	EdgeBalance float64 `json:"edge_balance"` // the largest sum of degrees of a part divided by the mean
	EmptyParts  int     `json:"empty_parts"`  // parts without a node
	// TrainerBalance is Balance for the trainers' shares of the parts.
	TrainerBalance map[string]float64 `json:"trainer_balance,omitempty"`
	// EdgeTypes has the cut of each edge type; it is empty for a METIS file.
	EdgeTypes map[string]EdgeTypeCut `json:"edge_types,omitempty"`
	Each      []DividedPart          `json:"each_part"`                         // one per part, in order
	Gaps      []TypeGap              `json:"types_not_in_every_part,omitempty"` // node types that some part lacks
	Random    RandomDivision         `json:"random"`                            // for comparison
	Seconds   float64                `json:"seconds"`                           // time of the division alone
	// ElapsedSeconds is the time of the whole run, with reading and writing.
	ElapsedSeconds float64          `json:"elapsed_seconds"`
	PeakRSS        int64            `json:"peak_rss_bytes"` // peak memory of the process, in bytes
	Forecast       DivisionForecast `json:"forecast"`
	Notes          []string         `json:"notes,omitempty"` // what the method chose or could not keep

	result *partition.Result
}

// EdgeTypeCut is the cut of an edge type.
type EdgeTypeCut struct {
	Edges    int64   `json:"edges"`     // edges of the type
	Cut      int64   `json:"cut"`       // edges between different parts
	CutShare float64 `json:"cut_share"` // Cut / Edges
}

// TypeGap is a node type that some parts have no node of.
type TypeGap struct {
	Type  string `json:"type"`
	Nodes int64  `json:"nodes"` // nodes of the type in the whole graph
	Parts []int  `json:"parts"` // parts that own no node of the type
}

// DividedPart describes a part.
type DividedPart struct {
	Nodes int64 `json:"nodes"` // nodes that the part owns
	// Volume is the number of nodes of other parts that are neighbours of the part's nodes. The sum over the parts is
	// Division.Volume. The halo of a part of Dispatch has some or all of these nodes, and more for several hops.
	Volume  int64            `json:"volume"`
	Cut     int64            `json:"cut"`     // pairs with one end in the part
	Weights map[string]int64 `json:"weights"` // weight of each quantity that is balanced
}

// RandomDivision has the values expected of a division that assigns nodes to parts at random.
type RandomDivision struct {
	Cut      float64 `json:"cut"`
	Volume   float64 `json:"volume"`
	CutRatio float64 `json:"cut_ratio"` // Division.Cut / Cut
}

// DivisionOutOfCore says how a graph that does not fit the memory was divided: in passes over temporary files, which made
// smaller graphs until one, the core, fitted.
type DivisionOutOfCore struct {
	Levels       int   `json:"levels"` // graphs, with the given one and the core
	CoreNodes    int   `json:"core_nodes"`
	CorePairs    int64 `json:"core_pairs"`
	Passes       int   `json:"passes"` // over the given graph
	ReadBytes    int64 `json:"read_bytes"`
	WrittenBytes int64 `json:"written_bytes"`
}

// DivisionForecast is the forecast made before the graph was divided.
type DivisionForecast struct {
	Memory  int64   `json:"memory_bytes"` // peak memory of the process, in bytes
	Disk    int64   `json:"disk_bytes"`   // temporary disk space, in bytes
	Seconds float64 `json:"seconds"`
	// Rough says that Seconds depends on the graph, and may be several times too small or too large.
	Rough bool `json:"seconds_rough,omitempty"`
	// Unknown says that Seconds is 0 because the time is not known.
	Unknown bool `json:"seconds_unknown,omitempty"`
}

func named(names []string, values []float64) map[string]float64 {
	m := map[string]float64{}
	for i, name := range names {
		m[name] = values[i]
	}
	return m
}

func newDivision(p *partition.Result, elapsed time.Duration) *Division {
	q := p.Quality
	j := &Division{
		Method: p.Method, Parts: p.Assignment.Parts, Trainers: p.Assignment.Trainers, Nodes: p.Nodes, Pairs: p.Pairs,
		Cut: q.Cut, CutShare: q.CutShare, Volume: q.Volume, Boundary: q.Boundary, Balance: named(p.Constraints, q.Balance), Within: p.Within,
		EdgeBalance: q.EdgeBalance, EmptyParts: q.EmptyParts, EdgeTypes: map[string]EdgeTypeCut{},
		Random:  RandomDivision{p.RandomCut, p.RandomVolume, ratio(float64(q.Cut), p.RandomCut)},
		Seconds: p.Seconds, ElapsedSeconds: elapsed.Seconds(), PeakRSS: report.PeakRSS(),
		Forecast: DivisionForecast{p.Forecast.Memory, p.Forecast.Disk, p.Forecast.Seconds, p.Forecast.Rough, p.Forecast.Unknown}, Notes: p.Notes, result: p,
	}
	if x := p.OutOfCore; x != nil {
		j.OutOfCore = &DivisionOutOfCore{x.Levels, x.CoreNodes, x.CorePairs, x.Passes, x.Read, x.Written}
	}
	if p.Trainers != nil {
		j.TrainerBalance = named(p.Constraints, p.Trainers.Balance)
	}
	for _, e := range p.Relations {
		j.EdgeTypes[e.Type] = EdgeTypeCut{e.Edges, e.Cut, ratio(float64(e.Cut), float64(e.Edges))}
	}
	for _, g := range p.Gaps {
		j.Gaps = append(j.Gaps, TypeGap{g.Type, g.Nodes, g.Parts})
	}
	for _, x := range q.Parts {
		w := map[string]int64{}
		for c, name := range p.Constraints {
			w[name] = x.Weights[c]
		}
		j.Each = append(j.Each, DividedPart{x.Nodes, x.Volume, x.Cut, w})
	}
	return j
}

// ratio returns a / b, or 0 if b is 0.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// Text writes the division in words.
func (j *Division) Text(w io.Writer) error {
	p := j.result
	var b strings.Builder
	fmt.Fprintf(&b, "%d parts, by %s%s in %s\n", j.Parts, j.Method, map[bool]string{true: ", out of core,"}[j.OutOfCore != nil], human.Duration(time.Duration(j.Seconds*float64(time.Second))))
	fmt.Fprintf(&b, "  cut      %s of %s pairs (%s; %s by chance)\n", human.Exact(j.Cut), human.Exact(j.Pairs), human.Percent(j.CutShare), human.Percent(ratio(p.RandomCut, float64(p.Pairs))))
	fmt.Fprintf(&b, "  volume   %s (%s by chance)\n", human.Exact(j.Volume), human.Exact(int64(p.RandomVolume)))
	for i, name := range p.Constraints {
		fmt.Fprintf(&b, "  balance  %.4f  %s\n", p.Quality.Balance[i], human.Printable(name))
	}
	fmt.Fprintf(&b, "  balance  %.4f  of edges, by degree%s\n", j.EdgeBalance, map[bool]string{true: "; see `BalanceEdges`"}[j.EdgeBalance > 1.5])
	if p.OutOfCore != nil {
		fmt.Fprintf(&b, "  core     %s\n", p.OutOfCore)
	}
	if j.EmptyParts > 0 {
		fmt.Fprintf(&b, "  %d parts are empty\n", j.EmptyParts)
	}
	if !p.Within {
		b.WriteString("  the requested balance was not reached\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// reportCut reports the quality of a division.
func reportCut(r *report.Report, p *partition.Result) {
	q := p.Quality
	r.Head("cut", report.Count(q.Cut, "pairs"))
	r.Head("share of pairs cut", report.Share(q.CutShare))
	r.Head("volume", report.Count(q.Volume, "nodes"))
	r.Head("edge balance", report.Number(q.EdgeBalance, ""))
	r.In("nodes", report.Count(p.Nodes, "nodes"))
	r.In("pairs of neighbours", report.Count(p.Pairs, "pairs"))
	r.Out("parts", report.Count(p.Assignment.Parts, "parts"))
	r.Out("method", report.Text(p.Method))
	if p.OutOfCore != nil {
		r.Note("out of core: " + p.OutOfCore.String())
	}
	for _, note := range p.Notes {
		r.Note(note)
	}
	if !p.Within {
		r.Note("the requested balance was not reached")
	}
	r.Warn(int64(q.EmptyParts), "parts are empty")

	chance := report.Table{Title: "Against chance", Columns: []string{"measure", "this", "nodes dealt out by chance", "ratio"}}
	for _, x := range []struct {
		name       string
		this, that float64
	}{{"cut", float64(q.Cut), p.RandomCut}, {"volume", float64(q.Volume), p.RandomVolume}} {
		chance.Rows = append(chance.Rows, []report.Value{report.Text(x.name), report.Count(int64(x.this), ""), report.Count(int64(x.that), ""), report.Number(ratio(x.this, x.that), "")})
	}
	r.Table(chance)

	balance := report.Table{Title: "Balance: the heaviest part against the mean", Columns: []string{"of", "parts"}}
	if p.Trainers != nil {
		balance.Columns = append(balance.Columns, "trainers")
	}
	add := func(name string, parts float64, trainers func() float64) {
		row := []report.Value{report.Text(name), report.Number(parts, "")}
		if p.Trainers != nil {
			row = append(row, report.Number(trainers(), ""))
		}
		balance.Rows = append(balance.Rows, row)
	}
	for c, name := range p.Constraints {
		add(name, q.Balance[c], func() float64 { return p.Trainers.Balance[c] })
	}
	add("degrees (edges)", q.EdgeBalance, func() float64 { return p.Trainers.EdgeBalance })
	r.Table(balance)

	if len(p.Relations) > 0 {
		types := report.Table{Title: "Edge types", Columns: []string{"edge type", "edges", "cut", "share"}}
		for _, e := range p.Relations {
			types.Rows = append(types.Rows, []report.Value{report.Text(e.Type), report.Count(e.Edges, ""), report.Count(e.Cut, ""), report.Share(ratio(float64(e.Cut), float64(e.Edges)))})
		}
		r.Table(types)
	}
	reportParts(r, p)
	for _, s := range p.Stages {
		r.Stage(s.Name, time.Duration(s.Seconds*float64(time.Second)), s.Count, s.Unit)
	}
}

// tellGaps warns about node types that some parts lack.
func (o *Run) tellGaps(r *report.Report, p *partition.Result) {
	if len(p.Gaps) == 0 {
		return
	}
	var list []string
	for _, g := range p.Gaps {
		list = append(list, fmt.Sprintf("%s: none of its %s nodes in part %s", g.Type, human.Exact(g.Nodes), human.List(g.Parts)))
	}
	what := fmt.Sprintf("node types are not in every part; DGL's server does not start for a part that owns no node of a type with features: %s", strings.Join(list, "; "))
	o.warn("%d %s", len(list), what)
	r.Warn(int64(len(list)), what)
}

// reportParts adds a table with a row per part to the report, and plots of the parts.
func reportParts(r *report.Report, p *partition.Result) {
	q := p.Quality
	parts := report.Table{Title: "Parts", Columns: []string{"part", "nodes", "volume", "pairs cut"}}
	if len(p.Relations) > 0 {
		parts.Columns = append(parts.Columns, "edges owned")
	}
	var inner, volume, cut []uint64
	for i, x := range q.Parts {
		inner, volume, cut = append(inner, uint64(x.Nodes)), append(volume, uint64(x.Volume)), append(cut, uint64(x.Cut))
		if i >= shownParts {
			continue
		}
		row := []report.Value{report.Count(i, ""), report.Count(x.Nodes, ""), report.Count(x.Volume, ""), report.Count(x.Cut, "")}
		if len(p.Relations) > 0 {
			var owned int64
			for _, e := range p.Relations {
				owned += e.Owned[i]
			}
			row = append(row, report.Count(owned, ""))
		}
		parts.Rows = append(parts.Rows, row)
	}
	if n := len(q.Parts); n > shownParts {
		parts.Title = fmt.Sprintf("Parts (the first %d of %d)", shownParts, n)
	}
	r.Table(parts)
	r.Note("the volume of a part is the number of nodes of other parts that are neighbours of its nodes")
	plotParts(r, "Sizes of parts", "nodes", partValues{"nodes", inner}, partValues{"volume", volume})
	plotParts(r, "Pairs that leave a part", "pairs", partValues{"pairs cut", cut})
	if m := betweenMap(q.Between, len(q.Parts)); m != nil {
		r.Heat(*m)
	}
}

// partValues is a number per part.
type partValues struct {
	name   string
	values []uint64
}

// plotParts draws a number per part: as bars, or as a distribution where there are too many parts for bars.
func plotParts(r *report.Report, title, of string, all ...partValues) {
	if len(all[0].values) <= report.MostBars {
		b := report.Bars{Title: title, X: "part", Y: of}
		for i := range all[0].values {
			b.Names = append(b.Names, strconv.Itoa(i))
		}
		for _, x := range all {
			b.Series = append(b.Series, report.BarSeries{Name: x.name, Values: x.values})
		}
		r.Bar(b)
		return
	}
	d := report.Distribution{Title: title, Of: "parts", What: of, View: report.Bins}
	for _, x := range all {
		h := new(report.Histogram)
		for _, v := range x.values {
			h.Add(v)
		}
		d.Series = append(d.Series, report.Series{Name: x.name, Histogram: h})
	}
	r.Plot(d)
}

// betweenMap draws the pairs between each two parts; nil if they are not counted or there is none.
func betweenMap(between []int64, parts int) *report.HeatMap {
	most, least := int64(0), int64(math.MaxInt64)
	for _, n := range between {
		if most = max(most, n); n > 0 {
			least = min(least, n)
		}
	}
	if most == 0 {
		return nil
	}
	m := &report.HeatMap{Title: "Pairs between parts", X: "part", Y: "part", Value: "pairs", Low: 0, High: float64(most), Numbered: true}
	if most >= 20*least {
		m.Low, m.Log = float64(least), true
	}
	for i, n := range between {
		if y, x := float64(i/parts), float64(i%parts); x != y {
			m.Cells = append(m.Cells, report.HeatCell{X0: x, X1: x + 1, Y0: y, Y1: y + 1, Value: float64(n)})
		}
	}
	return m
}

// shownParts is the most parts that a table of the report lists.
const shownParts = 128
