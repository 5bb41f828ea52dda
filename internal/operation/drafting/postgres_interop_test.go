//go:build interop

package drafting_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/database/databasetest"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/option"
)

// postgres is a real server of PostgreSQL.
type postgres struct{ databasetest.Postgres }

// startPostgres starts a server, which ends with the test.
func startPostgres(t *testing.T) postgres { return postgres{databasetest.Start(t, "../../..")} }

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
	p.Run(t, b.String())
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
