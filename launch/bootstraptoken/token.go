package bootstraptoken

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/nodeconfig"
)

// Token is a bootstrap token of a cluster (Kubernetes: a secret of the type bootstrap.kubernetes.io/token).
type Token struct {
	// Value is "abcdef.0123456789abcdef".
	Value nodeconfig.Secret
	// Expires is when the cluster starts to refuse the token. If zero, the token never expires.
	Expires time.Time
	// Authentication is true if a node can authenticate with the token (usage-bootstrap-authentication).
	Authentication bool
	// Groups are the token's groups beside system:bootstrappers.
	Groups []string
	// Description is for people. Descriptions of tokens that a [Keeper] creates begin with "Slipway, for ".
	Description string
}

// ID is the public part of the token. It names the cluster's object.
func (t *Token) ID() string {
	id, _, _ := strings.Cut(t.Value.Reveal(), ".")
	return id
}

// bootstrappers begins each group that a token can have (Kubernetes: bootstrap tokens, auth-extra-groups).
const bootstrappers = "system:bootstrappers:"

// The defaults of a [Policy].
const (
	// defaultLifetime is long enough for many launches, and short enough that a leaked token is worth little.
	defaultLifetime = time.Hour
	// DefaultDeadline is how long Karpenter waits for a node to register (sigs.k8s.io/karpenter: registrationTTL).
	DefaultDeadline = 15 * time.Minute
	// DefaultMargin is for a machine that starts late.
	DefaultMargin = 5 * time.Minute
	// maxLifetime bounds how long a leaked token can be used.
	maxLifetime = 30 * 24 * time.Hour
)

// Policy is how tokens are made, and when one may be used. The zero value is a policy with the defaults.
type Policy struct {
	// PerNode gives each node its own token. Otherwise all nodes of a pool share one.
	PerNode bool
	// Lifetime is how long a new token is valid; 0 means an hour.
	Lifetime time.Duration
	// Deadline is how long a launch may take. Margin is how much longer its token must be valid. 0 means the default.
	Deadline, Margin time.Duration
	// Groups are those of new tokens. Each begins with "system:bootstrappers:". If the group system:bootstrappers itself may request
	// certificates, none is needed.
	Groups []string
}

// withDefaults returns the policy with its defaults.
func (p Policy) withDefaults() Policy {
	p.Lifetime = cmp.Or(p.Lifetime, defaultLifetime)
	p.Deadline, p.Margin = cmp.Or(p.Deadline, DefaultDeadline), cmp.Or(p.Margin, DefaultMargin)
	return p
}

// Check reports what is wrong with the policy, all at once.
func (p Policy) Check() error {
	p = p.withDefaults()
	var wrong []error
	if p.Deadline < 0 || p.Margin < 0 {
		wrong = append(wrong, errors.New("deadline and margin of tokens are not negative"))
	}
	if p.Lifetime < p.Deadline+p.Margin {
		wrong = append(wrong, fmt.Errorf("a token would be valid for %s, and a launch takes up to %s and %s more: no token could be used", p.Lifetime, p.Deadline, p.Margin))
	}
	if p.Lifetime > maxLifetime {
		wrong = append(wrong, fmt.Errorf("a token would be valid for %s; the limit is %s", p.Lifetime, maxLifetime))
	}
	for _, g := range p.Groups {
		if rest, ok := strings.CutPrefix(g, bootstrappers); !ok || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789:-") != "" || rest == "" {
			wrong = append(wrong, fmt.Errorf("the group %q is not %s and small letters, digits, colons and dashes", g, bootstrappers))
		}
	}
	return errors.Join(wrong...)
}

// Reason is why a launch has no token, in the form of the reason of a Kubernetes condition.
type Reason string

// The reasons of an [Error].
const (
	// Malformed: the text is not a token.
	Malformed Reason = "TokenMalformed"
	// Expired: the cluster refuses the token.
	Expired Reason = "TokenExpired"
	// Expiring: the cluster would refuse the token before the node has joined.
	Expiring Reason = "TokenExpiring"
	// WithoutUsage: a node cannot authenticate with the token.
	WithoutUsage Reason = "TokenWithoutUsage"
	// WithoutGroup: the token lacks a group of the policy.
	WithoutGroup Reason = "TokenWithoutGroup"
	// Unavailable: the cluster's tokens cannot be listed.
	Unavailable Reason = "TokensUnavailable"
	// NotCreated: the cluster creates no token.
	NotCreated Reason = "TokenNotCreated"
	// PolicyInvalid: the policy is wrong.
	PolicyInvalid Reason = "TokenPolicyInvalid"
)

// Error is why a launch has no token. The caller then starts no machine. Of a token, the error holds only the ID.
type Error struct {
	Reason Reason
	// ID is the token's; empty if the error is not about one token.
	ID string
	// Expires is when the token ends; zero if that is not the reason.
	Expires time.Time
	// Err is the cause; it may be nil.
	Err error
}

// texts are the reasons for people.
var texts = map[Reason]string{
	Malformed:     "is not of the form abcdef.0123456789abcdef",
	Expired:       "has expired",
	Expiring:      "expires before the node would have joined",
	WithoutUsage:  "has no usage-bootstrap-authentication, so no node can join with it",
	WithoutGroup:  "lacks a group of the policy, so its node may not ask for a certificate",
	Unavailable:   "the cluster's bootstrap tokens cannot be listed",
	NotCreated:    "no bootstrap token could be created",
	PolicyInvalid: "the policy for bootstrap tokens cannot be used",
}

// Error names the reason, and when the token ends.
func (e *Error) Error() string {
	text := texts[e.Reason]
	switch {
	case e.ID != "":
		text = "the bootstrap token " + e.ID + " " + text
	case e.Reason == Malformed:
		text = "the bootstrap token " + text
	}
	if !e.Expires.IsZero() {
		text += " (at " + e.Expires.UTC().Format(time.RFC3339) + ")"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Usable returns an [*Error] if a launch cannot use the token. The time is the API server's.
func (p Policy) Usable(t *Token, now time.Time) error {
	p = p.withDefaults()
	if !nodeconfig.IsBootstrapToken(t.Value.Reveal()) {
		return &Error{Reason: Malformed}
	}
	e := &Error{ID: t.ID()}
	left := t.Expires.Sub(now)
	switch {
	case !t.Expires.IsZero() && left <= 0:
		e.Reason, e.Expires = Expired, t.Expires
	case !t.Expires.IsZero() && left < p.Deadline+p.Margin:
		e.Reason, e.Expires = Expiring, t.Expires
	case !t.Authentication:
		e.Reason = WithoutUsage
	case slices.ContainsFunc(p.Groups, func(g string) bool { return !slices.Contains(t.Groups, g) }):
		e.Reason = WithoutGroup
	default:
		return nil
	}
	return e
}

// described begins the description of each token that a [Keeper] creates. It neither uses nor removes other tokens.
const described = "Slipway, for "

// Key names the tokens that a claim can use: by its pool, or by the claim if each node has its own token or the claim has no pool.
func (p Policy) Key(pool, claim string) string {
	if !p.PerNode && pool != "" {
		return "NodePool " + pool
	}
	return "NodeClaim " + claim
}

// choose returns the usable token for a key that expires last; nil if no token is usable.
func (p Policy) choose(all []Token, key string, now time.Time) *Token {
	var best *Token
	for i := range all {
		t := &all[i]
		if t.Description != described+key || p.Usable(t, now) != nil {
			continue
		}
		if best == nil || cmp.Or(compareExpiry(t, best), strings.Compare(best.ID(), t.ID())) > 0 {
			best = t
		}
	}
	return best
}

// compareExpiry is positive if a expires after b.
func compareExpiry(a, b *Token) int {
	switch {
	case a.Expires.IsZero() == b.Expires.IsZero():
		return a.Expires.Compare(b.Expires)
	case a.Expires.IsZero():
		return 1
	}
	return -1
}

// newToken returns the token to create for a key. The [Store] chooses its random value.
func (p Policy) newToken(key string, now time.Time) Token {
	p = p.withDefaults()
	return Token{Expires: now.Add(p.Lifetime), Authentication: true, Groups: slices.Clone(p.Groups), Description: described + key}
}

// unneeded returns the IDs of the keeper's tokens that no launch needs, sorted: expired ones, and those of keys that are not live.
func unneeded(all []Token, live func(key string) bool, now time.Time) []string {
	var ids []string
	for i := range all {
		key, ours := strings.CutPrefix(all[i].Description, described)
		expired := !all[i].Expires.IsZero() && !all[i].Expires.After(now)
		if ours && (expired || !live(key)) {
			ids = append(ids, all[i].ID())
		}
	}
	slices.Sort(ids)
	return ids
}
