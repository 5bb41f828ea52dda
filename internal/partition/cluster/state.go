package cluster

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/graphmill/graphmill/graph"
	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/outofcore"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/partition/undirected"
)

// era is what all workers know at a time: which cluster each node has, or which part.
type era int

const (
	unknown    era = iota
	clustering     // Clusters after a number of rounds
	numbered       // the number of the cluster of each node
	dividing       // a Division after a number of rounds
	filled         // a Division of the second start
	given          // a division that the submitter gave to be measured: rounds is its number
)

// moment is an era after a number of rounds.
type moment struct {
	era    era
	rounds int
}

// state is what all workers know at a moment. It is a function of the messages before: a worker that starts reads them.
type state struct {
	w       *Work
	plan    *ranges.Plan
	all     *messages
	weights []uint32
	own     bool // the graph is its own core

	moment
	k       *ranges.Clusters
	count   int      // clusters
	coarse  []uint32 // of the nodes
	d       *ranges.Division
	applied []ranges.Applied // moves of the last round
	pieces  *partition.Pieces
}

// advance brings the state to a moment.
func (s *state) advance(ctx context.Context, to moment) error {
	if to.era == given {
		return s.take(ctx, to)
	}
	if s.era != to.era || s.rounds > to.rounds {
		if err := s.begin(ctx, to.era); err != nil {
			s.forget()
			return err
		}
	}
	for s.rounds < to.rounds {
		var err error
		if s.era == clustering {
			err = s.join(ctx)
		} else {
			err = s.move(ctx)
		}
		if err != nil {
			s.forget()
			return err
		}
		s.rounds++
	}
	return nil
}

func (s *state) forget() {
	s.moment, s.k, s.coarse, s.d, s.applied, s.pieces = moment{}, nil, nil, nil, nil, nil
}

// take reads the division that the submitter gave.
func (s *state) take(ctx context.Context, to moment) error {
	s.forget()
	if err := ctx.Err(); err != nil {
		return err
	}
	x, err := s.all.read(givenName(to.rounds), 0)
	if err != nil {
		return err
	}
	piece, err := partsOf(x.body, s.plan.Nodes, s.w.Parts)
	if err != nil {
		return err
	}
	s.pieces, s.moment = partition.NewPieces(piece, s.w.Parts/s.w.Trainers, s.w.Trainers), to
	return nil
}

// begin makes the state at the beginning of an era.
func (s *state) begin(ctx context.Context, e era) error {
	if e == numbered { // it follows from the clusters, which it takes
		to := moment{clustering, joinRounds}
		if s.own {
			to.rounds = 0
		}
		if err := s.advance(ctx, to); err != nil {
			return err
		}
		count, coarse := s.k.Number()
		s.forget()
		s.count, s.coarse, s.moment = count, coarse, moment{era: numbered}
		return nil
	}
	s.forget()
	var part []uint16
	var err error
	switch e {
	case clustering:
		s.k = ranges.NewClusters(s.plan, s.weights)
	case dividing:
		var x message
		if x, err = s.all.read(startName, 0); err == nil {
			part, err = partsOf(x.body, s.plan.Nodes, s.plan.Parts)
		}
	case filled:
		err = s.all.each(ctx, fillName, s.w.Pieces, func(x message) error {
			more, err := partsOf(x.body, -1, s.plan.Parts)
			part = append(part, more...)
			return err
		})
		if err == nil && len(part) != s.plan.Nodes {
			err = fmt.Errorf("found parts of %d nodes, expected %d; use the same version on all machines", len(part), s.plan.Nodes)
		}
	default:
		err = fmt.Errorf("found era %d", e)
	}
	if err != nil {
		return err
	}
	if part != nil {
		loads := make([]int64, s.plan.Parts*s.plan.Constraints)
		s.plan.AddLoads(loads, part, s.weights)
		s.d = ranges.NewDivision(s.plan, part, loads, nil)
	}
	s.moment = moment{era: e}
	return nil
}

// partsOf are the parts of n nodes, or of any number if n is -1, in a body.
func partsOf(b []byte, n, parts int) ([]uint16, error) {
	part := graph.View[uint16](append([]byte(nil), b...))
	if len(b)%2 != 0 || n >= 0 && len(part) != n {
		return nil, fmt.Errorf("found %d bytes of parts, expected 2 for each of %d nodes; use the same version on all machines", len(b), n)
	}
	for _, p := range part {
		if int(p) >= parts {
			return nil, fmt.Errorf("found part %d, expected one below %d; use the same version on all machines", p, parts)
		}
	}
	return part, nil
}

// join applies the joins of the next round.
func (s *state) join(ctx context.Context) error {
	var all ranges.Joins
	if err := s.all.each(ctx, joinsName(s.rounds), s.w.Ranges, func(x message) error {
		m, err := s.plan.ParseJoins(x.body)
		all.Merge(&m)
		return err
	}); err != nil {
		return err
	}
	s.k.Apply(&all)
	return nil
}

// move applies the moves of the next round.
func (s *state) move(ctx context.Context) error {
	again, pass, round := s.era == filled, s.rounds/ranges.Rounds, s.rounds%ranges.Rounds
	wanted, err := s.wanted(ctx, again, pass, round)
	if err != nil {
		return err
	}
	var moves []ranges.Moves
	if err := s.all.each(ctx, moveName(again, pass, round), s.w.Ranges, func(x message) error {
		m, err := s.plan.ParseMoves(x.body)
		moves = append(moves, m)
		return err
	}); err != nil {
		return err
	}
	s.d.Mark(s.applied, false)
	s.applied = s.d.Apply(moves, ranges.Refinement()[pass].Priced, wanted.demand)
	s.d.Mark(s.applied, true)
	return nil
}

// wanted is what all ranges want in a round.
type wanted struct {
	counts []ranges.Histogram
	demand []bool
	gain   int64 // of the moves of the round before
}

func (s *state) wanted(ctx context.Context, again bool, pass, round int) (w wanted, err error) {
	var demands [][]bool
	err = s.all.each(ctx, wantName(again, pass, round), s.w.Ranges, func(x message) error {
		gain, b, err := numberOf(x.body)
		if err != nil {
			return err
		}
		m, demand, err := s.plan.ParseHistogram(b)
		w.gain, w.counts, demands = w.gain+gain, append(w.counts, m), append(demands, demand)
		return err
	})
	if err == nil {
		w.demand = ranges.JoinDemand(demands)
	}
	return w, err
}

// listed is what the stage list tells of all pieces.
type listed struct {
	pieces  []undirected.Piece
	degrees []ranges.Degrees
	entries int64
}

// readListed reads what the stage list tells. starts are the first nodes of the pieces, and the end of the last one.
func (w *Work) readListed(ctx context.Context, all *messages, dir string, starts []int) (l listed, err error) {
	err = all.each(ctx, listName, w.Pieces, func(x message) error {
		n, b, err := numberOf(x.body)
		if err != nil {
			return err
		}
		d, err := ranges.ParseDegrees(b)
		i := len(l.pieces)
		l.pieces = append(l.pieces, undirected.Piece{Name: w.pieceFile(dir, i), Nodes: starts[i+1] - starts[i], Neighbours: n})
		l.degrees, l.entries = append(l.degrees, d), l.entries+n
		return err
	})
	return l, err
}

// givenName is the folder of a division that the submitter gives to be measured.
func givenName(pass int) string { return fmt.Sprintf("given-%d", pass+1) }

// startName is the folder of the parts that the core gives to all nodes.
const startName = "start"

// coreTold says how the core was divided.
type coreTold struct {
	Cut       int64            `json:"cut"`
	Clusters  int              `json:"clusters"`
	Pairs     int64            `json:"pairs"`
	OutOfCore *outofcore.Stats `json:"out_of_core,omitempty"`
}

func (m *messages) readCore() (c coreTold, err error) {
	x, err := m.read(coreName, 0)
	if err == nil {
		err = json.Unmarshal(x.body, &c)
	}
	return c, err
}
