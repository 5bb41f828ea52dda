package nodelink

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

// dump reads a document into lines.
func dump(text string, small bool) (lines []string, h Header, err error) {
	in := strings.NewReader(text)
	add := func(x *Item) error {
		var values []string
		for name, v := range x.Values {
			values = append(values, fmt.Sprintf("%s:%d:%s", name, v.Kind, v.Text))
		}
		slices.Sort(values)
		lines = append(lines, fmt.Sprint(x.Line, x.Edge, values))
		return nil
	}
	if small {
		h, err = Read(iotest.OneByteReader(in), "g.json", add)
	} else {
		h, err = Read(in, "g.json", add)
	}
	return lines, h, err
}

func TestRead(t *testing.T) {
	text := "{\"x\": [[1]], \"directed\": true,\n\"nodes\": [\n{\"id\": \"a\\u00e9\", \"n\": null},\n\n{\"id\": -1.5e3, \"l\": []}],\n\"edges\": [{\"source\": 1, \"target\": 2, \"b\": false}]}\n"
	want := []string{"3 false [id:16:aé n:1:]", "5 false [id:8:-1.5e3 l:32:]", "6 true [b:2:false source:4:1 target:4:2]"}
	for _, small := range []bool{false, true} {
		got, h, err := dump(text, small)
		if err != nil || !slices.Equal(got, want) || h != (Header{"true", true, true}) {
			t.Errorf("found %q, %+v, %v, expected %q", got, h, err, want)
		}
	}
	stop := errors.New("stop")
	if _, err := Read(strings.NewReader(text), "g", func(*Item) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("found %v, expected the error of the function", err)
	}
	if _, err := Read(iotest.ErrReader(stop), "g", nil); !errors.Is(err, stop) || errors.Is(err, ErrFormat) {
		t.Errorf("found %v, expected the error of the file", err)
	}
}

// No text makes the reader panic, and what is read does not depend on how the bytes come.
func FuzzRead(f *testing.F) {
	f.Add(`{"directed": true, "nodes": [{"id": "a", "x": 1.5}], "links": [{"source": "a", "target": "a", "l": [{}]}]}`)
	f.Add("{\"nodes\": [\n{\"id\": 1},\n{\"id\": null}], \"edges\": [")
	f.Add(`{"nodes": {}}`)
	f.Add(`{"nodes": [null]}`)
	f.Add(`[]`)
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			a, h, err := dump(text, false)
			b, k, again := dump(text, true)
			if !slices.Equal(a, b) || h != k || (err == nil) != (again == nil) || err != nil && !errors.Is(err, ErrFormat) {
				t.Errorf("found %q, %+v, %v, and byte by byte %q, %+v, %v", a, h, err, b, k, again)
			}
		})
	})
}

// An error of the input ends the reading, also where the bytes that came with it are a whole document.
func TestErrorWithBytes(t *testing.T) {
	failure := errors.New("input/output error")
	in := fuzzing.FailOnce(strings.NewReader(`{"nodes": [{"id": 1}], "links": []}`), failure)
	if _, err := Read(in, "g.json", func(*Item) error { return nil }); !errors.Is(err, failure) {
		t.Errorf("found %v, expected %v", err, failure)
	}
}
