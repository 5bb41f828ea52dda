package suggest

import "testing"

func TestWord(t *testing.T) {
	known := []string{"fanout", "format", "force", "batch-size"}
	for word, want := range map[string]string{
		"fanuot": "fanout", "fan": "fanout", "formt": "format", "batch": "batch-size", "batchsize": "batch-size",
		"threads": "", "x": "", "": "",
	} {
		if got := Word(word, known); got != want {
			t.Errorf("Word(%q) = %q, want %q", word, got, want)
		}
	}
	if got := Hint("fanuot", known); got != `; did you mean "fanout"?` {
		t.Error(got)
	}
}
