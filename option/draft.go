package option

// Draft say how Draft reads tables. Memory bounds what it holds, 1 GiB by default; more is on the disk, in the folder for temporary files
// (TMPDIR), as the copies of the tables of a database are. Overwrite and NoReport have no meaning.
type Draft struct {
	Run
}
