package secret

import (
	"fmt"
	"strings"

	"github.com/graphmill/graphmill/internal/vfs"
)

// MostFile bounds the size of files with certificates, keys and tokens.
const MostFile = 1 << 20

// ReadToken reads the token in a file, without the blanks around it.
func ReadToken(file string) (string, error) {
	b, err := vfs.ReadFile(vfs.OS, file, MostFile)
	if err != nil {
		return "", err
	}
	// A token can travel in a header, so it has no control characters or spaces and a bounded length.
	token := strings.TrimSpace(string(b))
	if len(token) < 16 || len(token) > 4096 || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fmt.Errorf("%s: found a token of %d bytes, expected 16 to 4096 printable ASCII characters without spaces; make one with: head -c 32 /dev/urandom | base64", file, len(token))
	}
	return token, nil
}
