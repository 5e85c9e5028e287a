// Command kstatus judges manifests with the library.
package main

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/yaml"

	"sluice.dev/tests/differential/cases"
)

// manifest is one object, as JSON or as a YAML document.
type manifest struct {
	JSON json.RawMessage `json:"json"`
	YAML string          `json:"yaml"`
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// verdict has either an unreadable manifest, an error of the library, or a status.
type verdict struct {
	Unreadable string      `json:"unreadable,omitempty"`
	Error      string      `json:"error,omitempty"`
	Status     string      `json:"status,omitempty"`
	Message    string      `json:"message,omitempty"`
	Conditions []condition `json:"conditions,omitempty"`
}

func main() {
	cases.Answer(judge)
}

func judge(m manifest) verdict {
	object, err := read(m)
	if err != nil {
		return verdict{Unreadable: err.Error()}
	}
	result, err := status.Compute(&unstructured.Unstructured{Object: object})
	if err != nil {
		return verdict{Error: err.Error()}
	}
	v := verdict{Status: result.Status.String(), Message: result.Message}
	for _, c := range result.Conditions {
		v.Conditions = append(v.Conditions, condition{c.Type.String(), string(c.Status), c.Reason, c.Message})
	}
	return v
}

func read(m manifest) (map[string]any, error) {
	data := []byte(m.JSON)
	if m.YAML != "" {
		var err error
		if data, err = yaml.YAMLToJSON([]byte(m.YAML)); err != nil {
			return nil, err
		}
	}
	value, err := cases.Decode(data)
	if err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("not an object: %T", value)
	}
	return object, nil
}
