package answer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/sample"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// ring is a plan of a ring of four nodes, of which "a" is node 0.
func ring(t testing.TB) *Plan {
	t.Helper()
	e, err := graph.ParseEdgeType("user:follows:user")
	if err != nil {
		t.Fatal(err)
	}
	g := &graph.Graph{Nodes: []*graph.Nodes{{Type: "user", Count: 4}}, Edges: []*graph.Edges{{Type: e, Count: 4, Primary: graph.In,
		Adj: [2]*graph.Adjacency{{Indptr: graph.Index{U32: []uint32{0, 1, 2, 3, 4}}, Far: graph.Index{U32: []uint32{1, 2, 3, 0}}}}}}}
	p, err := sample.FromFanouts(g, sample.Fanouts{Each: []int{2}}, sample.FanoutOptions{SeedType: []string{"user"}, Scope: sample.ScopeBatch, Expand: sample.ExpandNew})
	if err != nil {
		t.Fatal(err)
	}
	s, err := sample.New(g, p, sample.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	src, err := feed.NewSource(s, sample.Job{BatchSize: 3, Seeds: []uint32{0}}, feed.Features{}, false)
	if err != nil {
		t.Fatal(err)
	}
	return &Plan{Source: src, Find: func(_, id string) (int64, bool) { return 0, id == "a" }}
}

// Every question is either refused, or asks for batches that can be made or say why not, and reads the same again.
func FuzzQuestion(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"ids":["a"]}`, `{"ids":["b",7]}`, `{"seeds":[0,3,1],"epoch":18446744073709551615,"batch":9}`, `{"seeds":[4]}`, `{"seeds":[],"ids":[]}`, `{"seeds":[1],"times":[3]}`, `{"seeds":[1]} `, `{"plan":"x","seeds":[1]}`, `[1]`} {
		f.Add([]byte(s))
	}
	p := ring(f)
	m := p.Source.Maker()
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			q, err := ParseQuestion(b)
			if err != nil || q.Check(p) != nil {
				return
			}
			n, err := q.Sample(m, p, q.Epoch, q.Batch)
			if err == nil {
				batch := make([]byte, n)
				m.Write(batch, q.Batch)
			}
			text, errText := json.Marshal(q)
			if errText != nil {
				t.Fatal(errText)
			}
			again, errAgain := ParseQuestion(text)
			if errAgain != nil || again.Check(p) != nil {
				t.Fatalf("%s: found %v when read again", text, errAgain)
			}
			if k, errK := again.Sample(m, p, again.Epoch, again.Batch); k != n || (errK == nil) != (err == nil) {
				t.Fatalf("%s: found %d bytes, %v when asked again, expected %d, %v", text, k, errK, n, err)
			}
		})
	})
}

// Whatever a client sends, it is questions, then the end or a violation.
func FuzzFrames(f *testing.F) {
	whole := make([]byte, frameHead, frameHead+2)
	putHead(whole, 2, kindQuestion, 7)
	whole = append(whole, "{}"...)
	f.Add(whole)
	f.Add(append(whole, whole[:9]...))
	f.Add([]byte{255, 255, 255, 255, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			server, client := net.Pipe()
			var writing sync.WaitGroup
			writing.Go(func() {
				_, _ = client.Write(b)
				_ = client.Close()
			})
			q := questions{socket: server, in: bufio.NewReaderSize(server, 64)}
			at := 0
			for {
				_, text, err := q.next()
				if err != nil {
					if !errors.Is(err, io.EOF) && !errors.Is(err, errProtocol) {
						t.Errorf("found %v, expected the end or a violation", err)
					}
					break
				}
				if at += frameHead; !bytes.Equal(text, b[at:at+len(text)]) {
					t.Errorf("found the question %q, expected %q", text, b[at:at+len(text)])
				}
				at += len(text)
			}
			_ = server.Close()
			writing.Wait()
		})
	})
}
