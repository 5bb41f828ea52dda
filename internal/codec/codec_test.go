package codec

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn"
	"github.com/graphmill/graphmill/internal/fuzzing"
)

const schemaJSON = `{"context": {"features": {"label": {"dtype": "DT_INT64"}}},
"node_sets": {"a": {"features": {"x": {"dtype": "DT_FLOAT", "shape": {"dim": [{"size": "3"}]}}, "name": {"dtype": "DT_STRING"}, "tags": {"dtype": "DT_STRING", "shape": {"dim": [{"size": "-1"}]}}}},
"b": {"features": {"deep": {"dtype": "DT_INT32", "shape": {"dim": [{"size": "2"}, {"size": "-1"}, {"size": "-1"}, {"size": "2"}]}}}}},
"edge_sets": {"e": {"source": "a", "target": "b", "features": {"w": {"dtype": "DT_DOUBLE"}}}}}`

// schemaText is schemaJSON in the text format.
const schemaText = `
context { features { key: "label" value { dtype: DT_INT64 } } }
node_sets { key: "a" value {
  features { key: "x" value { dtype: DT_FLOAT shape { dim { size: 3 } } } }
  features { key: "name" value { dtype: DT_STRING } }
  features { key: "tags" value { dtype: DT_STRING shape { dim { size: -1 } } } } } }
node_sets { key: "b" value { features { key: "deep" value { dtype: DT_INT32 shape { dim { size: 2 } dim { size: -1 } dim { size: -1 } dim { size: 2 } } } } } }
edge_sets { key: "e" value { source: "a" target: "b" features { key: "w" value { dtype: DT_DOUBLE } } } }`

func request(header string, arrays ...[]byte) []byte {
	var sizes []string
	for _, a := range arrays {
		sizes = append(sizes, fmt.Sprint(len(a)))
	}
	text := strings.TrimSuffix(header, "}") + `, "bytes": [` + strings.Join(sizes, ",") + "]}"
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	return append(b, bytes.Join(arrays, nil)...)
}

// converse sends requests and returns the replies.
func converse(t *testing.T, requests ...[]byte) []message {
	t.Helper()
	var out bytes.Buffer
	if err := Serve(t.Context(), bytes.NewReader(bytes.Join(requests, nil)), &out); err != nil {
		t.Fatal(err)
	}
	var replies []message
	for out.Len() > 0 {
		m, err := readMessage(&out, nil)
		if err != nil {
			t.Fatal(err)
		}
		replies = append(replies, m)
	}
	return replies
}

func openRequest() []byte { return request(`{"op": "open", "schema": ` + schemaJSON + `}`) }

// What the codec encodes are the bytes of the library's codec, and what it decodes encodes to the same bytes again.
func TestBatches(t *testing.T) {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(schemaText))
	if err != nil {
		t.Fatal(err)
	}
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	const graphs = 50
	var want, lengths []byte
	var w example.Writer
	for i := range uint64(graphs) {
		record, err := codec.Encode(&w, codec.Random(7, 3+i))
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, record...)
		lengths = binary.LittleEndian.AppendUint64(lengths, uint64(len(record)))
	}
	random := converse(t, openRequest(), request(`{"op": "random", "seed": 7, "number": 3, "graphs": 50}`))[1]
	decoded := converse(t, openRequest(), request(`{"op": "decode"}`, lengths, want))[1]
	for _, batch := range []message{random, decoded} {
		if batch.Error != "" {
			t.Fatal(batch.Error)
		}
		got := converse(t, openRequest(), request(`{"op": "encode"}`, batch.arrays...))[1]
		if got.Error != "" || !bytes.Equal(got.arrays[0], lengths) || !bytes.Equal(got.arrays[1], want) {
			t.Errorf("found other bytes (error %q), expected those of the library", got.Error)
		}
	}
}

func TestErrors(t *testing.T) {
	one := binary.LittleEndian.AppendUint64(nil, 1)
	many := binary.LittleEndian.AppendUint64(nil, 1<<40)
	empty := make([][]byte, 17)
	for _, c := range []struct {
		request []byte
		want    string
	}{
		{request(`{"op": "shut"}`), `found op "shut", expected one of schema, text, open`},
		{request(`{"op": "encode", "codec": 1}`), "found codec 1, expected one of the 1 that were opened"},
		{request(`{"op": "encode"}`, one), "found 1 arrays, expected 17 for the schema"},
		{request(`{"op": "encode"}`, append([][]byte{one}, empty[1:]...)...), "GraphTensor 0: found 0 values in array 1, expected 1"},
		{request(`{"op": "encode"}`, append([][]byte{many}, empty[1:]...)...), "GraphTensor 0: found 0 values in array 1"},
		{request(`{"op": "decode"}`, one), "found 1 arrays, expected the lengths of the records and the records"},
		{request(`{"op": "decode"}`, many, []byte("abc")), "found a record of 1099511627776 bytes, expected at most the 3 that are left"},
		{request(`{"op": "decode"}`, one, []byte("abc")), "record 0: "},
		{request(`{"op": "open", "schema": {"nodes": 1}}`), "found no schema: "},
		{request(`{"op": "text", "schema": {"edge_sets": {"e": {"source": "a"}}}}`), "source"},
		{request(`{"op": "schema", "path": "/no/such"}`), "/no/such"},
		{request(`{"op": "read", "files": ["/no/such"]}`), "/no/such"},
	} {
		// The server answers the next request as if nothing had happened.
		replies := converse(t, openRequest(), c.request, openRequest())
		if len(replies) != 3 || !strings.Contains(replies[1].Error, c.want) || replies[2].Error != "" {
			t.Errorf("%s: found %+v, expected the error %q", c.request, replies, c.want)
		}
	}
	for _, c := range []struct{ in, want string }{
		{"\xff\xff\xff\xff", "found a message of 4294967295 bytes, expected at most"},
		{"\x02\x00\x00\x00ab", "found a message that is no JSON"},
		{"\x10\x00\x00\x00ab", "unexpected EOF"},
		{string(request(`{"op": "text"}`))[:8], "unexpected EOF"},
		{"\x0e\x00\x00\x00" + `{"bytes":[-1]}`, "found an array of -1 bytes"},
		{"\x18\x00\x00\x00" + `{"bytes":[1000000000000]}`[:24], "no JSON"},
		{"\x19\x00\x00\x00" + `{"bytes":[1000000000000]}`, "unexpected EOF"},
	} {
		if err := Serve(t.Context(), strings.NewReader(c.in), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.in, err, c.want)
		}
	}
}

// Any arrays give GraphTensors that the codec encodes, or an error.
func FuzzBatch(f *testing.F) {
	schema, err := tfgnn.ParseSchema("schema.pbtxt", []byte(schemaText))
	if err != nil {
		f.Fatal(err)
	}
	codec, err := example.NewCodec(schema)
	if err != nil {
		f.Fatal(err)
	}
	pack := func(arrays [][]byte) []byte {
		b, err := json.Marshal(arrays)
		if err != nil {
			f.Fatal(err)
		}
		return b
	}
	b := newBatchCodec(codec).newBatch()
	f.Add(pack(b.arrays()))
	b.add(codec.Random(1, 2))
	f.Add(pack(b.arrays()))
	b.add(codec.Random(1, 3))
	f.Add(pack(b.arrays()))
	f.Fuzz(func(t *testing.T, packed []byte) {
		fuzzing.Check(t, len(packed), func() {
			var arrays [][]byte
			if json.Unmarshal(packed, &arrays) != nil {
				return
			}
			var w example.Writer
			_ = newBatchCodec(codec).each(arrays, func(_ int, g *example.GraphTensor) error {
				record, err := codec.Encode(&w, g)
				if err != nil {
					return err
				}
				if err := codec.Decode(record, codec.New(), false); err != nil {
					t.Fatalf("found %v, expected an Example that can be decoded", err)
				}
				return nil
			})
		})
	})
}
