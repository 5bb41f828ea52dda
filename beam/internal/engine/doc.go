// Package engine runs a Beam pipeline on Prism, Beam's runner for one machine, or on Flink or Spark through Beam's job server.
//
// A program calls Init first, then builds its pipeline and calls Run. Run submits the pipeline, waits for the end of the job,
// and returns an error that names its root cause. The end of the context, or of the time limit, cancels the job on the server.
//
// The submitter is not the one of Beam's SDK, which reads its options from global flags, cannot pass options to the runner,
// waits two minutes for an endpoint that nobody serves, and has no time limit.
//
// Workers run the functions of the pipeline. Without `Workers` they run in the submitting process, which suits Prism and an engine
// on the same machine; with `Workers` they are children of the worker services at that address.
//
// # What is encrypted
//
// With `TLS`, the connections from the submitter to the job server and to its artifact endpoint are. Beam's job server speaks
// no TLS of its own, so this needs a proxy in front of both ports. The connections between a TaskManager of Flink, or an executor of Spark, and its workers are never
// encrypted, because Beam's Java runner cannot: keep them on the machine by a worker service on each. Those among the
// machines of Flink are Flink's to encrypt (security.ssl), as those of Spark are Spark's (spark.ssl, spark.network.crypto). Endpoints beyond loopback are refused without `TLS` or `Insecure`.
//
// # What cannot be stopped
//
// Prism offers no way to end its server. It is started once per process, with its pool of workers, and ends with the process: some
// goroutines and a listener stay. The listener would take jobs, and with them commands to run, from other machines; on
// Linux it is bound to the loopback interface, and elsewhere Run refuses to start it without `Insecure`.
//
// A function of the pipeline that does not return keeps its goroutine when its job is cancelled. Beam's Go worker itself has two
// locks that it can take in either order when it is cancelled, and then keeps two goroutines. Processes of the worker
// service end in both cases.
//
// Beam's job server does not tell Flink when a job is cancelled, so that Run tells Flink itself if it knows `JobManager`. The
// job of a submitter that is killed runs on. Spark needs no telling: it runs inside the job server, and ends the job's executors.
//
// Beam keeps loggers, hooks and options in global variables. So Run runs one pipeline at a time in a process, and a second
// call waits.
//
// The package may import Beam, beam/internal/workers and internal/vfs.
package engine
