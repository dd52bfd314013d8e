package exitcode_test

import (
	"fmt"

	"github.com/slipway-dev/slipway/exitcode"
)

// A number that a node reports is looked up.
func ExampleLookup() {
	code, known := exitcode.Lookup(51)
	fmt.Println(known, code.Name, code.Source)
	fmt.Println("meaning:", code.Meaning)
	// Output:
	// true ERR_K8S_API_SERVER_CONN_FAIL slipway
	// meaning: the API server's name resolves, but no trusted connection to it came about
}
