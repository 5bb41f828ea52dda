package supply

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// vulnerabilities is the module that has the source of https://vuln.go.dev: an OSV entry for each vulnerability, in data/osv.
const vulnerabilities = "golang.org/x/vulndb"

// Vulnerabilities downloads the newest entries that the Go module proxy has. entries is the folder that holds them, one JSON file for each, and
// modified is the time of the version.
func Vulnerabilities() (entries string, modified time.Time, err error) {
	cmd := exec.Command("go", "mod", "download", "-json", vulnerabilities+"@latest")
	cmd.Dir = os.TempDir() // outside every module, whose go.mod would choose the version
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", time.Time{}, fmt.Errorf("%s: go mod download: %w", vulnerabilities, err)
	}
	var module struct{ Dir, Info string }
	if err := json.Unmarshal(out, &module); err != nil {
		return "", time.Time{}, fmt.Errorf("%s: go mod download: %w", vulnerabilities, err)
	}
	var version struct{ Time time.Time }
	if err := readJSON(module.Info, &version); err != nil {
		return "", time.Time{}, err
	}
	return filepath.Join(module.Dir, "data", "osv"), version.Time, nil
}

// Database writes the OSV entries of a folder as a database that govulncheck reads by GOVULNDB=file://out: ID/ID.json for each entry, and
// index/. Their format is https://go.dev/doc/security/vuln/database. The module's
// entries have no time; modified stands in for it. Database returns the number of entries.
func Database(entries string, modified time.Time, out string) (int, error) {
	type vuln struct {
		ID       string    `json:"id"`
		Modified time.Time `json:"modified"`
		Aliases  []string  `json:"aliases,omitempty"`
	}
	type module struct {
		Path  string `json:"path"`
		Vulns []vuln `json:"vulns"`
	}
	files, err := filepath.Glob(filepath.Join(entries, "*.json"))
	if err != nil {
		return 0, err
	}
	if len(files) == 0 {
		return 0, fmt.Errorf("%s: found no entry, expected a JSON file for each vulnerability", entries)
	}
	for _, folder := range []string{"ID", "index"} {
		if err := os.MkdirAll(filepath.Join(out, folder), 0o755); err != nil { //nolint:gosec // public data
			return 0, err
		}
	}
	vulns, modules, place := []vuln{}, []module{}, map[string]int{}
	for _, file := range files {
		var entry struct {
			ID       string
			Aliases  []string
			Affected []struct{ Package struct{ Name string } }
		}
		if err := readJSON(file, &entry); err != nil {
			return 0, err
		}
		if entry.ID+".json" != filepath.Base(file) {
			return 0, fmt.Errorf("%s: found the id %q, expected the name of the file", file, entry.ID)
		}
		vulns = append(vulns, vuln{entry.ID, modified, entry.Aliases})
		for _, affected := range entry.Affected {
			path := affected.Package.Name
			if _, ok := place[path]; !ok {
				place[path] = len(modules)
				modules = append(modules, module{Path: path})
			}
			m := &modules[place[path]]
			m.Vulns = append(m.Vulns, vuln{ID: entry.ID, Modified: modified})
		}
		b, err := os.ReadFile(file)
		if err == nil {
			err = os.WriteFile(filepath.Join(out, "ID", filepath.Base(file)), b, 0o644) //nolint:gosec // public data
		}
		if err != nil {
			return 0, err
		}
	}
	return len(vulns), errors.Join(
		writeJSON(filepath.Join(out, "index", "vulns.json"), vulns),
		writeJSON(filepath.Join(out, "index", "modules.json"), modules),
		writeJSON(filepath.Join(out, "index", "db.json"), map[string]time.Time{"modified": modified}))
}

func readJSON(file string, to any) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func writeJSON(file string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return os.WriteFile(file, b, 0o644) //nolint:gosec // public data
}
