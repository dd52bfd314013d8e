package metadata

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Role has the credentials of the machine's role in its cloud.
type Role struct {
	// KeyID names the key; Session belongs to it.
	KeyID        string
	Key, Session nodeconfig.Secret
	Expires      time.Time
	// At is the service's time of the answer, or zero if it has none.
	At time.Time
}

const (
	// maxRole limits a document with credentials, whose token has some 1 KiB and can grow.
	maxRole = 64 << 10
	// maxRoleName is the longest name of a role (IAM API Reference, CreateRole).
	maxRoleName = 64
	// lateRole is how long "not found" counts as temporary: an instance gets its credentials some seconds after its
	// start (amazon-eks-ami: nodeadm repeats 404).
	lateRole = 30 * time.Second
)

// Role returns credentials of the machine's role. It retries. The error is an *Error, and ErrNotFound for a machine
// without a role, or a cloud without roles.
func (s *Service) Role(ctx context.Context) (Role, error) {
	return retry(ctx, func(ctx context.Context) (Role, *failure) {
		if s.role.path == "" {
			return Role{}, failed(s.addresses[0], NotFound, "gives no credentials of a role")
		}
		role, f := s.readRole(ctx)
		if f != nil && f.kind == NotFound {
			f.settle = lateRole
		}
		return role, f
	})
}

func (s *Service) readRole(ctx context.Context) (Role, *failure) {
	name, f := described(ctx, s, s.role, func(data []byte) (string, bool) {
		name := firstWord(data)
		return name, isRoleName(name)
	}, "the answer is not the name of a role")
	if f != nil {
		return Role{}, f
	}
	got, f := s.read(ctx, document{s.role.path + name, maxRole, []string{htmlType}}, "")
	if f != nil {
		return Role{}, f
	}
	var d struct {
		Code            string
		AccessKeyID     string `json:"AccessKeyId"`
		SecretAccessKey string
		Token           string
		Expiration      time.Time
	}
	if !decode(got.body, &d) {
		return Role{}, failed(got.url, WrongType, "the answer is not a document with credentials")
	}
	if d.Code != "Success" {
		return Role{}, failed(got.url, NotFound, "has no credentials: the role's trust policy must let EC2 assume it")
	}
	for _, value := range []string{d.AccessKeyID, d.SecretAccessKey, d.Token} {
		if !printable(value, maxRole) {
			return Role{}, failed(got.url, WrongType, "the answer lacks a key, its ID or its token")
		}
	}
	if d.Expiration.IsZero() {
		return Role{}, failed(got.url, WrongType, "the answer does not say until when the credentials are good")
	}
	at, _ := http.ParseTime(got.header.Get("Date"))
	return Role{d.AccessKeyID, nodeconfig.NewSecret(d.SecretAccessKey), nodeconfig.NewSecret(d.Token), d.Expiration, at}, nil
}

// isRoleName reports whether a name is valid for a role (IAM API Reference, CreateRole).
func isRoleName(name string) bool {
	return name != "" && len(name) <= maxRoleName && strings.IndexFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("+=,.@_-", r)
	}) < 0
}
