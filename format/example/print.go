package example

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/graphmill/graphmill/format/tfgnn"
)

// AppendJSON appends the decoded Example as one JSON object without a line end: feature name -> {"int64" | "float" |
// "bytes": [values]}, sorted by name. A feature without a list is null. uint64 values appear as the int64 of their
// bits. A float is the shortest number that gives the same float32, or "NaN", "Infinity", "-Infinity". Bytes are
// base64. Bytes of a name that are not UTF-8, which protobuf forbids, become U+FFFD.
func AppendJSON(dst []byte, d *Decoder) []byte {
	dst = append(dst, '{')
	for i := range d.features {
		f := &d.features[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, f.Key), ':')
		if f.Kind == None {
			dst = append(dst, "null"...)
			continue
		}
		dst = append(append(append(dst, `{"`...), [...]string{BytesList: "bytes", FloatList: "float", Int64List: "int64"}[f.Kind]...), `":[`...)
		first := true
		f.each(func(n int64, x float32, text []byte) {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			switch f.Kind {
			case Int64List:
				dst = strconv.AppendInt(dst, n, 10)
			case FloatList:
				dst = appendJSONFloat(dst, x)
			case BytesList:
				dst = append(dst, '"')
				dst = base64.StdEncoding.AppendEncode(dst, text)
				dst = append(dst, '"')
			}
		})
		dst = append(dst, "]}"...)
	}
	return append(dst, '}')
}

// each calls f with every value, passing it in the argument of the feature's kind.
func (f *Feature) each(do func(int64, float32, []byte)) {
	run := func(b []byte) {
		for len(b) > 0 {
			if f.Kind == FloatList {
				do(0, math.Float32frombits(binary.LittleEndian.Uint32(b)), nil)
				b = b[4:]
				continue
			}
			v, n := protowire.ConsumeVarint(b)
			do(int64(v), 0, nil)
			b = b[n:]
		}
	}
	one := run
	if f.Kind == BytesList {
		one = func(b []byte) {
			text, _ := protowire.ConsumeBytes(b)
			do(0, 0, text)
		}
	}
	f.values(run, one)
}

func appendJSONFloat(dst []byte, x float32) []byte {
	switch v := float64(x); {
	case math.IsNaN(v):
		return append(dst, `"NaN"`...)
	case math.IsInf(v, 1):
		return append(dst, `"Infinity"`...)
	case math.IsInf(v, -1):
		return append(dst, `"-Infinity"`...)
	default:
		return strconv.AppendFloat(dst, v, 'g', -1, 32)
	}
}

func appendJSONString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ' || r == 0x7f:
			dst = append(dst, `\u00`...)
			dst = append(dst, "0123456789abcdef"[r>>4], "0123456789abcdef"[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
		i += n
	}
	return append(dst, '"')
}

// AppendText appends the decoded Example in protobuf's text format, with the bytes that Python's
// text_format.MessageToString prints: features sorted by key, bytes above 126 as octal numbers, floats with the
// fewest digits, at least six, that give the same float32. The text ends with a line end. It is empty for an Example
// of no bytes.
func AppendText(dst []byte, d *Decoder) []byte {
	if len(d.base) == 0 {
		return dst
	}
	dst = append(dst, "features {\n"...)
	for i := range d.features {
		f := &d.features[i]
		dst = append(dst, "  feature {\n    key: "...)
		dst = appendTextString(dst, f.Key)
		dst = append(dst, "\n    value {\n"...)
		if f.Kind != None {
			dst = append(append(append(dst, "      "...), f.Kind.String()...), " {\n"...)
			f.each(func(n int64, x float32, text []byte) {
				dst = append(dst, "        value: "...)
				switch f.Kind {
				case Int64List:
					dst = strconv.AppendInt(dst, n, 10)
				case FloatList:
					dst = tfgnn.AppendFloat(dst, x)
				case BytesList:
					dst = appendTextString(dst, text)
				}
				dst = append(dst, '\n')
			})
			dst = append(dst, "      }\n"...)
		}
		dst = append(dst, "    }\n  }\n"...)
	}
	return append(dst, "}\n"...)
}

func appendTextString(dst, text []byte) []byte {
	dst = append(dst, '"')
	for _, c := range text {
		switch {
		case c == '"' || c == '\'' || c == '\\':
			dst = append(dst, '\\', c)
		case c == '\n':
			dst = append(dst, `\n`...)
		case c == '\r':
			dst = append(dst, `\r`...)
		case c == '\t':
			dst = append(dst, `\t`...)
		case c < ' ' || c > '~':
			dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
