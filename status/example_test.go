package status_test

import (
	"fmt"

	"github.com/slipway-dev/slipway/status"
)

// A program finds out why a node failed. The document is /var/lib/slipway/status.json on the node.
func ExampleParse() {
	s, err := status.Parse([]byte(`{
		"apiVersion": "slipway.dev/v1", "kind": "ProvisionStatus",
		"outcome": "failure", "exitCode": 51, "codeName": "ERR_K8S_API_SERVER_CONN_FAIL",
		"error": {"resource": "Check/apiserver", "cause": "tls", "message": "the certificate has expired"}
	}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	if s.Outcome == status.OutcomeFailure {
		fmt.Println(s.ExitCode, s.CodeName, s.Error.Cause)
	}
	// Output:
	// 51 ERR_K8S_API_SERVER_CONN_FAIL tls
}

// The custom script extension returns AKS's result. Exit code 0 means that there is a node.
func ExampleParseCSE() {
	result, err := status.ParseCSE([]byte(`{"ExitCode": "0", "ExecDuration": "18"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	code, err := result.Code()
	fmt.Println(code, err, result.ExecDuration)
	// Output:
	// 0 <nil> 18
}
