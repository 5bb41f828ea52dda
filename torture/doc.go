// Package torture proves promises of Graphmill that hold for all commands at once. It runs the built command from outside, as
// a user does, and breaks things while it runs. It has no code; its folders have the proofs:
//
//   - faults: every call of the file system fails once, from inside (the file system of package vfs) and from outside (system
//     calls, a FUSE disk, a file that is cut). The command names the file, exits with status 1, and leaves nothing that looks whole.
//   - kills: the command is killed at random times and at chosen system calls. No output is visible that is not whole, and the same
//     command gives the same bytes afterwards.
//   - chains: chains of commands that must give the same graph do.
//   - clients: foreign clients of the servers.
//   - forecast: what a command forecasts is what it needs.
//
// Each proof has two forms. The short form is a sample of a fixed random seed, for CI: make torture-short. The long form has all cases:
// make torture, which sets TORTURE=long. README.md says how to run one case again.
//
// What the proofs share lies in internal: form (which form runs), command (the programs and their runs), workloads (the table of
// commands over small inputs).
package torture
