package serving

import (
	"regexp"
	"strings"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/option"
)

// planName is what names of plans are: no path has them, so that FILE and NAME=FILE differ.
var planName = regexp.MustCompile(`^[\pL\pN_][\pL\pN_.-]{0,63}$`)

// ParsePlans makes the plans of a server, the default one first. files are "FILE", the default plan, and "NAME=FILE", plans that questions name. o has the options of all plans; those that say what is drawn
// are the default plan where there is no FILE, and do not count for the plans with names. With names alone, the first of these is the default one.
func ParsePlans(o option.Batches, files []string) ([]sampling.Plan, error) {
	drawn := o.Fanout != nil || o.FanoutByType != nil || o.SamplingSpec != ""
	shared := o
	if drawn {
		options.ClearPlan(&shared)
	}
	var plans []sampling.Plan
	names, unnamed := map[string]bool{}, false
	for _, text := range files {
		p := sampling.Plan{Batches: shared}
		name, file, named := strings.Cut(text, "=")
		if named = named && planName.MatchString(name); named {
			p.Name, p.Batches.Plan = name, file
		} else {
			p.Batches, p.Batches.Plan = o, text
		}
		switch {
		case p.Batches.Plan == "":
			return nil, operation.Usagef("found `Plans` %q, expected FILE or NAME=FILE", text)
		case names[p.Name] && named:
			return nil, operation.Usagef("found two plans with the name %q, expected one; give each a name of its own", p.Name)
		case names[p.Name]:
			return nil, operation.Usagef("found two plans without a name, expected one; write the other as `Plans` NAME=%s", text)
		}
		names[p.Name] = true
		if named {
			plans = append(plans, p)
		} else {
			plans, unnamed = append([]sampling.Plan{p}, plans...), true
		}
	}
	if drawn && !unnamed || len(plans) == 0 {
		plans = append([]sampling.Plan{{Batches: o}}, plans...)
	}
	for i := range plans {
		if err := sampling.CheckBatches(plans[i].Batches); err != nil {
			return nil, plans[i].Described(err)
		}
	}
	return plans, nil
}
