// Command list judges each object of a List in a file with the library, as `kubectl sluice status -f` does: make bench
// compares the two.
package main

import (
	"bufio"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"sluice.dev/tests/differential/cases"
)

func main() {
	if err := judge(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judge(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	list, err := cases.Decode(data)
	if err != nil {
		return err
	}
	items, ok := list.(map[string]any)["items"].([]any)
	if !ok {
		return fmt.Errorf("%s: not a List", file)
	}
	output := bufio.NewWriter(os.Stdout)
	defer output.Flush()
	for _, item := range items {
		object := &unstructured.Unstructured{Object: item.(map[string]any)}
		result, err := status.Compute(object)
		if err != nil {
			return err
		}
		fmt.Fprintln(output, object.GetKind(), object.GetNamespace(), object.GetName(), result.Status, result.Message)
	}
	return nil
}
