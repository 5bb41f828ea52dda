package answer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/feed"
)

// Plan is a plan by which a version of a store is asked.
type Plan struct {
	// Name is the name that questions give. A plan with the name "" answers only questions that name no plan.
	Name   string
	Source *feed.Source
	// Find is for questions with original ids; nil refuses these.
	Find Find
}

// Plans holds one value per plan of a version, in the order of the plans.
type Plans[T any] struct {
	names []string
	made  []T
}

// NewPlans makes the value of each plan. It refuses two plans with one name.
func NewPlans[T any](plans []Plan, made func(p *Plan) (T, error)) (*Plans[T], error) {
	x := &Plans[T]{}
	for i := range plans {
		p := &plans[i]
		if slices.Contains(x.names, p.Name) {
			return nil, fmt.Errorf("found two plans with the name %q, expected one", p.Name)
		}
		of, err := made(p)
		if err != nil {
			return nil, err
		}
		x.names, x.made = append(x.names, p.Name), append(x.made, of)
	}
	return x, nil
}

// Default returns the value of the first plan, which answers questions that name no plan.
func (x *Plans[T]) Default() T { return x.made[0] }

// All returns the values of all plans, in their order.
func (x *Plans[T]) All() []T { return x.made }

// Of returns the value of the plan with a name; for "" it is Default.
func (x *Plans[T]) Of(name string) (T, error) {
	if name == "" {
		return x.Default(), nil
	}
	if i := slices.Index(x.names, name); i >= 0 {
		return x.made[i], nil
	}
	var none T
	if named := namedPlans(x.names); len(named) > 0 {
		return none, fmt.Errorf("found the plan %q, expected one of %s, or none for the default one", name, strings.Join(named, ", "))
	}
	return none, fmt.Errorf("found the plan %q, expected none: this server has one plan, without a name", name)
}

// namedPlans returns the names that are not empty.
func namedPlans(names []string) (named []string) {
	for _, name := range names {
		if name != "" {
			named = append(named, name)
		}
	}
	return named
}
