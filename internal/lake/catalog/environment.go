package catalog

import (
	"cmp"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/graphmill/graphmill/internal/lake"
)

// variablePrefix begins the names of variables of catalogs, as PyIceberg has them: PYICEBERG_CATALOG__NAME__PROPERTY. In PROPERTY, two underscores
// stand for a dot, and one for a hyphen.
const variablePrefix = "pyiceberg_catalog__"

// properties describe a catalog by names and values. Names are such as token and s3.region.
type properties map[string]string

// configured are the catalogs of an environment, by name.
func configured(environment []string) map[string]properties {
	all := map[string]properties{}
	for _, v := range environment {
		key, value, _ := strings.Cut(v, "=")
		key, ok := strings.CutPrefix(strings.ToLower(key), variablePrefix)
		name, property, both := strings.Cut(key, "__")
		if !ok || !both || name == "" || property == "" || value == "" {
			continue
		}
		if all[name] == nil {
			all[name] = properties{}
		}
		all[name][strings.ReplaceAll(strings.ReplaceAll(property, "__", "."), "_", "-")] = value
	}
	return all
}

// choose returns the catalog of an environment that an address means: one whose URI is the address, and whose warehouse is the same if
// the address has one. Without one, name is empty.
func choose(all map[string]properties, a *address) (name string, p properties, err error) {
	var found, exact []string
	for n, p := range all {
		u, err := url.Parse(p["uri"])
		if err != nil || normalEndpoint(u) != a.endpoint {
			continue
		}
		switch w := p["warehouse"]; {
		case a.warehouse == "" || w == "":
			found = append(found, n)
		case w == a.warehouse:
			exact = append(exact, n)
		}
	}
	if len(exact) > 0 {
		found = exact
	}
	slices.Sort(found)
	if len(found) > 1 {
		return "", nil, lake.Badf("found the catalogs %s with this address in the environment, expected one; leave one with PYICEBERG_CATALOG__NAME__URI=%s, or give the warehouse of one as ?warehouse=NAME before the #", strings.Join(found, ", "), a.endpoint)
	}
	if len(found) == 0 {
		return "", properties{}, nil
	}
	return found[0], all[found[0]], nil
}

// IsConfigured says whether the environment has the catalog of a path. A path that is no address of a table is an error without the secrets that it may
// have.
func IsConfigured(path string) (bool, error) {
	a, err := parseAddress(path)
	if err != nil {
		return false, err
	}
	name, _, err := choose(configured(os.Environ()), &a)
	return err == nil && name != "", nil
}

// variable is the name of the variable with a property of a catalog.
func variable(catalog, property string) string {
	return strings.ToUpper(variablePrefix + cmp.Or(catalog, "name") + "__" + strings.ReplaceAll(strings.ReplaceAll(property, ".", "__"), "-", "_"))
}

// unsupported refuses ways to authenticate that are not known here.
func (p properties) unsupported() error {
	switch {
	case strings.EqualFold(p["rest.sigv4-enabled"], "true"):
		return lake.Badf("found a catalog whose requests AWS signs (rest.sigv4-enabled), as those of Glue and S3 Tables, expected one with OAuth2 or a token; give the path of the metadata that it has: table.metadata_location in pyiceberg")
	case p["auth"] != "" || p["auth.type"] != "" && p["auth.type"] != "oauth2" || p["rest.auth.type"] != "" && p["rest.auth.type"] != "oauth2":
		return lake.Badf("found a catalog with another way to authenticate, expected OAuth2 or a token; give a token of it as PYICEBERG_CATALOG__NAME__TOKEN")
	}
	return nil
}
