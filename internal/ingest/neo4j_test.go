package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/graphmill/graphmill/graph"
)

// TestNeo4j checks headers as the documentation of neo4j-admin database import (version 5) defines them: the types of fields, lists,
// labels, and fields that are left out.
func TestNeo4j(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"graph.yaml": "nodes:\n  Person: {table: person.csv}\nedges:\n  Person:knows:Person: {table: knows.csv}\n",
		"person.csv": "personId:ID(Person),zip:string,v:string,x:IGNORE,tags:string[],:LABEL,age:int,score:double,w:float,ok:boolean,born:date,at:datetime{timezone:+02:00},n:long[],plain,:IGNORE,:IGNORE\n" +
			"a,01234,1.10,secret,red hot;blue,Person;Admin,30,0.1,0.5,true,2001-02-03,2024-01-01T10:00:00Z,1;2,7,,\n" +
			"b,7,2,secret,one tag,Person,31,0.2,1.5,false,2002-02-03,2024-01-02T10:00:00Z,3,8,,\n",
		"knows.csv": ":START_ID(Person),:END_ID(Person),:TYPE,since:int,note:string\na,b,KNOWS,2020,007\nb,a,KNOWS,2021,1.0\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _, err := built(t, filepath.Join(dir, "graph.yaml"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	show := func(owner string, columns []*graph.Column) {
		for _, c := range columns {
			if c.Name == graph.PositionColumn {
				continue
			}
			text := fmt.Sprintf("%s.%s %s%v %s", owner, c.Name, c.DType, c.Shape, c.Unit)
			if c.DType == graph.String {
				for i := range c.StringOffsets.Len() - 1 {
					text += fmt.Sprintf(" %q", c.Text(i))
				}
			}
			got = append(got, text)
		}
	}
	show("person", s.Graph.Nodes[0].Columns)
	show("knows", s.Graph.Edges[0].Columns)
	want := `person.LABEL string[-1]  "Person" "Admin" "Person"
person.age int64[] 
person.at int64[] s
person.born int64[] s
person.n int64[-1] 
person.ok bool[] 
person.plain int64[] 
person.score float64[] 
person.tags string[-1]  "red hot" "blue" "one tag"
person.v string[]  "1.10" "2"
person.w float32[] 
person.zip string[]  "01234" "7"
knows.TYPE string[]  "KNOWS" "KNOWS"
knows.note string[]  "1.0" "007"
knows.since int64[] `
	if strings.Join(got, "\n") != want {
		t.Errorf("found\n%s\nexpected\n%s", strings.Join(got, "\n"), want)
	}
	if got := edgesText(s); got != "Person:knows:Person a>b, Person:knows:Person b>a" {
		t.Errorf("found the edges %s", got)
	}
	s, _, err = built(t, filepath.Join(dir, "knows.csv"), Options{})
	if err != nil || graph.FindColumn(s.Graph.Edges[0].Columns, "since") == nil {
		t.Errorf("found %v, expected the column since of the table alone", err)
	}
}

// TestNeo4jFolder checks folders of nodes and relationships, with headers in files of their own, labels and id spaces.
func TestNeo4jFolder(t *testing.T) {
	runImports(t, []importCase{
		{name: "global ids", path: "db", files: map[string]string{
			"db/movies-header.csv": "movieId:ID,title,year:int,:LABEL\n",
			"db/movies-part1.csv":  "tt1,\"The Matrix\",1999,Movie\n",
			"db/movies-part2.csv":  "tt2,\"The Matrix Reloaded\",2003,Movie;Sequel\n",
			"db/actors.csv":        "personId:ID,name,:LABEL\nkeanu,\"Keanu Reeves\",Actor\n",
			"db/roles-header.csv":  ":START_ID,role,:END_ID,:TYPE\n",
			"db/roles.csv":         "keanu,Neo,tt1,ACTED_IN\nkeanu,Neo,tt2,ACTED_IN\n",
		}, want: `
Actor 1: keanu name="Keanu Reeves"
Movie 1: tt1 title="The Matrix" year=1999
Movie;Sequel 1: tt2 title="The Matrix Reloaded" year=2003
Actor:ACTED_IN:Movie: 0>0 role="Neo"
Actor:ACTED_IN:Movie;Sequel: 0>0 role="Neo"`},
		{name: "id spaces and types by names", path: "db", files: map[string]string{
			"db/nodes_Person_header.csv":          ":ID(Person){id-type:long}|age:int\n",
			"db/nodes_Person_0.csv":               "1|30\n2|40\n",
			"db/nodes_City.csv":                   "id:ID(C){label:City}|name:string\n1|Bonn\n",
			"db/relationships_LIVES_header.csv":   ":START_ID(Person)|:END_ID(C)\n",
			"db/relationships_LIVES_0.csv":        "2|1\n",
			"db/relationships_LIVES_1.csv":        "1|1\n",
			"db/relationships_KNOWS.csv":          ":START_ID(Person)|:END_ID(Person)|since:date\n1|2|2001-02-03\n",
			"db/relationships_NOTHING_header.csv": ":START_ID(Person)|:END_ID(Person)\n",
		}, want: `
City 1: 1 name="Bonn"
Person 2: 1 age=30 2 age=40
Person:KNOWS:Person: 0>1 since=9.811584e+08
Person:LIVES:City: 1>0 0>0
Person:NOTHING:Person:`},
		{name: "openCypher of Neptune", path: "db", files: map[string]string{
			"db/n.csv": ":ID,name:String,ok:Bool,:LABEL\nv1,a,true,person\nv2,b,false,person\n",
			"db/e.csv": ":ID,:START_ID,:END_ID,:TYPE,d:Int\ne1,v1,v2,knows,8\n",
		}, want: `
person 2: v1 name="a" ok=1 v2 name="b" ok=0
person:knows:person: 0>1 d=8
warning: db: the ids of edges are not imported`},
		{name: "no header", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:LABEL\nv1,a\n", "db/x.csv": "v1,v1,knows\n",
		}, fails: true, want: "x.csv: found a table without a header of Neo4j"},
		{name: "ids of several columns, named by one", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:ID,name\naa,11,John\nbb,22,Paul\n", "db/x.csv": ":START_ID,:TYPE,:END_ID\naa11,WORKS_WITH,bb22\n",
		}, want: "n 2: aa11 name=\"John\" bb22 name=\"Paul\"\nn:WORKS_WITH:n: 0>1"},
		{name: "ids of several columns, named by as many", path: "db", files: map[string]string{
			"db/n-header.csv": "a:ID(G),:ID(G){label:P},b:ID(G)\n", "db/n.csv": "x,1,\nx1,,\n,,x1\n", "db/x.csv": ":START_ID(G),:START_ID(G),:START_ID(G),:END_ID(G),:END_ID(G),:END_ID(G),:TYPE,w:int\nx,1,,x1,,,K,7\n,,x1,x,1,,K,8\n",
		}, want: `
G 3: x;1; a="x" b="" x1;; a="x1" b="" ;;x1 a="" b="x1"
G:K:G: 0>1 w=7 2>0 w=8`},
		{name: "parts that are the same together", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:ID\na,11\na1,1\n", "db/x.csv": ":START_ID,:TYPE,:END_ID\na11,K,a11\n",
		}, fails: true, want: `n.csv:3:1: found id "a11" again, first at`},
		{name: "a part with the sign between them", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:ID\na;b,c\n", "db/x.csv": ":START_ID,:START_ID,:END_ID,:END_ID,:TYPE\na;b,c,a;b,c,K\n",
		}, fails: true, want: `found the part "a;b" of an id of several columns, expected none with ";"`},
		{name: "no part", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:ID\na,b\n,\n", "db/x.csv": ":START_ID,:END_ID,:TYPE\nab,ab,K\n",
		}, fails: true, want: "n.csv:3:1: found no id in the columns"},
		{name: "edges that name nodes in two ways", path: "db", files: map[string]string{
			"db/n.csv": ":ID,:ID\na,b\n", "db/x.csv": ":START_ID,:START_ID,:END_ID,:TYPE\na,b,ab,K\n",
		}, fails: true, want: "x.csv: found ends of 1 and of 2 columns"},
		{name: "more parts than the ids have", path: "db", files: map[string]string{
			"db/n.csv": ":ID\na\n", "db/x.csv": ":START_ID,:START_ID,:END_ID,:END_ID,:TYPE\na,b,a,b,K\n",
		}, fails: true, want: "n.csv: found 1 columns :ID, expected 2, as"},
		{name: "integer ids of several columns", path: "db", opts: Options{IDs: idsInteger}, files: map[string]string{
			"db/n.csv": ":ID,:ID\n1,2\n", "db/x.csv": ":START_ID,:END_ID,:TYPE\n12,12,K\n",
		}, fails: true, want: "found integer ids with 2 columns :ID, expected string ids"},
		{name: "two spaces", path: "db", files: map[string]string{
			"db/n.csv": ":ID(A),:ID(B)\n1,2\n", "db/x.csv": ":START_ID(A),:END_ID(A),:TYPE\n12,12,K\n",
		}, fails: true, want: `n.csv: found the columns ":ID(A)" and ":ID(B)" of two id spaces`},
		{name: "one name twice", path: "db", files: map[string]string{
			"db/n.csv": "a:ID,:ID,a\n1,2,3\n", "db/x.csv": ":START_ID,:END_ID,:TYPE\n12,12,K\n",
		}, fails: true, want: `n.csv: found two columns "a"`},
		{name: "another sign between values", path: "db", opts: Options{ArrayDelimiter: '|'}, files: map[string]string{
			"db/n.csv": ":ID,t:string[],n:long[],:LABEL\na,x;y|z w,1|2,P|Q\nb,,3,P\n", "db/x.csv": ":START_ID,:END_ID,:TYPE\na,b,K\n",
		}, want: `
P 1: b n=3
P;Q 1: a n=1,2 t="x;y","z w"
P;Q:K:P: 0>0`},
		{name: "that of the cells", path: "db", opts: Options{Delimiter: ';', ArrayDelimiter: ';'}, files: map[string]string{
			"db/n.csv": ":ID;:LABEL\na;P\n", "db/x.csv": ":START_ID;:END_ID;:TYPE\na;a;K\n",
		}, fails: true, want: "found `ArrayDelimiter` ';', expected a character that is not `Delimiter`"},
		{name: "two types", path: "db", files: map[string]string{
			"db/a.csv": "id:ID,:LABEL\n1,P\n2,P\n", "db/b.csv": "id:ID,:LABEL\n1,Q\n3,Q\n", "db/r.csv": ":START_ID,:END_ID,:TYPE\n1,3,K\n",
		}, fails: true, want: `b.csv:2:1: found the id "1" of the labels Q, and of P in another row`},
		{name: "the label of none", path: "db", files: map[string]string{
			"db/a.csv": "id:ID,:LABEL\n1,P\n2,_N\n", "db/r.csv": ":START_ID,:END_ID,:TYPE\n1,2,K\n",
		}, fails: true, want: `a.csv:3:3: found the label "_N", which is the node type of nodes without labels`},
		{name: "no space", path: "db", files: map[string]string{
			"db/n.csv": "a:ID(A),:LABEL\nv1,a\n", "db/x.csv": ":START_ID(B),:END_ID(A),:TYPE\nv1,v1,knows\n",
		}, fails: true, want: `found edges between ids of the id space "B", expected nodes of it`},
	})
}

// TestNeo4jZones checks the zone of a header, which times without one are in: offsets, and names, with the offset before a change where a clock shows a time twice or
// never, as java.time has it.
func TestNeo4jZones(t *testing.T) {
	db := func(header, rows string) map[string]string {
		return map[string]string{"db/n.csv": ":ID," + header + ",:LABEL\n" + rows, "db/r.csv": ":START_ID,:END_ID,:TYPE\n1,1,K\n"}
	}
	runImports(t, []importCase{
		{name: "offset", path: "db", files: db("at:datetime{timezone:+02:00}", "1,2020-01-01T00:00:00,P\n2,2020-01-01T00:00:00Z,P\n3,2020-01-01T00:00:00-01:00,P\n4,2020-01-01,P\n5,,P\n"), want: `
P 5: 1 at=1.5778296e+09 2 at=1.5778368e+09 3 at=1.5778404e+09 4 at=1.5778296e+09 5 at=-9.223372036854776e+18
P:K:P: 0>0`},
		{name: "name", path: "db", files: db("at:datetime{timezone:Europe/Stockholm}", "1,2020-01-01T00:00:00.5,P\n2,2020-07-01T00:00:00,P\n3,2020-10-25T02:30:00,P\n4,2020-03-29T02:30:00,P\n"), want: `
P 4: 1 at=1.5778332005e+12 2 at=1.5935544e+12 3 at=1.6035858e+12 4 at=1.5854454e+12
P:K:P: 0>0`},
		{name: "no list, no local time", path: "db", files: db("at:localdatetime{timezone:+02:00}", "1,2020-01-01T00:00:00,P\n"), want: `
P 1: 1 at=1.5778368e+09
P:K:P: 0>0`},
		{name: "unknown", path: "db", files: db("at:datetime{timezone:Mars/Olympus}", "1,2020-01-01T00:00:00,P\n"), fails: true, want: `n.csv:1: found the time zone "Mars/Olympus" in the header of column "at", expected an offset such as +02:00`},
	})
}

// TestAPOCCSV checks the one table of nodes and relationships.
func TestAPOCCSV(t *testing.T) {
	runImports(t, []importCase{
		{name: "plain", path: "all.csv", files: map[string]string{"all.csv": `"_id","_labels","age","name","_start","_end","_type","since"
"188",":User:Admin","42","foo",,,,
"189",":User","17","a, ""b""",,,,
"190","","","x",,,,
,,,,"188","189","KNOWS","2001"
,,,,"189","188","KNOWS",""
`}, opts: Options{Missing: []Missing{{"int", "0"}}}, want: `
Admin;User 1: 188 age=42 name="foo"
User 1: 189 age=17 name="a, \"b\""
_N 1: 190 name="x"
Admin;User:KNOWS:User: 0>0 since=2001
User:KNOWS:Admin;User: 0>0`},
		{name: "with types", path: "all.csv.gz", files: map[string]string{"all.csv.gz": gzipped(`_id:id,_labels:label,age:long,name:string,_start:id,_end:id,_type:label,w:double
0,:A,1,007,,,,
1,:A,2,008,,,,
,,,,1,0,R,1.5
`)}, want: `
A 2: 0 age=1 name="007" 1 age=2 name="008"
A:R:A: 1>0 w=1.5`},
		{name: "neither", path: "all.csv", files: map[string]string{"all.csv": "_id,_labels,_start,_end,_type\n1,:A,,,\n,,,,X\n"},
			fails: true, want: "all.csv:3: found a row with neither _id nor _start"},
		{name: "no end", path: "all.csv", files: map[string]string{"all.csv": "_id,_labels,name,_start,_end,_type\n5,:A,x,,,\n6,:A,y,,,\n,,,5,6,R\n,,,5,,R\n"},
			fails: true, want: "all.csv:5:6: found no id in column \"_end\", expected one; each row needs the id of its end"},
		{name: "a header alone", path: "all.csv", files: map[string]string{"all.csv": "_id,_labels,name,_start,_end,_type\n"},
			fails: true, want: "all.csv: found no nodes, expected those that edges have; add their rows or files"},
		{name: "a label of several", path: "all.csv", files: map[string]string{"all.csv": "_id,_labels,_start,_end,_type\n1,:A,,,\n2,:B;C,,,\n,,1,2,R\n"},
			fails: true, want: `all.csv:3:3: found the label "B;C", expected one without ';'`},
	})
}

// TestNeo4jAdmin checks that files of Neo4j's importer, with ids of several columns and another sign between the values of lists, give the graph that Neo4j 5.26 makes of them, as
// APOC exports it. Ids that are no properties are Neo4j's own there.
func TestNeo4jAdmin(t *testing.T) {
	got, err := imported(t, stranger("neo4j-admin/files"), Options{ArrayDelimiter: '|'})
	if err != nil {
		t.Fatal(err)
	}
	want, err := imported(t, stranger("neo4j-admin/all.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range [][2]string{{": 546 ", ": aa11 "}, {": 0 name=\"Bonn\"", ": 1 name=\"Bonn\""}, {" 547 ", " bb022 "}, {" 548 ", " 33 "}} {
		want = strings.Replace(want, id[0], id[1], 1)
	}
	if got != want || !strings.Contains(got, `tags="red hot","a;b"`) {
		t.Errorf("found\n%s\nexpected\n%s", got, want)
	}
}
