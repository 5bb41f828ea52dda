//go:build interop || interopdata

package export_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/format/example"
	"github.com/graphmill/graphmill/format/tfgnn/tfgnnpb"
	"github.com/graphmill/graphmill/internal/export"
	"github.com/graphmill/graphmill/internal/golden"
	"github.com/graphmill/graphmill/internal/ingest/records"
	"github.com/graphmill/graphmill/internal/recordfiles"
	"github.com/graphmill/graphmill/internal/tfgnnfiles"
	"github.com/graphmill/graphmill/internal/vfs"
)

// goldenCase is TFRecords that the real TF-GNN wrote, and their schema.
type goldenCase struct{ name, records, schema string }

// goldens are all cases, but for the doubtful Examples of verdicts.
func goldens(t *testing.T) []goldenCase {
	var all []goldenCase
	found, err := filepath.Glob(golden.Dir(t, "tfgnn/encoding/*/examples.tfrecord"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		dir := filepath.Dir(file)
		if name := filepath.Base(dir); name != "verdicts" {
			all = append(all, goldenCase{name, file, filepath.Join(dir, "schema.pbtxt")})
		}
	}
	for _, s := range golden.Samples(t) {
		all = append(all, goldenCase{s.Name + "_beam", s.Records, s.Schema})
	}
	for _, c := range golden.Classics(t) {
		all = append(all, goldenCase{"classic, " + c.Name, c.Records, strings.TrimSuffix(c.Records, ".tfrecord") + "_schema.pbtxt"})
	}
	if len(all) < 19 {
		t.Fatalf("found %d cases, expected all goldens", len(all))
	}
	return all
}

// features is what an Example holds.
func features(t *testing.T, record []byte) string {
	t.Helper()
	var d example.Decoder
	if err := d.Decode(record); err != nil {
		t.Fatal(err)
	}
	return string(example.AppendJSON(nil, &d))
}

// Everything that the real TF-GNN wrote becomes a collection and comes back:
// equal as parsed, equal in every byte where the keys were in order; and the real
// TF-GNN takes the records that come back.
func TestGoldensComeBack(t *testing.T) {
	var jobs [][]string // schema, records
	var w example.Writer
	equal, total := 0, 0
	top := t.TempDir()
	for _, g := range goldens(t) {
		schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, g.schema)
		if err != nil {
			t.Fatal(err)
		}
		if g.name == "link_beam" { // which has the ids of its links, that no schema declares
			for _, name := range []string{"#source", "#target"} {
				schema.NodeSets["_readout"].Features[name] = &tfgnnpb.Feature{Dtype: tfgnnpb.DataType_DT_STRING.Enum()}
			}
		}
		dir := filepath.Join(top, g.name)
		result, err := importRecords(context.Background(), disk, dir, []string{g.records}, records.Options{Schema: schema, Threads: 2})
		if err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		if len(result.Unknown)+len(result.Rounded) > 0 {
			t.Errorf("%s: found unknown keys %v, rounded values %v", g.name, result.Unknown, result.Rounded)
		}
		sum(t, dir)
		if _, err := exportRecords(context.Background(), disk, dir, dir+".out", export.Options{Threads: 2}); err != nil {
			t.Fatalf("%s: %v", g.name, err)
		}
		want, got := readFiles(t, []string{g.records}), readShards(t, dir+".out")
		if len(got) != len(want) || len(got) == 0 {
			t.Fatalf("%s: found %d records, expected %d", g.name, len(got), len(want))
		}
		codec, err := example.NewCodec(schema)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if a, b := features(t, want[i]), features(t, got[i]); a != b {
				t.Errorf("%s: record %d: found %s, expected %s", g.name, i, b, a)
			}
			// The codec writes keys in order: where it gives other bytes than it read,
			// the keys were not.
			x := codec.New()
			if err := codec.Decode(want[i], x, false); err != nil {
				t.Fatal(err)
			}
			again, err := codec.Encode(&w, x)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got[i], again) {
				t.Errorf("%s: record %d: found other bytes than with the keys in order", g.name, i)
			}
			if total++; bytes.Equal(got[i], want[i]) {
				equal++
			}
		}
		if g.name != "components" { // whose schema alone means one component
			jobs = append(jobs, []string{filepath.Join(dir+".out", "schema.pbtxt"), filepath.Join(dir+".out", "*-of-*")})
		}
	}
	t.Logf("%d of %d records have equal bytes; the keys of the others were not in order", equal, total)
	judge(t, jobs)
}

// judge asks the real TF-GNN about all records, in one process.
func judge(t *testing.T, jobs [][]string) {
	t.Helper()
	peers := exec.Command("../../bench/peers.sh", "tfgnn")
	peers.Stderr = os.Stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh tfgnn: %v", err)
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(strings.TrimSpace(string(python)), "-c", `
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import tfgnn_check
for job in json.loads(sys.argv[2]):
  sys.argv, out = ["tfgnn_check.py", *job], io.StringIO()
  with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
    tfgnn_check.main()
  print(json.dumps(json.loads(out.getvalue())), flush=True)
`, filepath.Dir(golden.Peers(t, "tfgnn_check.py")), string(list))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	verdicts := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err != nil || len(verdicts) != len(jobs) {
		t.Fatalf("found %d verdicts, %v, expected %d: %s\n%s", len(verdicts), err, len(jobs), out, stderr.Bytes())
	}
	for i, v := range verdicts {
		var verdict struct {
			OK          bool           `json:"ok"`
			UnknownKeys map[string]int `json:"unknown_keys"`
		}
		if err := json.Unmarshal(v, &verdict); err != nil || !verdict.OK || len(verdict.UnknownKeys) > 0 {
			t.Errorf("%s: found %v, %s", jobs[i][1], err, v)
		}
	}
}

// The doubtful Examples that the codec refuses are refused one by one, and leave no
// collection; read leniently, what it repairs makes a whole one.
func TestGoldenVerdicts(t *testing.T) {
	dir := golden.Dir(t, "tfgnn/encoding/verdicts")
	schema, _, _, err := tfgnnfiles.ReadSchema(vfs.OS, filepath.Join(dir, "schema.pbtxt"))
	if err != nil {
		t.Fatal(err)
	}
	codec, err := example.NewCodec(schema)
	if err != nil {
		t.Fatal(err)
	}
	taken, repaired := 0, 0
	for i, record := range readFiles(t, []string{filepath.Join(dir, "examples.tfrecord")}) {
		top := t.TempDir()
		file, out := filepath.Join(top, "one.tfrecord"), filepath.Join(top, "c")
		writeRecords(t, file, [][]byte{record})
		for _, lenient := range []bool{false, true} {
			refused := codec.Decode(record, codec.New(), lenient)
			result, err := importRecords(context.Background(), disk, out, []string{file}, records.Options{Schema: schema, Lenient: lenient})
			if (err == nil) != (refused == nil) {
				t.Fatalf("record %d, lenient %v: found %v, expected %v", i, lenient, err, refused)
			}
			if _, missing := os.Stat(out); (missing == nil) != (err == nil) {
				t.Fatalf("record %d: found %v beside error %v", i, missing, err)
			}
			if err != nil {
				continue
			}
			sum(t, out)
			if repaired += int(result.Repaired); !lenient {
				taken++
			}
			if err := os.RemoveAll(out); err != nil {
				t.Fatal(err)
			}
		}
	}
	if taken == 0 || repaired == 0 {
		t.Errorf("found %d records taken and %d repaired, expected some", taken, repaired)
	}
	t.Logf("%d taken, %d repaired", taken, repaired)
}

func readShards(t testing.TB, dir string) [][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*-of-*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(files)
	return readFiles(t, files)
}

func readFiles(t testing.TB, files []string) [][]byte {
	t.Helper()
	f := recordfiles.New(vfs.OS, files, nil)
	defer f.Close()
	var list [][]byte
	for {
		r, _, err := f.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, bytes.Clone(r))
	}
}
