package graphmill_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/option"
)

// An answer is the batch that an iteration has at this number with these seeds, under all scopes, whatever was asked before.
func TestAsker(t *testing.T) {
	defer goleak.VerifyNone(t)
	st := rmat(t)
	for _, scope := range []option.Scope{option.ScopeBatch, option.ScopeSeed, option.ScopeEpoch} {
		o := option.Batches{Draw: option.Draw{Fanout: []int{3, 2}, Scope: scope}, Batching: option.Batching{BatchSize: 30, Epochs: 2, Epoch: 5, Shuffle: true, Seed: 7}}
		want := batches(t, st, o)
		l, err := graphmill.NewLoader(t.Context(), st, o)
		if err != nil {
			t.Fatal(err)
		}
		a, err := l.Asker()
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			b := want[(i*7)%len(want)]
			var seeds []int64
			var ids []string
			for _, v := range graph.View[int64](b.Column("input_id").Values) { // the seeds are all nodes
				seeds, ids = append(seeds, v), append(ids, fmt.Sprint(v))
			}
			for _, q := range []graphmill.Question{{Seeds: seeds}, {IDs: ids}} {
				q.Epoch, q.Number = b.Epoch, b.Number
				got, err := a.Ask(q)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range b.Columns() {
					if c.Name != "input_id" && !reflect.DeepEqual(got.Clone().Column(c.Name).Values, c.Values) {
						t.Errorf("scope %s, epoch %d, batch %d: found another %s", scope, b.Epoch, b.Number, c.Name)
					}
				}
			}
		}
		for _, c := range []struct {
			q    graphmill.Question
			want string
		}{
			{graphmill.Question{Seeds: []int64{256}}, "found node 256, expected 0 to 255"},
			{graphmill.Question{IDs: []string{"x"}}, `found the id "x", expected the id of a node`},
			{graphmill.Question{IDs: []string{"1"}, Seeds: []int64{1}}, "found `Seeds` and `IDs`"},
			{graphmill.Question{Seeds: []int64{1}, Times: []int64{1}}, "a plan without times"},
			{graphmill.Question{Seeds: []int64{1}, Times: []int64{1}, FloatTimes: []float64{1}}, "found whole and float times"},
			{graphmill.Question{Seeds: []int64{1}, Number: -1}, "found batch -1"},
		} {
			if _, err := a.Ask(c.q); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: found %v, expected %q", c.q, err, c.want)
			}
		}
		l.Close()
	}
	l, err := graphmill.NewLoader(t.Context(), st, option.Batches{Draw: option.Draw{Fanout: []int{2}, Executor: option.ExecutorStream}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.Asker(); err == nil || !strings.Contains(err.Error(), "stream executor") {
		t.Errorf("found %v, expected the executor that it needs", err)
	}
}
