module github.com/graphmill/graphmill/torture

go 1.26.0

replace github.com/graphmill/graphmill => ../

require github.com/rogpeppe/go-internal v1.16.0

require golang.org/x/tools v0.26.0 // indirect
