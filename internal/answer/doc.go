// Package answer answers questions about single nodes: the batch of the seeds that are asked for, which equals the batch that a
// training would have got for these seeds.
//
// # Questions
//
// A Question is JSON: seeds by row number or by original id, their times, and the numbers of the epoch and the batch whose draws the
// answer has. One law holds for training and serving: the answer is the batch with this number, if it had these seeds.
//
// # Versions
//
// A server answers from the newest version of a store that it was given (Versions). A question that is being answered keeps its
// version; a version is closed after its last question. Take gives the server a new one.
//
// # Plans
//
// A version has one plan or several (Plan), each with a source of its own over the same store. A question names one of them, or gets the first. A new version replaces all of them at one moment.
//
// # Frames
//
// Server speaks frames over a Unix socket, in the layout of package feed, so an answer is written once and read in place.
// docs/format-answers.md describes every byte. Each connection has one question under way, and its answers come in order: a goroutine
// reads, answers and writes, which costs less than handing questions to others would save. Package flight, a module of its own,
// answers the same questions over Arrow Flight.
//
// # Bounds
//
// At most Options.Threads questions are worked on at a time, over all connections, and at most Options.Waiting wait for one of these
// places. Further ones are refused at once (ErrBusy), so that a server with too much work stays fast for those that it answers.
// A question has at most the seeds of the source's batch size, and an answer at most Options.MaxAnswer bytes, which is looked at before its
// columns are written.
//
// It runs on Linux and macOS.
package answer
