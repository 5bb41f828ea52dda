package fuzzing

import "io"

// FailOnce is a reader of in whose first read returns err together with the bytes, as a disk may. The reads after it go on without an
// error. A parser must not forget err, even if the bytes are a whole document.
func FailOnce(in io.Reader, err error) io.Reader { return &failingOnce{in, err} }

type failingOnce struct {
	in  io.Reader
	err error
}

func (f *failingOnce) Read(b []byte) (int, error) {
	n, err := f.in.Read(b)
	if f.err != nil {
		err, f.err = f.err, nil
	}
	return n, err
}
