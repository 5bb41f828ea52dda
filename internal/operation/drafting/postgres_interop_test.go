//go:build interop

package drafting_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
)

// postgres is a real server of PostgreSQL.
type postgres struct {
	Bin, Password, Address string
}

// startPostgres starts a server, which ends with the test.
func startPostgres(t *testing.T) (p postgres) {
	t.Helper()
	peers := exec.Command("../../../bench/peers.sh", "databases")
	var stderr bytes.Buffer
	peers.Stderr = &stderr
	python, err := peers.Output()
	if err != nil {
		t.Fatalf("bench/peers.sh databases: %v\n%s", err, stderr.String())
	}
	server := exec.Command(string(bytes.TrimSpace(python)), "-B", "../../../python/tests/server.py")
	server.Stderr = &stderr
	stdin, errIn := server.StdinPipe()
	stdout, errOut := server.StdoutPipe()
	if errIn != nil || errOut != nil {
		t.Fatal(errIn, errOut)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close() // the server stops when its input ends
		if err := server.Wait(); err != nil {
			t.Errorf("the server: %v\n%s", err, stderr.String())
		}
	})
	if err := json.NewDecoder(stdout).Decode(&p); err != nil {
		t.Fatalf("the server: %v\n%s", err, stderr.String())
	}
	t.Setenv("PGPASSWORD", p.Password)
	return p
}

// fill replaces the tables of the server.
func (p postgres) fill(t *testing.T, all []*tableOf) {
	t.Helper()
	b := bytes.NewBufferString("DROP SCHEMA public CASCADE; CREATE SCHEMA public;\n")
	types := map[string]string{}
	for _, x := range all {
		var columns, key []string
		for _, c := range x.columns {
			typ := sqlTypes[c.kind]
			if c.isID() {
				types[x.name] = typ
			}
			if c.to != "" {
				typ = types[c.to] + fmt.Sprintf(" REFERENCES %q", c.to)
			}
			if c.isID() || c.kind == "+" {
				key = append(key, fmt.Sprintf("%q", c.name))
			}
			columns = append(columns, fmt.Sprintf("%q %s", c.name, typ))
		}
		if key != nil {
			columns = append(columns, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
		}
		fmt.Fprintf(b, "CREATE TABLE %q (%s);\n", x.name, strings.Join(columns, ", "))
		rows := make([]string, len(x.rows))
		for i, row := range x.rows {
			cells := make([]string, len(row))
			for k, cell := range row {
				if cells[k] = "'" + cell + "'"; cell == "" {
					cells[k] = "NULL"
				}
			}
			rows[i] = "(" + strings.Join(cells, ", ") + ")"
		}
		// One statement has all rows, so that a row can refer to a later one.
		fmt.Fprintf(b, "INSERT INTO %q VALUES %s;\n", x.name, strings.Join(rows, ", "))
	}
	cmd := exec.Command(filepath.Join(p.Bin, "psql"), "-q", "-v", "ON_ERROR_STOP=1", "-d", p.Address)
	cmd.Stdin = b
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, out)
	}
}

// graphText is the numbers of nodes and all edges of a graph, in an order that does not depend on that of the types.
func graphText(t *testing.T, file string) string {
	t.Helper()
	st, _, err := importing.Import(t.Context(), file, filepath.Join(t.TempDir(), "g.store"), option.Import{AllowOutside: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var lines []string
	for _, n := range st.Graph.Nodes {
		lines = append(lines, fmt.Sprintf("%s: %d nodes", n.Type, n.Count))
	}
	for _, e := range st.Graph.Edges {
		ends := make([]string, e.Count)
		for id := range ends {
			src, dst := e.Ends(id)
			ends[id] = fmt.Sprint(src, ">", dst)
		}
		slices.Sort(ends)
		lines = append(lines, e.Type.String()+": "+strings.Join(ends, " "))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Well-known schemas on a server are drafted without a fault to decide, and the drafts make the graphs that SQLite's make.
func TestPeerDraftPostgres(t *testing.T) {
	server := startPostgres(t)
	for i, s := range schemas {
		if !slices.Contains([]string{"northwind", "chinook", "pagila"}, s.name) {
			continue
		}
		all := s.tables.tables(uint64(i))
		unkeyed(all)
		server.fill(t, all)
		dir := t.TempDir()
		d := drafted(t, server.Address, dir)
		if strings.Contains(d.YAML+d.Source, server.Password) {
			t.Errorf("%s: found the password in the draft", s.name)
		}
		if d.Open() > 0 {
			t.Errorf("%s: found faults to decide: %v", s.name, d.Faults)
		}
		db := sqlite(t, all)
		drafted(t, "sqlite:"+db, filepath.Dir(db))
		got, want := graphText(t, filepath.Join(dir, "graph.yaml")), graphText(t, filepath.Join(filepath.Dir(db), "graph.yaml"))
		if got != want {
			t.Errorf("%s: found\n%s\nexpected as from SQLite\n%s\n%s", s.name, got, want, d.YAML)
		}
	}
}
