package options

import (
	"errors"
	"slices"
	"testing"

	"github.com/graphmill/graphmill/option"
)

func TestCheck(t *testing.T) {
	type all struct {
		option.Draw
		option.Batching
		option.Records
		Format option.Format
	}
	for _, c := range []struct {
		o    all
		need *Need
		want string
	}{
		{all{}, OfPPR, ""},
		{all{Draw: option.Draw{Alpha: 0.5}}, OfPPR, "found `Alpha` without `Sampler` ppr, expected them together"},
		{all{Draw: option.Draw{Alpha: 0.5, Sampler: option.SamplerPPR}}, OfPPR, ""},
		{all{Draw: option.Draw{WalkLength: 2}}, OfWalks, "found `WalkLength` without `Sampler` walk or saint-walk, expected them together"},
		{all{Draw: option.Draw{Untimed: []string{"cites"}}}, OfBefore, "found `Untimed` without `Before`, expected them together"},
		{all{Draw: option.Draw{Untimed: []string{}}}, OfBefore, "found `Untimed` without `Before`, expected them together"},
		{all{Draw: option.Draw{Expand: option.ExpandAll, FanoutByType: map[string][]int{}}}, ByFanout, ""},
		{all{Records: option.Records{IDs: []string{}}, Format: option.FormatCollection}, OfRecords, "found `IDs` with `Format` collection, expected `Format` tfrecord"},
		{all{Draw: option.Draw{Sampler: option.SamplerCluster, Fanout: []int{}}}, OfHops, "found `Fanout` with `Sampler` cluster, which chooses the nodes of batches and takes all edges between them, expected one of them"},
		{all{Draw: option.Draw{Window: "3"}}, OfTimes, "found `Window` without `Before`, expected the column of the times of edges in `Before`, or columns by type in `BeforeColumns` or `BeforeNodes`"},
		{all{Draw: option.Draw{Expand: option.ExpandAll, FanoutByType: map[string][]int{"cites": {1}}}}, ByFanout, ""},
		{all{Draw: option.Draw{Negatives: 1, SamplingSpec: "spec"}}, NotInPlan, ""},
		{all{Draw: option.Draw{Negatives: 1, Plan: "plan"}}, NotInPlan, "found `Negatives` without `Fanout`, expected it in the plan; write it in the plan, or give `Fanout` in place of the plan"},
		{all{Records: option.Records{Compat: option.CompatNone}, Format: option.FormatCollection}, OfRecords, ""},
		{all{Records: option.Records{Compat: option.CompatTFGNN}, Format: option.FormatCollection}, OfRecords, "found `Compat` with `Format` collection, expected `Format` tfrecord"},
		{all{Draw: option.Draw{Sampler: option.SamplerCluster, Scope: option.ScopeBatch}}, OfHops, ""},
		{all{Draw: option.Draw{Sampler: option.SamplerCluster, FanoutByType: map[string][]int{"cites": {1}}}}, OfHops, "found `Fanout` with `Sampler` cluster, which chooses the nodes of batches and takes all edges between them, expected one of them"},
	} {
		got := ""
		if err := Check(&c.o, c.need); err != nil {
			got = err.Error()
			if !errors.Is(err, option.ErrUsage) {
				t.Errorf("found %v, expected option.ErrUsage", err)
			}
		}
		if got != c.want {
			t.Errorf("found %q, expected %q", got, c.want)
		}
	}
}

// Every row has a help and a group, and a field of several flags has a need in one row.
func TestRows(t *testing.T) {
	type needed struct {
		field string
		need  *Need
	}
	said := map[needed]bool{}
	for _, table := range tables {
		for _, o := range table {
			for _, n := range o.Needs {
				if said[needed{o.Field, n}] {
					t.Errorf("found a need of %s twice, expected it in one row", o.Field)
				}
				said[needed{o.Field, n}] = true
			}
			if o.Help == "" || !slices.Contains(Groups, o.Group) {
				t.Errorf("found no help or group of %s", o.Field)
			}
		}
	}
}
