// Package sampling has the command sample, for the binaries graphmill and graphmill-beam, and the flags that it shares with
// other commands.
package sampling
