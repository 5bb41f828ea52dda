// Package secret has what servers that other machines reach are protected by: their certificate, a token that clients must have, and the rule that an address which
// other machines reach needs both.
package secret
