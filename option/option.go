package option

import (
	"errors"
)

// ErrUsage means that the options are wrong, as opposed to the data. The text names fields of the options in backquotes.
var ErrUsage = errors.New("wrong usage")

// Run has the options that all operations share. Its zero value is the default.
type Run struct {
	// Threads is the number of worker threads, 1 to 4096; 0 is one per processor. Results do not depend on it.
	Threads int
	// Memory bounds the peak memory of the process, in bytes; 0 is no bound. A bound that is too small is an error.
	Memory int64
	// Overwrite replaces an existing output folder if Graphmill wrote it. Otherwise an existing output is ErrExists.
	Overwrite bool
	// NoReport leaves report.html and report.json out of the output folder. Verify accepts the folder, and RenderReport
	// has nothing to render.
	NoReport bool

	// Progress, if not nil, is called at most ten times per second for each stage, and once at the end of the stage.
	Progress func(Progress)
	// Warn, if not nil, is called with one line of text for each kind of data that was dropped, replaced or rounded.
	Warn func(text string)
	// Note, if not nil, is called with one line of text about each choice that the operation makes, and with forecasts.
	Note func(text string)

	// CommandLine is the command that the report shows: the program, then its arguments. Of addresses of databases it shows host, port, user and database.
	CommandLine []string
}

// Progress is the progress of a stage of an operation.
type Progress struct {
	Stage string // name of the stage, such as "sample"
	Done  int64  // work done, in units
	Total int64  // work of the whole stage, in units; 0 is unknown
	Unit  string // unit of Done and Total, such as "subgraphs"
	End   bool   // the stage has ended
	// Share is the share of the whole run that is done, from 0 to 1, by an estimate of the work of all stages. It never falls.
	// It is 0 where the stage is the whole run, and where the work of the stages is not known.
	Share float64
}
