// Package workfolder has what workers of a cluster and the submitter tell each other through the folder that they share:
// what a worker has done so far, and the errors of workers.
package workfolder
