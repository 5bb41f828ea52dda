package workfolder

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	// Connections that wait for the next request end by themselves.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*persistConn).readLoop"), goleak.IgnoreAnyFunction("net/http.(*persistConn).writeLoop"))
}
