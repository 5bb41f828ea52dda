#!/bin/sh
# Installs the real programs that Graphmill is compared with, each into a Python
# environment of its own, and prints the path of that environment's python.
#
#   bench/peers.sh tfgnn      TF-GNN, on TensorFlow
#   bench/peers.sh dgl        DGL with GraphBolt, on torch (needs gcc and binutils)
#   bench/peers.sh pyg        PyTorch Geometric with torch-sparse, on torch (needs g++ and binutils)
#   bench/peers.sh lightning  Lightning and torchdata's StatefulDataLoader, on the environment of pyg
#   bench/peers.sh card       Triton, whose interpreter runs kernels for a graphics card on the CPU, on the environment of pyg
#   bench/peers.sh databases  RelBench and the server of PostgreSQL, on the environment of pyg
#   bench/peers.sh frames     Google's DGF and PyTorch Frame, on the environment of pyg
#   bench/peers.sh integrations  Ray Data, datasets, FastAPI, TensorBoard, Weights & Biases, Jupyter's kernel, on the environment of pyg
#   bench/peers.sh batches    batch-iter and grain, on torch (needs gcc and binutils)
#   bench/peers.sh jraph      jraph, on JAX
#   bench/peers.sh ogb        OGB and SciPy, on torch (needs gcc and binutils)
#   bench/peers.sh partition  KaMinPar and Mt-KaHyPar (METIS's gpmetis is the system's)
#   bench/peers.sh neo4j      the driver of Neo4j, and a Neo4j server with APOC (needs Java 17 and Maven), beside the python
#   bench/peers.sh kubernetes the schemas of Kubernetes
#   bench/peers.sh plots      matplotlib, for the plots of docs/scaling.md
#   bench/peers.sh axe        axe-core, which judges pages (the browser is the system's chromium)
#   bench/peers.sh s3         versitygw, a server with the protocol of Amazon S3 (needs Go), beside the python
#   bench/peers.sh files      the libraries that graphmill.read reads files with, and OGB's features of molecules
#   bench/peers.sh features   scikit-learn, polars, pyarrow
#   bench/peers.sh tgb        TGB, without torch
#   bench/peers.sh lakes      delta-rs and pyiceberg, which write and read tables of lakes
#   bench/peers.sh catalog    the catalog server of Apache Iceberg's own tests, and pyiceberg (needs Java 17 and Maven)
#   bench/peers.sh tables     polars, DuckDB, pyarrow; NumPy for the benchmarks' own inputs
#
# Environments live in ${GRAPHMILL_PEERS:-$HOME/.cache/graphmill-peers}, named by
# the peer and a hash of everything that decides their content (the pins, the
# Python and the recipe), so that a changed pin makes a new one and a finished one is used as it
# is. An environment is finished when it holds the file "complete", which is
# written last; one that was interrupted is removed and made anew. Only pip is
# used, go install for s3, and Maven for neo4j and catalog. Pins and helpers are in bench/peers. The hash leaves out the comments of a file of pins;
# it covers every byte of a helper and of a recipe below.
#
# GRAPHMILL_WHEELS names a folder of wheels that were compiled before. Those whose name and SHA-256 are in bench/peers/wheels.txt are
# installed in place of compiling them, which takes 11 minutes of two processors; others in the folder are left alone.
#
# To add a peer, add a function recipe_NAME that runs $PIP and checks an import,
# and a line to the case at the end that names its pins, the file of the
# recipe besides them (or "") and its Python versions.
#
# Exit status: 0 the path is on stdout; 1 the installation failed; 2 wrong usage.
set -eu

# The python of an environment on which another one is built, if any.
BASE=

die() { echo "peers.sh: $1" >&2; exit "${2:-1}"; }

# The pins of a requirements file: its lines without comments.
pins() { grep -v '^[[:space:]]*\(#\|$\)' "$1"; }

# python_of VERSION...: the first of these Pythons that can be run.
python_of() {
  for v in "$@"; do
    for p in "python$v" python3; do
      if "$p" -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$v')" 2>/dev/null; then
        command -v "$p"
        return
      fi
    done
  done
  die "found none of Python $*, expected one; install it and put it on the PATH"
}

# take_wheels FOLDER: copies the pinned wheels of GRAPHMILL_WHEELS to a folder, where pip prefers them to the source of the same version.
take_wheels() {
  mkdir -p "$1"
  pins "$(dirname "$0")/peers/wheels.txt" | while read -r sum name; do
    cp "$GRAPHMILL_WHEELS/$name" "$1/$name" 2>/dev/null || continue
    if [ "$(sha256sum <"$1/$name")" != "$sum  -" ]; then
      echo "peers.sh: $GRAPHMILL_WHEELS/$name: found another SHA-256 than bench/peers/wheels.txt has, so it is not used" >&2
      rm "$1/$name"
    fi
  done
}

# install PEER REQUIREMENTS HELPER VERSION...: makes the environment if it is absent.
install() {
  peer=$1 requirements=$2 HELPER=$3
  shift 3
  for file in "$requirements" ${HELPER:+"$HELPER"}; do
    [ -r "$file" ] || die "$file: cannot be read; take a whole clone of the repository"
  done
  [ -z "${GRAPHMILL_WHEELS:-}" ] || [ -d "$GRAPHMILL_WHEELS" ] || die "found GRAPHMILL_WHEELS=$GRAPHMILL_WHEELS, expected a folder of wheels; correct it, or leave it out to compile"
  python=$(python_of "$@")
  key=$({ pins "$requirements"; "$python" --version; sed -n "/^recipe_$peer()/,/^}/p" "$0"; ${HELPER:+cat "$HELPER"}; ${BASE:+echo "$BASE"}; } | sha256sum | cut -c1-16)
  root=${GRAPHMILL_PEERS:-$HOME/.cache/graphmill-peers}
  venv=$root/$peer-$key
  mkdir -p "$root"
  # One installation at a time; the lock goes with this process. A virtual
  # environment names its own path, so it is made where it stays.
  exec 9>"$venv.lock"
  flock 9
  if [ ! -e "$venv/complete" ]; then
    rm -rf "$venv"
    echo "peers.sh: installing $peer into $venv (minutes)" >&2
    "$python" -m venv "$venv" >&2
    PIP="$venv/bin/python -m pip --quiet --disable-pip-version-check install"
    if [ -n "${GRAPHMILL_WHEELS:-}" ]; then
      take_wheels "$venv/wheels"
      export PIP_FIND_LINKS="$venv/wheels"
    fi
    PINS=$venv/pins.txt
    pins "$requirements" >"$PINS"
    "recipe_$peer" "$venv/bin/python" >&2 || die "$peer: the installation failed (see above)"
    : >"$venv/complete"
  fi
  echo "$venv/bin/python"
}

# TF-GNN refuses the -cpu build of TensorFlow by name and wants google-vizier,
# which nothing here uses: it is installed without its dependencies.
recipe_tfgnn() {
  $PIP -r "$PINS" && $PIP --no-deps tensorflow-gnn==1.0.3 &&
    "$1" -c 'import tensorflow_gnn'
}

# PyPI's torch is the build for CUDA: the helper replaces the CUDA libraries by
# stubs, so that none of the nvidia packages is needed.
recipe_dgl() {
  $PIP --no-deps torch==2.2.1 dgl==2.1.0 torchdata==0.7.1 && $PIP -r "$PINS" &&
    "$1" "$HELPER" && DGLBACKEND=pytorch "$1" -c 'import dgl.graphbolt'
}

# NeighborLoader needs pyg-lib, which is not on PyPI, or torch-sparse, which is compiled from its
# source package here: 18 minutes of CPU. Each compiler takes up to 3 GB, so two run at most.
recipe_pyg() {
  $PIP --no-deps -r "$PINS" &&
    "$1" "$HELPER" "$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/torch/lib" &&
    FORCE_ONLY_CPU=1 MAX_JOBS=2 $PIP --no-deps --no-build-isolation torch-scatter==2.1.2 torch-sparse==0.6.18 &&
    "$1" -c 'import torch_sparse, torch_geometric.loader'
}

# The packages of the environment of pyg are on the path after its own.
recipe_lightning() {
  "$BASE" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pyg.pth" &&
    $PIP --no-deps -r "$PINS" &&
    "$1" -c 'import lightning, pytorch_lightning, torchdata.stateful_dataloader, torch_geometric'
}

recipe_card() {
  "$BASE" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pyg.pth" &&
    $PIP --no-deps -r "$PINS" &&
    TRITON_INTERPRET=1 "$1" -c 'import triton.language, torch'
}

recipe_databases() {
  "$BASE" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pyg.pth" &&
    $PIP --no-deps -r "$PINS" &&
    "$1" -c 'import relbench.modeling.graph'
}

recipe_frames() {
  "$BASE" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pyg.pth" &&
    $PIP --no-deps -r "$PINS" &&
    "$1" -c 'import dgf, pyarrow, torch_frame'
}

recipe_integrations() {
  "$BASE" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pyg.pth" &&
    $PIP --no-deps -r "$PINS" &&
    "$1" -c 'import datasets, fastapi, ipykernel, nbclient, ray.data, tensorboard, torch_geometric, wandb'
}

recipe_ogb() {
  $PIP --no-deps torch==2.2.1 ogb==1.3.6 && $PIP -r "$PINS" &&
    "$1" "$HELPER" && OUTDATED_IGNORE=1 "$1" -c 'import ogb.io, scipy.sparse'
}

recipe_batches() {
  $PIP --no-deps torch==2.2.1 batch-iter==0.1.1 && $PIP -r "$PINS" 'numpy<2' grain==0.2.3 jax==0.4.30 jaxlib==0.4.30 &&
    "$1" "$HELPER" && "$1" -c 'import batch_iter, grain.python, torch.utils.data'
}
recipe_jraph() {
  $PIP -r "$PINS" && "$1" -c 'import jraph'
}

recipe_partition() {
  $PIP -r "$PINS" && "$1" -c 'import kaminpar, mtkahypar, numpy'
}

recipe_tables() {
  $PIP -r "$PINS" && "$1" -c 'import numpy, polars, duckdb, pyarrow'
}

recipe_lakes() {
  $PIP -r "$PINS" && "$1" -c 'import deltalake, pyiceberg, pyarrow'
}
recipe_features() {
  $PIP -r "$PINS" && "$1" -c 'import numpy, sklearn, polars, pyarrow'
}

# OGB is there for smiles2graph, which needs no torch.
recipe_files() {
  $PIP -r "$PINS" && $PIP --no-deps ogb==1.3.6 &&
    "$1" -c 'import fastavro, fastobo, h5py, igraph, networkx, osmium, pronto, pyarrow, pydot, rdflib, scipy, rdkit.Chem'
}

recipe_tgb() {
  $PIP --no-deps -r "$PINS" && "$1" -c 'import tgb.linkproppred.dataset, tgb.linkproppred.evaluate'
}

recipe_plots() {
  $PIP -r "$PINS" && "$1" -c 'import matplotlib.pyplot'
}

recipe_kubernetes() {
  $PIP -r "$PINS" && "$1" -c 'import kubernetes_validate, yaml'
}

# The files of Maven are those of neo4j-jars.txt, which lies beside the pom.
recipe_neo4j() {
  jars=$(dirname "$(dirname "$1")")/jars sums=$(cd "$(dirname "$HELPER")" && pwd)/neo4j-jars.txt
  $PIP -r "$PINS" &&
    mvn -q -B -f "$HELPER" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory="$jars" &&
    (cd "$jars" && sha256sum --quiet -c "$sums" && [ "$(find . -type f | wc -l)" -eq "$(wc -l <"$sums")" ]) &&
    "$1" -c 'import neo4j, numpy, pyarrow'
}

# The package brings axe.min.js; the browser that it drives by itself is not needed.
recipe_axe() {
  $PIP --no-deps -r "$PINS" && ls "$("$1" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/axe_playwright_python/axe.min.js"
}

# The server is in jars beside the environment's python.
recipe_catalog() {
  $PIP -r "$PINS" && "$1" -c 'import pyiceberg.catalog.rest' &&
    mvn -q -B -f "$HELPER" dependency:copy-dependencies -DoutputDirectory="$venv/catalog"
}

recipe_s3() {
  GOFLAGS= GOBIN=$(dirname "$1") go install "$(cat "$PINS")" && "$(dirname "$1")/versitygw" --version
}

[ $# -eq 1 ] || die "usage: bench/peers.sh PEER; PEER is axe, batches, card, catalog, databases, dgl, features, files, frames, integrations, jraph, kubernetes, lakes, lightning, neo4j, ogb, partition, plots, pyg, s3, tables, tfgnn or tgb" 2
pinned=$(dirname "$0")/peers
case $1 in
  axe) install axe "$pinned/axe-requirements.txt" "" 3.11 3.12 ;;
  dgl) install dgl "$pinned/dgl-requirements.txt" "$pinned/dgl_cpu_torch.py" 3.11 3.10 ;;
  pyg) install pyg "$pinned/pyg-requirements.txt" "$pinned/pyg_mkstub.py" 3.11 ;;
  batches) install batches "$pinned/dgl-requirements.txt" "$pinned/dgl_cpu_torch.py" 3.11 3.10 ;;
  jraph) install jraph "$pinned/jraph-requirements.txt" "" 3.11 3.12 ;;
  catalog) install catalog "$pinned/lakes-requirements.txt" "$pinned/catalog.xml" 3.11 3.12 ;;
  lakes) install lakes "$pinned/lakes-requirements.txt" "" 3.11 3.12 ;;
  lightning)
    BASE=$("$0" pyg)
    install lightning "$pinned/lightning-requirements.txt" "" 3.11
    ;;
  s3) install s3 "$pinned/s3-requirements.txt" "" 3.11 3.12 3.10 ;;
  card)
    BASE=$("$0" pyg)
    install card "$pinned/card-requirements.txt" "" 3.11
    ;;
  databases)
    BASE=$("$0" pyg)
    install databases "$pinned/databases-requirements.txt" "" 3.11
    ;;
  frames)
    BASE=$("$0" pyg)
    install frames "$pinned/frames-requirements.txt" "" 3.11
    ;;
  integrations)
    BASE=$("$0" pyg)
    install integrations "$pinned/integrations-requirements.txt" "" 3.11
    ;;
  kubernetes) install kubernetes "$pinned/kubernetes-requirements.txt" "" 3.11 3.12 ;;
  neo4j) install neo4j "$pinned/neo4j-requirements.txt" "$pinned/neo4j-pom.xml" 3.11 3.12 ;;
  ogb) install ogb "$pinned/ogb-requirements.txt" "$pinned/dgl_cpu_torch.py" 3.11 3.10 ;;
  features) install features "$pinned/features-requirements.txt" "" 3.11 3.12 ;;
  files) install files "$pinned/files-requirements.txt" "" 3.11 3.12 ;;
  partition) install partition "$pinned/partition-requirements.txt" "" 3.11 3.12 ;;
  plots) install plots "$pinned/plots-requirements.txt" "" 3.11 3.12 ;;
  tables) install tables "$pinned/tables-requirements.txt" "" 3.11 3.12 ;;
  tfgnn) install tfgnn "$pinned/tfgnn-requirements.txt" "" 3.11 ;;
  tgb) install tgb "$pinned/tgb-requirements.txt" "" 3.11 3.12 ;;
  *) die "found peer '$1', expected axe, batches, card, catalog, databases, dgl, features, files, frames, integrations, jraph, kubernetes, lakes, lightning, neo4j, ogb, partition, plots, pyg, s3, tables, tfgnn or tgb" 2 ;;
esac
