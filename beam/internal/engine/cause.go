package engine

import (
	"path"
	"regexp"
	"strings"
)

var (
	// javaFrame begins what Java prints below a message.
	javaFrame = regexp.MustCompile(`\n\s+(at \S+\(|\.\.\. \d+ (more|common))`)
	// javaClasses are the names of exceptions before a message.
	javaClasses = regexp.MustCompile(`^((?:[a-z][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error)(?::\s+|$))+`)
	// doFn is the line of Beam before the error of a function.
	doFn = regexp.MustCompile(`^DoFn\[[^\n]*\] failed:\n`)
	// harnessError is the text of Flink's runner and of the Go worker before an error of a worker.
	harnessError = regexp.MustCompile(`^Error received from SDK harness for instruction \S+: `)
	bundleError  = regexp.MustCompile(`^(?:bundle \S+ \S+ failed:)?\s*process bundle failed for instruction \S+ using plan \S+ : `)
	// goroutine begins the stack of a panic.
	goroutine = regexp.MustCompile(`\s*goroutine \d+ \[[^\]\n]*\]:\n`)
	// goFrame is a function and its line in the stack of a panic.
	goFrame = regexp.MustCompile(`(?m)^([^\s(].*)\(.*\)\n\t(\S+:\d+)`)
)

// cause returns the root cause in the text of a failure: the error of the function that failed, or the last cause of Java's
// exception, without stacks. It returns the whole text if it finds none.
func cause(text string) string {
	text = strings.TrimSpace(text)
	c := text
	if i := strings.LastIndex(c, "\nCaused by: "); i >= 0 {
		c = c[i+len("\nCaused by: "):]
	}
	if at := javaFrame.FindStringIndex(c); at != nil {
		c = c[:at[0]]
	}
	c = javaClasses.ReplaceAllString(c, "")
	c = harnessError.ReplaceAllString(c, "")
	c = bundleError.ReplaceAllString(c, "")
	if i := strings.LastIndex(c, "\tcaused by:\n"); i >= 0 {
		c = c[i+len("\tcaused by:\n"):]
	}
	c = doFn.ReplaceAllString(c, "")
	if at := goroutine.FindStringIndex(c); at != nil {
		c = c[:at[0]] + panicked(c[at[1]:])
	}
	if c = strings.TrimSpace(c); c == "" {
		return text
	}
	return c
}

// panicked names the function that panicked, by its stack: the first below the call of panic that is not Go's own.
func panicked(stack string) string {
	below := false
	for _, frame := range goFrame.FindAllStringSubmatch(stack, -1) {
		switch {
		case frame[1] == "panic":
			below = true
		case below && !strings.HasPrefix(frame[1], "runtime."):
			return " in " + path.Base(frame[1]) + " (" + path.Base(frame[2]) + ")"
		}
	}
	return ""
}
