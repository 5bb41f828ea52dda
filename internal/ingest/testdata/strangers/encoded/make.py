"""Makes files whose bytes differ from what their names or first characters say, and what networkx reads from them.

Run in this folder with networkx 3.6.1.
"""

import gzip
import io
import json

import networkx as nx

bom = b"\xef\xbb\xbf"
directed = nx.DiGraph()
directed.add_node("a", size=3, label="é")
directed.add_node("b", size=-1, label="ü<")
directed.add_edge("a", "b", weight=0.5)
directed.add_edge("b", "b", weight=2.0)
text = io.BytesIO()
nx.write_graphml(directed, text)
graphml = text.getvalue()

files = {
    "bom.graphml": bom + graphml,
    "gzip.graphml": gzip.compress(graphml, mtime=0),
    "latin1.graphml": graphml.decode().replace("encoding='utf-8'", "encoding='ISO-8859-1'").encode("latin-1"),
    # as yEd writes it
    "data.graphml": b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key attr.name="Description" attr.type="string" for="graph" id="d0"/>
<key attr.name="weight" attr.type="double" for="edge" id="d1"/>
<data key="d0"/>
<graph edgedefault="directed" id="G"><data key="d0">x</data>
<node id="a"/><node id="b"/><edge source="a" target="b"><data key="d1">2.5</data></edge>
</graph></graphml>
""",
    # one id for a key of nodes and one of edges
    "ids.graphml": b"""<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="v" for="node" attr.name="v" attr.type="double"/>
<key id="v" for="edge" attr.name="v" attr.type="double"/>
<graph edgedefault="directed">
<node id="a"><data key="v">1.5</data></node><node id="b"><data key="v">2.5</data></node>
<edge source="a" target="b"><data key="v">3.5</data></edge>
</graph></graphml>
""",
    "bom.json": bom + json.dumps(nx.node_link_data(directed, edges="links")).encode(),
}
expected = {}
for name, content in files.items():
    with open(name, "wb") as out:
        out.write(content)
    if name.endswith(".json"):
        g = nx.node_link_graph(json.loads(content.decode("utf-8-sig")), edges="links")
    else:
        g = nx.read_graphml(io.BytesIO(gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content))
    expected[name] = {"nodes": [[n, d] for n, d in g.nodes(data=True)], "edges": [[u, v, d] for u, v, d in g.edges(data=True)]}
with open("expected.json", "w") as out:
    json.dump(expected, out, indent=1, sort_keys=True)
    out.write("\n")
