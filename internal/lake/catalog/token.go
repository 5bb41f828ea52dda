package catalog

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/graphmill/graphmill/internal/lake"
	"github.com/graphmill/graphmill/internal/objects"
)

// token is a bearer token that was got for a client id and its secret.
type token struct {
	text    string
	expires time.Time // the zero time: not known
}

// tokenMargin is how long before its end a token is got anew.
const tokenMargin = time.Minute

// bearer is the token of requests: one for the credential of the environment, or its token; empty: none.
func (c *client) bearer(ctx context.Context) (string, error) {
	credential := c.given["credential"]
	if credential == "" {
		return c.given["token"], nil
	}
	c.mu.Lock()
	known := c.token
	c.mu.Unlock()
	if known.text != "" && (known.expires.IsZero() || time.Until(known.expires) > tokenMargin) {
		return known.text, nil
	}
	got, err := c.newToken(ctx, credential)
	if err != nil {
		return "", err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.token = got
	return got.text, nil
}

// forget has the next request get another token.
func (c *client) forget(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.token.text == text {
		c.token = token{}
	}
}

// newToken gets a token by OAuth2 with client credentials.
func (c *client) newToken(ctx context.Context, credential string) (token, error) {
	server := c.given["oauth2-server-uri"]
	if server == "" {
		server = c.endpoint + "/v1/oauth/tokens"
	}
	u, err := url.Parse(server)
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && (u.Scheme != "http" || strings.HasPrefix(c.endpoint, "https:") && !loopback(u)) {
		return token{}, lake.Badf("%s: found an address for tokens that is none, expected https://HOST/PATH; correct %s", c.endpoint, variable(c.name, "oauth2-server-uri"))
	}
	id, secret, both := strings.Cut(credential, ":")
	if !both {
		id, secret = "", credential
	}
	values := url.Values{"grant_type": {"client_credentials"}, "client_secret": {secret}, "scope": {"catalog"}}
	if id != "" {
		values.Set("client_id", id)
	}
	for _, p := range []string{"scope", "audience", "resource"} {
		if v := c.given[p]; v != "" {
			values.Set(p, v)
		}
	}
	for failed := 1; ; failed++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, server, strings.NewReader(values.Encode()))
		if err != nil {
			return token{}, lake.Badf("%s: found an address for tokens that is none, expected https://HOST/PATH; correct %s", c.endpoint, variable(c.name, "oauth2-server-uri"))
		}
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		b, answer, err := c.send(req, maxConfig)
		switch {
		case answer == nil && err != nil:
		case err != nil:
			return token{}, err
		case answer.StatusCode == http.StatusOK:
			return c.readToken(b)
		case !passing(answer.StatusCode):
			var said struct {
				Error       any    `json:"error"`
				Description string `json:"error_description"`
			}
			text := ""
			if json.Unmarshal(b, &said) == nil {
				if kind, ok := said.Error.(string); ok {
					text = strings.TrimSpace(kind + " " + said.Description)
				}
			}
			return token{}, c.deny("%s gives no token for the credential: %d %s%s; correct %s, which is ID:SECRET, and %s, the address for tokens", u.Host, answer.StatusCode, http.StatusText(answer.StatusCode), c.quoted(text),
				variable(c.name, "credential"), variable(c.name, "oauth2-server-uri"))
		default:
			err = lake.Badf("%s: %s says %d %s when it is asked for a token; try again later", c.endpoint, u.Host, answer.StatusCode, http.StatusText(answer.StatusCode))
		}
		if ctx.Err() != nil {
			return token{}, context.Cause(ctx)
		}
		if failed == tries {
			return token{}, err
		}
		if err := objects.Pause(ctx, failed); err != nil {
			return token{}, err
		}
	}
}

// readToken reads the answer with a token.
func (c *client) readToken(b []byte) (token, error) {
	var answer struct {
		Token   string  `json:"access_token"`
		Seconds float64 `json:"expires_in"`
	}
	if err := json.Unmarshal(b, &answer); err != nil || answer.Token == "" {
		return token{}, lake.Badf("%s: found an answer of %d bytes without a token, expected JSON with access_token; correct %s", c.endpoint, len(b), variable(c.name, "oauth2-server-uri"))
	}
	t := token{text: answer.Token}
	if s := answer.Seconds; s > 0 && s < 1e9 {
		t.expires = time.Now().Add(time.Duration(s * float64(time.Second)))
	}
	return t, nil
}
