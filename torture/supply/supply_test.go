package supply

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/torture/internal/command"
)

var update = flag.Bool("update", false, "write docs/third-party.md")

// programs are what the product ships, as the folder of the module and the package.
var programs = []struct{ name, module, pkg string }{
	{"graphmill", ".", "./cmd/graphmill"}, {"graphmill-flight", "flight", "./cmd/graphmill-flight"}, {"graphmill-beam", "beam", "./cmd/graphmill-beam"},
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := command.Root()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// docs/third-party.md has every module that is linked into a program, and each has a licence that puts no conditions on other code.
func TestLicences(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Code of others\n\nThe modules that are linked into each program on Linux, and their licences. The standard library of Go (BSD-3-Clause) is in all of\nthem. `go -C torture test ./supply -run Licences -update` writes this page. The Python package needs NumPy\n(BSD-3-Clause), and nothing else; frameworks are optional.\n")
	for _, p := range programs {
		modules, err := Linked(filepath.Join(root(t), p.module), p.pkg)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n| module | version | licence |\n|---|---|---|\n", p.name)
		for _, m := range modules {
			licence, err := Licence(m)
			if err != nil {
				t.Error(err)
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", m.Path, m.Version, licence)
		}
	}
	page := filepath.Join(root(t), "docs", "third-party.md")
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil { //nolint:gosec // a page for all
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(page)
	if err != nil || string(have) != b.String() {
		t.Errorf("found docs/third-party.md out of date (%v); run: go -C torture test ./supply -run Licences -update", err)
	}
}

// A module of a licence with conditions, or of none, is refused.
func TestLicenceIsRefused(t *testing.T) {
	for name, text := range map[string]string{"none": "", "unknown": "all rights reserved", "GPL": "GNU GENERAL PUBLIC LICENSE Version 3"} {
		dir := t.TempDir()
		if text != "" {
			if err := os.WriteFile(filepath.Join(dir, "LICENSE"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := Licence(Module{Path: name, Dir: dir}); err == nil {
			t.Errorf("%s: found licence %q, expected an error", name, got)
		}
	}
}

// The bill of materials has the modules that the list of licences has, with their sums, and the same bytes each time.
func TestBill(t *testing.T) {
	program := command.Build(t, "graphmill")
	first, err := Bill(program)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Bill(program)
	if err != nil || !bytes.Equal(first, second) {
		t.Errorf("found two bills that differ, %v", err)
	}
	var bill struct{ Components []component }
	if err := json.Unmarshal(first, &bill); err != nil {
		t.Fatal(err)
	}
	has := map[string]component{}
	for _, c := range bill.Components {
		has[c.Name] = c
	}
	modules, err := Linked(root(t), "./cmd/graphmill")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range modules {
		if c := has[m.Path]; c.Version != m.Version || len(c.Properties) != 1 || !strings.HasPrefix(c.Properties[0].Value, "h1:") {
			t.Errorf("%s %s: found %+v in the bill, expected the version and the sum", m.Path, m.Version, c)
		}
	}
	if len(bill.Components) != len(modules)+1 {
		t.Errorf("found %d modules in the bill, expected %d and the standard library", len(bill.Components), len(modules))
	}
}

// Two copies of the source in two folders become programs and a wheel of the same bytes.
func TestReproducible(t *testing.T) {
	if !proof.Long(t) {
		t.Skip("builds everything twice: TORTURE=long")
	}
	var sums [2]map[string][32]byte
	for i := range sums {
		dir := filepath.Join(t.TempDir(), strings.Repeat("deeper/", 3*i)+"copy")
		list, err := exec.Command("git", "-C", root(t), "ls-files", "-z", "--cached", "--others", "--exclude-standard").Output()
		if err != nil {
			t.Fatal(err)
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
			b, err := os.ReadFile(filepath.Join(root(t), name))
			if os.IsNotExist(err) {
				continue // removed, and not yet committed
			}
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // as in a checkout
				t.Fatal(err)
			}
			info, err := os.Stat(filepath.Join(root(t), name))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(to, b, info.Mode()); err != nil {
				t.Fatal(err)
			}
		}
		sums[i] = map[string][32]byte{}
		out := filepath.Join(dir, "out")
		for _, p := range programs {
			cmd := exec.Command("go", "-C", filepath.Join(dir, p.module), "build", "-trimpath", "-buildvcs=false", "-ldflags=-s", "-o", filepath.Join(out, p.name), p.pkg)
			cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", p.name, err, text)
			}
		}
		cmd := exec.Command("make", "-C", dir, "wheel", "PYTHON="+python(), "GO=go")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("wheel: %v\n%s", err, text)
		}
		for _, folder := range []string{out, filepath.Join(dir, "dist")} {
			if err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(path)
				sums[i][d.Name()] = sha256.Sum256(b)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if len(sums[0]) != len(programs)+1 {
		t.Errorf("found %d files, expected the programs and a wheel", len(sums[0]))
	}
	for name, sum := range sums[0] {
		if sums[1][name] != sum {
			t.Errorf("%s: found other bytes in the second build", name)
		}
		t.Logf("%s: sha256 %x", name, sum)
	}
}

func python() string {
	if p := os.Getenv("GRAPHMILL_PYTHON"); p != "" {
		return p
	}
	return "python3"
}

// The search for known vulnerabilities finds one, in a database that is made of a folder of entries.
func TestVulnerabilitiesAreFound(t *testing.T) {
	if !proof.Long(t) {
		t.Skip("builds govulncheck: TORTURE=long")
	}
	entries, dir := t.TempDir(), t.TempDir()
	entry := `{"schema_version":"1.3.1","id":"GO-2026-99999","modified":"0001-01-01T00:00:00Z","published":"0001-01-01T00:00:00Z","details":"made for a test",` +
		`"affected":[{"package":{"name":"github.com/zeebo/xxh3","ecosystem":"Go"},"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}],` +
		`"ecosystem_specific":{"imports":[{"path":"github.com/zeebo/xxh3"}]}}],"database_specific":{"url":"https://pkg.go.dev/vuln/GO-2026-99999"}}`
	if err := os.WriteFile(filepath.Join(entries, "GO-2026-99999.json"), []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	if n, err := Database(entries, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), dir); n != 1 || err != nil {
		t.Fatalf("found %d entries, %v", n, err)
	}
	cmd := exec.Command(filepath.Join(root(t), "scripts", "vulnerabilities.sh"), ".")
	cmd.Env = append(os.Environ(), "GOVULNDB=file://"+dir)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(out), "GO-2026-99999") {
		t.Errorf("found %v, expected exit status 3 and the vulnerability:\n%s", err, out)
	}
}

// A folder without entries, and an entry under a name that is not its id, are no database.
func TestBadEntries(t *testing.T) {
	for name, c := range map[string]struct{ file, text, want string }{
		"none":       {"readme.txt", "", "found no entry"},
		"other id":   {"GO-2026-1.json", `{"id":"GO-2026-2"}`, `found the id "GO-2026-2"`},
		"not JSON":   {"GO-2026-1.json", `{"id":`, "GO-2026-1.json: unexpected end"},
		"other type": {"GO-2026-1.json", `[]`, "GO-2026-1.json: json: cannot unmarshal"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, c.file), []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Database(dir, time.Time{}, t.TempDir()); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// The notices that go with the command have the words that the licences ask to be handed on, for Go and for each linked module: the holders
// of the copyright, and the conditions.
func TestNotices(t *testing.T) {
	b, err := Notices(root(t), "./cmd/graphmill")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(b), strings.Repeat("=", 80)+"\n")[1:]
	modules, err := Linked(root(t), "./cmd/graphmill")
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"The Go standard library and runtime"}
	for _, m := range modules {
		names = append(names, m.Path+" "+m.Version)
	}
	for _, name := range names {
		licensed := false
		for _, p := range parts {
			if strings.HasPrefix(p, name+", ") && len(p) > 500 && strings.Contains(strings.ToLower(p), "copyright") {
				licensed = true
			}
		}
		if !licensed {
			t.Errorf("found no licence of %s", name)
		}
	}
}
