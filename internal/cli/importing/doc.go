// Package importing has the command import, for the binaries graphmill and graphmill-beam, and the flags that it shares with
// other commands.
package importing
