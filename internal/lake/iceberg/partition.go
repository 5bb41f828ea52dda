package iceberg

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// partitionSpec says how rows are divided into partitions.
type partitionSpec struct {
	ID     int              `json:"spec-id"`
	Fields []partitionField `json:"fields"`
}

// partitionField is a value of a partition, made from a column.
type partitionField struct {
	Source    int    `json:"source-id"`
	ID        int    `json:"field-id"`
	Name      string `json:"name"`
	Transform string `json:"transform"`
}

// global says that all rows are in one partition.
func (s *partitionSpec) global() bool {
	for _, f := range s.Fields {
		if f.Transform != "void" {
			return false
		}
	}
	return true
}

// partition is the values of a file for the fields of its spec, in their order; nil: null.
type partition []*string

// key identifies a partition of a spec.
func (p partition) key(spec int) string {
	var b strings.Builder
	b.WriteString(strconv.Itoa(spec))
	for _, v := range p {
		if v == nil {
			b.WriteString("\x00-")
			continue
		}
		fmt.Fprintf(&b, "\x00%d:%s", len(*v), *v)
	}
	return b.String()
}

// partitionText is the text of a value of a partition, as it is decoded; times are ISO 8601, and bytes themselves. An error says what
// was found.
func partitionText(v any, logical string) (*string, error) {
	text := ""
	switch v := v.(type) {
	case nil:
		return nil, nil
	case bool:
		text = strconv.FormatBool(v)
	case int32:
		text = strconv.FormatInt(int64(v), 10)
	case int64:
		text = strconv.FormatInt(v, 10)
	case float32:
		text = strconv.FormatFloat(float64(v), 'g', -1, 32)
	case float64:
		text = strconv.FormatFloat(v, 'g', -1, 64)
	case string:
		text = v
		if logical == "uuid" {
			var err error
			if text, err = canonicalUUID(v); err != nil {
				return nil, fmt.Errorf("found the UUID %q, expected hexadecimal digits", v)
			}
		}
	case []byte:
		text = string(v)
	case [16]byte:
		text = string(v[:])
		if logical == "uuid" {
			text, _ = canonicalUUID(hex.EncodeToString(v[:]))
		}
	case time.Time:
		text = v.UTC().Format("2006-01-02T15:04:05.999999999Z")
	case time.Duration:
		text = v.String()
	case *big.Rat:
		text = v.FloatString(maxScale)
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
	default:
		return nil, fmt.Errorf("found a value of the type %T, expected one of a partition", v)
	}
	return &text, nil
}

// canonicalUUID is a UUID as columns of Parquet have it.
func canonicalUUID(text string) (string, error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(b) != 16 {
		return "", fmt.Errorf("found %d hexadecimal digits, expected 32", 2*len(b))
	}
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}

// maxScale is the most digits of a decimal after the point.
const maxScale = 38
