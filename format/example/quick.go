package example

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"google.golang.org/protobuf/encoding/protowire"
)

// quick reads a record in the form that writers produce: fields in order and once each, numbers packed, keys
// ascending. For any other record, and for every error, it returns false, and the caller uses the general reader.
func (d *Decoder) quick(record []byte) bool {
	d.features = d.features[:0]
	msg, rest, ok := block(record, tag1)
	if !ok || len(rest) > 0 {
		return false
	}
	var last []byte
	for len(msg) > 0 {
		var entry, key, value []byte
		if entry, msg, ok = block(msg, tag1); !ok {
			return false
		}
		if key, entry, ok = block(entry, tag1); !ok || bytes.Compare(last, key) >= 0 && len(d.features) > 0 {
			return false
		}
		if value, entry, ok = block(entry, tag2); !ok || len(entry) > 0 {
			return false
		}
		last = key
		f := d.next()
		f.Key = key
		if len(value) == 0 {
			continue
		}
		tag := value[0]
		if tag != tag1 && tag != tag2 && tag != tag3 {
			return false
		}
		list, rest, ok := block(value, tag)
		if !ok || len(rest) > 0 {
			return false
		}
		f.Kind = Kind(tag >> 3)
		f.lists = append(f.lists, list)
		if !f.quick(list) {
			return false
		}
	}
	return true
}

// next adds a feature without values, reusing memory.
func (d *Decoder) next() *Feature {
	if len(d.features) < cap(d.features) {
		d.features = d.features[:len(d.features)+1]
	} else {
		d.features = append(d.features, Feature{})
	}
	f := &d.features[len(d.features)-1]
	*f = Feature{lists: f.lists[:0]}
	return f
}

// block takes a field with the given tag and a length from the start of a message.
func block(b []byte, tag byte) (value, rest []byte, ok bool) {
	if len(b) < 2 || b[0] != tag {
		return nil, nil, false
	}
	n, at := uint64(b[1]), 2
	if n >= 0x80 {
		var size int
		if n, size = protowire.ConsumeVarint(b[1:]); size < 0 {
			return nil, nil, false
		}
		at = 1 + size
	}
	if n > uint64(len(b)-at) {
		return nil, nil, false
	}
	end := at + int(n)
	return b[at:end], b[end:], true
}

// quick counts the values of the feature's only list.
func (f *Feature) quick(list []byte) bool {
	f.plain = true
	if f.Kind == BytesList {
		for at := 0; at < len(list); f.Count++ {
			// The length of most texts takes one byte.
			if at+1 < len(list) && list[at] == tag1 && list[at+1] < 0x80 {
				at += 2 + int(list[at+1])
				if at > len(list) {
					return false
				}
				continue
			}
			_, rest, ok := block(list[at:], tag1)
			if !ok {
				return false
			}
			at = len(list) - len(rest)
		}
		return true
	}
	if len(list) == 0 {
		return true
	}
	packed, rest, ok := block(list, tag1)
	if !ok || len(rest) > 0 {
		return false
	}
	f.lists[0] = packed
	if f.Kind == FloatList {
		f.Count = len(packed) / 4
		return len(packed)%4 == 0
	}
	// Each value has exactly one byte without the continuation bit, its last one.
	at := 0
	for ; at+8 <= len(packed); at += 8 {
		f.Count += 8 - bits.OnesCount64(binary.LittleEndian.Uint64(packed[at:])&marks)
	}
	for _, b := range packed[at:] {
		f.Count += int(b>>7 ^ 1)
	}
	// A varint that is too long has at least ten bytes, or no end.
	if f.Count == len(packed) {
		return true
	}
	return packed[len(packed)-1] < 0x80 && (len(packed) < 10 || whole(packed))
}

// marks are the continuation bits of eight bytes of varints.
const marks = 0x8080808080808080

// whole says whether 64 bits can hold each of the packed values.
func whole(packed []byte) bool {
	run := 0
	for _, b := range packed {
		if b < 0x80 {
			if run == 9 && b > 1 {
				return false
			}
			run = 0
		} else if run++; run == 10 {
			return false
		}
	}
	return true
}

// appendVarints appends n packed values, for which whole returned true.
func appendVarints(dst []int64, packed []byte, n int) []int64 {
	if n == len(packed) {
		for _, b := range packed {
			dst = append(dst, int64(b))
		}
		return dst
	}
	for at := 0; at < len(packed); {
		v := uint64(packed[at])
		at++
		if v >= 0x80 {
			v &= 0x7f
			for shift := 7; ; shift += 7 {
				b := packed[at]
				at++
				v |= uint64(b&0x7f) << shift
				if b < 0x80 {
					break
				}
			}
		}
		dst = append(dst, int64(v))
	}
	return dst
}
