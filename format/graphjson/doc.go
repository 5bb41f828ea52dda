// Package graphjson reads graphs as JSON, in the forms of several programs:
//
//   - [ReadNodeLink]: networkx's node_link_data, D3 and graphology, {"nodes": [{"id": "a"}], "links": [{"source": "a", "target": "a"}]};
//   - [ReadJGF]: JSON Graph Format, {"graph": {"nodes": {"a": {}}, "edges": [{"source": "a", "target": "a"}]}};
//   - [ReadCytoscape]: Cytoscape.js, {"elements": {"nodes": [{"data": {"id": "a"}}], "edges": [{"data": {"source": "a", "target": "a"}}]}};
//   - [ReadCX2]: the second version of Cytoscape Exchange, [{"CXVersion": "2.0"}, {"nodes": [{"id": 0}]}, {"edges": [{"id": 0, "s": 0, "t": 0}]}].
//
// A reader holds one node or edge, of at most 16 MiB; other members of the document are passed over. A name that an object has twice is an
// error. Errors name the line.
//
// The API may change in any version: see package format.
package graphjson
