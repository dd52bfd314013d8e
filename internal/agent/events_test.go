package agent

import (
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/profile"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/status"
)

// events are those in a node's directory, by file name.
func (n *node) events() map[string]map[string]any {
	n.Helper()
	found, err := filepath.Glob(n.root + profile.Of(nodeconfig.LayoutAKS).Publication.Events.Dir + "/*")
	if err != nil {
		n.Fatal(err)
	}
	all := make(map[string]map[string]any)
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			n.Fatal(err)
		}
		var event map[string]any
		if err := json.Unmarshal(data, &event); err != nil {
			n.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = event
	}
	return all
}

var eventKeys = []string{"EventLevel", "EventPid", "EventTid", "Message", "OperationId", "TaskName", "Timestamp", "Version"}

// wholeEvents checks file names and keys: the guest agent drops an event that lacks a key or whose file has another
// name.
func wholeEvents(t *testing.T, events map[string]map[string]any) {
	t.Helper()
	for name, event := range events {
		if !regexp.MustCompile(`^[0-9]{1,20}\.json$`).MatchString(name) {
			t.Errorf("%s is no name of an event", name)
		}
		if keys := slices.Sorted(maps.Keys(event)); !slices.Equal(keys, eventKeys) {
			t.Errorf("%s has keys %q", name, keys)
		}
		for key, value := range event {
			if text, ok := value.(string); !ok || text == "" {
				t.Errorf("%s: %s is %v", name, key, value)
			}
		}
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	withToken := string(aksWith(t, "minimal.json", map[string]any{
		"bootstrapping_config": map[string]any{"bootstrapping_auth_method": 2, "tls_bootstrapping_token": "abcdef.0123456789abcdef"},
	}))
	for _, c := range []struct {
		name, contract, level, says string
	}{
		{"warning", withToken, status.LevelWarning, "Completed, with a warning: Check:attested-identity, secure-tls-bootstrap.service (unit): is failed | startTime="},
		{"success", string(example(t, "aks/minimal.json")), status.LevelInformational, "Completed | startTime="},
		{"failure", `{"version":"v1"}`, status.LevelError, "exited with error contract " + aksContract + " cannot be used; $."},
	} {
		n := newNode(t)
		n.deliver(aksContract, []byte(c.contract))
		n.host.before = func(op, name string) error {
			if c.level == status.LevelWarning && op == "Probe" && name == "attested-identity" {
				return &apply.CheckError{Cause: resource.CauseUnit, Endpoint: "secure-tls-bootstrap.service", Err: errors.New("is failed")}
			}
			return nil
		}
		n.provision()
		if _, _, err := n.Wait(t.Context()); err != nil {
			t.Error(err)
		}
		events := n.events()
		wholeEvents(t, events)
		var tasks []string
		for _, event := range events {
			tasks = append(tasks, event["TaskName"].(string))
			want := c.level
			if want == status.LevelWarning && event["TaskName"] == "AKS.AKSNodeController.ProvisionWait" {
				want = status.LevelInformational // readers of the result do not see warnings
			}
			if event["EventLevel"] != want {
				t.Errorf("%s: level is %s", c.name, event["EventLevel"])
			}
			if message := event["Message"].(string); strings.HasSuffix(event["TaskName"].(string), ".Provision") && !strings.Contains(message, c.says) {
				t.Errorf("%s: the message is %q", c.name, message)
			}
		}
		slices.Sort(tasks)
		if want := []string{"AKS.AKSNodeController.Provision", "AKS.AKSNodeController.ProvisionWait"}; !slices.Equal(tasks, want) {
			t.Errorf("%s: tasks are %q", c.name, tasks)
		}
	}
	// A native contract has no guest agent to report to. A run that changes nothing reports nothing.
	n := newNode(t)
	n.deliver(nativeContract, example(t, "native/minimal.yaml"))
	n.provision()
	if _, _, err := n.Wait(t.Context()); err != nil || len(n.events()) > 0 || n.exists("/var/log/azure") {
		t.Errorf("%v, %v", err, n.events())
	}
}

// Each of several agents writes a separate event, even if they end at the same time.
func TestEventsOfSeveral(t *testing.T) {
	t.Parallel()
	const agents = 8
	first := newNode(t)
	first.deliver(aksPlace.result.Path, []byte(`{"ExitCode": "0"}`))
	first.deliver(aksPlace.complete, nil)
	root, now := first.root, first.Now()
	var wait sync.WaitGroup
	for range agents {
		n := newNode(t, root)
		n.Now = func() time.Time { return now }
		wait.Go(func() {
			if _, _, err := n.Wait(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	events := newNode(t, root).events()
	wholeEvents(t, events)
	if len(events) != agents {
		t.Errorf("%d agents have %d events", agents, len(events))
	}
	newNode(t, root).left()
}
