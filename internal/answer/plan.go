package answer

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/internal/feed"
)

// Plan is a plan by which a version of a store is asked.
type Plan struct {
	// Name is what questions name it by. "" is a plan without a name, which only questions that name none get.
	Name   string
	Source *feed.Source
	// Find is for questions with original ids; nil refuses these.
	Find Find
}

// Plans has what a server makes of each plan of a version, in their order.
type Plans[T any] struct {
	names []string
	made  []T
}

// NewPlans makes something of each plan. It refuses names that occur twice.
func NewPlans[T any](plans []Plan, made func(p *Plan) (T, error)) (*Plans[T], error) {
	x := &Plans[T]{}
	for i := range plans {
		p := &plans[i]
		for _, name := range x.names {
			if name == p.Name {
				return nil, fmt.Errorf("found two plans with the name %q, expected one", name)
			}
		}
		of, err := made(p)
		if err != nil {
			return nil, err
		}
		x.names, x.made = append(x.names, p.Name), append(x.made, of)
	}
	return x, nil
}

// Default is what was made of the first plan, which questions get that name none.
func (x *Plans[T]) Default() T { return x.made[0] }

// All is what was made of all plans.
func (x *Plans[T]) All() []T { return x.made }

// Of is what was made of the plan with a name; "" is the default one.
func (x *Plans[T]) Of(name string) (T, error) {
	if name == "" {
		return x.made[0], nil
	}
	for i, n := range x.names {
		if n == name {
			return x.made[i], nil
		}
	}
	var none T
	if named := namedPlans(x.names); len(named) > 0 {
		return none, fmt.Errorf("found the plan %q, expected one of %s, or none for the default one", name, strings.Join(named, ", "))
	}
	return none, fmt.Errorf("found the plan %q, expected none: this server has one plan, without a name", name)
}

// namedPlans are the names of plans without that of a plan that has none.
func namedPlans(names []string) (named []string) {
	for _, name := range names {
		if name != "" {
			named = append(named, name)
		}
	}
	return named
}
