package system

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// realm makes the machine a member of a directory, whose users may log in then. realmd of the image does it.
var realm = concern.Concern{
	Name:  "realm",
	Joins: true, // the membership is the machine's own
	Reads: []string{"$.access.realm.domain", "$.access.realm.password", "$.access.realm.user"},
	Plan:  planRealm,
}

// HostKeytab has the key by which a member of a directory proves which machine it is (krb5.conf(5), default_keytab_name). So it
// belongs to the machine that has joined, and to no clone of its disk.
const HostKeytab = "/etc/krb5.keytab"

// realmTimeout is for finding a domain's controllers, and for their answers.
const realmTimeout = resource.Duration(3 * time.Minute)

func planRealm(in *concern.Input, out *concern.Output) {
	r := in.Config.Access.Realm
	if r == nil {
		return
	}
	// A domain controller may be slow, and no pod needs it.
	well := []resource.ID{resource.IDOf(&resource.Check{Label: concern.KubeletActive})}
	// Without a user, the command only removes the machine's current domain, whatever it is, from its configuration. It does not call
	// the directory, which keeps the machine's account (realm(8), leave).
	leave := resource.Resource{
		Phase:    resource.Join,
		After:    well,
		ExitCode: exitcode.RealmFailed,
		Reason:   "a membership without this machine's key is that of the machine whose disk was cloned",
		Spec: &resource.Command{
			Label:    "realm-leave",
			Argv:     []string{"realm", "leave", "--unattended"},
			Timeout:  realmTimeout,
			Done:     &resource.Printed{Argv: []string{"ls", HostKeytab}, Lines: []string{HostKeytab}},
			Optional: true, // most machines have never joined
		},
	}
	out.Append(leave)
	out.Append(resource.Resource{
		Phase:    resource.Join,
		After:    append(well, leave.ID()),
		ExitCode: exitcode.RealmFailed,
		Reason:   concern.Sourced("the directory's users may log in", in.Family.Sources.Realm),
		Spec: &resource.Command{
			Label: "realm-join",
			// Without a terminal it reads the password from its standard input (realm(8), join).
			Argv:    []string{"realm", "join", "--unattended", "--user=" + r.User, r.Domain},
			Timeout: realmTimeout,
			Done:    &resource.Printed{Argv: []string{"realm", "list", "--name-only"}, Lines: []string{r.Domain}},
			Stdin:   resource.Hidden{Secret: r.Password},
		},
	})
}
