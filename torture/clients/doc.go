// Package clients has foreign clients of the three servers, graphmill feed, graphmill serve and graphmill-flight: slow, torn, malformed, without the token,
// too many, and such that read nothing or die.
//
// A test starts a server and a good client that reads the same epoch again and again. Then each attack runs. After it:
//
//   - the good client got the same bytes throughout, and the server still runs
//   - the server has its descriptors and threads of before, and its resident memory is within a bound
//   - an idle server takes no processor time
//   - its log names the client and the reason, where the attack violates the protocol, and has no trace of a panic
//
// In the end the server leaves no process, no socket and no shared memory, also where it was killed.
//
// The tests run on Linux. The short form has fewer clients per attack.
package clients
