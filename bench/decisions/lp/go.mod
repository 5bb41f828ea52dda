module github.com/graphmill/graphmill/bench/decisions/lp

go 1.26.0

replace github.com/graphmill/graphmill => ../../../

require (
	github.com/graphmill/graphmill v0.0.0
	gonum.org/v1/gonum v0.17.0
)

require (
	github.com/klauspost/cpuid/v2 v2.4.0 // indirect
	github.com/zeebo/xxh3 v1.1.0 // indirect
	golang.org/x/sync v0.24.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
)
