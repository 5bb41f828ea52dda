package dispatch

import "slices"

// reference is the content of the files according to the definitions.
type reference struct {
	newNode  [][]int // by type and id
	newEdge  [][]int // by edge type and edge id
	partOf   [][]int
	parts    []refPart
	nodeMap  [][][2]int64
	edgeMap  [][][2]int64
	edgeType map[int][2]int // by new edge id: type and edge id
}

type refPart struct {
	own, halo         []int // new ids of nodes
	ownEdge, haloEdge []int // new ids of edges
}

func newReference(in *input, opt Options) *reference {
	r := &reference{edgeType: map[int][2]int{}, nodeMap: make([][][2]int64, len(in.g.Nodes)), edgeMap: make([][][2]int64, len(in.g.Edges)), parts: make([]refPart, in.a.Parts)}
	for t, n := range in.g.Nodes {
		r.newNode = append(r.newNode, make([]int, n.Count))
		var parts []int
		for _, p := range in.a.Of(t) {
			parts = append(parts, int(p))
		}
		r.partOf = append(r.partOf, parts)
	}
	for _, list := range in.edges {
		r.newEdge = append(r.newEdge, make([]int, len(list)))
	}
	node, edge := 0, 0
	for p := range in.a.Parts {
		for t := range in.g.Nodes {
			first := node
			for v, q := range r.partOf[t] {
				if q == p {
					r.newNode[t][v] = node
					r.parts[p].own = append(r.parts[p].own, node)
					node++
				}
			}
			r.nodeMap[t] = append(r.nodeMap[t], [2]int64{int64(first), int64(node)})
		}
	}
	ends := func(e int) (int, int) {
		return in.g.NodeType(in.g.Edges[e].Type.Src), in.g.NodeType(in.g.Edges[e].Type.Dst)
	}
	for p := range in.a.Parts {
		for e, list := range in.edges {
			_, dt := ends(e)
			var ids []int
			for id, x := range list {
				if r.partOf[dt][x.dst] == p {
					ids = append(ids, id)
				}
			}
			slices.SortStableFunc(ids, func(a, b int) int { return r.newNode[dt][list[a].dst] - r.newNode[dt][list[b].dst] })
			first := edge
			for _, id := range ids {
				r.newEdge[e][id] = edge
				r.edgeType[edge] = [2]int{e, id}
				r.parts[p].ownEdge = append(r.parts[p].ownEdge, edge)
				edge++
			}
			r.edgeMap[e] = append(r.edgeMap[e], [2]int64{int64(first), int64(edge)})
		}
	}
	// The halo, hop by hop, over all edges as (source, destination) of new ids.
	type link struct{ src, dst, id int }
	var links []link
	for e, list := range in.edges {
		st, dt := ends(e)
		for id, x := range list {
			links = append(links, link{r.newNode[st][x.src], r.newNode[dt][x.dst], r.newEdge[e][id]})
		}
	}
	for p := range r.parts {
		own, reached, edges := map[int]bool{}, map[int]bool{}, map[int]bool{}
		for _, v := range r.parts[p].own {
			own[v] = true
		}
		isOwn := func(id int) bool { return slices.Contains(r.parts[p].ownEdge, id) }
		for _, x := range links {
			if own[x.dst] && !own[x.src] {
				reached[x.src] = true
			}
		}
		for range max(opt.Hops-1, 0) {
			more := map[int]bool{}
			for _, x := range links {
				if reached[x.dst] {
					edges[x.id] = true
					if !own[x.src] {
						more[x.src] = true
					}
				}
			}
			for v := range more {
				reached[v] = true
			}
		}
		for _, x := range links {
			if opt.Leaving && opt.Hops > 0 && own[x.src] && !own[x.dst] {
				edges[x.id] = true
				reached[x.dst] = true
			}
		}
		for v := range reached {
			r.parts[p].halo = append(r.parts[p].halo, v)
		}
		for e := range edges {
			if !isOwn(e) {
				r.parts[p].haloEdge = append(r.parts[p].haloEdge, e)
			}
		}
		slices.Sort(r.parts[p].halo)
		slices.Sort(r.parts[p].haloEdge)
	}
	return r
}
