package drafting_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/proof"
)

func TestMain(m *testing.M) {
	proof.FewerChecks(10) // a check makes files and a store
	goleak.VerifyTestMain(m)
}
