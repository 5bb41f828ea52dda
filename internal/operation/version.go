package operation

// release is the version of the release that this source is, or will become.
const release = "0.2.0"

// Version returns the version of the library, such as "0.2.0". Outputs record the version that made them. It is a part of the source, so
// that builds of the same source make the same bytes wherever they are built; graphmill version prints the commit too.
func Version() string { return release }
