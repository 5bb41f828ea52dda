package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (-want +got):\n%s", path, cmp.Diff(string(want), string(got)))
	}
}

func TestGolden(t *testing.T) {
	for name, fill := range map[string]func() *Report{
		"import": importReport, "sample": sampleReport, "hostile": hostileReport, "empty": emptyReport,
	} {
		t.Run(name, func(t *testing.T) {
			r := fill()
			html, err := r.HTML()
			if err != nil {
				t.Fatal(err)
			}
			json, err := r.JSON()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, name+".html", html)
			golden(t, name+".json", json)
			golden(t, name+".txt", r.text(false))
			golden(t, name+".colour.txt", r.text(true))
			var summary bytes.Buffer
			if err := r.Summary(&summary, "graphmill info 'g 1.store'", name == "sample"); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".summary.txt", summary.Bytes())

			back, err := Parse(json)
			if err != nil {
				t.Fatal(err)
			}
			again, err := back.HTML()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(again, html) {
				t.Error("the page of the JSON is another page")
			}
		})
	}
}
