package plan

import (
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/resource"
)

// realm makes the machine a member of a directory, whose users may log in then. realmd of the image does it.
var realm = concern{
	name:  "realm",
	joins: true, // the membership is the machine's own
	reads: []string{"$.access.realm.domain", "$.access.realm.password", "$.access.realm.user"},
	plan:  planRealm,
}

// realmTimeout is for finding a domain's controllers, and for their answers.
const realmTimeout = resource.Duration(3 * time.Minute)

func planRealm(in *input, out *output) {
	r := in.config.Access.Realm
	if r == nil {
		return
	}
	out.add(resource.Resource{
		Phase: resource.Join,
		// A domain controller may be slow, and no pod needs it.
		After:    []resource.ID{resource.IDOf(&resource.Check{Label: kubeletActive})},
		ExitCode: exitcode.RealmFailed,
		Reason:   sourced("the directory's users may log in", in.family.Sources.Realm),
		Spec: &resource.Command{
			Label: "realm-join",
			// Without a terminal it reads the password from its standard input (realm(8), join).
			Argv:    []string{"realm", "join", "--unattended", "--user=" + r.User, r.Domain},
			Timeout: realmTimeout,
			Done:    &resource.Printed{Argv: []string{"realm", "list", "--name-only"}, Lines: []string{r.Domain}},
			Stdin:   r.Password,
		},
	})
}
