package ordered_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/graphmill/graphmill/internal/ordered"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// squares runs n items. The given ones fail in the given step.
func squares(ctx context.Context, threads, n int, fail func(step string, i int) error) ([]int, error) {
	next := 0
	var got []int
	err := ordered.Run(ctx, threads, func() *int { return new(int) }, func() *int { return new(int) }, ordered.Stages[*int, *int]{
		Fill: func(i *int) error {
			if next == n {
				return io.EOF
			}
			*i = next
			next++
			return fail("fill", *i)
		},
		Work: func(_ context.Context, calls, i *int) error {
			*calls++
			if *i%3 == 0 {
				time.Sleep(time.Microsecond * 50) // so that items end in another order
			}
			v := *i
			*i *= v
			return fail("work", v)
		},
		Sink: func(i *int) error {
			got = append(got, *i)
			return fail("sink", len(got)-1)
		},
	})
	return got, err
}

func TestOrder(t *testing.T) {
	for _, threads := range []int{1, 2, 7} {
		for _, n := range []int{0, 1, 5, 200} {
			got, err := squares(context.Background(), threads, n, func(string, int) error { return nil })
			if err != nil || len(got) != n {
				t.Fatalf("%d threads: found %d of %d items, %v", threads, len(got), n, err)
			}
			for i, v := range got {
				if v != i*i {
					t.Fatalf("%d threads: found %d at %d", threads, v, i)
				}
			}
		}
	}
}

// The error is the error of the first item that fails, in order.
func TestFirstError(t *testing.T) {
	for _, step := range []string{"fill", "work", "sink"} {
		for _, threads := range []int{1, 4} {
			got, err := squares(context.Background(), threads, 100, func(s string, i int) error {
				if s == step && i == 17 || s == "work" && i > 17 {
					return fmt.Errorf("%s %d", s, i)
				}
				return nil
			})
			if err == nil || err.Error() != step+" 17" || len(got) < 17 || len(got) > 18 {
				t.Errorf("%s: found %d items, %v", step, len(got), err)
			}
		}
	}
}

// Only io.EOF itself is the end: an error that wraps it is an error.
func TestWrappedEndIsAnError(t *testing.T) {
	for _, step := range []string{"fill", "work", "sink"} {
		got, err := squares(context.Background(), 2, 100, func(s string, i int) error {
			if s == step && i == 17 {
				return fmt.Errorf("cut short: %w", io.EOF)
			}
			return nil
		})
		if err == nil || err.Error() != "cut short: EOF" {
			t.Errorf("%s: found %d items, %v", step, len(got), err)
		}
	}
}

// The error of an item ends the wait of a later one, which waits for its turn.
func TestErrorEndsWaits(t *testing.T) {
	waits, next := make(chan struct{}), 0
	err := ordered.Run(context.Background(), 2, func() *int { return new(int) }, func() *int { return new(int) }, ordered.Stages[*int, *int]{
		Fill: func(i *int) error {
			if next == 2 {
				return io.EOF
			}
			*i = next
			next++
			return nil
		},
		Work: func(ctx context.Context, _, i *int) error {
			if *i == 0 {
				<-waits
				return errors.New("the first fails")
			}
			close(waits)
			<-ctx.Done()
			return ctx.Err()
		},
		Sink: func(*int) error { return nil },
	})
	if err == nil || err.Error() != "the first fails" {
		t.Errorf("found %v, expected the error of the first item", err)
	}
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := squares(ctx, 3, 1<<30, func(step string, i int) error {
		if i == 50 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("found %v", err)
	}
}
