package example

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func TestDecoderReadsWhatIsWritten(t *testing.T) {
	var (
		w Writer
		d Decoder
	)
	rapid.Check(t, func(t *rapid.T) {
		want := drawFeatures(t)
		got, err := decode(&d, encode(&w, want))
		if err != nil || !maps.EqualFunc(got, want, value.equal) {
			t.Fatalf("found %v, %v, expected %v", got, err, want)
		}
	})
}

// field encodes a field with a length.
func field(num protowire.Number, parts ...[]byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, num, protowire.BytesType), bytes.Join(parts, nil))
}

func varint(num protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(nil, num, protowire.VarintType), v)
}

func fixed(num protowire.Number, v uint32) []byte {
	return protowire.AppendFixed32(protowire.AppendTag(nil, num, protowire.Fixed32Type), v)
}

// forms are Examples that protobuf reads although no writer produces them.
var forms = map[string][]byte{
	"empty":               {},
	"no features":         field(1),
	"no key":              field(1, field(1, field(2, field(3, varint(1, 5))))),
	"no value":            field(1, field(1, field(1, []byte("k")))),
	"no list":             field(1, field(1, field(1, []byte("k")), field(2))),
	"unpacked":            field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5), varint(1, 1<<63))))),
	"unpacked floats":     field(1, field(1, field(1, []byte("k")), field(2, field(2, fixed(1, 0x3f800000), fixed(1, 0))))),
	"mixed":               field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5), field(1, []byte{1, 2, 0x80, 1}), varint(1, 9))))),
	"key behind value":    field(1, field(1, field(2, field(3, varint(1, 5))), field(1, []byte("k")))),
	"key twice":           field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5)))), field(1, field(1, []byte("a"))), field(1, field(1, []byte("k")), field(2, field(1, field(1, []byte("x")))))),
	"features in pieces":  bytes.Join([][]byte{field(1, field(1, field(1, []byte("b")))), field(1, field(1, field(1, []byte("a")), field(2, field(3, varint(1, 5)))))}, nil),
	"list in pieces":      field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5)), field(3, varint(1, 6))))),
	"value in pieces":     field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5))), field(2, field(3, varint(1, 6))))),
	"kind changes":        field(1, field(1, field(1, []byte("k")), field(2, field(3, varint(1, 5)), field(1, field(1, []byte("x"))), field(3, varint(1, 6))))),
	"unknown fields":      bytes.Join([][]byte{varint(9, 1), field(1, field(7, []byte("?")), fixed(8, 1), field(1, field(1, []byte("k")), field(3, []byte("?")), field(2, field(9), field(3, varint(2, 1), varint(1, 5), fixed(1, 2)))))}, nil),
	"wrong wire type":     bytes.Join([][]byte{varint(1, 1), field(1, varint(1, 5))}, nil),
	"cut":                 {0x0a, 5, 1},
	"cut varint":          field(1, field(1, field(1, []byte("k")), field(2, field(3, field(1, []byte{1, 0x80}))))),
	"varint of 11 bytes":  field(1, field(1, field(1, []byte("k")), field(2, field(3, field(1, bytes.Repeat([]byte{0x80}, 10), []byte{1}))))),
	"floats of 5 bytes":   field(1, field(1, field(1, []byte("k")), field(2, field(2, field(1, make([]byte, 5)))))),
	"length beyond":       {0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	"field number 0":      {0x02, 0},
	"group without end":   {0x0b},
	"group end":           {0x0c},
	"reserved wire type":  {0x0e},
	"text where a number": field(1, field(1, field(1, []byte("k")), field(2, []byte("hello, world")))),
}

// agree fails if the Decoder and protobuf read a record differently. protobuf decides what is an Example.
func agree(t *testing.T, d *Decoder, record []byte) {
	t.Helper()
	want, refused := unmarshal(record)
	got, err := decode(d, record)
	switch {
	case errors.Is(refused, errNoVerdict):
	case refused != nil && !errors.Is(err, ErrCorrupt):
		t.Fatalf("%x: found error %v, protobuf has %v", record, err, refused)
	case refused == nil && (err != nil || !maps.EqualFunc(got, want, value.equal)):
		t.Fatalf("%x: found %v, %v, expected %v", record, got, err, want)
	}
}

func TestForms(t *testing.T) {
	var d Decoder
	for name, record := range forms {
		t.Run(name, func(t *testing.T) { agree(t, &d, record) })
	}
}

func TestErrorSaysWhere(t *testing.T) {
	var d Decoder
	err := d.Decode(forms["cut varint"])
	if err == nil || !strings.Contains(err.Error(), "byte 14: found unexpected EOF in int64_list") {
		t.Errorf("found %v", err)
	}
	err = d.Decode(forms["floats of 5 bytes"])
	if err == nil || !strings.Contains(err.Error(), "byte 13: found floats of a length that is no multiple of 4 in float_list") {
		t.Errorf("found %v", err)
	}
	if len(d.Features()) != 0 {
		t.Errorf("found %d features after an error", len(d.Features()))
	}
}

func FuzzDecoder(f *testing.F) {
	for _, record := range forms {
		f.Add(record)
	}
	var (
		w Writer
		d Decoder
	)
	f.Add(bytes.Clone(subgraph()(&w)))
	f.Fuzz(func(t *testing.T, record []byte) {
		fuzzing.Check(t, len(record), func() { agree(t, &d, record) })
	})
}
