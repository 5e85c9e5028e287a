// Command jsonpath prints what Kubernetes' JSONPath templates make of data.
package main

import (
	"encoding/json"
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"sluice.dev/tests/differential/cases"
)

type query struct {
	Template         string          `json:"template"`
	AllowMissingKeys bool            `json:"allowMissingKeys"`
	Data             json.RawMessage `json:"data"`
}

type printed struct {
	Text  string `json:"text"`
	Error string `json:"error,omitempty"`
}

func main() {
	cases.Answer(evaluate)
}

func evaluate(q query) printed {
	data, err := cases.Decode(q.Data)
	if err != nil {
		return printed{Error: err.Error()}
	}
	template := jsonpath.New("case").AllowMissingKeys(q.AllowMissingKeys)
	if err := template.Parse(q.Template); err != nil {
		return printed{Error: err.Error()}
	}
	var text strings.Builder
	err = template.Execute(&text, data)
	return printed{text.String(), cases.Text(err)}
}
