package report_test

import (
	"maps"
	"testing"

	"github.com/graphmill/graphmill/report"
)

// Appends of lines one after the other are one in the history of a store, with the last inputs and all marks.
func TestMadeAppend(t *testing.T) {
	var m report.Made
	lines := map[string]string{report.OptionLines: "true"}
	for _, s := range []report.Made{
		{Inputs: map[string]string{"a.csv": "1"}, Marks: map[string]string{"p": "5"}},
		{Inputs: map[string]string{"lines of p": "2"}, Options: lines},
		{Inputs: map[string]string{"lines of q": "3"}, Options: lines, Marks: map[string]string{"lines::t/0": "7"}},
		{Inputs: map[string]string{"lines of p": "4"}, Options: lines, Marks: map[string]string{"lines::t/0": "9", "lines::t/1": "1"}},
		{Inputs: map[string]string{"b.csv": "5"}},
		{Inputs: map[string]string{"lines of p": "6"}, Options: lines},
	} {
		before := m
		m.Append(&s)
		if n := len(before.Appended); n > 0 && &before.Appended[0] == &m.Appended[0] {
			t.Fatal("found that an append changes a history that others have")
		}
	}
	var inputs []map[string]string
	inputs = append(inputs, m.AppendedInputs()...)
	want := []map[string]string{{"a.csv": "1"}, {"lines of p": "4", "lines of q": "3"}, {"b.csv": "5"}, {"lines of p": "6"}}
	if len(inputs) != len(want) {
		t.Fatalf("found the inputs %v, expected %v", inputs, want)
	}
	for i := range want {
		if !maps.Equal(inputs[i], want[i]) {
			t.Errorf("found the inputs %v, expected %v", inputs[i], want[i])
		}
	}
	if got, want := m.LastMarks(), map[string]string{"p": "5", "lines::t/0": "9", "lines::t/1": "1"}; !maps.Equal(got, want) {
		t.Errorf("found the marks %v, expected %v", got, want)
	}
}
