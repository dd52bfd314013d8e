package plan

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-dev/slipway/internal/plan/system"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// A machine with its own key in the directory stays a member. One without has the membership of another machine, or none: it
// leaves, and then joins.
func TestRealmOfAnotherMachine(t *testing.T) {
	t.Parallel()
	c := contract(t, "native/minimal.yaml", func(c *nodeconfig.NodeConfig) {
		c.Access.Realm = &nodeconfig.Realm{Domain: "corp.example", User: "joiner", Password: nodeconfig.NewSecret("secret")}
	})
	p, problems := New(c, ubuntu(t))
	if len(nodeconfig.Fatal(problems)) > 0 {
		t.Fatal(problems)
	}
	of := func(label string) (resource.Resource, *resource.Command) {
		id := resource.IDOf(&resource.Command{Label: label})
		i := slices.IndexFunc(p.Resources, func(r resource.Resource) bool { return r.ID() == id })
		if i < 0 {
			t.Fatalf("the plan has no %s", id)
		}
		return p.Resources[i], p.Resources[i].Spec.(*resource.Command)
	}
	left, leave := of("realm-leave")
	joined, join := of("realm-join")
	if !slices.Contains(joined.After, left.ID()) {
		t.Errorf("it joins after %v", joined.After)
	}
	if argv := leave.Done.Argv; argv[len(argv)-1] != system.HostKeytab || !leave.Done.In([]byte(system.HostKeytab+"\n")) || leave.Done.In(nil) {
		t.Errorf("it stays where %q prints %q", argv, leave.Done.Lines)
	}
	if !leave.Optional || join.Optional {
		t.Error("a machine that has never joined need not leave, and has to join")
	}
	if slices.ContainsFunc(leave.Argv, func(arg string) bool { return strings.HasPrefix(arg, "--remove") || strings.HasPrefix(arg, "--user") }) {
		t.Errorf("%q removes the account of the other machine", leave.Argv)
	}
}
