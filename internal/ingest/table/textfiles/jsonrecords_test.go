package textfiles

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
	"github.com/graphmill/graphmill/internal/ingest/table"
)

// turned is the text of lines that one value of JSON becomes.
func turned(text string, small bool) (string, error) {
	in := io.Reader(strings.NewReader(text))
	if small {
		in = iotest.OneByteReader(in)
	}
	b, err := io.ReadAll(newRecordLines(in, "x.json"))
	return string(b), err
}

// The lines are the records as encoding/json reads them, and a record is on the line on which it starts in the file.
func TestRecordLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		blank := func() string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{" ", "\t", "\n", "\r\n"}), 0, 3).Draw(t, "blanks"), "")
		}
		value := func() string {
			return rapid.SampledFrom([]string{`1`, `"a,]}\"\\"`, `[{"b": [1]}]`, "{\n}", `"é\u00e9{"`, "[\n1,\n2 ]"}).Draw(t, "value")
		}
		lists := rapid.Bool().Draw(t, "lists")
		alone := rapid.Bool().Draw(t, "alone") // each record starts on a line of its own
		var records []string
		var starts []int
		text := blank() + map[bool]string{false: "[", true: "{"}[lists]
		for i := range rapid.IntRange(1, 5).Draw(t, "records") {
			if i > 0 {
				text += blank() + ","
			}
			if text += blank(); alone {
				text += "\n"
			}
			starts = append(starts, strings.Count(text, "\n")+1)
			v := value()
			switch {
			case lists:
				text += `"` + string(rune('1'+i)) + `":` + " [" + v + "]"
				records = append(records, `{"id": `+string(rune('1'+i))+`, "values": [`+v+"]}")
			default:
				text += `{"k": ` + v + "}"
				records = append(records, `{"k": `+v+"}")
			}
		}
		text += blank() + map[bool]string{false: "]", true: "}"}[lists] + blank()
		if !isRecords([]byte(text)) {
			t.Fatalf("%q: found other JSON, expected records", text)
		}
		for _, small := range []bool{false, true} {
			got, err := turned(text, small)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for i, line := range strings.Split(got, "\n") {
				if strings.TrimSpace(line) == "" {
					continue
				}
				if n == len(records) {
					t.Fatalf("%q: found the line %q after the last record", text, line)
				}
				var a, b any
				if err := errors.Join(json.Unmarshal([]byte(line), &a), json.Unmarshal([]byte(records[n]), &b)); err != nil {
					t.Fatal(err)
				}
				x, _ := json.Marshal(a)
				y, _ := json.Marshal(b)
				if !slices.Equal(x, y) || alone && i+1 != starts[n] {
					t.Fatalf("%q: found %s on line %d, expected %s on line %d", text, x, i+1, y, starts[n])
				}
				n++
			}
			if n != len(records) {
				t.Fatalf("%q: found %d records, expected %d", text, n, len(records))
			}
		}
	})
}

// No text makes the reader panic, and what is read does not depend on how the bytes come. A text that is not JSON gives an error here, or
// lines that are not JSON either.
func FuzzRecordLines(f *testing.F) {
	for _, text := range []string{`[{"a": 1}, {"b": "]"}]`, "[\n{\n}\n]\n", `{"0": [1], "12": []}`, `{"0": [1], "a": 2}`, `[{"a": "\`, `[{}] x`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			a, err := turned(text, false)
			b, again := turned(text, true)
			if a != b || (err == nil) != (again == nil) || err != nil && (!errors.Is(err, table.ErrFormat) || err.Error() != again.Error()) {
				t.Fatalf("found %q, %v, and byte by byte %q, %v", a, err, b, again)
			}
			whole := err == nil
			for line := range strings.Lines(a) {
				whole = whole && (strings.TrimSpace(line) == "" || json.Valid([]byte(line)))
			}
			if whole && !json.Valid([]byte(strings.TrimPrefix(text, "\ufeff"))) {
				t.Fatalf("found %q without an error, expected one for a text that is not JSON", a)
			}
		})
	})
}
