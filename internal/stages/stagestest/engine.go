// Package stagestest runs the stages of jobs in tests, as an engine of a cluster does: in any order, on several goroutines, and
// again after a fault.
package stagestest

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/graphmill/graphmill/internal/guard"
	"github.com/graphmill/graphmill/internal/stages"
)

// Engine implements stages.Engine in this process.
type Engine struct {
	Slots int
	// Open opens the work of a folder, as a worker does.
	Open func(ctx context.Context, dir string) (stages.Site, error)
	// Order, if not nil, shuffles the tasks of a stage.
	Order func(n int, swap func(i, j int))
	// Twice runs each task twice at a time.
	Twice bool
	// Fail, if not nil, is called after each task, and its error is the task's.
	Fail func(stage int) error
	// Before, if not nil, is called before each job, and Opened with its open work.
	Before func()
	Opened func(stages.Site)

	Jobs int // that were run
}

// Workers implements stages.Engine.
func (e *Engine) Workers() int { return max(e.Slots, 1) }

// Free implements stages.Engine.
func (e *Engine) Free(context.Context, string) error { return nil }

// Run implements stages.Engine.
func (e *Engine) Run(ctx context.Context, dir string, list []stages.Stage) (err error) {
	if e.Before != nil {
		e.Before()
	}
	e.Jobs++
	s, err := e.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if e.Opened != nil {
		e.Opened(s)
	}
	for stage := range list {
		if err := e.stage(ctx, s, stage, list[stage].Tasks); err != nil {
			return err
		}
		if err := s.Job().Finish(stage); err != nil {
			return err
		}
	}
	return nil
}

// stage runs the tasks of a stage.
func (e *Engine) stage(ctx context.Context, s stages.Site, stage int, n int64) error {
	var tasks []int64
	for task := range n {
		tasks = append(tasks, task)
	}
	if e.Twice {
		tasks = append(tasks, slices.Clone(tasks)...)
	}
	if e.Order != nil {
		e.Order(len(tasks), func(i, j int) { tasks[i], tasks[j] = tasks[j], tasks[i] })
	}
	var mu sync.Mutex // calls of Fail
	g, ctx := guard.WithContext(ctx)
	g.SetLimit(e.Workers())
	for _, task := range tasks {
		g.Go(func() error {
			err := s.Job().Task(ctx, stage, task)
			mu.Lock()
			defer mu.Unlock()
			if err == nil && e.Fail != nil {
				err = e.Fail(stage)
			}
			return err
		})
	}
	return g.Wait()
}
