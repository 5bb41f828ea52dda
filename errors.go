package graphmill

import (
	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/operation/dispatching"
	"github.com/graphmill/graphmill/option"
)

// Kinds of errors. Test for them with errors.Is. Where a path does not exist, errors.Is(err, fs.ErrNotExist) holds as well.
var (
	// ErrUsage means that the options are wrong, as opposed to the data. The text names fields of the options in backquotes.
	ErrUsage = option.ErrUsage
	// ErrExists means that the output exists and Overwrite is false.
	ErrExists = operation.ErrExists
	// ErrNotStore means that a folder is neither a store nor a collection.
	ErrNotStore = operation.ErrNotStore
	// ErrDamaged means that the files of a folder do not match its manifest.
	ErrDamaged = operation.ErrDamaged
	// ErrWhole means that the output is complete under its name, although a later step failed, which the text names. Verify
	// accepts the output.
	ErrWhole = operation.ErrWhole
	// ErrMemory means that Memory is too small for the operation. The text says how much is enough.
	ErrMemory = operation.ErrMemory
	// ErrResumable means that a run stopped early and left a state from which the same call with Resume continues.
	ErrResumable = operation.ErrResumable
	// ErrNoReport means that an output folder has no report, because the run that wrote it had NoReport.
	ErrNoReport = operation.ErrNoReport
	// ErrSent means that some files of the parts were sent, and stay on the machines.
	ErrSent = dispatching.ErrSent
)

// Version returns the version of the library, such as "0.2.0". Outputs record the version that made them. It is a part of the source, so
// that builds of the same source make the same bytes wherever they are built; graphmill version prints the commit too.
func Version() string { return operation.Version() }
