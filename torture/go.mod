module github.com/graphmill/graphmill/torture

go 1.26.0

replace github.com/graphmill/graphmill => ../

require (
	github.com/rogpeppe/go-internal v1.16.0
	golang.org/x/sys v0.49.0
)

require (
	github.com/graphmill/graphmill v0.0.0
	github.com/hanwen/go-fuse/v2 v2.12.1
	golang.org/x/tools v0.51.0 // indirect
)
