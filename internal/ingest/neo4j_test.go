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
