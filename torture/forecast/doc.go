// Package forecast holds the proof that a command needs what it tells: the memory, the bytes and the time of a forecast, and the
// memory of the flag --memory. It has no code.
//
// Memory is the peak of the resident set of the process, with the pages of mapped files. It is read from the resource usage of the
// ended process. Bytes read are those that the disk gave the process (which bypasses the page cache where a forecast tells bytes);
// bytes written are the sizes of the files of the output. Time is from the start of the process to its end.
//
// A told figure may differ from the measured one by 10 % for memory and bytes, and by 30 % for time. The heap of a small
// process differs by some MiB from run to run, so that memory may differ by 4 MiB more. Memory is told roughly, within 35 %, where
// buffers hold records of whole batches, for the partition method multilevel, and for the stream executor with the scope epoch, or with
// the scope seed on the smallest graph of the grid. Some figures are told as upper bounds: the figures of the stream executor with TFRecords, the memory of partition where edge
// types are reverses of others, and the memory of the memory executor with few large batches. A run may exceed its budget by 8 %, which only
// the memory executor with no more than its need does. The short form, which runs beside other programs, takes three times these shares of memory. Times are judged only in the long form and only with TORTURE_QUIET=1, on a machine that
// does nothing else.
package forecast
