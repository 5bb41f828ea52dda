package flight

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/metadata"
)

// planHeader is the header that names the plan of a call. Requests name it, too; the schema of an exchange is sent before the first question.
const planHeader = "graphmill-plan"

// planOf is the name of the plan that the header of a call says, "" without one.
func planOf(ctx context.Context) (string, error) {
	md, _ := metadata.FromIncomingContext(ctx)
	switch names := md.Get(planHeader); len(names) {
	case 0:
		return "", nil
	case 1:
		return names[0], nil
	}
	return "", errors.New("found several headers " + planHeader + ", expected one")
}

// planFor is the plan of a request of a call, whose header may name it.
func (v *served) planFor(ctx context.Context, name string) (*servedPlan, error) {
	header, err := planOf(ctx)
	switch {
	case err != nil:
		return nil, err
	case name == "":
		name = header
	case header != "" && header != name:
		return nil, fmt.Errorf("found the plan %q in a call with the header %s: %s, expected the same plan in both; leave the header out", name, planHeader, header)
	}
	return v.plans.Of(name)
}

// checkPlan refuses a question that names another plan than the one of its exchange.
func (v *served) checkPlan(x *servedPlan, name string) error {
	if name == "" {
		return nil
	}
	y, err := v.plans.Of(name)
	if err == nil && y != x {
		return fmt.Errorf("found the plan %q in an exchange of another one, expected the same, because its answers have one schema; begin an exchange with the header %s: %s", name, planHeader, name)
	}
	return err
}
