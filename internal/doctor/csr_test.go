package doctor_test

import (
	"encoding/json"

	"github.com/slipway-dev/slipway/internal/tlsbootstrap"
)

// csrFor is a node's request for a certificate, as the API has it.
func csrFor(node string) string {
	key, err := tlsbootstrap.NewKey()
	if err != nil {
		panic(err)
	}
	request, err := key.Request(node, nil)
	if err != nil {
		panic(err)
	}
	var object struct{ Spec struct{ Request string } }
	if err := json.Unmarshal(request.Body, &object); err != nil {
		panic(err)
	}
	return object.Spec.Request
}
