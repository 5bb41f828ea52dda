package catalog

import (
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"unicode"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/tagged"
)

// maxMessage bounds the characters of a text of a catalog in an error.
const maxMessage = 200

// errorAnswer is the answer of a catalog with an error.
type errorAnswer struct {
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
	} `json:"error"`
}

// message is the text of an error of a catalog in parentheses, without secrets; empty: there is none.
func (c *client) message(body []byte) string {
	var e errorAnswer
	if json.Unmarshal(body, &e) != nil {
		return ""
	}
	return c.quoted(e.Error.Message)
}

// quoted is a text of a catalog in parentheses. One with a secret that was sent is left out.
func (c *client) quoted(text string) string {
	c.mu.Lock()
	secrets := []string{c.token.text}
	c.mu.Unlock()
	for k, v := range c.given {
		if k == "token" || k == "credential" || strings.Contains(k, "secret") || strings.Contains(k, "key") || strings.Contains(k, "token") {
			_, secret, both := strings.Cut(v, ":")
			if secrets = append(secrets, v); both {
				secrets = append(secrets, secret)
			}
		}
	}
	if text == "" || slices.ContainsFunc(secrets, func(s string) bool { return s != "" && strings.Contains(text, s) }) {
		return ""
	}
	short := []rune(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text))
	if len(short) > maxMessage {
		short = append(short[:maxMessage], '…')
	}
	return " (" + string(short) + ")"
}

// refused is the error of an answer that stays the same. about is the table that was asked for; nil: the configuration.
func (c *client) refused(status int, body []byte, about *address) error {
	var e errorAnswer
	known := json.Unmarshal(body, &e) == nil && e.Error.Type != ""
	what := "its configuration"
	if about != nil {
		what = "the table " + about.name()
	}
	says := c.message(body)
	switch {
	case (status == http.StatusUnauthorized || status == statusExpired) && !c.hasCredentials():
		return c.deny("found a catalog that wants credentials%s, expected them in the environment; give %s=%s and %s, or %s=ID:SECRET", says, variable(c.name, "uri"), c.endpoint, variable(c.name, "token"), variable(c.name, "credential"))
	case status == http.StatusUnauthorized || status == statusExpired:
		return c.deny("the catalog does not take the credentials%s; correct %s, which the environment has for this address", says, c.credentialVariable())
	case status == http.StatusForbidden && !c.hasCredentials():
		return c.deny("the catalog denies access to %s without credentials%s; give %s=%s and %s, or %s=ID:SECRET", what, says, variable(c.name, "uri"), c.endpoint, variable(c.name, "token"), variable(c.name, "credential"))
	case status == http.StatusForbidden:
		return c.deny("the catalog denies access to %s%s; give credentials in %s that may read it, or ask who runs the catalog", what, says, c.credentialVariable())
	case status == http.StatusNotFound && about == nil:
		return c.absent("found no catalog, or none with the warehouse %q, expected both%s; correct the address, which has no /v1 at its end, and ?warehouse=NAME before the #", c.warehouse, says)
	case status == http.StatusNotFound && e.Error.Type == "NoSuchNamespaceException":
		return c.absent("found no namespace %s in the catalog, expected one; correct the name: its levels are divided by dots", strings.Join(about.namespace, "."))
	case status == http.StatusNotFound && (known || len(body) == 0):
		return c.absent("found no table %s in the catalog, expected one; correct the name: NAMESPACE.TABLE", about.name())
	case status == http.StatusNotFound:
		return c.absent("found no page for %s, expected the answer of a catalog; correct the address, or ask who runs the catalog", what)
	}
	return lake.Badf("%s: the catalog answers the request for %s by %d %s%s; correct the address, or ask who runs the catalog", c.endpoint, what, status, http.StatusText(status), says)
}

// deny makes an error of kind fs.ErrPermission.
func (c *client) deny(format string, a ...any) error {
	return tagged.Errorf(fs.ErrPermission, "%s: %w", c.endpoint, lake.Badf(format, a...))
}

// errNoTable is the kind of an error about a table or a catalog that is not there. It is no fs.ErrNotExist, so that its text is not
// replaced by one about files.
var errNoTable = errors.New("no such table")

// absent makes an error of kind errNoTable.
func (c *client) absent(format string, a ...any) error {
	return tagged.Errorf(errNoTable, "%s: %w", c.endpoint, lake.Badf(format, a...))
}

func (c *client) hasCredentials() bool { return c.given["token"] != "" || c.given["credential"] != "" }

// credentialVariable is the name of the variable with the credentials that are used.
func (c *client) credentialVariable() string {
	if c.given["credential"] != "" {
		return variable(c.name, "credential")
	}
	return variable(c.name, "token")
}
