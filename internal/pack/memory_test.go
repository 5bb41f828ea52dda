package pack

import (
	"errors"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/limits"
)

// A histogram that a memory bound does not hold is refused while it is read.
func TestMemoryOfReading(t *testing.T) {
	text := "n,count\n" + strings.Repeat("1,1\n", 100_000)
	if _, err := ReadCSV("h.csv", strings.NewReader(text), limits.ProcessBytes+1<<20); !errors.Is(err, ErrMemory) {
		t.Errorf("found %v, expected %v", err, ErrMemory)
	}
	if _, err := ReadCSV("h.csv", strings.NewReader(text), limits.ProcessBytes+HistogramBytes(100_000, 1)); err != nil {
		t.Error(err)
	}
}
