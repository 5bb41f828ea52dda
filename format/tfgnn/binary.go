package tfgnn

import (
	"bytes"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/graphmill/graphmill/internal/tagged"
)

// AppendBinary appends the wire format of a schema or spec to b. Equal messages give equal bytes. Fields that this
// version does not know are kept.
func AppendBinary(b []byte, m proto.Message) ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true, AllowPartial: true}.MarshalAppend(b, m)
}

// isBinary distinguishes the wire format from text. A message begins with the tag of a field with a length. Among the
// tags that a schema or spec can begin with, text can begin only with the one that is also a line break, and text has
// no control characters, while the lengths and tags that follow in a message are control characters.
func isBinary(b []byte) bool {
	if len(b) == 0 {
		return false
	}
	switch b[0] {
	case 1<<3 | 2: // context or seed_op; as a character, a line break
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

// brokenAt finds where b stops being a message of a type: the offset of the field, and what is wrong there. The
// messages of this package do not nest in themselves, so their types bound the depth.
func brokenAt(desc protoreflect.MessageDescriptor, b []byte, base int) (at int, what string) {
	for at := 0; at < len(b); {
		num, wire, n := protowire.ConsumeTag(b[at:])
		if n < 0 || !num.IsValid() {
			return base + at, "no field tag"
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
