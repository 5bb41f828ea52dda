package appending

import (
	"errors"
	"io"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/report"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What reads blocks ends with its input, with an error and, once a read returns, when nobody takes them.
func TestReadBlocks(t *testing.T) {
	broken := errors.New("broken")
	for _, end := range []error{io.EOF, broken} {
		blocks, stop := make(chan block), make(chan struct{})
		in := io.MultiReader(strings.NewReader("one\n"), failingReader{end})
		go readBlocks(in, blocks, stop)
		text := ""
		for {
			b := <-blocks
			text += string(b.bytes)
			if b.err != nil {
				if !errors.Is(b.err, end) || text != "one\n" {
					t.Errorf("found %q and %v, expected all and %v", text, b.err, end)
				}
				break
			}
		}
	}
	blocks, stop := make(chan block), make(chan struct{})
	close(stop)
	readBlocks(strings.NewReader(strings.Repeat("x", 3*blockBytes)), blocks, stop)
}

// failingReader is a reader with an error.
type failingReader struct{ err error }

// Read implements io.Reader.
func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

// A report names the lines of the last batch, and other inputs each once.
func TestLastInputs(t *testing.T) {
	r := &report.Report{}
	for i, name := range []string{"a.csv", "graph.yaml", "lines of p", "graph.yaml", "changed: lines of p", "lines of p", "a.csv", "dropped: lines of p", "lines of p"} {
		sum := "sum"
		if i%2 == 0 {
			sum = strings.Repeat("s", i)
		}
		r.Input(name, int64(i), sum)
	}
	lastInputs(r)
	var names []string
	for _, in := range r.Inputs {
		names = append(names, in.Name)
	}
	if got, want := strings.Join(names, ", "), "a.csv, graph.yaml, changed: lines of p, a.csv, dropped: lines of p, lines of p"; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}
