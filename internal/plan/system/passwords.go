package system

import (
	"slices"
	"time"

	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
)

// passwords keeps the passwords of the administrator and of root from expiring: an administrator who logs in because a node fails
// cannot change a password first, and programs that become root through PAM fail if root's has expired.
var passwords = concern.Concern{
	Name:  "password ageing",
	Reads: []string{"$.access.adminUser"},
	Plan:  planPasswords,
}

func planPasswords(in *concern.Input, out *concern.Output) {
	admin := in.Config.Access.AdminUser
	if admin == "" {
		return
	}
	users := []string{admin, "root"}
	slices.Sort(users)
	for _, user := range slices.Compact(users) {
		out.Append(resource.Resource{
			Phase:  resource.Base,
			Reason: concern.Sourced("the password of "+user+" never expires", in.Family.Sources.Passwords),
			Spec: &resource.Command{
				Label:   "password-ageing-" + user,
				Argv:    []string{"chage", "--expiredate", "-1", "--inactive", "-1", "--mindays", "0", "--maxdays", "99999", user},
				Timeout: resource.Duration(30 * time.Second),
				// With such a maximum, chage prints "never" for the inactive date (chage(1)).
				Done: &resource.Printed{Argv: []string{"chage", "--list", user}, Lines: []string{
					"Account expires : never",
					"Minimum number of days between password change : 0",
					"Maximum number of days between password change : 99999",
				}},
				Optional: true, // an image need not have that user
			},
		})
	}
}
