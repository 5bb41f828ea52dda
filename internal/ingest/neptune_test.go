package ingest

import "testing"

// TestNeptune checks the headers of the bulk loader for Gremlin, with the types of ends that follow from ids.
func TestNeptune(t *testing.T) {
	runImports(t, []importCase{
		{name: "folder", path: "db", files: map[string]string{
			"db/people.csv": "~id,~label,name:String,age:Int(single),tags:String[],score:Double\n" +
				"p1,person,Ann,30,a b;c,0.5\n" +
				"c1,city;capital,Bonn,,,1\n" +
				"p2,person,\"Bob, x\",40,d;e,2\n",
			"db/links.csv": "~id,~from,~to,~label,weight:Double\ne1,p1,p2,knows,0.5\ne2,p1,c1,lives,1\ne3,p2,p1,knows,2\ne4,p2,c1,lives,3\n",
		}, want: `
capital;city 1: c1 name="Bonn" score=1
person 2: p1 age=30 name="Ann" score=0.5 tags="a b","c" p2 age=40 name="Bob, x" score=2 tags="d","e"
person:knows:person: 0>1 weight=0.5 1>0 weight=2
person:lives:capital;city: 0>0 weight=1 1>0 weight=3
warning: db: the ids of edges are not imported`},
		{name: "one type, in folders", path: "db", files: map[string]string{
			"db/nodes/a.csv": "~id,~label,born:Date\n1,n,2001-02-03\n",
			"db/nodes/b.csv": "~id,~label,x:Long\n2,n,5\n",
			"db/edges/e.csv": "~id,~from,~to,~label\n0,2,1,e\n",
		}, opts: Options{Missing: []Missing{{"int", "0"}}}, want: `
n 2: 1 born=9.811584e+08 x=0 2 born=-9.223372036854776e+18 x=5
n:e:n: 1>0
warning: db: the ids of edges are not imported`},
		{name: "escapes", path: "db", files: map[string]string{
			"db/v.csv": "~id,~label,a\\:b:String,c\\:d,tags:String[]\nv1,person,x,y\\;z,a\\;b;c\\d\n",
			"db/e.csv": "~id,~from,~to,~label\ne,v1,v1,k\n",
		}, want: `
person 1: v1 a:b="x" c:d="y\\;z" tags="a;b","c\\d"
person:k:person: 0>0
warning: db: the ids of edges are not imported`},
	})
}
