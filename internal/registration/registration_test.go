package registration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/registration"
	"github.com/slipway-dev/slipway/internal/resource"
)

// wanted is what a generation with these flags wants: labels, taints.
func wanted(flags [2]string) registration.Wanted {
	var n resource.Node
	for i, name := range []string{"node-labels", "register-with-taints"} {
		if flags[i] != "" {
			n.Argue(name, flags[i], "")
		}
	}
	return registration.Of(&n)
}

func TestPendingChanges(t *testing.T) {
	type flags = [2]string
	for name, c := range map[string]struct {
		history []flags
		node    flags
		want    string
	}{
		"nothing has changed":                      {[]flags{{"a=1", "t=x:NoSchedule"}}, flags{"", ""}, ""},
		"an added label":                           {[]flags{{"a=1"}, {"a=1,b=2"}}, flags{"a=1"}, "set b=2"},
		"a changed label":                          {[]flags{{"a=1"}, {"a=2"}}, flags{"a=1,other=x"}, "set a=2"},
		"a removed label":                          {[]flags{{"a=1,b=2"}, {"b=2"}}, flags{"a=1,b=2"}, "remove a"},
		"all of it is there":                       {[]flags{{"a=1"}, {"a=2"}}, flags{"a=2"}, ""},
		"an administrator has set another value":   {[]flags{{"a=1"}, {"a=2"}}, flags{"a=3"}, ""},
		"an administrator has removed it":          {[]flags{{"a=1"}, {"a=2"}}, flags{""}, ""},
		"there and back again":                     {[]flags{{"a=1"}, {"a=2"}, {"a=1"}}, flags{"a=2"}, "set a=1"},
		"a change that was never there":            {[]flags{{""}, {"a=1"}, {""}}, flags{""}, ""},
		"an older generation's":                    {[]flags{{"a=1"}, {"a=2"}, {"a=3"}}, flags{"a=1"}, "set a=3"},
		"a label without a value":                  {[]flags{{""}, {"a="}}, flags{""}, "set a="},
		"a label that kubelets may set":            {[]flags{{""}, {"node.kubernetes.io/pool=x"}}, flags{""}, "set node.kubernetes.io/pool=x"},
		"a label that kubelets may not set":        {[]flags{{""}, {"node-restriction.kubernetes.io/a=x"}}, flags{""}, "kubectl label --overwrite node n node-restriction.kubernetes.io/a=x"},
		"a role":                                   {[]flags{{"node-role.kubernetes.io/a="}, {""}}, flags{"node-role.kubernetes.io/a="}, "kubectl label node n node-role.kubernetes.io/a-"},
		"a label that the kubelet sets, changed":   {[]flags{{"topology.kubernetes.io/zone=a"}, {"topology.kubernetes.io/zone=b"}}, flags{"topology.kubernetes.io/zone=a"}, "set topology.kubernetes.io/zone=b"},
		"a label that the kubelet sets, no more":   {[]flags{{"topology.kubernetes.io/zone=a"}, {""}}, flags{"topology.kubernetes.io/zone=a"}, ""},
		"a label that only the machine knows":      {[]flags{{""}, {"id=${INSTANCE_ID}"}}, flags{""}, ""},
		"an added taint":                           {[]flags{{"", ""}, {"", "t=x:NoSchedule"}}, flags{}, "kubectl taint --overwrite node n t=x:NoSchedule"},
		"a taint without a value":                  {[]flags{{"", ""}, {"", "t:NoExecute"}}, flags{}, "kubectl taint --overwrite node n t:NoExecute"},
		"a changed taint":                          {[]flags{{"", "t=x:NoSchedule"}, {"", "t=y:NoSchedule"}}, flags{"", "t=x:NoSchedule"}, "kubectl taint --overwrite node n t=y:NoSchedule"},
		"another effect":                           {[]flags{{"", "t=x:NoSchedule"}, {"", "t=x:NoExecute"}}, flags{"", "t=x:NoSchedule"}, "kubectl taint --overwrite node n t=x:NoExecute; kubectl taint node n t:NoSchedule-"},
		"a removed taint":                          {[]flags{{"", "t=x:NoSchedule"}, {"", ""}}, flags{"", "t=x:NoSchedule"}, "kubectl taint node n t:NoSchedule-"},
		"a startup taint that its controller took": {[]flags{{"a=1", "start:NoExecute"}, {"a=2", "start:NoExecute"}}, flags{"a=1", ""}, "set a=2"},
		"a taint of the cluster's stays":           {[]flags{{"a=1"}, {"a=2"}}, flags{"a=2", "node.kubernetes.io/not-ready:NoSchedule"}, ""},
	} {
		var history []registration.Wanted
		for _, f := range c.history {
			history = append(history, wanted(f))
		}
		actual := wanted(c.node)
		var got []string
		for _, change := range registration.Pending(history, &registration.Node{Name: "n", Labels: actual.Labels, Taints: actual.Taints}) {
			switch {
			case change.Command != "":
				got = append(got, change.Command)
			case change.Value == nil:
				got = append(got, "remove "+change.Label)
			default:
				got = append(got, "set "+change.Label+"="+*change.Value)
			}
		}
		if got := strings.Join(got, "; "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		last := history[len(history)-1].Digest()
		if c.want != "" && !slices.ContainsFunc(history, func(w registration.Wanted) bool { return w.Digest() != last }) {
			t.Errorf("%s: no Node would be asked", name)
		}
	}
}
