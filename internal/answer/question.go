package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/graphmill/graphmill/internal/feed"
	"github.com/graphmill/graphmill/internal/sample"
)

// Question asks for one batch.
type Question struct {
	// Plan is the name of the plan that is asked; "" is the default one.
	Plan string `json:"plan,omitempty"`
	Asked
	// Epoch and Batch are the numbers whose draws the answer has.
	Epoch uint64 `json:"epoch"`
	Batch uint64 `json:"batch"`
}

// Asked are the seeds that are asked for.
type Asked struct {
	// Seeds are row numbers of the store; those of links are source, target, source, target, ... IDs are the same nodes by their original ids. One
	// of the two is given.
	Seeds []int64 `json:"seeds,omitempty"`
	IDs   []ID    `json:"ids,omitempty"`
	// Times are the times of the seeds, one for each seed, where the plan looks at times: numbers in the unit of the store's.
	Times []json.Number `json:"times,omitempty"`
}

// ID is an original id: a text or a whole number in JSON.
type ID string

// UnmarshalJSON implements json.Unmarshaler.
func (id *ID) UnmarshalJSON(b []byte) error {
	var text string
	if json.Unmarshal(b, &text) == nil {
		*id = ID(text)
		return nil
	}
	var v uint64
	if err := json.Unmarshal(b, &v); err != nil {
		return fmt.Errorf("found the id %s, expected a text or a whole number", b)
	}
	*id = ID(strconv.FormatUint(v, 10))
	return nil
}

// Is says whether seeds are asked for.
func (a *Asked) Is() bool { return a.Seeds != nil || a.IDs != nil }

// Check refuses what no batch of a source can have.
func (a *Asked) Check(src *feed.Source) error {
	n := (len(a.Seeds) + len(a.IDs)) / len(src.SeedTypes())
	switch {
	case a.Seeds != nil && a.IDs != nil:
		return errors.New("found seeds and ids, expected one of them: ids are the original ones")
	case a.Times != nil && !a.Is():
		return errors.New("found times without seeds or ids, expected them together")
	case a.Is() && (n < 1 || n > src.BatchSize()):
		return fmt.Errorf("found %d seeds, expected 1 to %d, the batch size of the server", n, src.BatchSize())
	}
	return nil
}

// CheckIDs refuses original ids where a plan has none.
func (a *Asked) CheckIDs(p *Plan) error {
	if a.IDs != nil && p.Find == nil {
		return errors.New("found ids, expected seeds: this server has no original ids")
	}
	return nil
}

// Sample samples the batch of the seeds with a maker, and returns the bytes that it takes.
func (a *Asked) Sample(m *feed.Maker, p *Plan, epoch, batch uint64) (size int, err error) {
	seeds, err := a.nodes(p.Source, p.Find)
	if err != nil {
		return 0, err
	}
	times, err := a.times()
	if err != nil {
		return 0, err
	}
	return m.OfTimes(seeds, times, epoch, batch)
}

// nodes are the seeds by number: those that are asked for by id are found.
func (a *Asked) nodes(src *feed.Source, find Find) ([]int64, error) {
	if a.IDs == nil {
		return a.Seeds, nil
	}
	types := src.SeedTypes()
	seeds := make([]int64, 0, len(a.IDs))
	for i, id := range a.IDs {
		t := types[i%len(types)]
		v, ok := find(t, string(id))
		if !ok {
			return nil, fmt.Errorf("seed %d: found the id %q, expected the id of a node of type %s of the store", i/len(types), string(id), t)
		}
		seeds = append(seeds, v)
	}
	return seeds, nil
}

// times are the times of the seeds; nil where there are none.
func (a *Asked) times() (times []sample.Time, err error) {
	for i, text := range a.Times {
		if v, err := text.Int64(); err == nil {
			times = append(times, sample.IntTime(v))
			continue
		}
		v, err := text.Float64()
		if err != nil {
			return nil, fmt.Errorf("time %d: found %s, expected a number", i, text)
		}
		times = append(times, sample.FloatTime(v))
	}
	return times, nil
}

// Parse reads the JSON of a question, or of what else has one, into to. Keys that to does not have are an error.
func Parse(text []byte, to any, example string) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		return fmt.Errorf("reading the request: %w; expected JSON such as %s", err, example)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("reading the request: found more after byte %d, expected one JSON object", d.InputOffset())
	}
	return nil
}

// ExampleQuestion stands in errors about the JSON of a question.
const ExampleQuestion = `{"ids":["ada"]} or {"seeds":[4711],"epoch":0,"batch":0}`

// ParseQuestion reads a question. Check says whether a plan can answer it.
func ParseQuestion(text []byte) (*Question, error) {
	q := &Question{}
	return q, Parse(text, q, ExampleQuestion)
}

// Check refuses what a plan cannot answer.
func (q *Question) Check(p *Plan) error {
	if q.Batch > math.MaxInt64 {
		return fmt.Errorf("found batch %d, expected at most %d", q.Batch, math.MaxInt64)
	}
	if !q.Is() {
		return errors.New(`found a question without seeds and ids, expected one of them, such as {"ids":["ada"]}`)
	}
	return errors.Join(q.Asked.Check(p.Source), q.CheckIDs(p))
}
