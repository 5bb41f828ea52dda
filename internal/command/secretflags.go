package command

import (
	"github.com/spf13/pflag"

	"github.com/graphmill/graphmill/internal/cli"
	"github.com/graphmill/graphmill/internal/options"
	"github.com/graphmill/graphmill/internal/secret"
)

// SecretFlags has the flags of a server that other machines can reach.
type SecretFlags struct{ secret.Files }

// Add adds the flags.
func (f *SecretFlags) Add(fs *pflag.FlagSet) {
	fs.StringVar(&f.Certificate, "tls-cert", "", "PEM file with the certificate and its intermediate certificates; a file that is replaced is read again")
	fs.StringVar(&f.Key, "tls-key", "", "PEM file with the key of the certificate")
	fs.StringVar(&f.Token, "token-file", "", "file with the token that each client must have, 16 to 4096 characters")
	cli.Named(fs, "FILE", "tls-cert", "tls-key", "token-file")
	cli.Group(fs, options.GroupServe, "*tls-cert", "*tls-key", "*token-file")
}

// Check refuses a certificate without its key.
func (f *SecretFlags) Check() error {
	if (f.Certificate == "") != (f.Key == "") {
		return cli.Usagef("found one of --tls-cert and --tls-key, expected both or neither; give the certificate with its key")
	}
	return nil
}

// Exposed is the error of an address that other machines reach, without these flags.
func Exposed(listen string) error {
	return cli.Usagef("found --listen %s, which other machines can reach, expected --tls-cert and --tls-key to encrypt what is sent and --token-file to restrict access, or --listen 127.0.0.1:PORT", listen)
}
