package tfgnn

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// AppendText appends the text format of a schema, a spec or statistics to b. Equal messages give equal bytes, which
// prototext does not promise: fields by number, map entries by key, two spaces per level, as Python's text_format
// writes them.
func AppendText(b []byte, m proto.Message) []byte {
	return appendFields(b, 0, m.ProtoReflect())
}

func appendFields(b []byte, level int, m protoreflect.Message) []byte {
	fields := m.Descriptor().Fields()
	order := make([]protoreflect.FieldDescriptor, fields.Len())
	for i := range order {
		order[i] = fields.Get(i)
	}
	slices.SortFunc(order, func(a, b protoreflect.FieldDescriptor) int { return int(a.Number()) - int(b.Number()) })
	for _, f := range order {
		if !m.Has(f) {
			continue
		}
		v := m.Get(f)
		switch {
		case f.IsMap():
			b = appendMap(b, level, f, v.Map())
		case f.IsList():
			for i := range v.List().Len() {
				b = appendValue(b, level, f, v.List().Get(i))
			}
		default:
			b = appendValue(b, level, f, v)
		}
	}
	return b
}

// appendMap writes a map whose keys are strings. The messages have no other maps.
func appendMap(b []byte, level int, f protoreflect.FieldDescriptor, m protoreflect.Map) []byte {
	var keys []string
	m.Range(func(k protoreflect.MapKey, _ protoreflect.Value) bool {
		keys = append(keys, k.String())
		return true
	})
	slices.Sort(keys)
	for _, k := range keys {
		b = append(indent(b, level), f.Name()...)
		b = append(b, " {\n"...)
		b = appendValue(b, level+1, f.MapKey(), protoreflect.ValueOfString(k))
		b = appendValue(b, level+1, f.MapValue(), m.Get(protoreflect.ValueOfString(k).MapKey()))
		b = append(indent(b, level), "}\n"...)
	}
	return b
}

func appendValue(b []byte, level int, f protoreflect.FieldDescriptor, v protoreflect.Value) []byte {
	b = append(indent(b, level), f.Name()...)
	switch f.Kind() {
	case protoreflect.MessageKind:
		b = append(b, " {\n"...)
		b = appendFields(b, level+1, v.Message())
		return append(indent(b, level), "}\n"...)
	case protoreflect.EnumKind:
		b = append(b, ": "...)
		if e := f.Enum().Values().ByNumber(v.Enum()); e != nil {
			b = append(b, e.Name()...)
		} else {
			b = strconv.AppendInt(b, int64(v.Enum()), 10)
		}
	case protoreflect.FloatKind:
		b = AppendFloat(append(b, ": "...), float32(v.Float()))
	case protoreflect.StringKind:
		b = appendQuoted(append(b, ": "...), v.String())
	default: // integers and bools
		b = append(append(b, ": "...), v.String()...)
	}
	return append(b, '\n')
}

// AppendFloat appends a float as Python's text_format writes it: with the fewest digits, at least six, that give the
// same float32, formatted as Python prints that float64.
func AppendFloat(b []byte, x float32) []byte {
	v := float64(x)
	switch {
	case math.IsNaN(v):
		return append(b, "nan"...)
	case math.IsInf(v, 1):
		return append(b, "inf"...)
	case math.IsInf(v, -1):
		return append(b, "-inf"...)
	}
	for digits := 6; digits <= 9; digits++ {
		var buf [32]byte
		// The text is a number, so the only possible error is one of range, which the comparison below detects.
		short, _ := strconv.ParseFloat(string(strconv.AppendFloat(buf[:0], v, 'g', digits, 64)), 64)
		if float32(short) == x {
			v = short
			break
		}
	}
	if a := math.Abs(v); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.AppendFloat(b, v, 'e', -1, 64)
	}
	n := len(b)
	if b = strconv.AppendFloat(b, v, 'f', -1, 64); bytes.IndexByte(b[n:], '.') < 0 {
		b = append(b, ".0"...)
	}
	return b
}

func indent(b []byte, level int) []byte { return append(b, strings.Repeat("  ", level)...) }

func appendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch c := s[i]; {
		case c == '\n':
			b = append(b, `\n`...)
		case c == '\r':
			b = append(b, `\r`...)
		case c == '\t':
			b = append(b, `\t`...)
		case c == '"' || c == '\'' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ' || c == 0x7f || r == utf8.RuneError && n == 1:
			b = append(b, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return append(b, '"')
}
