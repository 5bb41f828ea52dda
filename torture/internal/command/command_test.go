package command

import (
	"strings"
	"testing"
	"time"
)

func TestCall(t *testing.T) {
	r := Call{Program: "/bin/sh", Args: []string{"-c", "echo out; echo err >&2; exit 3"}}.Run(t)
	if r.Status != 3 || r.Stdout != "out\n" || r.Stderr != "err\n" || r.Signal != 0 || r.Late || r.Peak == 0 {
		t.Errorf("%+v", r)
	}
	r = Call{Program: "/bin/sh", Args: []string{"-c", "kill -9 $$"}}.Run(t)
	if r.Status != -1 || r.Signal != 9 {
		t.Errorf("%+v", r)
	}
	start := time.Now()
	r = Call{Program: "/bin/sh", Args: []string{"-c", "sleep 60 & sleep 60"}, Limit: 200 * time.Millisecond}.Run(t)
	if !r.Late || time.Since(start) > time.Minute { // against a hang
		t.Errorf("%+v after %s", r, time.Since(start))
	}
	if got, want := (Call{Program: "p", Args: []string{"a b", "it's"}, Dir: "d", Env: []string{"X=1"}}).String(), `cd d && X=1 p 'a b' 'it'\''s'`; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

func TestBuild(t *testing.T) {
	r := Call{Program: Build(t, "graphmill"), Args: []string{"--version"}}.Run(t)
	if r.Status != 0 || !strings.HasPrefix(r.Stdout, "graphmill ") {
		t.Errorf("%s", r)
	}
}
