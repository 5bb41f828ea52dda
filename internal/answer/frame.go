package answer

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// A frame is u32 bytes of what follows the head, u32 kind, u64 number of the question on its connection, and these bytes.
const frameHead = 16

// Kinds of frames.
const (
	kindQuestion    = 1 // to the server: the JSON of a Question
	kindDescription = 2 // to the client: the JSON of a Description
	kindAnswer      = 3 // a batch in the layout of a feed's slot
	kindFailure     = 4 // the JSON of a Failure
)

// Failure is the answer to a question that has none.
type Failure struct {
	Error string `json:"error"`
	Code  string `json:"code"`
}

// Codes of failures.
const (
	CodeQuestion = "question" // the question cannot be answered; another one can
	CodeBusy     = "busy"     // the server has too much work; ask again later
	CodeLarge    = "large"    // the answer has more bytes than the server sends
	CodeFault    = "fault"    // the store cannot be read
	codeProtocol = "protocol" // the client violated the protocol: its connection ends
)

// mostQuestion bounds the bytes of a question.
const mostQuestion = 1 << 20

// patience is the time that a client has to send the rest of a frame that it began.
const patience = 10 * time.Second

// sendTime is the time that a client has to take an answer.
const sendTime = time.Minute

// putHead writes the head of a frame.
func putHead(to []byte, bytes int, kind uint32, number uint64) {
	binary.LittleEndian.PutUint32(to, uint32(bytes))
	binary.LittleEndian.PutUint32(to[4:], kind)
	binary.LittleEndian.PutUint64(to[8:], number)
}

// errProtocol is the kind of errors that end a connection.
var errProtocol = errors.New("a violation of the protocol")

// questions reads the frames of a client.
type questions struct {
	socket net.Conn
	in     *bufio.Reader
	text   []byte // of the question that was read last
}

// next is the next question, io.EOF where the client has left. The text is valid until the next call.
func (q *questions) next() (number uint64, text []byte, err error) {
	if _, err := q.in.Peek(1); err != nil {
		return 0, nil, gone(err)
	}
	if q.in.Buffered() < frameHead {
		defer func() { _ = q.socket.SetReadDeadline(time.Time{}) }()
		if err := q.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return 0, nil, gone(err)
		}
	}
	var head [frameHead]byte
	if _, err := io.ReadFull(q.in, head[:]); err != nil {
		return 0, nil, q.broken(err)
	}
	n, kind := int(binary.LittleEndian.Uint32(head[:])), binary.LittleEndian.Uint32(head[4:])
	number = binary.LittleEndian.Uint64(head[8:])
	switch {
	case kind != kindQuestion:
		return number, nil, fmt.Errorf("found a frame of kind %d, expected a question, kind %d: %w", kind, kindQuestion, errProtocol)
	case n > mostQuestion:
		return number, nil, fmt.Errorf("found a question of %d bytes, expected at most %d: %w", n, mostQuestion, errProtocol)
	case n > cap(q.text):
		q.text = make([]byte, n)
	}
	if q.in.Buffered() < n {
		defer func() { _ = q.socket.SetReadDeadline(time.Time{}) }()
		if err := q.socket.SetReadDeadline(time.Now().Add(patience)); err != nil {
			return number, nil, gone(err)
		}
	}
	if _, err := io.ReadFull(q.in, q.text[:n]); err != nil {
		return number, nil, q.broken(err)
	}
	return number, q.text[:n], nil
}

// broken is the error of a frame that is not whole.
func (q *questions) broken(err error) error {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return fmt.Errorf("found a frame that was not whole after %s, expected its rest: %w", patience, errProtocol)
	}
	return gone(err)
}

// gone is io.EOF: the client has left, in whatever way, or the server ends.
func gone(error) error { return io.EOF }

// failure is the frame of a failure.
func failure(number uint64, code string, err error) []byte {
	text, _ := json.Marshal(Failure{err.Error(), code}) // never fails for strings
	frame := make([]byte, frameHead, frameHead+len(text))
	putHead(frame, len(text), kindFailure, number)
	return append(frame, text...)
}
