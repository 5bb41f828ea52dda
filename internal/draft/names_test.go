package draft

import (
	"strings"
	"testing"

	"github.com/graphmill/graphmill/internal/ingest/table"
)

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"user_id": "user id", "OwnerUserId": "owner user id", "userID": "user id", "URLPath": "url path", "driverStandingsId": "driver standings id",
		"order details": "order details", "t_dat": "t dat", "": "", "__": "", "Größe": "größe", "col1": "col1",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%q: found %q, expected %q", name, got, want)
		}
	}
}

// Names of columns say of a table: the name of its key, a part of it, something, or nothing.
func TestStrengthOf(t *testing.T) {
	for _, x := range []struct {
		column, table, id string
		want              int
	}{
		{"user_id", "users", "id", sameName},
		{"userId", "user", "id", sameName},
		{"userid", "Users", "id", sameName},
		{"fk_user", "users", "id", sameName},
		{"category_id", "categories", "id", sameName},
		{"movieId", "movies", "movieId", sameName},
		{"address_id", "addresses", "id", sameName},
		{"person_id", "people", "id", sameName},
		{"order_item_id", "orderitems", "id", sameName},
		{"commit", "nodes_commit", "id", partName},
		{"OwnerUserId", "users", "Id", partName},
		{"user", "users", "id", partName},
		{"customer_id", "olist_customers_dataset", "cid", nearName},
		{"nct_id", "studies", "nct_id", sameName},
		{"customer_id", "users", "Customer ID", sameName},
		{"customer", "users", "Customer ID", partName},
		{"customers", "users", "customer_id", partName},
		{"__", "users", "id", otherName},
		{"some_id", "users", "id", anyName},
		{"src", "users", "id", anyName},
		{"created_by", "users", "id", anyName},
		{"paid", "users", "id", otherName},
		{"quantity", "users", "id", otherName},
		{"status", "users", "id", otherName},
		{"postal_code", "users", "id", otherName},
		{"id", "users", "id", anyName},
	} {
		u := &Table{Name: x.table}
		u.id = &column{Field: Field{Field: table.Field{Name: x.id}}, table: u}
		u.columns = []*column{u.id}
		of := &Table{Name: "other"}
		c := &column{Field: Field{Field: table.Field{Name: x.column}}, table: of}
		if got := strengthOf(c, u); got != x.want {
			t.Errorf("%s of %s(%s): found %d, expected %d", x.column, x.table, x.id, got, x.want)
		}
	}
}

func TestSelfNames(t *testing.T) {
	for name, want := range map[string]bool{"ReportsTo": true, "reports_to": true, "parent_id": true, "ParentId": true, "manager_id": true, "manager_staff_id": false, "paint": false} {
		if isSelfName(name) != want {
			t.Errorf("%s: found %v, expected %v", name, !want, want)
		}
	}
}
