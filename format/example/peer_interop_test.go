//go:build interop

package example

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/proof"
)

//go:embed testdata/peer.py
var peerScript string

// question is an Example that the real TF-GNN is asked to read.
type question struct {
	Schema  string `json:"schema"`
	Record  []byte `json:"record"`
	Readout bool   `json:"readout"` // also validate it for readout
}

// answer is what TF-GNN makes of it.
type answer struct {
	Error  string            `json:"error"`
	Graph  graphView         `json:"graph"`
	Record []byte            `json:"record"` // write_example of the graph, keys sorted
	Text   string            `json:"text"`   // the Example in text format
	IOSpec map[string]string `json:"io_spec"`
}

// ask runs one TF-GNN for all questions.
func ask(t *testing.T, questions []question) []answer {
	t.Helper()
	peers := exec.Command("../../bench/peers.sh", "tfgnn")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tfgnn: %v", err)
	}
	var in, stderr bytes.Buffer
	for _, q := range questions {
		if err := json.NewEncoder(&in).Encode(q); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "-c", peerScript)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var answers []answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		var a answer
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(questions) {
		t.Fatalf("found %d answers, expected %d: %s", len(answers), len(questions), stderr.String())
	}
	return answers
}

// drawn is a random graph of a random schema.
type drawn struct {
	codec *Codec
	graph *GraphTensor
}

// TestPeerExamples asks the real TF-GNN everything in one process: it takes long to start.
func TestPeerExamples(t *testing.T) {
	var questions []question
	parts := []struct {
		name string
		ask  func(*testing.T) ([]question, func(*testing.T, []answer))
		more int
		test func(*testing.T, []answer)
	}{{name: "random graphs", ask: askRandomGraphs}, {name: "readouts", ask: askReadouts}, {name: "verdicts", ask: askVerdicts}}
	for i := range parts {
		more, test := parts[i].ask(t)
		parts[i].more, parts[i].test = len(more), test
		questions = append(questions, more...)
	}
	answers := ask(t, questions)
	for _, p := range parts {
		t.Run(p.name, func(t *testing.T) { p.test(t, answers[:p.more]) })
		answers = answers[p.more:]
	}
}

// The real TF-GNN reads what is written here of random schemas: the same values
// and shapes; it writes the same Example again, and prints the same text.
func askRandomGraphs(t *testing.T) ([]question, func(*testing.T, []answer)) {
	draw := rapid.Custom(func(t *rapid.T) drawn {
		c, err := NewCodec(drawSchema(t))
		if err != nil {
			t.Fatal(err)
		}
		return drawn{c, drawGraph(t, c)}
	})
	var (
		all       []drawn
		questions []question
	)
	for i := range proof.Count(t, 25, 300) {
		d := draw.Example(i)
		if i%3 == 0 {
			d.graph = d.codec.Random(uint64(i), 0)
		}
		for _, x := range d.graph.bound.tensors {
			for k, v := range x.Floats {
				// TensorFlow's casts take subnormal numbers for 0.
				if v != 0 && math.Abs(float64(v)) < 0x1p-126 {
					x.Floats[k] = 0
				}
			}
		}
		record, err := d.codec.Encode(new(Writer), d.graph)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
		questions = append(questions, question{Schema: string(tfgnn.AppendText(nil, d.codec.schema)), Record: record})
	}
	return questions, func(t *testing.T, answers []answer) {
		for i, a := range answers {
			q := questions[i]
			if a.Error != "" {
				t.Errorf("%s\n%x: TF-GNN says %s", q.Schema, q.Record, a.Error)
				continue
			}
			if d := sameView(all[i].graph.view(), a.Graph); d != "" {
				t.Errorf("%s\n%x: %s", q.Schema, q.Record, d)
			}
			features, err := unmarshal(a.Record) // which Python sorts in another way
			if err != nil {
				t.Fatal(err)
			}
			if want := marshal(t, features); !bytes.Equal(want, q.Record) && len(features) > 0 {
				t.Errorf("%s\nfound %x, TF-GNN writes %x", q.Schema, q.Record, want)
			}
			if text, _ := printedRecord(t, q.Record); text != a.Text {
				t.Errorf("found %s, Python prints %s", text, a.Text)
			}
			sameIOSpec(t, all[i].codec.IOSpec(), a.IOSpec)
		}
	}
}

// The random graphs of a schema with readout sets pass TF-GNN's check of them.
func askReadouts(t *testing.T) ([]question, func(*testing.T, []answer)) {
	codec := newCodec(t, readoutSchema)
	var questions []question
	for i := range 20 {
		record, err := codec.Encode(new(Writer), codec.Random(1, uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		questions = append(questions, question{Schema: readoutSchema, Record: record, Readout: true})
	}
	return questions, func(t *testing.T, answers []answer) {
		for i, a := range answers {
			if a.Error != "" {
				t.Errorf("%x: TF-GNN says %s", questions[i].Record, a.Error)
			}
		}
	}
}

// The verdicts beyond the golden ones: what TF-GNN reads and what it refuses of
// keys that are omitted, or have no list or a list of another kind.
func askVerdicts(t *testing.T) ([]question, func(*testing.T, []answer)) {
	const one = `node_sets { key: "s" value { features { key: "r" value { dtype: DT_INT64 shape { dim { size: -1 } } } } } }`
	const two = `node_sets { key: "s" value { features { key: "r" value { dtype: DT_INT64 shape { dim { size: -1 } } } } features { key: "q" value { dtype: DT_STRING shape { dim { size: 2 } dim { size: -1 } } } } } }`
	const context = `context { features { key: "r" value { dtype: DT_INT64 shape { dim { size: -1 } } } } } node_sets { key: "n" value {} }`
	const dense = `context { features { key: "c" value { dtype: DT_INT64 } } } node_sets { key: "n" value {} }`
	cases := []struct {
		name, schema string
		features     map[string]value
		accepted     bool
	}{
		{"rows omitted", one, map[string]value{"nodes/s.#size": ints(3)}, true},
		{"rows as empty lists", one, map[string]value{"nodes/s.#size": ints(3), "nodes/s.r": ints(), "nodes/s.r.d1": ints()}, true},
		{"rows without lists", one, map[string]value{"nodes/s.#size": ints(3), "nodes/s.r": {}, "nodes/s.r.d1": {}}, true},
		{"empty list of another kind", one, map[string]value{"nodes/s.#size": ints(3), "nodes/s.r": texts(), "nodes/s.r.d1": ints(0, 0, 0)}, false},
		{"lengths of another kind", one, map[string]value{"nodes/s.#size": ints(3), "nodes/s.r.d1": floats(0, 0, 0)}, false},
		{"size without a list", one, map[string]value{"nodes/s.#size": {}}, true},
		{"size of another kind", one, map[string]value{"nodes/s.#size": texts()}, false},
		{"rows of both features omitted", two, map[string]value{"nodes/s.#size": ints(3)}, true},
		{"rows of one feature omitted", two, map[string]value{"nodes/s.#size": ints(3), "nodes/s.r.d1": ints(0, 0, 0)}, false},
		{"context row omitted", context, nil, true},
		{"context row empty", context, map[string]value{"context/r.d1": ints(0)}, true},
		{"context value without a list", dense, map[string]value{"context/c": {}}, false},
	}
	var questions []question
	for _, c := range cases {
		questions = append(questions, question{Schema: c.schema, Record: marshal(t, c.features)})
	}
	return questions, func(t *testing.T, answers []answer) {
		for i, a := range answers {
			c := cases[i]
			codec := newCodec(t, c.schema)
			if err := codec.Decode(questions[i].Record, codec.New(), false); (err == nil) != c.accepted {
				t.Errorf("%s: found %v, expected accepted %v", c.name, err, c.accepted)
			}
			if (a.Error == "") != c.accepted {
				t.Errorf("%s: TF-GNN says %q, expected accepted %v", c.name, a.Error, c.accepted)
			}
		}
	}
}
