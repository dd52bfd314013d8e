package detect

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"

	"github.com/slipway-dev/slipway/internal/redact"
)

// RightError: the caller lacks a right.
type RightError struct {
	// Action is the denied action, Scope its resource, and Role a role that allows it.
	Action, Scope, Role string
	Err                 error
}

// Error names the action, the scope, and a role.
func (e *RightError) Error() string {
	return fmt.Sprintf("the right to %s on %s is missing; assign a role that has it, such as %s", e.Action, e.Scope, e.Role)
}

// Unwrap returns the answer.
func (e *RightError) Unwrap() error { return e.Err }

// ThrottledError: the other side still refuses requests because of their number, after the SDK's retries.
type ThrottledError struct {
	// By is the side that throttles: "Azure".
	By string
	// After is how long to wait. 0 means unknown.
	After time.Duration
	Err   error
}

// Error includes how long to wait.
func (e *ThrottledError) Error() string {
	if e.After == 0 {
		return e.By + " takes no more requests now; try again later"
	}
	return fmt.Sprintf("%s takes no more requests now; try again in %s", e.By, e.After)
}

// Unwrap returns the answer.
func (e *ThrottledError) Unwrap() error { return e.Err }

// respondent is the other side, and what to do if it does not accept the caller's identity.
type respondent struct{ name, unknown string }

var (
	azureItself = respondent{"Azure", "sign in again, for example with az login"}
	apiServer   = respondent{"the API server", "the credential of the kubeconfig is not valid, or not any more"}
)

// call is a kind of request, and the right that it needs.
type call struct {
	of           *respondent
	action, role string
}

// The calls (Azure: resource provider operations; built-in roles).
var (
	readCluster     = call{&azureItself, "Microsoft.ContainerService/managedClusters/read", "Reader"}
	readCredentials = call{&azureItself, "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action", "Azure Kubernetes Service Cluster User Role"}
	readGroups      = call{&azureItself, "Microsoft.Network/networkSecurityGroups/read", "Reader"}
	readTables      = call{&azureItself, "Microsoft.Network/routeTables/read", "Reader"}
	readNetworks    = call{&azureItself, "Microsoft.Network/virtualNetworks/read", "Reader"}
)

// denied finds the denied action in Azure's message. Azure knows the action better than the table.
var denied = regexp.MustCompile(`perform action '([^']+)' over scope '([^']+)'`)

// explain converts the SDK's error to one that a person can act on. Scope is the resource of the call.
func (c call) explain(err error, scope string) error {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return err
	}
	message := said(answer)
	switch answer.StatusCode {
	case http.StatusForbidden:
		e := &RightError{Action: c.action, Scope: scope, Role: c.role, Err: err}
		if named := denied.FindStringSubmatch(message); named != nil {
			e.Action, e.Scope = redact.Line(named[1], mostWords), redact.Line(named[2], mostWords)
		}
		return e
	case http.StatusTooManyRequests:
		return &ThrottledError{By: c.of.name, After: retryAfter(answer.RawResponse), Err: err}
	case http.StatusUnauthorized:
		return &answered{c.of.name + " does not know who asks: " + c.of.unknown, err}
	}
	about := cmp.Or(answer.ErrorCode, http.StatusText(answer.StatusCode))
	if message != "" {
		about += ": " + redact.Line(message, mostWords)
	}
	return &answered{fmt.Sprintf("%s answers with %d for %s: %s", c.of.name, answer.StatusCode, scope, about), err}
}

// answered is an answer on one line. The SDK's own error has all of it, on many lines.
type answered struct {
	words string
	err   error
}

func (e *answered) Error() string { return e.words }
func (e *answered) Unwrap() error { return e.err }

// mostWords is how much of a message is shown.
const mostWords = 400

// said returns the message in an answer of Azure ({"error": {"message": ...}}) or of an API server ({"message": ...}), unchanged.
// Only [redact.Line] shows it.
func said(answer *azcore.ResponseError) string {
	if answer.RawResponse == nil {
		return ""
	}
	body, err := runtime.Payload(answer.RawResponse)
	if err != nil {
		return ""
	}
	var text struct {
		Message string `json:"message"`
		Error   struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &text) != nil {
		return ""
	}
	return cmp.Or(text.Error.Message, text.Message)
}

// retryAfter returns how long an answer asks to wait, in seconds (RFC 9110, 10.2.3). Azure sends no date.
func retryAfter(r *http.Response) time.Duration {
	if r == nil {
		return 0
	}
	seconds, err := strconv.Atoi(strings.TrimSpace(r.Header.Get("Retry-After")))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}

// isMissing reports whether the resource does not exist.
func isMissing(err error) bool {
	answer, ok := errors.AsType[*azcore.ResponseError](err)
	return ok && answer.StatusCode == http.StatusNotFound
}

// isAnswer reports whether the other side has answered at all.
func isAnswer(err error) bool {
	_, ok := errors.AsType[*azcore.ResponseError](err)
	return ok
}
