package sample

// ParseScope reads "epoch", "batch" or "seed".
func ParseScope(name string) (Scope, error) {
	i, err := numberOfName("scope", &name, scopeNames)
	return Scope(i), err
}

// ParseExpand reads "new" or "all".
func ParseExpand(name string) (Expand, error) {
	i, err := numberOfName("expand", &name, expandNames)
	return Expand(i), err
}
