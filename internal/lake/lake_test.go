package lake

import "testing"

// TestMarks puts the marks of several tables of a type together, and finds the mark of a table among them.
func TestMarks(t *testing.T) {
	a, b := &Snapshot{ID: "a", Version: 3, Commit: "x"}, &Snapshot{ID: "ab", Version: 9}
	marks := AddMark(AddMark("", a.Mark()), b.Mark())
	a.Version = 4
	marks = AddMark(marks, a.Mark())
	if marks != "ab@9 a@4@x" {
		t.Errorf("found the marks %q", marks)
	}
	if v, commit, ok := a.VersionOf(marks); v != 4 || commit != "x" || !ok {
		t.Errorf("found %d %q %v, expected version 4 and commit x", v, commit, ok)
	}
	if v, commit, ok := b.VersionOf(marks); v != 9 || commit != "" || !ok {
		t.Errorf("found %d %q %v, expected version 9", v, commit, ok)
	}
	for _, other := range []string{"", "c@1", "a", "a@x"} {
		if v, _, ok := a.VersionOf(other); ok {
			t.Errorf("found version %d in %q, expected none", v, other)
		}
	}
}

// TestCutRef cuts versions off names, and leaves other names whole.
func TestCutRef(t *testing.T) {
	for name, want := range map[string]string{
		"a@version=12": "a + @version=12", "a@time=2026-02-28": "a + @time=2026-02-28T00:00:00Z", "a": "a + ", "a@10": "a@10 + ", "a@version=3/b": "a@version=3/b + ",
		"a@version=x": "error", "a@version=-1": "error", "a@time=today": "error",
	} {
		table, ref, err := CutRef(name)
		got := table + " + " + ref.String()
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: found %q, expected %q", name, got, want)
		}
	}
}
