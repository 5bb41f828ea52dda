// Package nodelink reads graphs as JSON in the form of networkx's node_link_data and of D3:
//
//	{"directed": true, "nodes": [{"id": "a", "x": 1}], "links": [{"source": "a", "target": "a", "weight": 0.5}]}
//
// The list of edges has the name links or edges. A reader holds one node or edge, of at most 16 MiB; other members of the document are
// passed over. Errors name the line.
//
// The API may change in any version: see package format.
package nodelink
