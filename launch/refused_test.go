package launch_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// TestRefusedLaunch: a launch with a fatal problem has no user data in any form and is compared with nothing, and all that is wrong is the
// error. An input that is nil is such a problem.
func TestRefusedLaunch(t *testing.T) {
	cloud, request, _ := base(t).decode(t)
	good := launch.Render(cloud, request)
	withoutType := *cloud
	withoutType.Type = nil
	valid := nodeconfig.NewSecret("abcdef.0123456789abcdef")
	for name, c := range map[string]struct {
		made *launch.Launch
		want string
	}{
		"no cloud":          {launch.Render(nil, request), "there is no cloud"},
		"a cloud of nil":    {launch.Render((*azure.Input)(nil), request), "there is no cloud"},
		"no request":        {launch.Prepare(cloud)(launch.Request{}), "there is neither a claim nor a pool"},
		"no instance type":  {launch.Render(&withoutType, request), "no instance type is given"},
		"nothing of either": {launch.Render(nil, launch.Request{}), "there is no cloud"},
		"no settings":       {launch.Render(new(azure.Input), request), "no settings are given"},
		"no launch":         {nil, "there is no launch"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := c.made.UserData(valid)
			_, contractErr := c.made.Contract(valid)
			script, _, scriptErr := azure.Script(c.made, valid)
			compared, compareErr := launch.Compare(good.Record(), c.made)
			if data != "" || script != "" || compared != nil {
				t.Errorf("%d bytes of user data, %d of a script, %v", len(data), len(script), compared)
			}
			for _, err := range []error{err, contractErr, scriptErr, compareErr} {
				if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, launch.ErrUnknown) {
					t.Errorf("%v, want %q", err, c.want)
				}
			}
			if c.made == nil {
				if found := (*launch.Launch)(nil).Check(nil); len(nodeconfig.Fatal(found)) != 1 {
					t.Errorf("a check of no launch: %v", found)
				}
				return
			}
			if err := c.made.Problems().Err(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the problems are %v", err)
			}
			if shown := fmt.Sprint(c.made, c.made.Explain(""), c.made.Record(), c.made.Document()); strings.Contains(shown, "PANIC") {
				t.Error(shown)
			}
		})
	}
	if err := good.Problems().Err(); err != nil {
		t.Error(err)
	}
}

// TestLaunchIsImmutable: nothing that a launch returns changes the launch.
func TestLaunchIsImmutable(t *testing.T) {
	cloud, request, _ := with(t, parse(t, []byte("settings: {cluster-id: '11111111'}"))).decode(t)
	made := launch.Render(cloud, request)
	want := show(made, made.Problems()) + bytesOf(t, made)
	document := made.Document()
	document.Machine.Tags["team"], document.Machine.Identities[0], document.Node.Kubelet.Labels["team"], *document.Machine.MaxPods = "other", "other", "other", 7
	document.Node.Kubelet.Config["maxPods"] = 7
	problems := made.Problems()
	if len(problems) == 0 {
		t.Fatal("the case has no problem that could be changed")
	}
	problems[0].Fatal, problems[0].Reason = true, "other"
	record := made.Record()
	record.Key, record.Given = "other", nil
	if got := show(made, made.Problems()) + bytesOf(t, made); got != want {
		t.Errorf("the launch has changed:\n%s", got)
	}
}

// TestConflictsByMeaning: what was detected is compared with what the settings say by its meaning, but two builds of a version are two.
func TestConflictsByMeaning(t *testing.T) {
	for settings, want := range map[string]int{
		"{kubernetes-version: 1.34.2}":       0,
		"{kubernetes-version: v1.34.2}":      0,
		"{kubernetes-version: 1.34.2+build}": 1,
		"{kubernetes-version: 1.34.1}":       1,
		"{dns-service-ip: 10.0.0.10}":        0,
		"{dns-service-ip: 10.0.0.11}":        1,
	} {
		cloud, request, _ := with(t, parse(t, []byte("settings: "+settings))).decode(t)
		found := 0
		for _, p := range launch.Render(cloud, request).Problems() {
			if p.Kind == nodeconfig.Conflict && (p.Path == "$.node.cluster.kubernetesVersion" || p.Path == "$.machine.network.dns") {
				found++
			}
		}
		if found != want {
			t.Errorf("%s: %d conflicts, want %d", settings, found, want)
		}
	}
}
