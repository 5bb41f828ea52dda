package options

// Threads is the option of operations that work on several threads.
var Threads = []Option{{Field: "Threads", Group: GroupRun, Common: true, Help: "number of worker threads; results do not depend on it (default: one per processor)"}}

// Memory is the option of operations that bound their memory.
var Memory = []Option{{Field: "Memory", Group: GroupRun, Common: true, Help: "bound on the peak memory of the process, such as 2GiB (default: no bound)"}}

// Overwrite is the option of operations that write a folder.
var Overwrite = []Option{{Field: "Overwrite", Flag: "force", Group: GroupOutput, Common: true, Help: "replace an existing output folder of graphmill"}}

// NoReport is the option of operations that write a folder with a report.
var NoReport = []Option{{Field: "NoReport", Group: GroupOutput, Help: "write no report.html and report.json"}}
