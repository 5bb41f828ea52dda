"""Makes the files of libraries beside this file. Each library is installed alone, and named as an argument: networkx-gdf 1.5.5, anndata 0.12.19, rdflib 7.6.0, rdkit 2026.9.1, osmium 4.3.2.

python make.py rdflib
"""

import os
import pathlib
import sys


def make_gdf() -> None:
    """Karate, by networkx-gdf."""
    import networkx
    import networkx_gdf

    networkx_gdf.write_gdf(networkx.karate_club_graph(), "karate.gdf")


def make_anndata() -> None:
    """Four cells with the neighbours of each."""
    import anndata
    import numpy
    import scipy.sparse

    near = scipy.sparse.csr_matrix(numpy.array([[0, 1, 0, 0.5], [1, 0, 0.25, 0], [0, 0.25, 0, 0], [0.5, 0, 0, 0]]))
    cells = anndata.AnnData(X=numpy.eye(4, dtype="float32"), obsp={"connectivities": near}, obsm={"X_pca": numpy.arange(8, dtype="float32").reshape(4, 2)})
    cells.obs["kind"] = ["a", "b", "a", "c"]
    cells.write_h5ad("cells.h5ad")


def make_rdflib() -> None:
    """W3C's test-query.ttl in other forms."""
    import rdflib

    triples = rdflib.Graph().parse("test-query.ttl")
    triples.serialize("test-query.n3", "n3")
    triples.serialize("test-query.jsonld", "json-ld")


def make_rdkit() -> None:
    """Two molecules with positions, and a property."""
    from rdkit import Chem
    from rdkit.Chem import AllChem

    with Chem.SDWriter("two.sdf") as writer:
        for name, text in (("ethanol", "CCO"), ("benzene", "c1ccccc1")):
            molecule = Chem.AddHs(Chem.MolFromSmiles(text))
            AllChem.EmbedMolecule(molecule, randomSeed=1)
            molecule.SetProp("_Name", name)
            molecule.SetProp("charge", "0")
            writer.write(molecule)


def make_osmium() -> None:
    """A crossing of a road and a one-way road."""
    import osmium
    from osmium.osm import mutable

    for name in ("crossing.osm", "crossing.osm.pbf"):
        with osmium.SimpleWriter(name, overwrite=True) as writer:
            for i, place in enumerate(((9.5, 47.1), (9.501, 47.1), (9.502, 47.1), (9.501, 47.101)), 1):
                writer.add_node(mutable.Node(id=i, location=place, version=1))
            writer.add_way(mutable.Way(id=1, nodes=[1, 2, 3], tags={"highway": "residential", "name": "Lange Straße"}, version=1))
            writer.add_way(mutable.Way(id=2, nodes=[4, 2], tags={"highway": "service", "oneway": "yes"}, version=1))


os.chdir(pathlib.Path(__file__).parent)
{"networkx-gdf": make_gdf, "anndata": make_anndata, "rdflib": make_rdflib, "rdkit": make_rdkit, "osmium": make_osmium}[sys.argv[1]]()
