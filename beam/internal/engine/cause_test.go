package engine

import "testing"

// The texts come from Prism and from Flink's job server, with shorter stacks.
func TestCause(t *testing.T) {
	const worker = `process bundle failed for instruction 1 using plan 2-2 : while executing Process for Plan[2-2]:
1: DataSource[S[fn/read/n1:0@localhost:39563], local_output] Out:2 Coder:W;fn/wire/n1:0<bytes;c0>!GWC
2: ParDo[engine_test.fail] Out:[] Sig: func([]uint8) error, SideInputs: []
	caused by:
source failed processing data
	caused by:
DoFn[UID:2, PID:e2, Name: github.com/graphmill/graphmill/beam/internal/engine_test.fail] failed:
`
	for _, c := range []struct{ name, text, want string }{
		{"a function, Prism", "bundle inst001 stage-001 failed:" + worker + "graph.csv:7: found x, expected a number", "graph.csv:7: found x, expected a number"},
		{"a function, Flink", "java.lang.RuntimeException: Error received from SDK harness for instruction 1: " + worker + "graph.csv:7: found x,\nexpected a number", "graph.csv:7: found x,\nexpected a number"},
		{"Java's chain", `org.apache.flink.runtime.client.JobExecutionException: Job execution failed.
	at org.apache.flink.runtime.jobmaster.JobResult.toJobExecutionResult(JobResult.java:144)
Caused by: org.apache.flink.runtime.JobException: Recovery is suppressed by NoRestartBackoffTimeStrategy
	at org.apache.flink.runtime.executiongraph.failover.ExecutionFailureHandler.handleFailure(ExecutionFailureHandler.java:180)
	... 5 more
Caused by: java.lang.RuntimeException: graphmill-beam worker service: found a worker of build 1, submitter has 2
	at org.apache.beam.runners.fnexecution.environment.ExternalEnvironmentFactory.createEnvironment(ExternalEnvironmentFactory.java:115)
	... 19 more
`, "graphmill-beam worker service: found a worker of build 1, submitter has 2"},
		{"exceptions within one line", "java.util.concurrent.ExecutionException: java.lang.OutOfMemoryError: Direct buffer memory", "Direct buffer memory"},
		{"an exception without a message", "java.lang.NullPointerException", "java.lang.NullPointerException"},
		{"a panic", `bundle inst001 stage-001 failed:process bundle failed for instruction inst001 using plan stage-001 : panic: runtime error: index out of range [6] with length 0
Full error:
while executing Process for Plan[stage-001]:
	caused by:
panic: runtime error: index out of range [6] with length 0 goroutine 126 [running]:
runtime/debug.Stack()
	/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/exec.callNoPanic.func1()
	/go/pkg/mod/github.com/apache/beam/sdks/v2@v2.77.0/go/pkg/beam/core/runtime/exec/util.go:58 +0x97
panic({0x2026320?, 0x3efb7794eca8?})
	/usr/local/go/src/runtime/panic.go:860 +0x13a
runtime.goPanicIndex(0x6, 0x0)
	/usr/local/go/src/runtime/panic.go:115 +0x74
github.com/graphmill/graphmill/beam/internal/engine_test.(*boom).ProcessElement(0x3efb77918990?, {0x428005?, 0x70?, 0x3efb77f4d020?})
	/src/beam/internal/engine/engine_test.go:8 +0x10
`, "panic: runtime error: index out of range [6] with length 0 in engine_test.(*boom).ProcessElement (engine_test.go:8)"},
		{"plain text", "unable to provide artifact", "unable to provide artifact"},
		{"nothing", "", ""},
	} {
		if found := cause(c.text); found != c.want {
			t.Errorf("%s: found %q, expected %q", c.name, found, c.want)
		}
	}
}
