package option

// Lineage say where TraceLineage looks for inputs.
type Lineage struct {
	// Search lists folders that hold inputs or outputs. The folders in which those that are found lie, and they themselves,
	// are searched without being named.
	Search []string
}
