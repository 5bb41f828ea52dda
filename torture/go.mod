module github.com/graphmill/graphmill/torture

go 1.26.0

replace github.com/graphmill/graphmill => ../
