// Package staging runs the stages of a job (package stages) as a Beam pipeline. Beam carries the numbers of tasks alone:
//
//	tasks -> Reshuffle -> stage 0 -> GroupByKey -> end of stage 0, tasks -> Reshuffle -> stage 1 -> GroupByKey -> ...
//
// All tasks of a stage have one key at its end, so that the next stage begins when all of them are whole.
package staging
