package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	pq "github.com/parquet-go/parquet-go"

	"github.com/graphmill/graphmill/format/parquet"
)

// A run of equal values may say that a file of 3 KB has 2^31 rows. So each reader that reads in steps gets at most
// the given number of steps of the given number of rows per row group, and the given number of row groups.
const (
	rowsPerStep = 500
	steps       = 4
	groups      = 4
)

// readers read a file and return a digest of its columns and values.
var readers = map[string]func([]byte) (uint64, error){
	"graphmill":           readGraphmill,
	"parquet-go":          readParquetGo,
	"parquet-go-no-index": readParquetGoNoIndex,
	"arrow-go":            readArrow,
	"arrow-go-parallel":   readArrowParallel,
	"arrow-go-table":      readArrowTable,
	// of files of Arrow IPC
	"arrow-go-ipc":         readIPC,
	"arrow-go-ipc-bounded": readIPCBounded,
}

// ofIPC says whether a reader reads files of Arrow IPC.
func ofIPC(name string) bool { return strings.Contains(name, "ipc") }

func readerNames() []string { return slices.Sorted(maps.Keys(readers)) }

// readGraphmill reads with this module's reader.
func readGraphmill(b []byte) (uint64, error) {
	r := bytes.NewReader(b)
	f, err := parquet.Open(r, int64(len(b)))
	if err != nil {
		return 0, err
	}
	sum := fnv.New64a()
	for g := range min(len(f.Groups), groups) {
		for i, c := range f.Columns {
			fmt.Fprintln(sum, c.Name, c.Type, c.Lists)
			if err := readColumn(f.Reader(r, g, i), sum); err != nil {
				return 0, err
			}
		}
	}
	return sum.Sum64(), nil
}

func readColumn(c *parquet.Reader, sum io.Writer) error {
	defer c.Close()
	var rows parquet.Rows
	for range steps {
		rows.Reset()
		if err := c.Read(&rows, rowsPerStep, 1<<20); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		fmt.Fprintln(sum, rows.N, rows.Lengths, rows.Data, rows.Ends, rows.Null)
	}
	return nil
}

// readParquetGo reads rows with parquet-go, as it does by default.
func readParquetGo(b []byte) (uint64, error) { return readParquetGoWith(b) }

// readParquetGoNoIndex reads neither page indexes nor Bloom filters, which a reader of whole files does not need.
func readParquetGoNoIndex(b []byte) (uint64, error) {
	return readParquetGoWith(b, pq.SkipPageIndex(true), pq.SkipBloomFilters(true))
}

func readParquetGoWith(b []byte, options ...pq.FileOption) (uint64, error) {
	f, err := pq.OpenFile(bytes.NewReader(b), int64(len(b)), options...)
	if err != nil {
		return 0, err
	}
	sum := fnv.New64a()
	fmt.Fprintln(sum, f.Schema())
	for g, group := range f.RowGroups() {
		if g == groups {
			break
		}
		if err := readRows(group.Rows(), sum); err != nil {
			return 0, err
		}
	}
	return sum.Sum64(), nil
}

func readRows(rows pq.Rows, sum io.Writer) (err error) {
	defer func() { err = errors.Join(err, rows.Close()) }()
	buffer := make([]pq.Row, rowsPerStep)
	for range steps {
		n, err := rows.ReadRows(buffer)
		for _, row := range buffer[:n] {
			fmt.Fprintf(sum, "%+v\n", row)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return nil
}

// readArrow reads records with arrow-go, one column after the other.
func readArrow(b []byte) (uint64, error) { return readRecords(b, false) }

// readArrowParallel reads records with arrow-go, a goroutine per column.
func readArrowParallel(b []byte) (uint64, error) { return readRecords(b, true) }

func readRecords(b []byte, parallel bool) (uint64, error) {
	r, err := openArrow(b, parallel)
	if err != nil {
		return 0, err
	}
	records, err := r.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return 0, err
	}
	defer records.Release()
	sum := fnv.New64a()
	fmt.Fprintln(sum, records.Schema())
	for range steps * groups {
		if !records.Next() {
			break
		}
		fmt.Fprintln(sum, records.RecordBatch())
	}
	if err := records.Err(); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return sum.Sum64(), nil
}

// readArrowTable reads a whole table with arrow-go.
func readArrowTable(b []byte) (uint64, error) {
	r, err := openArrow(b, false)
	if err != nil {
		return 0, err
	}
	table, err := r.ReadTable(context.Background())
	if err != nil {
		return 0, err
	}
	defer table.Release()
	sum := fnv.New64a()
	fmt.Fprintln(sum, table)
	return sum.Sum64(), nil
}

func openArrow(b []byte, parallel bool) (*pqarrow.FileReader, error) {
	f, err := file.NewParquetReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{Parallel: parallel, BatchSize: rowsPerStep}, memory.DefaultAllocator)
}
