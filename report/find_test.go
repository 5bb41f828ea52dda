package report

import (
	"bytes"
	"testing"
)

// A table of more than 20 rows has a search, whose script alone the page allows. Other pages have no script.
func TestFind(t *testing.T) {
	for rows, want := range map[int]bool{longTable: false, longTable + 1: true} {
		r := New("partition", "Parts", "1", nil)
		table := Table{Title: "Parts", Columns: []string{"part"}}
		for i := range rows {
			table.Rows = append(table.Rows, []Value{Count(i, "")})
		}
		r.Table(table)
		page, err := r.HTML()
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []string{"<script>", "script-src &#39;sha256-", "<table class=\"rows\" data-find>"} {
			if bytes.Contains(page, []byte(part)) != want {
				t.Errorf("%d rows: found %q: %v, expected %v", rows, part, !want, want)
			}
		}
	}
}

// An input links to its page. Addresses of other machines and of scripts are refused.
func TestLink(t *testing.T) {
	r := New("sample", "Samples", "1", nil)
	r.InputAt("g.store", 1, "xxh3:1", "/data/g.store")
	r.Link(func(path, fingerprint, earlier string) string {
		if path != "/data/g.store" || fingerprint != "xxh3:1" || earlier != "" {
			t.Errorf("found %q, %q and %q", path, fingerprint, earlier)
		}
		return "../g.store/report.html"
	})
	page, err := r.HTML()
	if err != nil || !bytes.Contains(page, []byte(`<a href="../g.store/report.html">`)) || bytes.Contains(page, []byte("/data/")) {
		t.Errorf("found error %v and a page without the link, or with the path", err)
	}
	for _, address := range []string{"https://example.org/report.html", "//example.org/x", "/etc/x", "javascript:alert(1)"} {
		r.Inputs[0].Page = address
		if _, err := r.JSON(); err == nil {
			t.Errorf("found no error for the page %s", address)
		}
	}
}
