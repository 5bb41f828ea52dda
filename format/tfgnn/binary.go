package tfgnn

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graphmill/graphmill/internal/tagged"
)

// AppendBinary appends the wire form of a schema or spec to b. The same message
// gives the same bytes; fields that this version does not know are kept.
func AppendBinary(b []byte, m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true, AllowPartial: true}.MarshalAppend(b, m)
}

// isBinary tells the wire form from text. A message begins with the tag of a
// field that has a length; of those that a schema or spec begins with, text can
// only begin with a line break, and then it has no control characters, as the
// lengths and the tags behind them are.
func isBinary(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	switch b[0] {
	case 1<<3 | 2: // context, seed_op; also a line break
		return bytes.ContainsFunc(b, func(r rune) bool { return r < ' ' && !bytes.ContainsRune([]byte("\t\n\v\f\r"), r) })
	case 2<<3 | 2, 3<<3 | 2, 4<<3 | 2, 5<<3 | 2:
		return true
	}
	return false
}

func parseBinary(name string, b []byte, m proto.Message) error {
	err := proto.UnmarshalOptions{AllowPartial: true}.Unmarshal(b, m)
	if err == nil {
		return nil
	}
	desc := m.ProtoReflect().Descriptor()
	at, what := brokenAt(desc, b, 0)
	return tagged.Errorf(ErrSyntax, "%s: byte %d: found %s; expected a %s in binary or text format", name, at, what, desc.Name())
}

// brokenAt finds where a message of a type stops being one: the offset of the
// field, and what is wrong there. The messages of this package do not nest in
// themselves, so their types bound the depth.
func brokenAt(desc protoreflect.MessageDescriptor, b []byte, base int) (at int, what string) {
	for at := 0; at < len(b); {
		num, wire, n := protowire.ConsumeTag(b[at:])
		if n < 0 || !num.IsValid() {
			return base + at, "no tag of a field"
		}
		size := protowire.ConsumeFieldValue(num, wire, b[at+n:])
		if size < 0 {
			return base + at, fmt.Sprintf("field %d, whose value is cut off or malformed", num)
		}
		if f := desc.Fields().ByNumber(num); f != nil && f.Message() != nil && wire == protowire.BytesType {
			value, prefix := protowire.ConsumeBytes(b[at+n:])
			if deep, what := brokenAt(f.Message(), value, base+at+n+prefix-len(value)); what != "" {
				return deep, what
			}
		}
		at += n + size
	}
	return base, ""
}
