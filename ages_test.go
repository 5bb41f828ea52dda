package graphmill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/option"
)

// shop is a store of users, items and purchases with times, of which some are missing.
func shop(t *testing.T) *graphmill.Store {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"users.csv": "name,age,joined,left,rank,plan\nada,36,2024-01-01,2024-06-01,1,a\nbob,41,,2024-06-01,2,b\ncy,29,2024-02-01,2024-06-01,,a\n",
		"items.csv": "listed,number\n2024-01-05,1\n,2\n2024-01-07,3\n",
		"buys.csv":  "src,dst,at,count,seen,ever,real\n0,0,2024-03-01,1,2024-03-02,-inf,1\n0,1,2024-03-05,2,,1,nan\n1,0,,3,2024-03-02,2,2\n2,2,2024-03-15,4,2024-03-16,3,inf\n",
		"graph.yaml": `
nodes:
  user: {table: users.csv, columns: {name: string, age: int64, joined: datetime, left: "datetime[ms]", rank: {dtype: int32, missing: column}, plan: category}}
  item: {table: items.csv, columns: {listed: datetime, number: int64}}
  none: {count: 0}
edges:
  user:buys:item: {table: buys.csv, columns: {at: datetime, count: int64, seen: datetime, ever: float64, real: float64}}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st, err := graphmill.Import(t.Context(), dir, dir+"/g.store", option.Import{Build: option.Build{Both: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	return st
}

// purchases are batches of the purchases of users before April.
func purchases(age map[string]string) option.Batches {
	return option.Batches{
		Draw:     option.Draw{Fanout: []int{-1, -1}, Direction: option.DirectionOut, Scope: option.ScopeSeed, Before: "at"},
		Batching: option.Batching{SeedType: []string{"user"}, SeedTime: "2024-04-01"},
		Columns:  option.Columns{Features: []string{}},
		Ages:     option.Ages{Age: age},
	}
}

// Batches have ages where each of their rows has a time, in units of any column and of the ages. The types without ages, and those without nodes,
// have no column.
func TestAges(t *testing.T) {
	st := shop(t)
	day := 86400.0
	for _, c := range []struct {
		name string
		o    func(*option.Batches)
		want map[string]string
	}{
		{"edges that time lets through", func(o *option.Batches) { o.Age = map[string]string{"buys": "at"} },
			map[string]string{"edges/user:buys:item/x/age": fmt.Sprint([]float32{31, 27, 17}), "nodes/user/x/age": "none"}},
		{"nodes that time lets through", func(o *option.Batches) {
			o.Before, o.BeforeNodes, o.Age, o.AgeUnit = "", map[string]string{"item": "listed"}, map[string]string{"item": "listed"}, "seconds"
		}, map[string]string{"nodes/item/x/age": fmt.Sprint([]float32{float32(87 * day), float32(87 * day), float32(85 * day)})}},
		{"another unit, and a future", func(o *option.Batches) { o.Age, o.AgeUnit = map[string]string{"user": "left"}, "hours" },
			map[string]string{"nodes/user/x/age": fmt.Sprint([]float32{-61 * 24, -61 * 24, -61 * 24}), "edges/user:buys:item/x/age": "none"}},
		{"hops that draw nothing", func(o *option.Batches) { o.Fanout, o.Age = []int{0}, map[string]string{"user": "left"} },
			map[string]string{"nodes/user/x/age": fmt.Sprint([]float32{-61, -61, -61})}},
		{"plain numbers", func(o *option.Batches) {
			o.Before, o.SeedTime, o.Age = "count", "3", map[string]string{"user:buys:item": "count", "item": "number"}
		}, map[string]string{"edges/user:buys:item/x/age": fmt.Sprint([]float32{2, 1}), "nodes/item/x/age": fmt.Sprint([]float32{2, 1})}},
		{"floats that time lets through", func(o *option.Batches) {
			o.Before, o.SeedTime, o.Age = "real", "3", map[string]string{"buys": "real"}
		}, map[string]string{"edges/user:buys:item/x/age": fmt.Sprint([]float32{2, 1})}},
		{"another column of that name, joined", func(o *option.Batches) {
			o.Joined, o.Age = map[string][]string{"user/x": {"age"}}, map[string]string{"user": "left"}
		}, map[string]string{"nodes/user/x/x": "[36 41 29]", "nodes/user/x/age": fmt.Sprint([]float32{-61, -61, -61})}},
	} {
		o := purchases(nil)
		c.o(&o)
		all := batches(t, st, o)
		if len(all) != 1 {
			t.Fatalf("%s: found %d batches, expected 1", c.name, len(all))
		}
		for name, want := range c.want {
			got := "none"
			if column := all[0].Column(name); column != nil {
				got = fmt.Sprint(agesAt(t, all[0], name))
			}
			if got != want {
				t.Errorf("%s: %s: found %s, expected %s", c.name, name, got, want)
			}
		}
	}
}

// agesAt are the numbers of a column of a batch, by its path.
func agesAt(t *testing.T, b *graphmill.Batch, path string) any {
	t.Helper()
	parts := strings.Split(path, "/")
	if b.Column(path).DType.String() == "int64" {
		x, err := graphmill.Column[int64](b, parts[1], parts[3])
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	x, err := graphmill.Column[float32](b, parts[1], parts[3])
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// Ages that batches cannot have are refused before a batch is made, with what to do.
func TestAgesRefused(t *testing.T) {
	st := shop(t)
	for _, c := range []struct {
		age  map[string]string
		o    func(*option.Batches)
		want string
	}{
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.Before, o.SeedTime, o.Scope = "", "", "" },
			"found `Age` with a plan that does not use times, expected `Before`, and with it a time per seed"},
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.Scope = "" }, "found before with scope batch, expected scope seed; times belong to single seeds"},
		{nil, func(o *option.Batches) { o.AgeUnit = "days" }, "found `AgeUnit` without `Age`, expected them together"},
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.AgeUnit = "months" }, "found `AgeUnit` \"months\", expected seconds, minutes, hours, days, weeks or years"},
		{map[string]string{"usr": "left"}, nil, "found `Age` of \"usr\", expected a node type or an edge type: one of item, none, user, user:buys:item"},
		{map[string]string{"user": "lft"}, nil, "found no column \"lft\" of user for `Age`, expected a column of times or numbers: one of age, joined, left, rank"},
		{map[string]string{"none": "at"}, nil, "found no column \"at\" of none for `Age`, expected another type, since this one has no column of times"},
		{map[string]string{"user": "name"}, nil, "found string rows of shape [] in column \"name\" of user for `Age`, expected a column of times or numbers"},
		{map[string]string{"user": "plan"}, nil, "found categories in column \"plan\" of user for `Age`"},
		{map[string]string{"user": "rank"}, nil, "found plain numbers in column \"rank\" of user with `Age`, expected times, as those of the seeds are; import the column with the dtype datetime"},
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.Before, o.SeedTime = "count", "3" },
			"found times in column \"left\" of user with `Age`, expected plain numbers, as the times of the seeds are"},
		{map[string]string{"buys": "count"}, func(o *option.Batches) { o.Before, o.SeedTime, o.AgeUnit = "count", "3", "days" },
			"found `AgeUnit` days with plain numbers in column \"count\" of user:buys:item, expected none"},
		{map[string]string{"buys": "at", "user:buys:item": "at"}, nil, "found `Age` of user:buys:item twice, expected each type once"},
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.Features = nil },
			"found a column \"age\" of user in batches with `Age` of user, whose column has that name, expected one of them; leave the column out of `Features`, or put it beside others in `Joined`"},
		{map[string]string{"user": "left"}, func(o *option.Batches) { o.Joined = map[string][]string{"user/age": {"rank"}} }, "found a column \"age\" of user in batches"},
		{map[string]string{"user": "joined"}, nil, "column \"joined\" of user: found 1 of 3 rows without a time, the first is row 1, expected one in each for `Age`: an age is a number; give these rows a time at the import, with missing: VALUE of the column, or leave the type out of `Age`"},
		{map[string]string{"item": "listed"}, nil, "column \"listed\" of item: found 1 of 3 rows without a time, the first is row 1"},
		{map[string]string{"buys": "seen"}, nil, "column \"seen\" of user:buys:item: found 1 of 4 rows without a time"},
		{map[string]string{"buys": "ever"}, func(o *option.Batches) { o.Before, o.SeedTime = "ever", "3" }, "column \"ever\" of user:buys:item: found 1 of 4 rows without a time, the first is row 0"},
		{map[string]string{"buys": "at"}, func(o *option.Batches) { o.Subgraph = "induced" }, "column \"at\" of user:buys:item: found 1 of 4 rows without a time"},
		{map[string]string{"user": "rank"}, func(o *option.Batches) { o.Before, o.SeedTime = "count", "3" }, "column \"rank\" of user: found 1 of 3 rows without a time, the first is row 2"},
		{map[string]string{"user": "joined"}, func(o *option.Batches) { o.BeforeNodes = map[string]string{"user": "joined"} }, "column \"joined\" of user: found 1 of 3 rows without a time"},
		{map[string]string{"buys": "at"}, func(o *option.Batches) { o.SeedTime = "joined" },
			"found 1 of 3 seeds without a time, the first is seed 1, expected a time for each with `Age`: nodes and edges have an age at it; leave these seeds out, or leave `Age` out"},
	} {
		o := purchases(c.age)
		if c.o != nil {
			c.o(&o)
		}
		l, err := graphmill.NewLoader(t.Context(), st, o)
		if err == nil {
			l.Close()
		}
		if !strings.Contains(fmt.Sprint(err), c.want) {
			t.Errorf("%v: found %v, expected %q", c.age, err, c.want)
		}
	}
}
