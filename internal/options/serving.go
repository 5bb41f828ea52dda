package options

import (
	"reflect"
	"slices"
)

// Plans is the option of servers that answer by several plans, in place of Plan of Sampling.
var Plans = []Option{
	{Field: "Plans", Flag: "plan", Keyword: "plan", Group: GroupDraw, Common: true, Value: "[NAME=]FILE", Form: Repeated, Help: "file with a plan (JSON); with NAME= the plan of the questions that name it, and --plan can be repeated; questions that name none get the plan of --fanout or of a FILE without a name, else the first one"},
}

// Served are the options of Sampling of servers.
var Served = slices.Concat(Plans, slices.DeleteFunc(slices.Clone(Sampling), func(o Option) bool { return o.Field == "Plan" }))

// Asked are the options of Served without those that say which seeds there are: of batches whose seeds are asked for.
var Asked = slices.DeleteFunc(slices.Clone(Served), func(o Option) bool {
	return slices.Contains([]string{"Seeds", "SeedTime", "LimitSeeds", "Positives", "NegativesFrom"}, o.Field)
})

// Watching is the option of processes that run for long.
var Watching = []Option{
	{Field: "HTTP", Group: GroupServe, Common: true, Value: "HOST:PORT", Help: "HOST:PORT to answer /healthz, /readyz and /metrics on, over HTTP (default: none)"},
}

// ClearPlan clears what a plan in a file says itself of options of draws, given by a pointer: what is drawn, and from which type of seeds.
func ClearPlan(o any) {
	v := reflect.ValueOf(o).Elem()
	zero := func(field string) {
		if f := v.FieldByName(field); f.IsValid() {
			f.SetZero()
		}
	}
	for _, row := range Sampling {
		said := slices.Contains([]string{"Fanout", "SamplingSpec", "SeedType"}, row.Field) ||
			slices.ContainsFunc(row.Needs, func(n *Need) bool {
				return slices.Contains([]*Need{ByFanout, NotInPlan, OfNegatives, OfWalks, OfCluster, OfSpec}, n)
			})
		if said {
			zero(row.Field)
			zero(row.Also)
		}
	}
}
