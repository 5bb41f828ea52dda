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

// Text that the decoder would change is an error with its line: a byte that is not UTF-8, and half a surrogate pair.
func TestEncoding(t *testing.T) {
	item := func(id string) string {
		return "{\"a\": 1,\n\"nodes\": [{\"id\": \"é\"},\n{\"id\": \"" + id + "\"}],\n\"links\": []}"
	}
	for _, c := range []struct{ text, want string }{
		{item("a\xff"), "g.json:3: found the byte 0xff, expected UTF-8; convert the file, for example with iconv -f latin1 -t utf8 FILE"},
		{item("\xe4\xb8"), "g.json:3: found the byte 0xe4"},
		{item("\xed\xa0\x80"), "g.json:3: found the byte 0xed"},
		{item(`\ud800`), "g.json:3: found an escape that is half a character"},
		{item(`\udc00\ud800`), "g.json:3: found an escape that is half a character"},
		{item(`\ud83d\ude00\\ud800 \ufffd�`), ""},
		{"{\"nodes\": [], \"links\": [], \"\xc3", "g.json:1: found the byte 0xc3"},
		{"{\"nodes\": [], \"links\": [], \"graph\":\n {\"name\": \"\xff\"}}", "g.json:2: found the byte 0xff"},
	} {
		for _, small := range []bool{false, true} {
			_, _, err := dump(c.text, small)
			if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, ErrFormat) || !strings.HasPrefix(err.Error(), c.want)) {
				t.Errorf("%q: found %v, expected %q", c.text, err, c.want)
			}
		}
	}
}

// No text makes the reader panic, and what is read does not depend on how the bytes come.
func FuzzRead(f *testing.F) {
	f.Add(`{"directed": true, "nodes": [{"id": "a", "x": 1.5}], "links": [{"source": "a", "target": "a", "l": [{}]}]}`)
	f.Add("{\"nodes\": [\n{\"id\": 1},\n{\"id\": null}], \"edges\": [")
	f.Add(`{"nodes": {}}`)
	f.Add(`{"nodes": [null]}`)
	f.Add(`[]`)
	f.Add("{\"nodes\": [{\"id\": \"a\xff\"}, {\"id\": \"\\ud800\"}], \"links\": []}")
	f.Fuzz(func(t *testing.T, text string) {
		fuzzing.Check(t, len(text), func() {
			a, h, err := dump(text, false)
			b, k, again := dump(text, true)
			if !slices.Equal(a, b) || err == nil && h != k || (err == nil) != (again == nil) || err != nil && !errors.Is(err, ErrFormat) {
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
