package clients

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/graphmill/graphmill/internal/proof"
)

// manyConnections is the attack during which a good client would be refused, too.
const manyConnections = "more connections than there may be"

// survives attacks a server beside a good client, whose epochs must keep their digest, and interrupts it. After each attack the server holds what it held before, and its log
// has the reason with the name of the client.
func survives[S any](t *testing.T, s S, p *process, attacks []attack[S], epoch func() (string, error), client string) {
	t.Helper()
	for range 3 {
		if _, err := epoch(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(100 * time.Millisecond) // so that the server comes to rest
	base := p.usage(t)
	for i, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if a.reason != "" {
				nextSecond() // the log has a few lines per second
			}
			epochs := func() int { return 0 }
			if a.name != manyConnections {
				epochs = witness(ctx, t, epoch)
			}
			a.do(t, s, proof.Random(t, uint64(i)))
			cancel()
			n := epochs()
			p.returns(t, base, 64<<20)
			if a.reason != "" {
				p.named(t, client, a.reason)
			}
			t.Logf("the good client had %d epochs", n)
		})
	}
	p.idle(t)
	if err := p.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	p.over(t)
	if p.ProcessState.ExitCode() != 0 {
		t.Errorf("found %s, expected the end without an error:\n%s", p.ProcessState, p.stderr.String())
	}
}
