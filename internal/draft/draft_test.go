package draft

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/vfs"
)

// written writes files to a folder.
func written(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// made drafts the tables of a folder.
func draftOf(t *testing.T, dir string, o Options) (*Draft, Source) {
	t.Helper()
	s, err := Find(t.Context(), vfs.OS, dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Threads, o.Temp = 2, t.TempDir()
	d, err := Make(t.Context(), vfs.OS, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return d, s
}

// column writes cells below a header, after a first column that makes no row empty.
func cellsOf(cells ...string) string {
	var b strings.Builder
	b.WriteString("k;x\n")
	for i, c := range cells {
		fmt.Fprintf(&b, "r%d;%s\n", i, c)
	}
	return b.String()
}

// repeated is a list several times.
func repeated(n int, cells ...string) (all []string) {
	for range n {
		all = append(all, cells...)
	}
	return all
}

// What the cells of a column are decides its line, and the fault of the column.
func TestGuesses(t *testing.T) {
	for name, x := range map[string]struct {
		cells []string
		line  string // without the comment
		fault string // a part of the fault, with the number; empty: none
		at    int    // line of the file
	}{
		"integers":            {repeated(1, "7", "-3", "1000"), "int64", "", 0},
		"gaps in integers":    {repeated(1, "7", "", "NA", "9", ""), "{dtype: int64, missing: column}", "2 empty cells in a column of int64", 3},
		"words in integers":   {repeated(1, "7", "8", "NULL", "9"), "{dtype: int64, missing: column}", `1 text for a missing value, such as "NULL", in a column of int64`, 4},
		"gaps in floats":      {repeated(1, "7.5", "", "1e3"), "{dtype: float32, missing: nan}", "1 empty cell in a column of float32", 3},
		"wide floats":         {repeated(1, "16777217.5", "1"), "float64", "", 0},
		"2^24":                {repeated(1, "16777216", "1"), "int64", "1 integer of 2^24 or more", 2},
		"2^53":                {repeated(1, "1", "9007199254740992"), "int64", "1 integer of 2^53 or more", 3},
		"above int64":         {repeated(1, "1", "18446744073709551615"), "uint64", "1 integer of 2^53 or more", 3},
		"nan is a value":      {repeated(1, "1.5", "nan", "inf"), "float32", "", 0},
		"marks":               {repeated(1, "1", "?", "2", "-"), "{dtype: int64, missing: column}", `2 texts for a missing value, such as "?", in a column of int64; they count as empty cells, as missing_texts says`, 3},
		"mixed":               {repeated(1, "1", "2", "12 kg"), "string", `1 text such as "12 kg" among 2 numbers`, 4},
		"few texts":           {repeated(4, "red", "green"), "category", "", 0},
		"texts that differ":   {repeated(1, "red", "green", "blue"), "string", "", 0},
		"a mark among texts":  {repeated(4, "red", "-"), "category", `4 texts for a missing value, such as "-", taken as texts like others`, 3},
		"leading zeros":       {repeated(4, "01234", "99"), "category", `4 integers with leading zeros, such as "01234"`, 2},
		"vectors":             {repeated(1, "1 2.5 3", "[4, 5, 6]"), "float32[3]", "", 0},
		"lists of numbers":    {repeated(1, "1 2.5 3", "4 5"), "float32[]", "", 0},
		"a gap in vectors":    {repeated(1, "1 2.5 3", ""), "string", "", 0},
		"bools":               {repeated(1, "true", "False"), "bool", "", 0},
		"times":               {repeated(1, "2024-02-29", "2024-01-01T10:00:00Z", ""), "datetime", "", 0},
		"unparsable times":    {repeated(1, "2024-02-29", "2024-03-01", "soon"), "string", `1 text such as "soon" in place of a time in ISO 8601, beside 2 cells with one`, 4},
		"a day that is none":  {repeated(1, "2024-02-28", "2024-03-01", "2023-02-29"), "string", `1 text such as "2023-02-29" in place of a time`, 4},
		"dates":               {repeated(1, "29/02/2024", "01/03/2024"), "string", `2 dates as D/M/Y or M/D/Y, such as "29/02/2024"`, 2},
		"dates with points":   {repeated(1, "29.2.2024", "1.3.2024"), "string", `2 dates as D.M.Y, such as "29.2.2024"`, 2},
		"comma as the point":  {repeated(1, "3,50", "1.000,25"), "string", `2 numbers with a comma as the point, such as "3,50"`, 2},
		"a currency":          {repeated(1, "2.99 EUR", "$3.10", "1,234.50", "€ 7", "USD 3"), "string", `5 numbers with a unit or other signs, such as "2.99 EUR"`, 2},
		"units":               {repeated(1, "5 kg", "12 kg", "7.5%"), "string", `3 numbers with a unit or other signs, such as "5 kg"`, 2},
		"codes are no units":  {repeated(1, "12a", "7b", "no 3 b", "text 40026567", "Room 12", "$", "a 1e", "1,2,3"), "string", "", 0},
		"nothing":             {repeated(1, "", ""), "string", "2 rows, none of which has a value", 2},
		"missing words alone": {repeated(1, "NA", "NA"), "string", "2 rows, none of which has a value", 2},
	} {
		dir := written(t, map[string]string{"t.csv": cellsOf(x.cells...)})
		d, _ := draftOf(t, dir, Options{})
		line := ""
		number := 0
		for i, l := range strings.Split(string(d.YAML), "\n") {
			if text, ok := strings.CutPrefix(l, "      x: "); ok {
				line, _, _ = strings.Cut(text, "  #")
				number = i + 1
			}
		}
		if line != Scalar(x.line) && line != x.line {
			t.Errorf("%s: found %s, expected %s", name, line, x.line)
		}
		faults := slices.DeleteFunc(slices.Clone(d.Faults), func(f Fault) bool { return f.Column != "x" })
		if x.fault == "" {
			if len(faults) > 0 {
				t.Errorf("%s: found %v, expected no fault", name, faults[0].Text())
			}
			continue
		}
		if len(faults) == 0 {
			t.Errorf("%s: found no fault, expected %q", name, x.fault)
			continue
		}
		i := slices.IndexFunc(faults, func(f Fault) bool { return strings.Contains(f.Text(), x.fault) })
		if i < 0 {
			t.Errorf("%s: found %q, expected %q", name, faults[0].Text(), x.fault)
			continue
		}
		f := faults[i]
		if want := fmt.Sprintf("%s:%d:", filepath.Join(dir, "t.csv"), x.at); !strings.HasPrefix(f.First, want) || f.Line != number || f.Open {
			t.Errorf("%s: found %+v, expected one that is settled in line %d, first in %s", name, f, number, want)
		}
	}
}

// Times as integers are told by name and size.
func TestUnixTimes(t *testing.T) {
	for cells, want := range map[string]string{
		"created_at: 1700000000":    "datetime[s]",
		"timestamp: 1700000000123":  "datetime[ms]",
		"eventTime: 17000000001234": "int64",
		"created_at: 12":            "int64",
		"size: 1700000000":          "int64",
	} {
		name, cell, _ := strings.Cut(cells, ": ")
		d, _ := draftOf(t, written(t, map[string]string{"t.csv": "k," + name + "\na," + cell + "\nb," + cell + "\n"}), Options{})
		if !strings.Contains(string(d.YAML), name+": "+Scalar(want)+"  #") {
			t.Errorf("%s: found %s, expected %s", cells, d.YAML, want)
		}
	}
}

// Faults of keys and ids, and rows that cannot be cut, need a decision; each has a count, a place and a line.
func TestOpenFaults(t *testing.T) {
	dir := written(t, map[string]string{
		"users.csv":  "user_id,name\n1,a\n2,b\n2,c\n3,d\n,e\n",
		"orders.csv": "order_id,user_id,note\n1,1,x\n2,9,y\n3,3\n4,,z\n5,8,w,v\n6,1,a \"b\"\n7,2,q\n8,3,r\n",
		"dup.csv":    "a,b,a\n1,2,3\n",
	})
	d, _ := draftOf(t, dir, Options{})
	lines := strings.Split(string(d.YAML), "\n")
	line := func(n int) string {
		if n == 0 {
			return ""
		}
		return lines[n-1]
	}
	for _, want := range []struct {
		first, found, line string
		count              uint64
	}{
		{"users.csv:6:1", "1 row without an id", "    id: {column: user_id, dtype: integer}", 1},
		{"users.csv:4:1", "1 row with the id of an earlier row", "# duplicate_nodes: drop", 1},
		{"orders.csv:3:3", "2 values that no row of users has as its id (2 distinct values)", "# dangling_edges: drop", 2},
		{"orders.csv:4", "3 rows with another number of cells", "  orders:", 3},
		{"", "dup.csv:1: found two columns \"a\"", "  dup:", 0},
	} {
		i := slices.IndexFunc(d.Faults, func(f Fault) bool { return strings.Contains(f.Found, want.found) })
		if i < 0 {
			t.Errorf("found no fault %q in %s", want.found, d.YAML)
			continue
		}
		f := d.Faults[i]
		if want.first != "" {
			want.first = filepath.Join(dir, want.first)
		}
		if f.First != want.first || f.Count != want.count || !f.Open || !strings.HasPrefix(line(f.Line), want.line) {
			t.Errorf("found %+v at %q, expected %+v", f, line(f.Line), want)
		}
	}
}

// A folder has tables as files, as shards, and as folders; other files are left out, and notes say so.
func TestFind(t *testing.T) {
	dir := written(t, map[string]string{
		"a.csv": "id,x\n1,2\n", "b.tsv": "id\ty\n1\t2\n", "c-00000-of-00002.csv": "id,z\n1,2\n", "c-00001-of-00002.csv": "id,z\n2,2\n",
		"c2.csv-00000-of-00002": "id\n1\n", "c2.csv-00001-of-00002": "id\n2\n", "d/part-0.csv": "id\n1\n", "d/part-1.csv": "id\n2\n", "e/day=1/x.csv": "id\n1\n", "lines.jsonl": `{"id": 1, "s": "x"}` + "\n",
		"README.md": "# x", "graph.yaml": "", "_tmp.csv": "x\n", "f/one.csv": "a\n", "f/two.parquet": "", "numbers.csv": "1,2\n3,4\n",
	})
	_, s := draftOf(t, dir, Options{})
	var found []string
	for _, x := range s.Tables {
		var fields []string
		for _, f := range x.Fields {
			fields = append(fields, f.Name)
		}
		found = append(found, fmt.Sprintf("%s: %s (%s) %d rows", x.Name, strings.Join(x.Keys, "; "), strings.Join(fields, " "), x.rows))
	}
	want := []string{
		"a: table: a.csv (id x) 1 rows", "b: table: b.tsv (id y) 1 rows", "c: table: [c-00000-of-00002.csv, c-00001-of-00002.csv] (id z) 2 rows", "c2: table: 'c2.csv@2' (id) 2 rows", "d: table: d (id) 2 rows", "e: table: e (id day) 1 rows",
		"lines: table: lines.jsonl (id s) 1 rows", "numbers: table: numbers.csv; names:  # the first line has numbers, so it is no header: name the columns;   - column1;   - column2 (column1 column2) 2 rows",
	}
	if !slices.Equal(found, want) {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(found, "\n"), strings.Join(want, "\n"))
	}
	if len(s.Notes) != 2 {
		t.Errorf("found the notes %v, expected those of README.md and f", s.Notes)
	}
}

// A column with infinite values is cut to the others, as a model takes no infinity.
func TestInfiniteFeatures(t *testing.T) {
	dir := written(t, map[string]string{"users.csv": "user_id,x,z\n1,0.5,inf\n2,inf,-inf\n3,-Infinity,inf\n4,-2.25,1\n5,7,nan\n6,1,1\n", "follows.csv": "src,dst\n1,2\n3,4\n"})
	d, _ := draftOf(t, dir, Options{})
	if strings.Contains(string(d.YAML), "from: z") {
		t.Errorf("found\n%s\nexpected no feature of a column with one number and infinities", d.YAML)
	}
	if want := "{from: x, clip: [-2.25, 7], impute: median, scale: standard}  # 2 infinite values"; !strings.Contains(string(d.YAML), want) {
		t.Errorf("found\n%s\nexpected %q in it", d.YAML, want)
	}
}

// Features are drafted from columns that are no ids, keys, labels or splits.
func TestFeatures(t *testing.T) {
	var b strings.Builder
	b.WriteString("user_id,age,income,city,joined,bio,nick,vip,churned,part\n")
	for i := range 200 {
		fmt.Fprintf(&b, "%d,%d,%d,%s,2024-01-%02d,%s,n%d,%v,%d,%s\n", i, 20+i%50, 1<<(i%20), []string{"Rome", "Oslo"}[i%2], 1+i%28, strings.Repeat("word ", 9)+fmt.Sprint(i), i, i%3 == 0, i%2, []string{"train", "train", "test"}[i%3])
	}
	dir := written(t, map[string]string{"users.csv": b.String(), "follows.csv": "src,dst\n1,2\n3,4\n"})
	d, _ := draftOf(t, dir, Options{})
	want := `    features:
      x:
        - {from: age, impute: median, scale: standard}
        - {from: income, impute: median, scale: normal-quantiles}
        - {from: city, encode: one-hot, least: 10, unknown: other}
        - {from: joined, encode: calendar, parts: [year, month-cycle, weekday-cycle], impute: mean, scale: standard}
        - {from: bio, encode: hash, dim: 64}
        - {from: vip, encode: one-hot}
      nick_code: {from: nick, encode: code, unknown: 0}
`
	if !strings.Contains(string(d.YAML), want) || !strings.Contains(string(d.YAML), "\nfit: {split: train}  # as users.part says\n") {
		t.Errorf("found %s, expected %s", d.YAML, want)
	}
	if !strings.Contains(string(d.YAML), "users: {by: part, train: [train], test: [test]}") {
		t.Errorf("found no split in %s", d.YAML)
	}
}

// Masks and folds are drafted as splits, and are no features.
func TestSplitByMasksAndFolds(t *testing.T) {
	for header, want := range map[string]string{
		"id,age,train_mask,val_mask,test_mask\n": "  split:\n    users: {masks: {train: train_mask, valid: val_mask, test: test_mask}}",
		"id,age,Train_Mask,other,test_mask\n":    "  split:\n    users: {masks: {train: Train_Mask, test: test_mask}}",
		"id,age,other,val_mask,test_mask\n":      "fit: all",
		"id,age,fold\n":                          "  split:\n    users: {by: fold, train: [0, 1, 2], valid: [3], test: [4]}",
		"id,age,folder\n":                        "fit: all",
	} {
		rows := ""
		for i := range 40 {
			rows += fmt.Sprintf("%d,%d", i, 20+i%7)
			if strings.Contains(header, "mask") {
				rows += fmt.Sprintf(",%v,%v,%v\n", i%4 < 2, i%4 == 2, i%4 == 3)
			} else {
				rows += fmt.Sprintf(",%d\n", i%5)
			}
		}
		d, _ := draftOf(t, written(t, map[string]string{"users.csv": header + rows, "likes.csv": "src,dst\n1,2\n2,1\n"}), Options{})
		text := string(d.YAML)
		if !strings.Contains(text, want) || strings.Contains(text, "fit: {split: train}") == (want == "fit: all") {
			t.Errorf("%q: found %s, expected %q", header, text, want)
		}
		if _, features, _ := strings.Cut(text, "features:"); want != "fit: all" && (strings.Contains(features, "from: fold") || strings.Contains(strings.ToLower(features), "from: train_mask")) {
			t.Errorf("%q: found a split among the features of %s", header, text)
		}
	}
}

// Where no column says which rows are for training, a line that is still a comment divides edges by their time.
func TestSplitByTime(t *testing.T) {
	for header, want := range map[string]string{
		"user,sku,at\n":        "fit: all  # no column says which rows are for training\n# transforms: {split: {users:purchases:items: {by: at, ratios: [0.8, 0.1, 0.1]}}}  # the first 80 %",
		"user,sku,note\n":      "",
		"user,sku,at,posted\n": "", // nothing says which time it is
	} {
		rows := ""
		for i := range 20 {
			at := fmt.Sprintf(",2024-01-%02d", 1+i)
			if strings.Contains(header, "note") {
				at = ",x"
			}
			rows += fmt.Sprintf("%d,A%d%s\n", i%4, i%3, strings.Repeat(at, strings.Count(header, ",")-1))
		}
		d, _ := draftOf(t, written(t, map[string]string{"users.csv": "id\n0\n1\n2\n3\n", "items.csv": "sku\nA0\nA1\nA2\n", "purchases.csv": header + rows}), Options{})
		if text := string(d.YAML); !strings.Contains(text, want) || strings.Contains(text, "transforms") != (want != "") {
			t.Errorf("%q: found %s, expected %q", header, text, want)
		}
	}
}

// The draft of a wide table has no reasons where it would be too large for an import, and a table that is too wide is a fault.
func TestWide(t *testing.T) {
	for columns, want := range map[int]string{10: "  # integers from 1 to 1", 4500: "Reasons, faults and features are left out", 20000: "at most"} {
		var head, row strings.Builder
		for i := range columns {
			fmt.Fprintf(&head, ",column_%d", i)
			row.WriteString(",1")
		}
		d, _ := draftOf(t, written(t, map[string]string{"a.csv": "a_id" + head.String() + "\n1" + row.String() + "\n2" + row.String() + "\n", "b.csv": "src,dst\n1,2\n2,1\n"}), Options{})
		open := slices.ContainsFunc(d.Faults, func(f Fault) bool { return f.Open && strings.Contains(f.Found, "a graph.yaml of") })
		if !strings.Contains(string(d.YAML), want) || open != (columns == 20000) || len(d.Nodes) != 1 || len(d.Edges) != 2 {
			t.Errorf("%d columns: found %d bytes, %v, expected %q", columns, len(d.YAML), d.Faults, want)
		}
	}
}
