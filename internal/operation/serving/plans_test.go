package serving

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/operation/appending"
	"github.com/graphmill/graphmill/internal/operation/sampling"
	"github.com/graphmill/graphmill/option"
)

// planFile writes a plan that walks the edges of users in a direction.
func planFile(t *testing.T, dir string, take int) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), dir+".json")
	text := fmt.Sprintf(`{"seed_type":"user","scope":"seed","expand":"new","ops":[{"from":[0],"edges":"user:follows:user","dir":%q,"take":%d,"how":"uniform"}]}`, dir, take)
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Each plan of a server answers as a server with that plan alone does, also from the versions that appends make, and clients see the version of the plan that they ask.
func TestPlans(t *testing.T) {
	store := grown(t)
	in, out := planFile(t, "in", -1), planFile(t, "out", 1)
	plans, err := ParsePlans(batches(), []string{"in=" + in, "out=" + out})
	if err != nil {
		t.Fatal(err)
	}
	socket, address, said, stop := servedPlans(t, store, Answering{Refresh: time.Millisecond, HTTP: "127.0.0.1:0", Waiting: 4}, plans)
	defer stop()
	a := dial(t, socket)
	defer a.socket.Close()
	if len(a.said.Plans) != 2 || a.said.Plans[0].Name != "in" || a.said.Plans[1].SeedTypes[0] != "user" || a.said.Plan != "" {
		t.Errorf("found the plans %v and the default one %q, expected in and out, and one without a name", a.said.Plans, a.said.Plan)
	}
	compare := func(ids ...string) {
		t.Helper()
		for i, p := range plans {
			p.Name = "" // of a server of its own
			alone, _, _, end := servedPlans(t, store, Answering{Waiting: 4}, []sampling.Plan{p})
			b := dial(t, alone)
			for _, id := range ids {
				// A connection of its own knows the plan's description alone.
				c := dial(t, socket)
				got := c.ask(fmt.Sprintf(`{"ids":[%q],"plan":%q,"batch":3}`, id, plans[i].Name))
				for name, want := range b.ask(fmt.Sprintf(`{"ids":[%q],"batch":3}`, id)) {
					if !bytes.Equal(got[name], want) {
						t.Errorf("plan %q, id %s, column %s: found %v, expected %v", plans[i].Name, id, name, got[name], want)
					}
				}
				if i > 0 && (c.said.Plan != plans[i].Name || c.said.Store != b.said.Store) {
					t.Errorf("found the description of the plan %q of version %s, expected %q of %s", c.said.Plan, c.said.Store, plans[i].Name, b.said.Store)
				}
				_ = c.socket.Close()
			}
			_ = b.socket.Close()
			end()
		}
	}
	compare("ada", "bob", "clu")
	a.send(1, `{"ids":["ada"],"plan":"up"}`)
	if failure := a.read().failure(t); failure.Code != "question" || failure.Error != `found the plan "up", expected one of in, out, or none for the default one` {
		t.Errorf("found %v, expected the plans that there are", failure)
	}
	appendTuesday(t, store, said)
	compare("ada", "dan")
	text := get(t, address, "/metrics", http.StatusOK)
	for _, want := range []string{
		`graphmill_questions_total{outcome="answered"} 5`, `graphmill_questions_total{outcome="answered",plan="in"} 5`, `graphmill_question_seconds_count{plan="out"} 5`,
		`graphmill_questions_total{outcome="question"} 1`, "graphmill_store_segments 1", "graphmill_store_versions_total 2",
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("found metrics without %s:\n%s", want, text)
		}
	}
}

// One connection that asks plans in turn gets the description of each once.
func TestPlansInTurn(t *testing.T) {
	plans, err := ParsePlans(option.Batches{Run: option.Run{Threads: 1}, Batching: option.Batching{BatchSize: 2}}, []string{"in=" + planFile(t, "in", 2), "out=" + planFile(t, "out", 2)})
	if err != nil {
		t.Fatal(err)
	}
	socket, _, _, stop := servedPlans(t, grown(t), Answering{Waiting: 4}, plans)
	defer stop()
	a := dial(t, socket)
	defer a.socket.Close()
	if a.said.Plan != "in" {
		t.Errorf("found the default plan %q, expected the first one", a.said.Plan)
	}
	var kinds []uint32
	for _, plan := range []string{"", "out", "in", "out", ""} {
		a.send(1, fmt.Sprintf(`{"ids":["ada"],"plan":%q}`, plan))
		for f := a.read(); ; f = a.read() {
			kinds = append(kinds, f.kind)
			if f.kind != 2 {
				break
			}
			if err := json.Unmarshal(f.body, &a.said); err != nil || a.said.Plan != "out" {
				t.Errorf("found the description of %q, %v, expected that of out", a.said.Plan, err)
			}
		}
	}
	if !slices.Equal(kinds, []uint32{3, 2, 3, 3, 3, 3}) {
		t.Errorf("found frames of the kinds %v, expected one description of the second plan and five answers", kinds)
	}
}

func TestParsePlans(t *testing.T) {
	file := planFile(t, "in", 1)
	drawn := option.Batches{Run: option.Run{Threads: 1}}
	drawn.Fanout, drawn.Scope, drawn.SeedType = []int{2}, option.ScopeSeed, []string{"user"}
	none := option.Batches{Run: option.Run{Threads: 1}}
	scoped := none
	scoped.Scope = option.ScopeSeed
	for _, c := range []struct {
		o     option.Batches
		files []string
		want  string // names and files, or a part of the error
	}{
		{drawn, nil, "= "},
		{none, []string{file}, "=" + file + " "},
		{none, []string{"a=" + file, "b=" + file}, "a=" + file + " b=" + file + " "},
		{none, []string{"a=" + file, file}, "=" + file + " a=" + file + " "},
		{drawn, []string{"a=" + file}, "= a=" + file + " "},
		{none, []string{"ä-1.x=" + file}, "ä-1.x=" + file + " "},
		{none, []string{"./a=b"}, "=./a=b "},
		{none, nil, "found 0 of `Fanout`, `Plan` and `SamplingSpec`"},
		{drawn, []string{file}, "found 2 of `Fanout`, `Plan` and `SamplingSpec`"},
		{none, []string{file, file}, "found two plans without a name"},
		{none, []string{"a=" + file, "a=" + file}, `found two plans with the name "a"`},
		{none, []string{"a="}, "expected FILE or NAME=FILE"},
		{scoped, []string{"a=" + file}, "plan \"a\": found `Scope` without `Fanout`, expected it in the plan"},
	} {
		got := ""
		plans, err := ParsePlans(c.o, c.files)
		for _, p := range plans {
			got += p.Name + "=" + p.Batches.Plan + " "
			if p.Name != "" && (p.Batches.Fanout != nil || p.Batches.Scope != "" || p.Batches.SeedType != nil) {
				t.Errorf("%q: found %v in a plan of a file, expected nothing that a plan says", c.files, p.Batches.Draw)
			}
		}
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
			t.Errorf("%q: found %q, expected %q", c.files, got, c.want)
		}
	}
}

// A version that several plans take over is in memory once: with as many bytes of changed edges as for one plan.
func TestPlansTakeOver(t *testing.T) {
	store := grown(t)
	several, err := ParsePlans(batches(), []string{"in=" + planFile(t, "in", -1), "in-again=" + planFile(t, "in", 1)})
	if err != nil {
		t.Fatal(err)
	}
	const name = "graphmill_store_merged_bytes "
	var merged []string
	var addresses []string
	var logs []func() string
	for _, plans := range [][]sampling.Plan{several[:1], several} {
		_, address, said, stop := servedPlans(t, store, Answering{Refresh: time.Millisecond, HTTP: "127.0.0.1:0", Waiting: 4}, plans)
		defer stop()
		addresses, logs = append(addresses, address), append(logs, said)
	}
	tuesday := filepath.Join(t.TempDir(), "tuesday")
	tables(t, tuesday, "dan,50\n", "dan,ada,4\ndan,ada,5\n")
	if _, err := appending.Append(t.Context(), store, tuesday, option.Append{Run: option.Run{Threads: 1}}); err != nil {
		t.Fatal(err)
	}
	for i, said := range logs {
		for !strings.Contains(said(), "calls get the version") {
			time.Sleep(time.Millisecond) // until the server has seen it
		}
		_, text, _ := strings.Cut(get(t, addresses[i], "/metrics", http.StatusOK), "\n"+name)
		value, _, _ := strings.Cut(text, "\n")
		merged = append(merged, value)
	}
	if merged[0] != merged[1] || merged[0] == "0" {
		t.Errorf("found %s bytes for one plan and %s for three, expected as many", merged[0], merged[1])
	}
}
