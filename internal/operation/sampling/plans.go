package sampling

import (
	"context"
	"errors"
	"fmt"

	"github.com/graphmill/graphmill/internal/operation"
	"github.com/graphmill/graphmill/internal/sample"
	"github.com/graphmill/graphmill/internal/store"
	"github.com/graphmill/graphmill/internal/vfs"
	"github.com/graphmill/graphmill/option"
)

// Plan is one of the plans of a server.
type Plan struct {
	// Name is what clients name it by; "" is a plan without a name.
	Name string
	// Batches are the options of its batches.
	Batches option.Batches
}

// Described is an error about the plan, which it names.
func (p *Plan) Described(err error) error {
	if p.Name == "" {
		return err
	}
	return fmt.Errorf("plan %q: %w", p.Name, err)
}

// Find finds the number of a node of a type by its original id. Several goroutines may call it, each inside guard.Do, until the loader is closed.
type Find func(nodeType, id string) (node int64, ok bool)

// Answering is the loaders of several plans on one version of a store, for callers that ask for seeds by their original ids. The plans share the store: its maps, what was merged of its edges, and what
// they read of both.
type Answering struct {
	loaders []*Loader // by plan
	finds   []Find
	// placed has the lists of edges in places (store.OpenAfter), and merged one after the other, for plans that need that. nil where no plan has them.
	placed, merged *sharedStore
}

// sharedStore is a version of a store that several loaders read.
type sharedStore struct {
	*store.Store
	lists *sample.Shared // nil for a single plan, whose lists are its own
	ids   map[string]*store.IDs
	used  bool
}

// OpenAnswering opens the store in a folder for plans, of which there is one at least. With alone callers ask for no other batches than those of given seeds: the options then name no seeds. With
// alone, and where there are several plans, columns stay in the maps of the store.
func OpenAnswering(ctx context.Context, fsys vfs.FS, dir string, plans []Plan, alone bool) (_ *Answering, err error) {
	a := &Answering{}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	s, err := openSampled(fsys, dir, false)
	if err != nil {
		return nil, err
	}
	a.merged = newSharedStore(s, len(plans))
	of := answering{asked: alone, inPlace: alone || len(plans) > 1}
	for i := range plans {
		if err := a.add(ctx, &plans[i], a.merged, of); err != nil {
			return nil, err
		}
	}
	return a, a.settle(of.inPlace)
}

// OpenBeside is OpenAnswering of a new version beside one that answers by the same plans, last, which stays open until it returns. The caller's goroutine does all the work, and edges that both versions have are
// shared as far as plans allow it.
func OpenBeside(ctx context.Context, fsys vfs.FS, dir string, plans []Plan, alone bool, last *Answering) (_ *Answering, err error) {
	a := &Answering{}
	defer func() {
		if err != nil {
			a.Close()
		}
	}()
	for i := range plans {
		p, of := plans[i], answering{asked: alone, inPlace: true}
		p.Batches.Threads = 1
		if before := last.loaders[i]; len(before.source.SeedTypes()) == 1 && before.sets == nil { // the lists of edges that are seeds are read whole, and so are those of samplers of sets
			if a.placed == nil {
				s, err := store.OpenAfter(fsys, dir, last.newest())
				if err != nil {
					return nil, err
				}
				a.placed = newSharedStore(s, len(plans))
			}
			of.after = before.executor.sampler
			if err := a.add(ctx, &p, a.placed, of); !errors.Is(err, sample.ErrPlaces) {
				if err != nil {
					return nil, err
				}
				continue
			}
			of.after = nil
		}
		if a.merged == nil {
			s, err := store.OpenBeside(fsys, dir)
			if err != nil {
				return nil, err
			}
			a.merged = newSharedStore(s, len(plans))
		}
		if err := a.add(ctx, &p, a.merged, of); err != nil {
			return nil, err
		}
	}
	return a, a.settle(true)
}

func newSharedStore(s *store.Store, plans int) *sharedStore {
	x := &sharedStore{Store: s, ids: map[string]*store.IDs{}}
	if plans > 1 && s.Graph != nil {
		x.lists = sample.NewShared(s.Graph)
	}
	return x
}

// newest is the store that the next version goes on with.
func (a *Answering) newest() *store.Store {
	if a.placed != nil {
		return a.placed.Store
	}
	return a.merged.Store
}

// add opens the loader of a plan, which shares a store with those before it.
func (a *Answering) add(ctx context.Context, p *Plan, s *sharedStore, of answering) error {
	o := p.Batches
	for _, l := range a.loaders {
		if o.Memory > 0 {
			o.Memory = max(1, o.Memory-l.own)
		}
	}
	of.shared = s.lists
	var find Find
	l, err := newLoader(ctx, s.Store, o, of, func(l *Loader) (err error) {
		find, err = s.find(l.source.SeedTypes())
		return err
	})
	switch {
	case err != nil && o.Memory != p.Batches.Memory && errors.Is(err, operation.ErrMemory):
		return fmt.Errorf("plan %q, for which the plans before it leave less memory than `Memory`: %w", p.Name, err)
	case err != nil:
		return p.Described(err)
	}
	s.used = true
	a.loaders, a.finds = append(a.loaders, l), append(a.finds, find)
	return nil
}

// settle closes a store that no plan needs, and tells the system how the others are read.
func (a *Answering) settle(inPlace bool) error {
	for _, s := range []**sharedStore{&a.placed, &a.merged} {
		switch {
		case *s == nil:
		case !(*s).used:
			err := (*s).Close()
			*s = nil
			if err != nil {
				return err
			}
		case inPlace:
			readLarge((*s).Store)
		}
	}
	return nil
}

// readLarge tells the system that a store which is larger than the memory is read at random.
func readLarge(s *store.Store) {
	if available := operation.Available(vfs.OS); available > 0 && s.Mapped() > available {
		s.ReadAtRandom()
	}
}

// find opens the original ids of some node types.
func (s *sharedStore) find(types []string) (Find, error) {
	ids := map[string]*store.IDs{}
	for _, t := range types {
		if s.ids[t] == nil {
			of, err := s.IDs(s.Graph.NodeType(t))
			if err != nil {
				return nil, err
			}
			s.ids[t] = of
		}
		ids[t] = s.ids[t]
	}
	return finder(ids), nil
}

// finder finds nodes in opened ids.
func finder(ids map[string]*store.IDs) Find {
	return func(nodeType, id string) (int64, bool) {
		v, ok := ids[nodeType].Find([]byte(id))
		return int64(v), ok
	}
}

// Loader is the loader of a plan, by its place among the plans.
func (a *Answering) Loader(plan int) *Loader { return a.loaders[plan] }

// Find finds seeds of a plan, by its place among the plans.
func (a *Answering) Find(plan int) Find { return a.finds[plan] }

// Segments is the number of segments that the store has, and merged the bytes of memory that hold what they changed.
func (a *Answering) Segments() (segments int, merged int64) {
	for _, s := range []*sharedStore{a.placed, a.merged} {
		if s != nil {
			segments, merged = s.Segments(), merged+s.Merged()
		}
	}
	return segments, merged
}

// Close frees the memory of all plans, and closes the store. No batch may be in use.
func (a *Answering) Close() {
	for _, l := range a.loaders {
		l.Close()
	}
	for _, s := range []*sharedStore{a.placed, a.merged} {
		if s != nil {
			_ = s.Close() // its maps were only read
		}
	}
	a.loaders, a.placed, a.merged = nil, nil, nil
}
