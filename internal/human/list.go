package human

import (
	"fmt"
	"strings"
)

// listed is the most numbers that List writes.
const listed = 10

// List is the first numbers of a list and the count of the others: "1, 2, 5 and 61 more".
func List(numbers []int) string {
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers[:min(len(numbers), listed)]), "[]"), " ", ", ")
	if n := len(numbers) - listed; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}
