package workloads

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/graphmill/graphmill/internal/dispatch/transport/sftptest"
	"github.com/graphmill/graphmill/internal/store/storetest"
	"github.com/graphmill/graphmill/torture/internal/command"
)

//go:embed inputs.txtar
var files []byte

// copied are inputs from the repository, by their names in the folder of inputs.
var copied = map[string]string{
	"one.bin":         "internal/ingest/testdata/dgl/csc.bin",
	"many.bin":        "internal/ingest/testdata/dgl/many.bin",
	"zstd.parquet":    "internal/ingest/table/columnfiles/testdata/parquet/zstd.parquet",
	"debian":          "internal/quickstart/debian",
	"delta":           "internal/ingest/tablefiles/testdata/delta/vectors",
	"iceberg":         "internal/lake/iceberg/testdata/vectors",
	"keys":            "internal/lake/iceberg/testdata/key_partitions",
	"golden.tfrecord": "testdata/golden/tfgnn/encoding/components/examples.tfrecord",
	"golden.pbtxt":    "testdata/golden/tfgnn/encoding/components/schema.pbtxt",
}

// made are the inputs that the command makes, in this order, in the folder of inputs.
var made = []string{
	"generate rmat --scale 8 --edge-factor 8 --seed 1 --both --out rmat.store",
	"generate rmat --scale 10 --edge-factor 8 --seed 2 --out large.store",
	"generate community --nodes 600 --seed 1 --out community.store",
	"import edges.csv --out edges.store",
	"import typed --out typed.store",
	"import uni --out uni.store",
	"import rated --out rated.store",
	"import features --out features.store",
	"import monday --both --out growing.store",
	"import monday --both --out grown.store",
	"append grown.store tuesday",
	"sample rmat.store --fanout 3,2 --scope seed --batch-size 1 --limit-seeds 60 --out rmat.coll",
	"sample rmat.store --fanout 3,2 --scope seed --limit-seeds 20 --format tfrecord --out rmat.records",
	"sample uni.store --fanout 2 --direction out --seeds author --scope seed --out uni.coll",
	"sample uni.store --fanout 2 --direction out --seeds author --scope seed --format tfrecord --shards 2 --out uni.records",
	"sample uni.store --fanout 2 --direction out --seeds author --scope seed --format tfrecord --gzip --out uni.zipped",
	"chunk rmat.store --chunk-size 4KiB --out rmat.chunks",
	"export features.store --to chunked --chunks 2 --out features.chunked",
	"export features.store --to dgf --out features.dgf",
	"export features.store --to chunked --chunks 2 --edges parquet --features parquet --out features.parquets",
	"export rmat.store --to metis --out rmat.graph",
	"partition rmat.store --parts 3 --seed 1 --out rmat.parts",
	"partition features.store --parts 2 --method random --seed 1 --out features.parts",
	"dispatch rmat.store --assignment rmat.parts --save-orig-nids --save-orig-eids --graph-name rmat --out rmat.dgl",
	"pack rmat.coll --limit num_nodes=32 --limit num_edges=40 --reserve --effort 0.01 --out plan",
	"pack rmat.coll --limit num_nodes=8 --limit num_edges=40 --oversize alone --effort 0.01 --out alone",
	"tfgnn convert uni --to tfrecord --shards 2 --out uni.tfrecords",
	"tfgnn convert uni --to parquet --out uni.parquet",
	"tfgnn from-store rmat.store --format parquet --out rmat.parquet",
}

// keep names the variable with a folder in which what failed can be looked at.
const keep = "TORTURE_KEEP"

// New makes the inputs in a new folder, which lives as long as the test.
func New(tb testing.TB) *Place {
	tb.Helper()
	dir := tb.TempDir()
	if to := os.Getenv(keep); to != "" {
		var err error
		if dir, err = os.MkdirTemp(to, "torture-"); err != nil {
			tb.Fatal(err)
		}
	}
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		tb.Fatal(err)
	}
	p := &Place{Dir: dir, binary: command.Build(tb, "graphmill"), machine: sftptest.Serve(tb)}
	p.machine.Root = filepath.Join(dir, "machine")
	if err := p.fill(tb); err != nil {
		tb.Fatal(err)
	}
	return p
}

func (p *Place) fill(tb testing.TB) error {
	in := filepath.Join(p.Dir, "in")
	if err := errors.Join(os.MkdirAll(filepath.Join(p.Dir, "runs"), 0o755), os.Mkdir(p.machine.Root, 0o755)); err != nil {
		return err
	}
	for _, f := range txtar.Parse(files).Files {
		name, data := f.Name, f.Data
		if strings.HasPrefix(name, "ogb") { // OGB's files are compressed
			name, data = name+".gz", zipped(data)
		}
		if err := writeInput(filepath.Join(in, name), data); err != nil {
			return err
		}
	}
	root, err := command.Root()
	if err != nil {
		return err
	}
	for to, from := range copied {
		if err := copyTree(filepath.Join(root, from), filepath.Join(in, to)); err != nil {
			return err
		}
	}
	if err := writeInput(filepath.Join(in, "ip.txt"), []byte("127.0.0.1 30050\n")); err != nil {
		return err
	}
	for name, a := range arrays() {
		if err := writeInput(filepath.Join(in, name), a); err != nil {
			return err
		}
	}
	for _, line := range made {
		if r := (command.Call{Program: p.binary, Args: strings.Fields(line), Dir: in}).Run(tb); r.Status != 0 {
			return fmt.Errorf("an input cannot be made: %s", r)
		}
	}
	return storetest.Divide(filepath.Join(in, "large.store"), filepath.Join(in, "divided.store"), 3, 4096)
}

// arrays are NumPy files: pairs of nodes, a sparse matrix as index pointer and indices, and values of the nodes of features.
func arrays() map[string][]byte {
	var src, dst, indptr, indices []int64
	for i := range int64(90) {
		src, dst = append(src, i%13), append(dst, i*i%17)
	}
	for i := range int64(17) {
		indptr = append(indptr, int64(len(indices)))
		for j := range i % 4 {
			indices = append(indices, (i+5*j)%17)
		}
	}
	indptr = append(indptr, int64(len(indices)))
	return map[string][]byte{
		"pairs.npy": npy([]int{2, len(src)}, append(src, dst...)), "indptr.npy": npy([]int{len(indptr)}, indptr), "indices.npy": npy([]int{len(indices)}, indices),
		"values.npy": npy([]int{4, 2}, []int64{1, 2, 3, 4, 0, 1, 2, 3}),
	}
}

// npy is an array of int64 in NumPy's format 1.0.
func npy(shape []int, values []int64) []byte {
	dims := ""
	for _, n := range shape {
		dims += fmt.Sprintf("%d, ", n)
	}
	header := fmt.Sprintf("{'descr': '<i8', 'fortran_order': False, 'shape': (%s), }", dims)
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	b := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	b = append(b, header...)
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(v))
	}
	return b
}

func zipped(b []byte) []byte {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write(b) // to memory
	_ = w.Close()
	return z.Bytes()
}

func writeInput(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, b, 0o644)
}
