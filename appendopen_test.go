package graphmill_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// A type without a table that has no edges at the import takes ids of any kind from the first append that brings some, as an import of all tables would.
func TestAppendToOpenTypes(t *testing.T) {
	none := option.Run{NoReport: true, Warn: func(string) {}}
	for name, c := range map[string]struct {
		yaml    string
		appends []string // rows of the edges
		find    string   // an id of an item
		want    uint64
	}{
		"texts":       {"{table: e.csv}", []string{"ada,pen\ncy,ink\n", "bo,pen\nada,cup\n"}, "cup", 2},
		"texts later": {"{table: e.csv}", []string{"", "bo,pen\nada,cup\n", "", "eve,pen\neve,hat\n"}, "hat", 2},
		"odd":         {"{table: e.csv}", []string{"ä ö,\"a,b\"\n日本,ß\n"}, "a,b", 0},
		"numbers":     {"{table: e.csv}", []string{"7,900\n8,901\n", "9,902\n"}, "902", 902},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write := func(folder, rows string) string {
				t.Helper()
				folder = filepath.Join(dir, folder)
				if err := os.MkdirAll(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				yaml := "nodes: {user: {}, item: {}}\nedges: {\"user:buys:item\": " + c.yaml + "}\n"
				for file, text := range map[string]string{"graph.yaml": yaml, "e.csv": "src,dst\n" + rows} {
					if err := os.WriteFile(filepath.Join(folder, file), []byte(text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				return folder
			}
			build := option.Import{Build: option.Build{Run: none, Both: true}}
			imported := func(folder, out string) string {
				t.Helper()
				out = filepath.Join(dir, out)
				s, err := graphmill.Import(t.Context(), folder, out, build)
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			grown := imported(write("0", ""), "grown.store")
			all := ""
			for i, rows := range c.appends {
				all += rows
				if _, err := graphmill.Append(t.Context(), grown, write(fmt.Sprint(i+1), rows), option.Append{Run: none}); err != nil && rows != "" {
					t.Fatal(err)
				}
			}
			whole := imported(write("all", all), "all.store")
			check := func() {
				t.Helper()
				got, err := store.OpenMerged(vfs.OS, grown, -1)
				if err != nil {
					t.Fatal(err)
				}
				defer got.Close()
				want, err := store.OpenMerged(vfs.OS, whole, -1)
				if err != nil {
					t.Fatal(err)
				}
				defer want.Close()
				sameGraph(t, got.Graph, want.Graph)
				for _, s := range []*store.Store{got, want} {
					ids, err := s.IDs(s.Graph.NodeType("item"))
					if err != nil {
						t.Fatal(err)
					}
					if v, ok := ids.Find([]byte(c.find)); !ok || v != c.want {
						t.Errorf("found item %q at %d, %t, expected %d", c.find, v, ok, c.want)
					}
				}
				if _, err := graphmill.Verify(t.Context(), grown, option.Verify{Run: none}); err != nil {
					t.Error(err)
				}
			}
			check()
			if _, err := graphmill.Compact(t.Context(), grown, none); err != nil {
				t.Fatal(err)
			}
			check()
		})
	}
}
