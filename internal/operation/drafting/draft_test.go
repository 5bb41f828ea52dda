package drafting_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/graphmill/graphmill/internal/operation/drafting"
	"github.com/graphmill/graphmill/internal/operation/importing"
	"github.com/graphmill/graphmill/internal/proof"
	"github.com/graphmill/graphmill/option"
	"github.com/graphmill/graphmill/report"
)

// schema is tables, as "NAME*ROWS: COLUMN KIND, ...", in which ids come before the keys to them. The kinds are:
//
//	id      1, 2, 3, ...; the primary key
//	code    texts that differ; the primary key
//	>TABLE  values of the primary key of a table; >?TABLE also empty cells; those of +TABLE are a part of the primary key too
//	!TABLE  a key that names and values do not tell, so that files have no edges for it
//	int, float, text, class, time, bool  values
type schema string

// columnOf is a column of a schema.
type columnOf struct{ name, kind, to string }

// isID says whether the column is the primary key of its table.
func (c columnOf) isID() bool { return c.kind == "id" || c.kind == "code" }

// tableOf is a table of a schema with its cells.
type tableOf struct {
	name    string
	columns []columnOf
	rows    [][]string
}

// tables makes random rows.
func (s schema) tables(seed uint64) (all []*tableOf) {
	r := rand.New(rand.NewPCG(seed, 1))
	ids := map[string][]string{}
	for line := range strings.SplitSeq(strings.TrimSpace(string(s)), "\n") {
		head, list, _ := strings.Cut(line, ":")
		t := &tableOf{}
		var n int
		name, count, _ := strings.Cut(strings.TrimSpace(head), "*")
		t.name = name
		_, _ = fmt.Sscan(count, &n)
		for part := range strings.SplitSeq(list, ",") {
			f := strings.Fields(part)
			c := columnOf{name: f[0], kind: f[1]}
			if strings.ContainsAny(f[1][:1], ">+!") {
				c.kind, c.to = f[1][:1], strings.TrimPrefix(f[1][1:], "?")
				if c.to != f[1][1:] {
					c.kind = "?"
				}
			}
			t.columns = append(t.columns, c)
		}
		for i := range n {
			row := make([]string, len(t.columns))
			for k, c := range t.columns {
				if row[k] = c.cell(r, i, ids); c.isID() {
					ids[t.name] = append(ids[t.name], row[k])
				}
			}
			t.rows = append(t.rows, row)
		}
		all = append(all, t)
	}
	return all
}

func (c columnOf) cell(r *rand.Rand, row int, ids map[string][]string) string {
	switch c.kind {
	case "id":
		return fmt.Sprint(row + 1)
	case "code":
		return fmt.Sprintf("K%05d", row*7)
	case "int":
		return fmt.Sprint(r.IntN(500))
	case "float":
		return fmt.Sprintf("%.2f", r.Float64()*90+0.01)
	case "text":
		return fmt.Sprintf("text %d", r.IntN(1<<30))
	case "class":
		return []string{"low", "mid", "high"}[r.IntN(3)]
	case "time":
		return fmt.Sprintf("2024-%02d-%02d %02d:00:00", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24))
	case "bool":
		return []string{"true", "false"}[r.IntN(2)]
	case "?":
		if r.IntN(5) == 0 {
			return ""
		}
	}
	return ids[c.to][r.IntN(len(ids[c.to]))]
}

// folder writes the tables as files.
func folder(t *testing.T, all []*tableOf) string {
	t.Helper()
	dir := t.TempDir()
	for _, x := range all {
		var b strings.Builder
		for i, c := range x.columns {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(c.name)
		}
		for _, row := range x.rows {
			b.WriteString("\n" + strings.Join(row, ","))
		}
		if err := os.WriteFile(filepath.Join(dir, x.name+".csv"), []byte(b.String()+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// sqlTypes are the types of kinds in SQL.
var sqlTypes = map[string]string{"id": "INTEGER", "code": "TEXT", "int": "INTEGER", "float": "REAL", "text": "TEXT", "class": "TEXT", "time": "TIMESTAMP", "bool": "TEXT"}

// sqlite writes the tables as a database with their keys.
func sqlite(t *testing.T, all []*tableOf) string {
	t.Helper()
	types := map[string]string{}
	path := filepath.Join(t.TempDir(), "x.db")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		var columns, key, marks []string
		for _, c := range x.columns {
			typ := sqlTypes[c.kind]
			if c.to != "" {
				typ = types[c.to] + fmt.Sprintf(" REFERENCES %q", c.to)
			}
			if c.isID() {
				types[x.name] = typ
			}
			if c.isID() || c.kind == "+" {
				key = append(key, fmt.Sprintf("%q", c.name))
			}
			columns, marks = append(columns, fmt.Sprintf("%q %s", c.name, typ)), append(marks, "NULLIF(?, '')")
		}
		if key != nil {
			columns = append(columns, "PRIMARY KEY ("+strings.Join(key, ", ")+")")
		}
		if _, err := tx.Exec(fmt.Sprintf("CREATE TABLE %q (%s)", x.name, strings.Join(columns, ", "))); err != nil {
			t.Fatal(err)
		}
		for _, row := range x.rows {
			cells := make([]any, len(row))
			for i := range row {
				cells[i] = row[i]
			}
			if _, err := tx.Exec(fmt.Sprintf("INSERT OR IGNORE INTO %q VALUES (%s)", x.name, strings.Join(marks, ", ")), cells...); err != nil {
				t.Fatal(err)
			}
		}
		if err := tx.QueryRow(fmt.Sprintf("SELECT count(*) FROM %q", x.name)).Scan(new(int)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	return path
}

// unkeyed keeps the first row of those whose primary key is the same, as a database does.
func unkeyed(all []*tableOf) {
	for _, x := range all {
		seen := map[string]bool{}
		x.rows = slices.DeleteFunc(x.rows, func(row []string) bool {
			key, keyed := "", false
			for i, c := range x.columns {
				if c.kind == "+" {
					key, keyed = key+row[i]+"|", true
				}
			}
			again := keyed && seen[key]
			seen[key] = true
			return again
		})
	}
}

// schemas are those of RelBench and of the databases that come with servers, by the names of their tables and keys. links are the tables
// whose rows are edges.
var schemas = []struct {
	name   string
	tables schema
	links  string
}{
	{"amazon", `
customer*40: customer_id id, customer_name text
product*30: product_id id, category class, brand text, title text, description text, price float
review*300: review_text text, summary text, review_time time, rating float, verified bool, customer_id >customer, product_id >product`, "review"},
	{"stack", `
users*50: Id id, AccountId int, DisplayName text, CreationDate time, AboutMe text
posts*90: Id id, PostTypeId class, OwnerUserId >?users, Title text, Tags class, Body text, CreationDate time, ParentId int
comments*80: Id id, PostId >posts, UserId >?users, Text text, CreationDate time, ContentLicense class
votes*120: Id id, PostId >posts, UserId >?users, VoteTypeId class, CreationDate time
badges*70: Id id, UserId >users, Class class, Name class, TagBased bool, Date time
postLinks*40: Id id, PostId >posts, RelatedPostId >posts, LinkTypeId class, CreationDate time
postHistory*60: Id id, PostId >posts, UserId >?users, RevisionGUID text, CreationDate time, Text text, Comment class`, "postLinks"},
	{"f1", `
circuits*20: circuitId id, circuitRef text, name text, country class, lat float, lng float, alt int
drivers*30: driverId id, driverRef text, code text, forename text, dob time, nationality class
constructors*12: constructorId id, constructorRef text, name text, nationality class
races*60: raceId id, year int, round int, circuitId >circuits, name text, date time
results*300: resultId id, raceId >races, driverId >drivers, constructorId >constructors, number int, grid int, points float, date time
standings*200: driverStandingsId id, raceId >races, driverId >drivers, points float, position int, wins int, date time
constructor_results*90: constructorResultsId id, raceId >races, constructorId >constructors, points float, date time, status class
qualifying*200: qualifyId id, raceId >races, driverId >drivers, constructorId >constructors, number int, position int, date time`, ""},
	{"trial", `
studies*60: nct_id code, start_date time, study_type class, brief_title text, enrollment int
conditions*20: condition_id id, mesh_term text
interventions*25: intervention_id id, mesh_term text
facilities*30: facility_id id, name text, city text, country class
outcomes*90: id id, nct_id >studies, outcome_type class, title text, date time
drop_withdrawals*40: id id, nct_id >studies, period class, reason class, count int, date time
conditions_studies*80: id id, nct_id >studies, condition_id >conditions, date time
interventions_studies*80: id id, nct_id >studies, intervention_id >interventions, date time
facilities_studies*80: id id, nct_id >studies, facility_id >facilities, date time`, "conditions_studies interventions_studies facilities_studies"},
	{"hm", `
customer*50: customer_id code, FN float, Active float, club_member_status class, age int, postal_code text
article*40: article_id id, product_code int, prod_name text, product_type_name class, graphical_appearance_no int
transactions*400: t_dat time, customer_id >customer, article_id >article, price float, sales_channel_id class`, "transactions"},
	{"northwind", `
Categories*8: CategoryID id, CategoryName text, Description text
Suppliers*15: SupplierID id, CompanyName text, Country class
Shippers*3: ShipperID id, CompanyName text, Phone text
Customers*40: CustomerID code, CompanyName text, Country class
Employees*9: EmployeeID id, LastName text, BirthDate time, ReportsTo >?Employees
Products*50: ProductID id, ProductName text, SupplierID >Suppliers, CategoryID >Categories, UnitPrice float, Discontinued bool
Orders*90: OrderID id, CustomerID >Customers, EmployeeID >Employees, OrderDate time, ShippedDate time, ShipVia !Shippers, Freight float
OrderDetails*250: OrderID +Orders, ProductID +Products, UnitPrice float, Quantity int, Discount float
Region*4: RegionID id, RegionDescription text
Territories*20: TerritoryID code, TerritoryDescription text, RegionID >Region
EmployeeTerritories*30: EmployeeID +Employees, TerritoryID +Territories`, "OrderDetails EmployeeTerritories"},
	{"chinook", `
Artist*30: ArtistId id, Name text
Album*50: AlbumId id, Title text, ArtistId >Artist
Genre*8: GenreId id, Name text
MediaType*4: MediaTypeId id, Name text
Track*120: TrackId id, Name text, AlbumId >Album, MediaTypeId >MediaType, GenreId >Genre, Composer text, Milliseconds int, UnitPrice float
Employee*10: EmployeeId id, LastName text, Title class, ReportsTo >?Employee, BirthDate time, HireDate time
Customer*40: CustomerId id, FirstName text, Country class, SupportRepId !Employee
Invoice*80: InvoiceId id, CustomerId >Customer, InvoiceDate time, Total float
InvoiceLine*150: InvoiceLineId id, InvoiceId >Invoice, TrackId >Track, UnitPrice float, Quantity int, Note text
Playlist*9: PlaylistId id, Name text
PlaylistTrack*90: PlaylistId +Playlist, TrackId +Track`, "PlaylistTrack"},
	{"pagila", `
country*10: country_id id, country text, last_update time
city*20: city_id id, city text, country_id >country, last_update time
address*30: address_id id, address text, district class, city_id >city, phone text, last_update time
language*5: language_id id, name text, last_update time
actor*25: actor_id id, first_name text, last_name text, last_update time
category*6: category_id id, name text, last_update time
film*40: film_id id, title text, release_year int, language_id >language, original_language_id >?language, rental_rate float, last_update time
film_actor*90: actor_id +actor, film_id +film, last_update time
film_category*50: film_id +film, category_id +category, last_update time
store*3: store_id id, address_id >address, last_update time
staff*4: staff_id id, first_name text, address_id >address, store_id >store, active bool, last_update time
customer*40: customer_id id, store_id >store, first_name text, address_id >address, activebool bool, create_date time, last_update time
inventory*60: inventory_id id, film_id >film, store_id >store, notes class, shelf int, last_update time
rental*100: rental_id id, rental_date time, inventory_id >inventory, customer_id >customer, return_date time, staff_id >staff, last_update time
payment*100: payment_id id, customer_id >customer, staff_id >staff, rental_id >rental, amount float, payment_date time`, "film_actor film_category"},
}

// expectedEdges are the edges per edge type, without those of reverses.
func expectedEdges(all []*tableOf, links string, files bool) map[string]int {
	want := map[string]int{}
	for _, x := range all {
		var ends []string
		for i, c := range x.columns {
			if c.to == "" || c.kind == "!" && files {
				continue
			}
			ends = append(ends, c.to)
			n := 0
			for _, row := range x.rows {
				if row[i] != "" {
					n++
				}
			}
			if !slices.Contains(strings.Fields(links), x.name) {
				want[x.name+":"+c.name+":"+c.to] = n
			}
		}
		if slices.Contains(strings.Fields(links), x.name) {
			want[ends[0]+":"+x.name+":"+ends[1]] = len(x.rows)
		}
	}
	return want
}

// drafted drafts a source, and writes the file into a folder.
func drafted(t *testing.T, source, dir string) *report.Draft {
	t.Helper()
	var b bytes.Buffer
	d, err := drafting.Draft(t.Context(), source, &b, option.Draft{})
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != d.YAML {
		t.Error("found another text in the report than was written")
	}
	if err := os.WriteFile(filepath.Join(dir, "graph.yaml"), b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return d
}

// importedFaults imports a draft, and says in what the store differs from the tables.
func importedFaults(t *testing.T, dir string, d *report.Draft, all []*tableOf, links string, want map[string]int) (faults []string) {
	t.Helper()
	st, _, err := importing.Import(t.Context(), filepath.Join(dir, "graph.yaml"), filepath.Join(t.TempDir(), "g.store"), option.Import{}, nil)
	if err != nil {
		return []string{err.Error()}
	}
	fault := func(format string, a ...any) { faults = append(faults, fmt.Sprintf(format, a...)) }
	defer st.Close()
	g := st.Graph
	got := map[string]int{}
	for _, e := range g.Edges {
		if name := e.Type.String(); !strings.Contains(name, ":rev_") {
			got[name] = e.Count
			if reverse, err := g.EdgeType(e.Type.Dst + ":rev_" + e.Type.Rel + ":" + e.Type.Src); err != nil || g.Edges[reverse].Count != e.Count {
				fault("%s: found no reverse with as many edges: %v", name, err)
			}
		}
	}
	for name, n := range want {
		if got[name] != n {
			fault("%s: found %d edges, expected %d", name, got[name], n)
		}
		delete(got, name)
	}
	if len(got) > 0 {
		fault("found the edge types %v, expected none of them", got)
	}
	for _, x := range all {
		if slices.Contains(strings.Fields(links), x.name) {
			continue
		}
		if n := g.NodeType(x.name); n < 0 || g.Nodes[n].Count != len(x.rows) {
			fault("%s: found no node type with %d nodes", x.name, len(x.rows))
		}
	}
	return faults
}

// checkDraft fails a test whose draft needs a decision, or makes another graph.
func checkDraft(t *testing.T, dir string, d *report.Draft, all []*tableOf, links string, files bool) {
	t.Helper()
	if d.Open() > 0 {
		t.Errorf("found faults to decide: %v", d.Faults)
	}
	for _, f := range importedFaults(t, dir, d, all, links, expectedEdges(all, links, files)) {
		t.Error(f)
	}
	if t.Failed() {
		t.Log(d.YAML)
	}
}

// Schemas that are well known have the edges of their foreign keys, as files without any declaration and as databases, and import as
// they are drafted.
func TestDraftSchemas(t *testing.T) {
	for i, s := range schemas {
		all := s.tables.tables(uint64(i))
		unkeyed(all)
		t.Run(s.name+" as files", func(t *testing.T) {
			dir := folder(t, all)
			d := drafted(t, dir, dir)
			checkDraft(t, dir, d, all, s.links, true)
		})
		if !slices.Contains([]string{"northwind", "pagila"}, s.name) && !proof.Long(t) {
			continue // a push takes two databases
		}
		t.Run(s.name+" as a database", func(t *testing.T) {
			db := sqlite(t, all)
			d := drafted(t, "sqlite:"+db, filepath.Dir(db))
			checkDraft(t, filepath.Dir(db), d, all, s.links, false)
		})
	}
}

// A draft is the same for any number of threads and any memory, and ends when its context does.
func TestDraftLaw(t *testing.T) {
	all := schemas[len(schemas)-1].tables.tables(5)
	dir := folder(t, all)
	var first []byte
	for _, run := range []option.Run{{Threads: 1}, {Threads: 3}, {Threads: 2, Memory: 64 << 20}} {
		var b bytes.Buffer
		if _, err := drafting.Draft(t.Context(), dir, &b, option.Draft{Run: run}); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Errorf("%+v: found another draft than with one thread", run)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := drafting.Draft(ctx, dir, &bytes.Buffer{}, option.Draft{}); !errors.Is(err, context.Canceled) {
		t.Errorf("found %v, expected the end of the context", err)
	}
}

// randomSchema is a schema of up to 5 tables of nodes, of which each may have keys to those before it, and of tables of edges between them.
// Names of ids and keys are written in one of the usual ways.
func randomSchema(r *rapid.T) (s schema, links string) {
	names := []string{"user", "movie", "category", "address", "order_item"}[:rapid.IntRange(2, 5).Draw(r, "tables")]
	style := rapid.SampledFrom([]string{"snake", "camel"}).Draw(r, "style")
	plural := rapid.Bool().Draw(r, "plural")
	tables := map[string]string{}
	var lines []string
	keyOf := func(name string) string {
		if style == "snake" {
			return name + "_id"
		}
		return strings.ReplaceAll(name, "_", "") + "Id"
	}
	cells := func() (list string) {
		for i := range rapid.IntRange(3, 5).Draw(r, "columns") {
			list += fmt.Sprintf(", col%c %s", 'a'+i, rapid.SampledFrom([]string{"int", "float", "text", "class", "time", "bool"}).Draw(r, "kind"))
		}
		return list
	}
	for i, name := range names {
		tables[name] = name
		if plural {
			tables[name] = map[string]string{"user": "users", "movie": "movies", "category": "categories", "address": "addresses", "order_item": "order_items"}[name]
		}
		kind := rapid.SampledFrom([]string{"id", "code"}).Draw(r, "id")
		column := "id"
		if rapid.Bool().Draw(r, "named") {
			column = keyOf(name)
		}
		rows := rapid.IntRange(1, 40).Draw(r, "rows")
		if i == len(names)-1 && i > 1 && rapid.Bool().Draw(r, "empty") {
			rows = 0
		}
		line := fmt.Sprintf("%s*%d: %s %s", tables[name], rows, column, kind)
		for _, to := range names[:i] {
			if rapid.IntRange(0, 2).Draw(r, "key") == 0 {
				line += fmt.Sprintf(", %s >%s", keyOf(to), tables[to])
			}
		}
		lines = append(lines, line+cells())
	}
	for i := range rapid.IntRange(1, 2).Draw(r, "links") {
		a, b := names[0], names[rapid.IntRange(0, 1).Draw(r, "to")]
		line := fmt.Sprintf("link%d*%d: %s >%s, other_%s >%s", i, rapid.IntRange(1, 60).Draw(r, "rows"), keyOf(a), tables[a], b+"_id", tables[b])
		lines = append(lines, line+cells())
		links += fmt.Sprintf(" link%d", i)
	}
	return schema(strings.Join(lines, "\n")), links
}

// Random tables have as many nodes and edges as their rows and keys, when they are drafted and imported as drafted.
func TestDraftRandom(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		s, links := randomSchema(r)
		all := s.tables(rapid.Uint64().Draw(r, "seed"))
		dir := folder(t, all)
		d := drafted(t, dir, dir)
		if d.Open() > 0 {
			r.Fatalf("%s\nfound faults to decide: %v", s, d.Faults)
		}
		if faults := importedFaults(t, dir, d, all, links, expectedEdges(all, links, true)); faults != nil {
			r.Fatalf("%s\n%v\n%s", s, faults, d.YAML)
		}
	})
}
