package tfgnn

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/graphmill/graphmill/internal/fuzzing"
)

func binary(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := AppendBinary(nil, m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A binary schema reads as its text does, and fields of a later version survive.
func TestBinarySchema(t *testing.T) {
	m, err := ParseSchema("s", []byte(odd))
	if err != nil {
		t.Fatal(err)
	}
	b := binary(t, m)
	again, err := ParseSchema("s", b)
	if err != nil || !proto.Equal(m, again) || !bytes.Equal(binary(t, again), b) {
		t.Fatalf("not the same: %v", err)
	}
	// Field 99 of the schema and of a feature.
	unknown := protowire.AppendVarint(protowire.AppendTag(nil, 99, protowire.VarintType), 7)
	m.ProtoReflect().SetUnknown(unknown)
	m.Context.Features["cABd"].ProtoReflect().SetUnknown(unknown)
	b = binary(t, m)
	again, err = ParseSchema("s", b)
	if err != nil || !bytes.Equal(binary(t, again), b) {
		t.Fatalf("unknown fields are lost: %v", err)
	}
	warnings, err := CheckSchema(again)
	if all := strings.Join(warnings, "\n"); err != nil || !strings.Contains(all, "unknown field 99") || !strings.Contains(all, `context.features["cABd"]: found the unknown field 99`) {
		t.Errorf("found warnings %q, error %v", all, err)
	}
	f, err := InspectSchema("schema.pb", b)
	if err != nil || !f.Binary || f.Err() != nil || len(f.Warnings) != 2 || f.Name != "schema.pb" {
		t.Errorf("found %+v, %v", f, err)
	}
}

func TestBinaryErrorsSayWhere(t *testing.T) {
	m, err := ParseSchema("s", []byte(base))
	if err != nil {
		t.Fatal(err)
	}
	b := binary(t, m)
	for _, c := range []struct {
		name string
		data []byte
		err  string
	}{
		{"cut", b[:len(b)-1], "byte 16: found field 3, whose value is cut off"},
		{"group that never ends", append(bytes.Clone(b), 0x0b), "found field 1, whose value is cut off"},
		{"no tag", append(bytes.Clone(b), 0x00), "byte 29: found no field tag"},
		{"inside", []byte{0x12, 4, 0x0a, 9, 'n', 'o'}, "byte 2: found field 1, whose value is cut off"},
		{"huge length", []byte{0x12, 0xff, 0xff, 0xff, 0xff, 0x0f}, "byte 0: found field 2, whose value is cut off"},
	} {
		_, err := ParseSchema("x.pb", c.data)
		if !errors.Is(err, ErrSyntax) || !strings.HasPrefix(err.Error(), "x.pb: ") || !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: found error %v, expected %q", c.name, err, c.err)
		}
	}
}

// Text is never mistaken for binary, whatever line breaks it begins with.
func TestTextIsText(t *testing.T) {
	for _, text := range []string{base, "\n\n" + base, "\n\t# comment\r\n" + base, ""} {
		if m, err := ParseSchema("s", []byte(text)); err != nil || text != "" && m.NodeSets["n"] == nil {
			t.Errorf("%q: found %v, %v", text, m, err)
		}
	}
	_, err := ParseSchema("s", []byte{0x1f, 0x8b, 8, 0})
	if !errors.Is(err, ErrSyntax) {
		t.Errorf("found %v of a gzip header, expected a syntax error", err)
	}
}

// Any bytes give an error or a schema that stays the same when it is rewritten.
func FuzzBinarySchema(f *testing.F) {
	m, err := ParseSchema("s", []byte(odd))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(binary(f, m))
	f.Add([]byte{0x12, 4, 0x0a, 9, 'n', 'o'})
	f.Fuzz(func(t *testing.T, b []byte) {
		fuzzing.Check(t, len(b), func() {
			if !isBinary(b) {
				return
			}
			m, err := ParseSchema("s", b)
			if err != nil {
				if !errors.Is(err, ErrSyntax) || strings.Contains(err.Error(), "found ;") {
					t.Fatalf("found error %v", err)
				}
				return
			}
			_, _ = CheckSchema(m)
			out := binary(t, m)
			again, err := ParseSchema("s", out)
			if len(out) > 0 && (err != nil || !proto.Equal(m, again)) {
				t.Fatalf("not kept on rewriting: %v", err)
			}
		})
	})
}
