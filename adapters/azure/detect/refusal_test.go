package detect_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/adapters/azure/internal/fakeazure"
)

// Each missing right costs one fact. The error has the action and a role, also if Azure does not name the action.
func TestMissingRights(t *testing.T) {
	for _, c := range []struct {
		call, fact, action, role string
		also                     []string
	}{
		{"ManagedClustersClient.ListClusterUserCredentials", "certificateAuthority", "Microsoft.ContainerService/managedClusters/listClusterUserCredential/action", "Azure Kubernetes Service Cluster User Role", nil},
		{"SecurityGroupsClient.NewListPager", "securityGroups", "Microsoft.Network/networkSecurityGroups/read", "Reader", nil},
		{"RouteTablesClient.NewListPager", "routeTables", "Microsoft.Network/routeTables/read", "Reader", nil},
		{"VirtualNetworksClient.Get", "vnetGUID", "Microsoft.Network/virtualNetworks/read", "Reader", nil},
		{"VirtualNetworksClient.NewListPager", "subnetID", "Microsoft.Network/virtualNetworks/read", "Reader", []string{"vnetGUID"}},
	} {
		for _, named := range []bool{true, false} {
			azureCloud := cloud(t)
			if c.fact == "subnetID" {
				managed(azureCloud, "aks-subnet")
			}
			answer := fakeazure.Answer{Status: http.StatusForbidden, Code: "AuthorizationFailed"}
			action := c.action
			if named {
				action += "/of/tomorrow"
				answer.Message = "The client 'x' with object id 'y' does not have authorization to perform action '" + action + "' over scope '/subscriptions/z' or the scope is invalid."
			}
			azureCloud.Answers[c.call] = []fakeazure.Answer{answer}
			found, err := ask(azureCloud).Cluster(t.Context(), example)
			right, ok := errors.AsType[*detect.RightError](factError(t, err, c.fact))
			if !ok || right.Action != action || right.Role != c.role || named && right.Scope != "/subscriptions/z" {
				t.Errorf("%s: %+v (%v)", c.call, right, err)
				continue
			}
			for _, want := range []string{action, c.role, right.Scope, "/subscriptions/"} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
			readable(t, found, detected)
			others(t, found, append([]string{c.fact}, c.also...))
		}
	}
}

// Without the right to read the cluster no fact is known.
func TestClusterIsRefused(t *testing.T) {
	c := cloud(t)
	c.Answers["ManagedClustersClient.Get"] = []fakeazure.Answer{{Status: http.StatusForbidden, Code: "AuthorizationFailed"}}
	_, err := ask(c).Cluster(t.Context(), example)
	if right, ok := errors.AsType[*detect.RightError](err); !ok || right.Action != "Microsoft.ContainerService/managedClusters/read" {
		t.Errorf("%v", err)
	}
	c.Answers["ManagedClustersClient.Get"] = []fakeazure.Answer{{Status: http.StatusUnauthorized, Code: "InvalidAuthenticationToken", Message: "The token " + secret}}
	if _, err := ask(c).Cluster(t.Context(), example); err == nil || !strings.Contains(err.Error(), "sign in again") || strings.Contains(err.Error(), secret) {
		t.Errorf("%v", err)
	}
}

// busy is Azure's answer to a client with too many requests.
func busy(seconds int) fakeazure.Answer {
	return fakeazure.Answer{Status: http.StatusTooManyRequests, Code: "TooManyRequests", Message: "Too many requests.", RetryAfter: seconds}
}

// A request is repeated after the time that Azure asks for, for every call and every page.
func TestThrottling(t *testing.T) {
	for _, call := range []string{"ManagedClustersClient.Get", "SecurityGroupsClient.NewListPager", "VirtualNetworksClient.Get"} {
		synctest.Test(t, func(t *testing.T) {
			c := cloud(t)
			c.Answers[call] = []fakeazure.Answer{busy(17), busy(5)}
			begin := time.Now()
			found, err := ask(c).Cluster(t.Context(), example)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(begin); waited != 22*time.Second {
				t.Errorf("%s: it has waited %s, want 22s", call, waited)
			}
			others(t, found, nil)
		})
	}
}

// If Azure throttles until the end, one fact is unknown, and its error has the time to wait. Waits of minutes are left to the
// caller.
func TestThrottledForGood(t *testing.T) {
	for _, c := range []struct {
		answers []fakeazure.Answer
		waited  time.Duration
		after   time.Duration
	}{
		{[]fakeazure.Answer{busy(10), busy(10), busy(10), busy(30)}, 30 * time.Second, 30 * time.Second},
		{[]fakeazure.Answer{busy(300)}, 0, 5 * time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			azureCloud := cloud(t)
			azureCloud.Answers["SecurityGroupsClient.NewListPager"] = c.answers
			begin := time.Now()
			found, err := ask(azureCloud).Cluster(t.Context(), example)
			throttled, ok := errors.AsType[*detect.ThrottledError](factError(t, err, "securityGroups"))
			if !ok || throttled.After != c.after || !strings.Contains(err.Error(), "try again in "+c.after.String()) {
				t.Errorf("%v", err)
			}
			if waited := time.Since(begin); waited != c.waited {
				t.Errorf("it has waited %s, want %s", waited, c.waited)
			}
			others(t, found, []string{"securityGroups"})
		})
	}
}

// Azure's message is shown on one line, cut, and without parts that look like a secret.
func TestMessages(t *testing.T) {
	c := cloud(t)
	c.Answers["RouteTablesClient.NewListPager"] = []fakeazure.Answer{{
		Status: http.StatusBadRequest, Code: "Odd", Message: "line\nbearer " + strings.Repeat("A", 40) + " " + strings.Repeat("word ", 200),
	}}
	_, err := ask(c).Cluster(t.Context(), example)
	reason := factError(t, err, "routeTables").Error()
	if strings.Contains(reason, "\n") || strings.Contains(reason, "AAAA") || len(reason) > 700 || !strings.Contains(reason, "Odd: line bearer [redacted]") {
		t.Errorf("%q", reason)
	}
}

// A cancelled call returns at once.
func TestInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cloud(t)
		c.Answers["SecurityGroupsClient.NewListPager"] = []fakeazure.Answer{busy(50)}
		ctx, cancel := timeout(t, 3*time.Second)
		defer cancel()
		begin := time.Now()
		_, err := ask(c).Cluster(ctx, example)
		if !errors.Is(err, context.DeadlineExceeded) || len(flat(err)) != 1 || time.Since(begin) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}
