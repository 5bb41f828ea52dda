// Package kills proves that a run can end at any point. It has no code but tests.
//
// TestKill kills runs at random times, and at chosen system calls with ptrace. Afterwards no output is visible that is not whole, and the
// same command, with --resume where the workload has it, gives the bytes of a run that was not killed. TestSignals sends the signals that
// a user, a scheduler and a lost terminal send: what is on the disk agrees with the last message and the exit status.
package kills
