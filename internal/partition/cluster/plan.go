package cluster

import (
	"fmt"

	"github.com/graphmill/graphmill/internal/partition"
	"github.com/graphmill/graphmill/internal/partition/ranges"
	"github.com/graphmill/graphmill/internal/stages"
)

// kind is the kind of work that a stage does.
type kind int

const (
	mirror kind = iota
	list
	propose
	accept
	lonely
	pair
	contract
	core
	want
	move
	count
	fill
	cut
	measure
)

// step is a stage of a phase.
type step struct {
	name string
	kind kind
	// pass counts the passes of the clusters or of a refinement, or the divisions that are measured, and round its sub-rounds. A pass of the second refinement is again.
	pass, round int
	again       bool
	// inputs are the steps of the phase that give it records.
	inputs []int
}

// phase is a job of the run: stages between which the submitter has nothing to decide.
type phase struct {
	name  string // of its folder in the work folder
	title string // for the user
	steps []step
}

// Names of the folders of phases.
const (
	listPhase = "list"
	corePhase = "core"
	fillPhase = "fill"
)

func clusterPhase(pass int) string { return fmt.Sprintf("cluster-%d", pass+1) }

func refinePhase(again bool, pass int) string {
	if again {
		return fmt.Sprintf("again-%d", pass+1)
	}
	return fmt.Sprintf("refine-%d", pass+1)
}

// phases are all phases that a run may have.
func phases() (all []*phase) {
	p := &phase{name: listPhase, title: "list the neighbours"}
	p.then("mirror", step{kind: mirror})
	p.then("list", step{kind: list})
	all = append(all, p)
	for pass := range ranges.ClusterPasses {
		p := &phase{name: clusterPhase(pass), title: fmt.Sprintf("cluster, pass %d of %d", pass+1, ranges.ClusterPasses)}
		var proposals []int
		for round := range ranges.Rounds {
			proposals = append(proposals, len(p.steps))
			p.then(proposeName(pass, round), step{kind: propose, pass: pass, round: round})
			p.then(acceptName(pass, round), step{kind: accept, pass: pass, round: round})
		}
		if pass == ranges.ClusterPasses-1 {
			p.then("lonely", step{kind: lonely, pass: pass, round: ranges.Rounds, inputs: proposals})
			p.then(pairName, step{kind: pair, pass: pass, round: ranges.Rounds})
		}
		all = append(all, p)
	}
	p = &phase{name: corePhase, title: "divide the clusters"}
	p.then("contract", step{kind: contract})
	p.then(coreName, step{kind: core})
	all = append(all, p)
	for _, again := range []bool{false, true} {
		if again {
			p := &phase{name: fillPhase, title: "second start"}
			p.then(fillName, step{kind: fill})
			p.then(cutName, step{kind: cut})
			all = append(all, p)
		}
		passes := ranges.Refinement()
		for pass := range passes {
			p := &phase{name: refinePhase(again, pass), title: fmt.Sprintf("refine, pass %d of at most %d", pass+1, len(passes))}
			if again {
				p.title = "second start, " + p.title
			}
			for round := range ranges.Rounds {
				p.then(wantName(again, pass, round), step{kind: want, pass: pass, round: round, again: again})
				p.then(moveName(again, pass, round), step{kind: move, pass: pass, round: round, again: again})
			}
			p.then(countName(again, pass), step{kind: count, pass: pass, round: ranges.Rounds, again: again})
			all = append(all, p)
		}
	}
	for pass := range partition.MostMeasures {
		p := &phase{name: measureName(pass), title: "measure the parts"}
		p.then(measureName(pass), step{kind: measure, pass: pass})
		all = append(all, p)
	}
	return all
}

// phaseOf is the phase with a name; nil if there is none.
func phaseOf(name string) *phase {
	for _, p := range phases() {
		if p.name == name {
			return p
		}
	}
	return nil
}

// then appends a step that reads the records of the step before, besides its inputs.
func (p *phase) then(name string, s step) {
	s.name = name
	if n := len(p.steps); n > 0 {
		s.inputs = append(s.inputs, n-1)
	}
	p.steps = append(p.steps, s)
}

// Names of stages. The messages of a stage have its name, too.
const (
	pairName = "pair"
	coreName = "core"
	fillName = "fill"
	cutName  = "cut"
	listName = "list"
)

func proposeName(pass, round int) string { return fmt.Sprintf("propose-%d-%02d", pass+1, round+1) }
func acceptName(pass, round int) string  { return fmt.Sprintf("accept-%d-%02d", pass+1, round+1) }

func refining(again bool, name string) string {
	if again {
		return "again-" + name
	}
	return name
}

func wantName(again bool, pass, round int) string {
	return refining(again, fmt.Sprintf("want-%d-%02d", pass+1, round+1))
}

func moveName(again bool, pass, round int) string {
	return refining(again, fmt.Sprintf("move-%d-%02d", pass+1, round+1))
}

func countName(again bool, pass int) string { return refining(again, fmt.Sprintf("count-%d", pass+1)) }

// measureName is the name of a phase, and of its one stage.
func measureName(pass int) string { return fmt.Sprintf("measure-%d", pass+1) }

// joinsName is the stage that gave the joins of a round of the clusters, of which there are joinRounds.
func joinsName(n int) string {
	if n == joinRounds-1 {
		return pairName
	}
	return acceptName(n/ranges.Rounds, n%ranges.Rounds)
}

const joinRounds = ranges.ClusterPasses*ranges.Rounds + 1

// tasks is the number of tasks of a step: one for each range or piece, or one.
func (w *Work) tasks(s *step) int {
	switch s.kind {
	case mirror, list, fill, measure:
		return w.Pieces
	case core:
		return 1
	default:
		return w.Ranges
	}
}

// stages lists the stages of a phase.
func (w *Work) stages(p *phase) (all []stages.Stage) {
	for n := range p.steps {
		s := &p.steps[n]
		x := stages.Stage{Name: s.name, Tasks: int64(w.tasks(s))}
		for _, from := range s.inputs {
			x.Inputs = append(x.Inputs, stages.Input{From: from, For: n})
		}
		all = append(all, x)
	}
	return all
}
