// Package workfolder has what the work folders have in common by which the submitter of a job on a cluster and its workers
// exchange files: the errors of workers, and names that no other process makes.
//
// The package imports internal/vfs.
package workfolder
