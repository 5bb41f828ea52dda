package delta

import (
	"encoding/binary"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/vfs"
)

// deletionVector says which rows of a file are deleted.
type deletionVector struct {
	StorageType  string `json:"storageType"`
	PathOrInline string `json:"pathOrInlineDv"`
	Offset       *int32 `json:"offset"`
	SizeInBytes  int32  `json:"sizeInBytes"`
	Cardinality  int64  `json:"cardinality"`
}

// id identifies a deletion vector.
func (v *deletionVector) id() string {
	id := v.StorageType + v.PathOrInline
	if v.Offset != nil {
		id += fmt.Sprintf("@%d", *v.Offset)
	}
	return id
}

// read returns the numbers of the deleted rows. table is the folder of the table.
func (v *deletionVector) read(fsys vfs.FS, table string, resolve func(string) (string, error)) (*roaring64.Bitmap, error) {
	var b []byte
	place := filepath.Join(table, Log)
	switch v.StorageType {
	case "i":
		var ok bool
		if b, ok = decode85(v.PathOrInline); !ok || int(v.SizeInBytes) > len(b) || v.SizeInBytes < 0 {
			return nil, lake.Badf("%s: found an inline deletion vector that is not %d bytes in Z85, expected them; the log is damaged", place, v.SizeInBytes)
		}
		b = b[:v.SizeInBytes]
	case "u", "p":
		name := v.PathOrInline
		if v.StorageType == "u" {
			var ok bool
			if name, ok = vectorFile(name); !ok {
				return nil, lake.Badf("%s: found the deletion vector %q, expected a UUID in Z85; the log is damaged", place, v.PathOrInline)
			}
		}
		path, err := resolve(name)
		if err != nil {
			return nil, err
		}
		at := int64(1) // after the version of the format
		if v.Offset != nil {
			at = int64(*v.Offset)
		}
		if b, err = lake.ReadVector(fsys, path, at, int64(v.SizeInBytes)); err != nil {
			return nil, err
		}
		place = path
	default:
		return nil, lake.Badf("%s: found a deletion vector of storage type %q, expected u, p or i; update Graphmill", place, v.StorageType)
	}
	deleted, err := lake.DecodeVector(b)
	if err == nil && deleted.GetCardinality() != uint64(v.Cardinality) {
		err = fmt.Errorf("found %d deleted rows, expected %d as the log says", deleted.GetCardinality(), v.Cardinality)
	}
	if err != nil {
		return nil, lake.Badf("%s: deletion vector: %w; the table is damaged", place, err)
	}
	return deleted, nil
}

// vectorFile is the path of a file of deletion vectors, in the folder of the table: the last 20 characters are its UUID, and those before
// a folder.
func vectorFile(name string) (string, bool) {
	if len(name) < 20 {
		return "", false
	}
	prefix, code := name[:len(name)-20], name[len(name)-20:]
	b, ok := decode85(code)
	if !ok || len(b) != 16 {
		return "", false
	}
	file := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
	if prefix != "" {
		file = prefix + "/" + file
	}
	return file, true
}

// alphabet85 has the digits of Z85, ZeroMQ's base 85.
const alphabet85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// decode85 reads Z85.
func decode85(text string) ([]byte, bool) {
	if len(text)%5 != 0 {
		return nil, false
	}
	b := make([]byte, 0, len(text)/5*4)
	for i := 0; i < len(text); i += 5 {
		v := uint64(0)
		for _, c := range []byte(text[i : i+5]) {
			digit := strings.IndexByte(alphabet85, c)
			if digit < 0 {
				return nil, false
			}
			v = 85*v + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, false
		}
		b = binary.BigEndian.AppendUint32(b, uint32(v))
	}
	return b, true
}
