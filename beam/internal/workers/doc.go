// Package workers starts the Go workers of Beam jobs when a runner asks for them.
//
// A Pool is the gRPC service that Beam calls an external worker pool: a TaskManager of Flink, or Prism, asks it for a worker and
// says where the worker's control endpoint is. A pool starts the worker in one of two ways.
//
//   - InProcess runs it in goroutines of this process. The submitter of a job uses it for its own job.
//   - Process runs it in a child process. The worker service, which outlives jobs, uses it: Beam keeps the options of a job in
//     global variables that are set once, and the memory of a job goes back to the system with its process. A worker that
//     crashes or is killed takes neither the service nor the workers of other jobs with it. A child holds a pipe to its
//     service, and ends when the pipe closes, so that no worker outlives a service that was killed.
//
// A worker is known by its id and its control endpoint, because ids are unique to a TaskManager, not to a machine. It ends when
// its control stream ends: at the end of the job, and at the death of the TaskManager. A pool ignores requests to stop a
// worker, because they name the id alone, which a worker of another TaskManager may have, too.
//
// Submitter and workers must be one build, because a pipeline names its functions and types, and does not carry them. The
// submitter puts its build into the options of the pipeline, and the pool refuses a request with other options before a worker
// starts.
//
// The protocol has no encryption and no authentication on the runner's side. A pool therefore listens on a loopback address and
// lets workers connect to loopback addresses, unless Insecure is set. Whoever can connect can run the functions of this
// program with the rights of its user.
//
// The package may import Beam, and no other package of the repository.
package workers
