package operation

import (
	"sync"

	"github.com/graphmill/graphmill/internal/progress"
	"github.com/graphmill/graphmill/option"
)

// foreseen is the work of the stages of a run, as it was estimated before they began.
type foreseen struct {
	mu     sync.Mutex
	stages []progress.Stage
	whole  float64
	at     int     // index of the last stage of stages that was told
	past   float64 // work of the stages before it
	last   float64 // the last share that was told
}

// Foresee sets the stages that the run is expected to have, in their order: from then on, Progress is told the share of the
// run that is done. It is called once per run.
func Foresee(o *option.Run, stages []progress.Stage) {
	f := &foreseen{stages: stages}
	for _, s := range stages {
		f.whole += s.Work
	}
	tell := o.Progress
	if tell == nil {
		return
	}
	o.Progress = func(p option.Progress) {
		p.Share = f.share(p)
		tell(p)
	}
}

// share is the share of the run that is done, given the progress of the stage that runs. The stages before it have ended. A
// stage that was not foreseen adds nothing.
func (f *foreseen) share(p option.Progress) float64 {
	if f.whole <= 0 {
		return 0
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	past := f.past
	for i := f.at; i < len(f.stages); i++ {
		work := f.stages[i].Work
		if f.stages[i].Name != p.Stage {
			past += work
			continue
		}
		f.at, f.past = i, past
		switch {
		case p.End:
			past += work
		case p.Total > 0:
			past += work * float64(min(p.Done, p.Total)) / float64(p.Total)
		}
		f.last = max(f.last, min(past/f.whole, 1))
		break
	}
	return f.last
}
