package example

import (
	"encoding/base64"
	"encoding/json"
	"maps"
	"math"
	"testing"

	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"
	"pgregory.net/rapid"
)

func printed(t testing.TB, features map[string]value) (text, object string) {
	t.Helper()
	return printedRecord(t, marshal(t, features))
}

func printedRecord(t testing.TB, record []byte) (text, object string) {
	t.Helper()
	var d Decoder
	if err := d.Decode(record); err != nil {
		t.Fatal(err)
	}
	return string(AppendText(nil, &d)), string(AppendJSON(nil, &d))
}

// The text has the bytes that Python prints. peer_interop_test.go tests it against Python itself.
func TestPrint(t *testing.T) {
	text, object := printed(t, map[string]value{
		"b":     texts("abc", "\x00\x7f\xff\"'\\\n\r\t\v1é"),
		"f":     floats(0.1, 1, 1e10, 1e16, 123456789, 1e-5, 0.0001, math.MaxFloat32, math.SmallestNonzeroFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.Copysign(0, -1)), float32(math.NaN())),
		"é\"\n": ints(-1),
		"none":  {},
		"a":     ints(),
	})
	wantText := `features {
  feature {
    key: "a"
    value {
      int64_list {
      }
    }
  }
  feature {
    key: "b"
    value {
      bytes_list {
        value: "abc"
        value: "\000\177\377\"\'\\\n\r\t\0131\303\251"
      }
    }
  }
  feature {
    key: "f"
    value {
      float_list {
        value: 0.1
        value: 1.0
        value: 10000000000.0
        value: 1e+16
        value: 123456790.0
        value: 1e-05
        value: 0.0001
        value: 3.4028235e+38
        value: 1.4013e-45
        value: inf
        value: -inf
        value: -0.0
        value: nan
      }
    }
  }
  feature {
    key: "none"
    value {
    }
  }
  feature {
    key: "\303\251\"\n"
    value {
      int64_list {
        value: -1
      }
    }
  }
}
`
	if text != wantText {
		t.Errorf("found %s, expected %s", text, wantText)
	}
	wantJSON := `{"a":{"int64":[]},"b":{"bytes":["YWJj","AH//IidcCg0JCzHDqQ=="]},` +
		`"f":{"float":[0.1,1,1e+10,1e+16,1.2345679e+08,1e-05,0.0001,3.4028235e+38,1e-45,"Infinity","-Infinity",-0,"NaN"]},` +
		`"none":null,"é\"\u000a":{"int64":[-1]}}`
	if object != wantJSON {
		t.Errorf("found %s, expected %s", object, wantJSON)
	}
	if text, object := printedRecord(t, nil); text != "" || object != "{}" {
		t.Errorf("an empty record: found %q, %q", text, object)
	}
	if text, _ := printedRecord(t, []byte{0x0a, 0}); text != "features {\n}\n" {
		t.Errorf("empty features: found %q", text)
	}
}

// readJSON reads what AppendJSON writes.
func readJSON(t interface{ Fatal(...any) }, object string) map[string]value {
	var parsed map[string]map[string][]any
	if err := json.Unmarshal([]byte(object), &parsed); err != nil {
		t.Fatal(err, object)
	}
	var exact map[string]struct{ Int64 []int64 }
	_ = json.Unmarshal([]byte(object), &exact) // the numbers that a float64 cannot hold
	features := map[string]value{}
	for name, lists := range parsed {
		var v value
		for kind, values := range lists {
			v.kind = map[string]Kind{"int64": Int64List, "float": FloatList, "bytes": BytesList}[kind]
			for i, x := range values {
				switch v.kind {
				case Int64List:
					v.ints = append(v.ints, exact[name].Int64[i])
				case FloatList:
					f, ok := x.(float64)
					if special, is := x.(string); is {
						f = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[special]
					} else if !ok {
						t.Fatal(x)
					}
					v.floats = append(v.floats, float32(f))
				case BytesList:
					b, err := base64.StdEncoding.DecodeString(x.(string))
					if err != nil {
						t.Fatal(err)
					}
					v.texts = append(v.texts, b)
				}
			}
		}
		features[name] = v
	}
	return features
}

// canonical makes all NaNs equal, since printing loses their bits.
func canonical(features map[string]value) map[string]value {
	for _, v := range features {
		for i, x := range v.floats {
			if x != x {
				v.floats[i] = float32(math.NaN())
			}
		}
	}
	return features
}

// Both forms contain all values: reading them gives the features that were printed.
func TestPrintIsWhole(t *testing.T) {
	var d Decoder
	rapid.Check(t, func(t *rapid.T) {
		features := canonical(drawFeatures(t))
		record := marshal(t, features)
		if err := d.Decode(record); err != nil {
			t.Fatal(err)
		}
		if got := readJSON(t, string(AppendJSON(nil, &d))); !maps.EqualFunc(canonical(got), features, value.equal) {
			t.Fatalf("JSON: found %v, expected %v", got, features)
		}
		ex := dynamicpb.NewMessage(exampleType)
		if err := prototext.Unmarshal(AppendText(nil, &d), ex); err != nil {
			t.Fatal(err)
		}
		wire, err := proto.MarshalOptions{Deterministic: true}.Marshal(ex)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unmarshal(wire)
		if err != nil || !maps.EqualFunc(canonical(got), features, value.equal) {
			t.Fatalf("text: found %v, %v, expected %v", got, err, features)
		}
	})
}
