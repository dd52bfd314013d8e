package components_test

import (
	"fmt"

	"github.com/slipway-dev/slipway/components"
)

// An image's content is in its manifest.
func ExampleParse() {
	manifest, err := components.Parse([]byte(`{
		"apiVersion": "slipway.dev/v1",
		"kind": "ComponentManifest",
		"components": [{"name": "kubelet", "version": "1.36.3", "path": "/usr/bin/kubelet"}]
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range manifest.Components {
		fmt.Println(c.Name, c.Version, c.Path)
	}
	// Output:
	// kubelet 1.36.3 /usr/bin/kubelet
}
