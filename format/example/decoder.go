package example

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrCorrupt is wrapped by every error about bytes that are not an Example.
var ErrCorrupt = errors.New("not a tf.train.Example")

// Kind is the kind of a feature's list.
type Kind uint8

// The kinds, numbered as the fields of Feature. None means that the feature has no list.
const (
	None Kind = iota
	BytesList
	FloatList
	Int64List
)

// String is TensorFlow's name of the list: "int64_list".
func (k Kind) String() string {
	return [...]string{"no list", "bytes_list", "float_list", "int64_list"}[k&3]
}

// Feature is one feature of an Example. Its slices are views of the record.
type Feature struct {
	Key   []byte
	Kind  Kind
	Count int // number of values
	// lists are the bytes of the list messages, one after the other the values. If plain, there is at most one list,
	// and a list of numbers is only the packed run inside it.
	lists [][]byte
	plain bool
}

// Decoder finds the features of Examples. The zero value is ready to use. Each Decode reuses the memory.
type Decoder struct {
	features []Feature
	base     []byte
}

// Decode reads a record. The features are views of the record; they are valid until the next Decode or until the
// record changes.
func (d *Decoder) Decode(record []byte) error {
	d.base = record
	if d.quick(record) {
		return nil
	}
	d.features = d.features[:0]
	err := d.fields(record, "an Example", func(num protowire.Number, msg []byte) error {
		if num != 1 {
			return nil
		}
		return d.fields(msg, "Features", func(num protowire.Number, entry []byte) error {
			if num != 1 {
				return nil
			}
			return d.entry(entry)
		})
	})
	if err != nil {
		d.features = d.features[:0]
		return err
	}
	d.sort()
	return nil
}

// sort sorts the features by key. Of equal keys the last one stays.
func (d *Decoder) sort() {
	byKey := func(a, b Feature) int { return bytes.Compare(a.Key, b.Key) }
	if !slices.IsSortedFunc(d.features, byKey) {
		slices.SortStableFunc(d.features, byKey)
	}
	n := 0
	for i := range d.features {
		if i+1 < len(d.features) && bytes.Equal(d.features[i].Key, d.features[i+1].Key) {
			continue
		}
		// The swap keeps the memory of both for reuse.
		d.features[n], d.features[i] = d.features[i], d.features[n]
		n++
	}
	d.features = d.features[:n]
}

// Features lists the features sorted by key, each key once.
func (d *Decoder) Features() []Feature { return d.features }

// Find returns the feature of a key, or nil.
func (d *Decoder) Find(key string) *Feature {
	i := sort.Search(len(d.features), func(i int) bool { return string(d.features[i].Key) >= key })
	if i < len(d.features) && string(d.features[i].Key) == key {
		return &d.features[i]
	}
	return nil
}

// fields calls f for each field of a message that has a length, and skips the others.
func (d *Decoder) fields(msg []byte, what string, f func(protowire.Number, []byte) error) error {
	for len(msg) > 0 {
		num, typ, n := consumeTag(msg)
		if n < 0 {
			return d.corrupt(msg, what, n)
		}
		if typ != protowire.BytesType {
			k := protowire.ConsumeFieldValue(num, typ, msg[n:])
			if k < 0 {
				return d.corrupt(msg[n:], what, k)
			}
			msg = msg[n+k:]
			continue
		}
		value, k := protowire.ConsumeBytes(msg[n:])
		if k < 0 {
			return d.corrupt(msg[n:], what, k)
		}
		if err := f(num, value); err != nil {
			return err
		}
		msg = msg[n+k:]
	}
	return nil
}

// entry reads one entry of the map. Pieces of a value are merged as protobuf merges them: lists of one kind are
// joined, and a list of another kind replaces the earlier ones.
func (d *Decoder) entry(entry []byte) error {
	feature := d.next()
	err := d.fields(entry, "a map entry", func(num protowire.Number, value []byte) error {
		switch num {
		case 1:
			feature.Key = value
		case 2:
			return d.fields(value, "a Feature", func(num protowire.Number, list []byte) error {
				if num < 1 || num > 3 {
					return nil
				}
				if kind := Kind(num); kind != feature.Kind {
					feature.Kind, feature.Count, feature.lists = kind, 0, feature.lists[:0]
				}
				n, err := d.count(Kind(num), list)
				feature.Count += n
				feature.lists = append(feature.lists, list)
				return err
			})
		}
		return nil
	})
	return err
}

// count checks a list and returns the number of its values.
func (d *Decoder) count(kind Kind, list []byte) (int, error) {
	count := 0
	for len(list) > 0 {
		num, typ, n := consumeTag(list)
		if n < 0 {
			return 0, d.corrupt(list, kind.String(), n)
		}
		k := protowire.ConsumeFieldValue(num, typ, list[n:])
		if k < 0 {
			return 0, d.corrupt(list[n:], kind.String(), k)
		}
		switch {
		case num != 1:
		case typ == unpacked[kind]:
			count++
		case typ == protowire.BytesType:
			values, _ := protowire.ConsumeBytes(list[n:])
			if kind == FloatList {
				if len(values)%4 != 0 {
					return 0, d.corrupt(values, kind.String(), errFloats)
				}
				count += len(values) / 4
				break
			}
			for at := 0; at < len(values); count++ {
				if values[at] < 0x80 {
					at++
					continue
				}
				_, m := protowire.ConsumeVarint(values[at:])
				if m < 0 {
					return 0, d.corrupt(values[at:], kind.String(), m)
				}
				at += m
			}
		}
		list = list[n+k:]
	}
	return count, nil
}

// unpacked is the wire type of an unpacked value.
var unpacked = [...]protowire.Type{BytesList: protowire.BytesType, FloatList: protowire.Fixed32Type, Int64List: protowire.VarintType}

// Error codes in addition to protowire's own.
const (
	errFloats = -100 - iota // packed floats whose length is not a multiple of four
	errNumber               // a field number above the largest
)

// consumeTag is protowire's, but refuses field numbers above the largest valid one.
func consumeTag(b []byte) (protowire.Number, protowire.Type, int) {
	num, typ, n := protowire.ConsumeTag(b)
	if num > protowire.MaxValidNumber {
		n = errNumber
	}
	return num, typ, n
}

func (d *Decoder) corrupt(at []byte, what string, code int) error {
	// at is the rest of a view of the record, so the capacities give the offset.
	offset := cap(d.base) - cap(at)
	var problem string
	switch code {
	case errFloats:
		problem = "floats of a length that is no multiple of 4"
	case errNumber:
		problem = "a field number above the largest"
	default: // protobuf's errors begin with "proto:" and one of two kinds of space
		problem = strings.TrimLeft(strings.TrimPrefix(protowire.ParseError(code).Error(), "proto:"), " \u00a0")
	}
	return fmt.Errorf("byte %d: found %s in %s, expected a serialised Example: %w", offset, problem, what, ErrCorrupt)
}

// values calls run with each run of packed values and one with each unpacked value. Decode has checked the bytes.
func (f *Feature) values(run func([]byte), one func([]byte)) {
	if f.plain && f.Kind != BytesList {
		for _, packed := range f.lists {
			run(packed)
		}
		return
	}
	for _, list := range f.lists {
		for len(list) > 0 {
			num, typ, n := protowire.ConsumeTag(list)
			k := protowire.ConsumeFieldValue(num, typ, list[n:])
			if num == 1 {
				switch typ {
				case unpacked[f.Kind]:
					one(list[n : n+k])
				case protowire.BytesType:
					values, _ := protowire.ConsumeBytes(list[n:])
					run(values)
				}
			}
			list = list[n+k:]
		}
	}
}

// AppendInts appends the values of an int64_list to dst.
func (f *Feature) AppendInts(dst []int64) []int64 {
	if f.Kind != Int64List {
		return dst
	}
	dst = slices.Grow(dst, f.Count)
	if f.plain {
		if f.Count == 0 {
			return dst
		}
		return appendVarints(dst, f.lists[0], f.Count)
	}
	run := func(b []byte) {
		for at := 0; at < len(b); {
			if b[at] < 0x80 {
				dst = append(dst, int64(b[at]))
				at++
				continue
			}
			v, n := protowire.ConsumeVarint(b[at:])
			dst = append(dst, int64(v))
			at += n
		}
	}
	f.values(run, run)
	return dst
}

// AppendFloats appends the values of a float_list to dst.
func (f *Feature) AppendFloats(dst []float32) []float32 {
	if f.Kind != FloatList {
		return dst
	}
	dst = slices.Grow(dst, f.Count)
	if f.plain {
		if f.Count == 0 {
			return dst
		}
		n, packed := len(dst), f.lists[0]
		dst = dst[:n+f.Count]
		for i := range dst[n:] {
			dst[n+i] = math.Float32frombits(binary.LittleEndian.Uint32(packed[4*i:]))
		}
		return dst
	}
	run := func(b []byte) {
		for ; len(b) > 0; b = b[4:] {
			dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
	f.values(run, run)
	return dst
}

// AppendTexts appends the values of a bytes_list to dst. They are views of the record.
func (f *Feature) AppendTexts(dst [][]byte) [][]byte {
	if f.Kind != BytesList {
		return dst
	}
	dst = slices.Grow(dst, f.Count)
	if f.plain {
		for _, list := range f.lists {
			for len(list) > 0 {
				var text []byte
				if n := int(list[1]); n < 0x80 {
					text, list = list[2:2+n], list[2+n:]
				} else {
					text, list, _ = block(list, tag1)
				}
				dst = append(dst, text)
			}
		}
		return dst
	}
	f.values(nil, func(b []byte) {
		value, _ := protowire.ConsumeBytes(b)
		dst = append(dst, value)
	})
	return dst
}
