//go:build unix

package feed

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/features"
	"github.com/graphmill/graphmill/internal/reftest"
	"github.com/graphmill/graphmill/internal/sample"
)

// ageCase is two times as the reference takes them. Texts keep the digits of whole numbers.
type ageCase struct {
	Time          string `json:"time"`
	Seed          string `json:"seed"`
	FloatTime     bool   `json:"float_time"`
	FloatSeed     bool   `json:"float_seed"`
	TimePerSecond int64  `json:"time_per_second"`
	SeedPerSecond int64  `json:"seed_per_second"`
	Unit          string `json:"unit"`

	time, seed sample.Time
	ages       *ages
}

// randomTime is a time: a small or any whole number, one at the ends of int64, or a float.
func randomTime(r *rand.Rand, float bool) (string, sample.Time) {
	if float {
		x := (r.Float64() - 0.5) * math.Pow(10, float64(r.IntN(36)))
		return strconv.FormatFloat(x, 'g', -1, 64), sample.FloatTime(x)
	}
	x := r.Int64() >> r.IntN(63)
	switch r.IntN(8) {
	case 0:
		x = math.MaxInt64 - r.Int64N(3)
	case 1:
		x = math.MinInt64 + 1 + r.Int64N(3)
	case 2, 3:
		x = -x
	}
	return strconv.FormatInt(x, 10), sample.IntTime(x)
}

// Ages are those of the reference, bit for bit, in all units of times and ages, and at the ends of int64.
func TestAgeLaw(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	units := []graph.Unit{graph.Seconds, graph.Milliseconds, graph.Microseconds, graph.Nanoseconds}
	var names []string
	for name := range features.Units {
		names = append(names, name)
	}
	slices.Sort(names)
	cases := make([]*ageCase, 4000)
	for i := range cases {
		c := &ageCase{FloatTime: r.IntN(6) == 0, FloatSeed: r.IntN(6) == 0, TimePerSecond: 1, SeedPerSecond: 1}
		ofTime, ofSeed := graph.Unit(""), graph.Unit("")
		if r.IntN(3) > 0 {
			ofTime, ofSeed, c.Unit, c.FloatTime = units[r.IntN(4)], units[r.IntN(4)], names[r.IntN(len(names))], false // only whole numbers have a unit
			c.TimePerSecond, c.SeedPerSecond = ofTime.PerSecond(), ofSeed.PerSecond()
		}
		c.Time, c.time = randomTime(r, c.FloatTime)
		c.Seed, c.seed = randomTime(r, c.FloatSeed)
		asked := c.Unit
		if asked == "days" {
			asked = ""
		}
		c.ages, cases[i] = agesIn(ofSeed, ofTime, asked), c
	}
	for i, want := range reftest.Answers[float64](t, cmp.Or(reftest.Python(t), "python3"), "../features/testdata/reference/ages.py", cases) {
		c := cases[i]
		if got := c.ages.at(c.seed, c.time); got != float32(want) || math.IsInf(want, 0) {
			t.Errorf("time %s (%d per second) at the seed's time %s (%d per second) in %q: found %v, expected %v", c.Time, c.TimePerSecond, c.Seed, c.SeedPerSecond, c.Unit, got, float32(want))
		}
	}
}

// A batch has the age of each node and each edge at the time of its own seed: for links, also of the nodes of their negatives.
func TestAges(t *testing.T) {
	defer func(n int) { agesAtOnce = n }(agesAtOnce)
	agesAtOnce = 50 // fewer than a batch has
	var nodes, links []uint32
	var times []sample.Time
	for i := range uint32(90) {
		nodes, links = append(nodes, i*7%500), append(links, i*13%300, i*7%500)
		times = append(times, sample.IntTime(int64(i*11%130)-10)) // some are earlier than all edges
	}
	for name, c := range map[string]struct {
		o   sample.FanoutOptions
		job sample.Job
	}{
		"nodes": {sample.FanoutOptions{SeedType: []string{"user"}}, sample.Job{Seeds: nodes}},
		"links": {sample.FanoutOptions{SeedType: []string{"item", "user"}, Dir: graph.Out}, sample.Job{Seeds: links}},
	} {
		t.Run(name, func(t *testing.T) {
			g := timed()
			for _, n := range g.Nodes {
				born := make([]int16, n.Count)
				for i := range born {
					born[i] = int16(i * 17 % 140)
				}
				n.Columns = append(n.Columns, &graph.Column{Name: "born", DType: graph.Int16, Rows: n.Count, Values: graph.Bytes(born)})
			}
			c.o.Scope, c.o.Before = sample.ScopeSeed, &sample.Before{Column: "time"}
			c.job.Times, c.job.Shuffle = times, true
			f := Features{Nodes: map[string][]string{}, Edges: map[string][]string{}}
			for _, n := range g.Nodes {
				f.Nodes[n.Type], f.Ages = []string{"born"}, append(f.Ages, Age{n.Type, "born"})
			}
			for _, e := range g.Edges {
				typ := e.Type.String()
				f.Edges[typ], f.Ages = []string{"time"}, append(f.Ages, Age{typ, "time"})
			}
			src := planned(t, g, c.o, c.job, f)
			some := false
			for b := range src.Batches() {
				got := batchOf(t, src, 2, b)
				at := int64s(got["seed_time"])
				for _, n := range g.Nodes {
					path := "nodes/" + n.Type + "/"
					of, born := int64s(got[path+"batch"]), graph.View[int16](got[path+"x/born"])
					checkAges(t, path, got, func(i int) float32 { return float32(at[of[i]] - int64(born[i])) }, len(of))
				}
				for _, e := range g.Edges {
					path := "edges/" + e.Type.String() + "/"
					of, ends, time := int64s(got["nodes/"+e.Type.Dst+"/batch"]), int64s(got[path+"edge_index"]), int64s(got[path+"x/time"])
					dst := ends[len(ends)/2:]
					some = some || len(dst) > 0
					checkAges(t, path, got, func(i int) float32 { return float32(at[of[dst[i]]] - time[i]) }, len(dst))
				}
			}
			if !some {
				t.Error("found no edges, expected some")
			}
		})
	}
}

func checkAges(t *testing.T, path string, got map[string][]byte, want func(i int) float32, n int) {
	t.Helper()
	ages := graph.View[float32](got[path+"x/age"])
	if len(ages) != n {
		t.Fatalf("%s: found %d ages, expected %d", path, len(ages), n)
	}
	for i, age := range ages {
		if age != want(i) {
			t.Fatalf("%s: row %d: found the age %v, expected %v", path, i, age, want(i))
		}
	}
}

// Ages that no batch can have are refused.
func TestAgesRefused(t *testing.T) {
	before := &sample.Before{Column: "time"}
	for _, c := range []struct {
		before *sample.Before
		age    Age
		want   string
	}{
		{nil, Age{"user", "x"}, "found ages and a plan without times"},
		{before, Age{"user", "born"}, `found no column "born" of user with its times, expected one of `},
		{before, Age{"user", "x"}, `column "x" of user: found float32 rows of shape [3]`},
	} {
		p, err := sample.FromFanouts(timed(), sample.Fanouts{Each: []int{2}}, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeSeed, Before: c.before})
		if err != nil {
			t.Fatal(err)
		}
		s, err := sample.New(timed(), p, sample.Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, err = NewSource(s, sample.Job{BatchSize: 2, Seeds: []uint32{1}, Times: []sample.Time{sample.IntTime(3)}}, Features{Ages: []Age{c.age}}, false)
		if s.Close(); !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%v: found %v, expected %q", c.age, err, c.want)
		}
	}
}
