package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
)

// longTable is the most rows of a table without a search box.
const longTable = 20

// find is the script that adds a search box to each long table. Pages without long tables have no script, and a browser that
// runs no scripts shows all rows.
//
//go:embed find.js
var findSource string

// findScript is the script between its tags.
var findScript = template.JS(findSource)

// findAttribute marks a table with so many rows for the search.
func findAttribute(rows int) template.HTMLAttr {
	if rows > longTable {
		return " data-find"
	}
	return ""
}

// policy forbids the page to load anything, and all scripts but the search.
func policy(find bool) string {
	const none = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
	if !find {
		return none
	}
	sum := sha256.Sum256([]byte(findSource))
	return none + "; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// hasLong says whether a table of the page has a search box.
func (v *pageView) hasLong() bool {
	long := v.Times != nil && len(v.Times.Rows) > longTable || len(v.Inputs) > longTable || len(v.ProfileRows) > longTable
	for _, c := range v.Columns {
		long = long || len(c.Items) > longTable
	}
	for _, s := range v.Sheets {
		long = long || len(s.Rows) > longTable
	}
	for _, f := range v.Figures {
		long = long || len(f.Series) > longTable
	}
	return long
}
