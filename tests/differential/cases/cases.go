// Package cases answers JSON lines: one case a line on standard input, one result a line on standard output.
package cases

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	kjson "k8s.io/apimachinery/pkg/util/json"
)

// A manifest may be a megabyte, as in the API server.
const longestLine = 4 << 20

// panicked is the result of a case at which the library panics.
type panicked struct {
	Panic string `json:"panic"`
}

// Answer reads every case and writes what judge makes of it. A panic of judge is a result, a malformed case the end.
func Answer[Case, Result any](judge func(Case) Result) {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, longestLine)
	output := bufio.NewWriter(os.Stdout)
	encoder := json.NewEncoder(output)
	encoder.SetEscapeHTML(false)
	for line := 1; input.Scan(); line++ {
		var c Case
		if err := json.Unmarshal(input.Bytes(), &c); err != nil {
			fail(fmt.Errorf("case %d: %w", line, err))
		}
		if err := encoder.Encode(recovered(judge, c)); err != nil {
			fail(err)
		}
	}
	if err := input.Err(); err != nil {
		fail(err)
	}
	if err := output.Flush(); err != nil {
		fail(err)
	}
}

// Decode reads JSON as the API machinery does: integers of 64 bits stay integers.
func Decode(data json.RawMessage) (any, error) {
	var value any
	err := kjson.Unmarshal(data, &value)
	return value, err
}

// Text is an error's text, empty without one.
func Text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func recovered[Case, Result any](judge func(Case) Result, c Case) (result any) {
	defer func() {
		if reason := recover(); reason != nil {
			result = panicked{fmt.Sprint(reason)}
		}
	}()
	return judge(c)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
