package example

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// exampleType declares the messages as TensorFlow does, so that protobuf itself can check what the package writes and
// reads.
var exampleType = func() protoreflect.MessageDescriptor {
	var file descriptorpb.FileDescriptorProto
	err := prototext.Unmarshal([]byte(`
name: "example.proto" package: "tensorflow" syntax: "proto2"
message_type { name: "BytesList" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_BYTES } }
message_type { name: "FloatList" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_FLOAT options { packed: true } } }
message_type { name: "Int64List" field { name: "value" number: 1 label: LABEL_REPEATED type: TYPE_INT64 options { packed: true } } }
message_type {
  name: "Feature" oneof_decl { name: "kind" }
  field { name: "bytes_list" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".tensorflow.BytesList" oneof_index: 0 }
  field { name: "float_list" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".tensorflow.FloatList" oneof_index: 0 }
  field { name: "int64_list" number: 3 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".tensorflow.Int64List" oneof_index: 0 }
}
message_type {
  name: "Features"
  field { name: "feature" number: 1 label: LABEL_REPEATED type: TYPE_MESSAGE type_name: ".tensorflow.Features.FeatureEntry" }
  nested_type {
    name: "FeatureEntry" options { map_entry: true }
    field { name: "key" number: 1 label: LABEL_OPTIONAL type: TYPE_STRING }
    field { name: "value" number: 2 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".tensorflow.Feature" }
  }
}
message_type { name: "Example" field { name: "features" number: 1 label: LABEL_OPTIONAL type: TYPE_MESSAGE type_name: ".tensorflow.Features" } }
`), &file)
	if err != nil {
		panic(err)
	}
	fd, err := protodesc.NewFile(&file, nil)
	if err != nil {
		panic(err)
	}
	return fd.Messages().ByName("Example")
}()

// value is a feature as plain Go values.
type value struct {
	kind   Kind
	texts  [][]byte
	floats []float32
	ints   []int64
}

func (v value) equal(u value) bool {
	const quiet = 1 << 22 // protobuf's reflection keeps a float as a float64, which sets the bit of a signalling NaN
	bits := func(a, b float32) bool {
		return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b && math.Float32bits(a)|quiet == math.Float32bits(b)|quiet
	}
	return v.kind == u.kind && slices.EqualFunc(v.texts, u.texts, bytes.Equal) &&
		slices.EqualFunc(v.floats, u.floats, bits) && slices.Equal(v.ints, u.ints)
}

// marshal returns the bytes that protobuf writes for the features.
func marshal(t interface{ Fatal(...any) }, features map[string]value) []byte {
	ex := dynamicpb.NewMessage(exampleType)
	fs := ex.Mutable(exampleType.Fields().ByNumber(1)).Message()
	m := fs.Mutable(fs.Descriptor().Fields().ByNumber(1)).Map()
	for k, v := range features {
		feature := m.NewValue()
		if v.kind != None {
			list := feature.Message().Mutable(feature.Message().Descriptor().Fields().ByNumber(protoreflect.FieldNumber(v.kind))).Message()
			values := list.Mutable(list.Descriptor().Fields().ByNumber(1)).List()
			for _, x := range v.texts {
				values.Append(protoreflect.ValueOfBytes(x))
			}
			for _, x := range v.floats {
				values.Append(protoreflect.ValueOfFloat32(x))
			}
			for _, x := range v.ints {
				values.Append(protoreflect.ValueOfInt64(x))
			}
		}
		m.Set(protoreflect.ValueOfString(k).MapKey(), feature)
	}
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(ex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// errNoVerdict says that protobuf gave no verdict: some dynamic messages panic on a map entry whose key has another
// wire type.
var errNoVerdict = errors.New("protobuf panicked")

// unmarshal returns the features that protobuf reads.
func unmarshal(record []byte) (features map[string]value, err error) {
	defer func() {
		if recover() != nil {
			err = errNoVerdict
		}
	}()
	ex := dynamicpb.NewMessage(exampleType)
	if err := proto.Unmarshal(record, ex); err != nil {
		return nil, err
	}
	features = map[string]value{}
	fs := ex.Get(exampleType.Fields().ByNumber(1)).Message()
	fs.Get(fs.Descriptor().Fields().ByNumber(1)).Map().Range(func(k protoreflect.MapKey, f protoreflect.Value) bool {
		var v value
		if fd := f.Message().WhichOneof(f.Message().Descriptor().Oneofs().Get(0)); fd != nil {
			v.kind = Kind(fd.Number())
			list := f.Message().Get(fd).Message()
			values := list.Get(list.Descriptor().Fields().ByNumber(1)).List()
			for i := range values.Len() {
				switch x := values.Get(i); v.kind {
				case BytesList:
					v.texts = append(v.texts, x.Bytes())
				case FloatList:
					v.floats = append(v.floats, float32(x.Float()))
				case Int64List:
					v.ints = append(v.ints, x.Int())
				}
			}
		}
		features[k.String()] = v
		return true
	})
	return features, nil
}

// decode returns the features that the Decoder reads.
func decode(d *Decoder, record []byte) (map[string]value, error) {
	if err := d.Decode(record); err != nil {
		return nil, err
	}
	features := map[string]value{}
	for i := range d.Features() {
		f := &d.Features()[i]
		features[string(f.Key)] = value{kind: f.Kind, texts: f.AppendTexts(nil), floats: f.AppendFloats(nil), ints: f.AppendInts(nil)}
	}
	return features, nil
}

// encode writes features with a Writer.
func encode(w *Writer, features map[string]value) []byte {
	w.Reset()
	keys := slices.Sorted(maps.Keys(features))
	for _, k := range slices.Backward(keys) {
		switch v := features[k]; v.kind {
		case BytesList:
			Texts(w, NewKey(k), v.texts)
		case FloatList:
			Floats(w, NewKey(k), v.floats)
		case Int64List:
			Ints(w, NewKey(k), v.ints)
		}
	}
	return w.Close()
}
