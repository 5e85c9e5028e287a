// Command fluxcel judges objects by Flux's health check expressions.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fluxcd/pkg/apis/kustomize"
	"github.com/fluxcd/pkg/runtime/cel"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"sluice.dev/tests/differential/cases"
)

type check struct {
	Current    string          `json:"current"`
	Failed     string          `json:"failed"`
	InProgress string          `json:"inProgress"`
	Object     json.RawMessage `json:"object"`
}

type verdict struct {
	Status  string `json:"status,omitempty"`
	Message string `json:"message,omitempty"`
	// Refused is the error of an expression that does not parse, Error that of one that cannot be evaluated.
	Refused string `json:"refused,omitempty"`
	Error   string `json:"error,omitempty"`
}

func main() {
	cases.Answer(judge)
}

func judge(c check) verdict {
	value, err := cases.Decode(c.Object)
	if err != nil {
		return verdict{Error: err.Error()}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return verdict{Error: fmt.Sprintf("not an object: %T", value)}
	}
	evaluator, err := cel.NewStatusEvaluator(&kustomize.HealthCheckExpressions{
		Current: c.Current, Failed: c.Failed, InProgress: c.InProgress,
	})
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	result, err := evaluator.Evaluate(context.Background(), &unstructured.Unstructured{Object: object})
	if err != nil {
		return verdict{Error: err.Error()}
	}
	return verdict{Status: result.Status.String(), Message: result.Message}
}
