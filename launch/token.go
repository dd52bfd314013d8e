package launch

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
	// Expires is when the cluster refuses it; zero for never.
	Expires time.Time
	// Authentication says that a node can authenticate with it (usage-bootstrap-authentication).
	Authentication bool
	// Groups are what it is a member of, beside system:bootstrappers.
	Groups []string
	// Description says what it is for: ours begin with "Slipway, for ".
	Description string
}

// ID is the part of the token that is no secret: it names the cluster's object.
func (t *Token) ID() string {
	id, _, _ := strings.Cut(t.Value.Reveal(), ".")
	return id
}

// bootstrappers begins each group that a token can have (Kubernetes: bootstrap tokens, auth-extra-groups).
const bootstrappers = "system:bootstrappers:"

// The defaults of a [TokenPolicy].
const (
	// defaultTokenLifetime is long enough to be reused, and short enough to be worth little.
	defaultTokenLifetime = time.Hour
	// DefaultTokenDeadline is how long Karpenter waits for a node to register (sigs.k8s.io/karpenter: registrationTTL).
	DefaultTokenDeadline = 15 * time.Minute
	// DefaultTokenMargin is for a machine that starts late.
	DefaultTokenMargin = 5 * time.Minute
	// longestTokenLifetime bounds how long somebody can use a token that leaked.
	longestTokenLifetime = 30 * 24 * time.Hour
)

// TokenPolicy says what tokens are like, and when one may be used. The zero value is a policy, with the defaults.
type TokenPolicy struct {
	// PerNode gives each node a token of its own; otherwise all nodes of a pool share one.
	PerNode bool
	// Lifetime is how long a new token is valid; 0 for an hour.
	Lifetime time.Duration
	// Deadline is how long a launch may take, Margin what must be left beside; 0 for the defaults.
	Deadline, Margin time.Duration
	// Groups are those of new tokens. Each begins with "system:bootstrappers:"; none is needed where system:bootstrappers itself
	// may ask for certificates.
	Groups []string
}

// withDefaults is the policy with its defaults.
func (p TokenPolicy) withDefaults() TokenPolicy {
	p.Lifetime = cmp.Or(p.Lifetime, defaultTokenLifetime)
	p.Deadline, p.Margin = cmp.Or(p.Deadline, DefaultTokenDeadline), cmp.Or(p.Margin, DefaultTokenMargin)
	return p
}

// Check reports what is wrong with the policy, all at once.
func (p TokenPolicy) Check() error {
	p = p.withDefaults()
	var wrong []error
	if p.Deadline < 0 || p.Margin < 0 {
		wrong = append(wrong, errors.New("deadline and margin of tokens are not negative"))
	}
	if p.Lifetime < p.Deadline+p.Margin {
		wrong = append(wrong, fmt.Errorf("a token would be valid for %s, and a launch takes up to %s and %s more: no token could be used", p.Lifetime, p.Deadline, p.Margin))
	}
	if p.Lifetime > longestTokenLifetime {
		wrong = append(wrong, fmt.Errorf("a token would be valid for %s; the limit is %s", p.Lifetime, longestTokenLifetime))
	}
	for _, g := range p.Groups {
		if rest, ok := strings.CutPrefix(g, bootstrappers); !ok || strings.Trim(rest, "abcdefghijklmnopqrstuvwxyz0123456789:-") != "" || rest == "" {
			wrong = append(wrong, fmt.Errorf("the group %q is not %s and small letters, digits, colons and dashes", g, bootstrappers))
		}
	}
	return errors.Join(wrong...)
}

// Reason is why there is no token for a launch, or what came of a machine, in the form of the reason of a condition in Kubernetes.
type Reason string

// The reasons of a [TokenError].
const (
	// TokenMalformed: it is no token.
	TokenMalformed Reason = "TokenMalformed"
	// TokenExpired: the cluster refuses it.
	TokenExpired Reason = "TokenExpired"
	// TokenExpiring: the cluster would refuse it before the node has joined.
	TokenExpiring Reason = "TokenExpiring"
	// TokenWithoutUsage: no node can authenticate with it.
	TokenWithoutUsage Reason = "TokenWithoutUsage"
	// TokenWithoutGroup: it lacks a group of the policy.
	TokenWithoutGroup Reason = "TokenWithoutGroup"
	// TokensUnavailable: the cluster does not say which tokens there are.
	TokensUnavailable Reason = "TokensUnavailable"
	// TokenNotCreated: the cluster does not make one.
	TokenNotCreated Reason = "TokenNotCreated"
	// TokenPolicyInvalid: the policy is wrong.
	TokenPolicyInvalid Reason = "TokenPolicyInvalid"
)

// TokenError says why there is no token for a launch. No machine is to be started. It holds nothing of a token but its ID.
type TokenError struct {
	Reason Reason
	// ID is the token's; empty for none.
	ID string
	// Expires is when the token ends; zero where that is not the matter.
	Expires time.Time
	// Err is the cause; nil for none.
	Err error
}

// tokenTexts say the reasons for people.
var tokenTexts = map[Reason]string{
	TokenMalformed:     "is not of the form abcdef.0123456789abcdef",
	TokenExpired:       "has expired",
	TokenExpiring:      "expires before the node would have joined",
	TokenWithoutUsage:  "has no usage-bootstrap-authentication, so no node can join with it",
	TokenWithoutGroup:  "lacks a group of the policy, so its node may not ask for a certificate",
	TokensUnavailable:  "the cluster's bootstrap tokens cannot be listed",
	TokenNotCreated:    "no bootstrap token could be created",
	TokenPolicyInvalid: "the policy for bootstrap tokens cannot be used",
}

// Error says why, and when the token ends.
func (e *TokenError) Error() string {
	words := tokenTexts[e.Reason]
	switch {
	case e.ID != "":
		words = "the bootstrap token " + e.ID + " " + words
	case e.Reason == TokenMalformed:
		words = "the bootstrap token " + words
	}
	if !e.Expires.IsZero() {
		words += " (at " + e.Expires.UTC().Format(time.RFC3339) + ")"
	}
	if e.Err != nil {
		words += ": " + e.Err.Error()
	}
	return words
}

// Unwrap returns the cause.
func (e *TokenError) Unwrap() error { return e.Err }

// Usable reports why a token cannot be used for a launch, as a [*TokenError]; nil where it can. The time is the API server's, which
// decides whether a token has expired.
func (p TokenPolicy) Usable(t *Token, now time.Time) error {
	p = p.withDefaults()
	if !nodeconfig.IsBootstrapToken(t.Value.Reveal()) {
		return &TokenError{Reason: TokenMalformed}
	}
	e := &TokenError{ID: t.ID()}
	left := t.Expires.Sub(now)
	switch {
	case !t.Expires.IsZero() && left <= 0:
		e.Reason, e.Expires = TokenExpired, t.Expires
	case !t.Expires.IsZero() && left < p.Deadline+p.Margin:
		e.Reason, e.Expires = TokenExpiring, t.Expires
	case !t.Authentication:
		e.Reason = TokenWithoutUsage
	case slices.ContainsFunc(p.Groups, func(g string) bool { return !slices.Contains(t.Groups, g) }):
		e.Reason = TokenWithoutGroup
	default:
		return nil
	}
	return e
}

// described begins the description of each token of ours. Nobody else's is used or removed.
const described = "Slipway, for "

// Key is what tokens of a request are known by: its claim's name where each node has one of its own, or else its pool's.
func (p TokenPolicy) Key(r Request) string {
	c := r.claim()
	if pool := c.Metadata.Labels[labelPool]; !p.PerNode && pool != "" {
		return "NodePool " + pool
	}
	return "NodeClaim " + c.Metadata.Name
}

// choose returns the token for a key that can be used and lasts longest; nil for none.
func (p TokenPolicy) choose(all []Token, key string, now time.Time) *Token {
	var best *Token
	for i := range all {
		t := &all[i]
		if t.Description != described+key || p.Usable(t, now) != nil {
			continue
		}
		if best == nil || cmp.Or(lasts(t, best), strings.Compare(best.ID(), t.ID())) > 0 {
			best = t
		}
	}
	return best
}

// lasts compares how long two tokens last.
func lasts(a, b *Token) int {
	switch {
	case a.Expires.IsZero() == b.Expires.IsZero():
		return a.Expires.Compare(b.Expires)
	case a.Expires.IsZero():
		return 1
	}
	return -1
}

// newToken is the token that is to be created for a key. [Tokens] chooses its value, by chance.
func (p TokenPolicy) newToken(key string, now time.Time) Token {
	p = p.withDefaults()
	return Token{Expires: now.Add(p.Lifetime), Authentication: true, Groups: slices.Clone(p.Groups), Description: described + key}
}

// leftover are the IDs of tokens of ours that no launch needs, sorted: those that have expired, and those of keys that are not live.
// A claim's key is live until its node is Ready or the claim is gone.
func leftover(all []Token, live func(key string) bool, now time.Time) []string {
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
