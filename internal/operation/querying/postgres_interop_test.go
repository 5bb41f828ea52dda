//go:build interop

package querying_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/graphmill/graphmill/internal/database/databasetest"
	"github.com/graphmill/graphmill/internal/ingest"
	"github.com/graphmill/graphmill/internal/operation/querying"
)

// On a server, marks of whole numbers, times with zones and texts give each row once, those of one transaction together.
func TestPeerPostgresMarks(t *testing.T) {
	p := databasetest.Start(t, "../../..")
	p.Run(t, `CREATE TABLE calls (id bigserial PRIMARY KEY, at timestamptz NOT NULL, code text NOT NULL, note text)`)
	after := map[string]string{}
	asked := func() (rows map[string]string) {
		var all []ingest.Query
		for _, mark := range []string{"id", "at", "code"} {
			all = append(all, ingest.Query{Source: p.Address, SQL: "SELECT " + mark + ", note FROM calls;", Mark: mark, Type: mark, Types: []string{mark}, Place: mark})
		}
		q := querying.Queries{Out: filepath.Join(t.TempDir(), "g.store"), Append: true, After: after}
		got, err := q.Read(t.Context(), all)
		if err != nil {
			t.Fatal(err)
		}
		rows = map[string]string{}
		for i, g := range got {
			text, err := os.ReadFile(g.File)
			if err != nil {
				t.Fatal(err)
			}
			rows[all[i].Type] = string(text)
		}
		if err := errors.Join(q.Close()); err != nil {
			t.Fatal(err)
		}
		after = q.Marks
		return rows
	}
	for i, zone := range []string{"UTC", "Asia/Kathmandu", "America/St_Johns"} {
		p.Run(t, fmt.Sprintf("SET TIME ZONE '%s'; INSERT INTO calls (at, code, note) VALUES ('2026-11-0%dT10:00:00.123456Z', 'c%d', 'b'), ('2026-11-0%dT09:00:00Z', 'b%d', 'a')", zone, i+1, i, i+1, i+3))
		got := asked()
		want := map[string]string{
			"id":   fmt.Sprintf("id,note\n%d,b\n%d,a\n", 2*i+1, 2*i+2),
			"code": fmt.Sprintf("code,note\nb%d,a\nc%d,b\n", i+3, i),
		}
		if i > 0 { // texts of a mark before those read so far are not new
			want["code"] = fmt.Sprintf("code,note\nc%d,b\n", i)
		}
		for mark, text := range want {
			if got[mark] != text {
				t.Errorf("%s: found %q, expected %q", mark, got[mark], text)
			}
		}
		if n := len([]byte(got["at"])); i > 0 && n != len([]byte("at,note\n2026-11-02 10:00:00.123456+00,b\n2026-11-02 09:00:00+00,a\n")) {
			t.Errorf("found %q, expected two rows", got["at"])
		}
	}
	if none := asked(); none["id"] != "id,note\n" || none["at"] != "at,note\n" {
		t.Errorf("found %q, expected no rows", none)
	}
}
