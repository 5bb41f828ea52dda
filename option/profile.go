package option

// Profile says what Store.Profile compares columns with.
type Profile struct {
	Run
	// Like is another store: how far each column is from its column of the same name. "" compares nothing.
	Like string
}
