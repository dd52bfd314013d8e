package bootstraptoken_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/launch/bootstraptoken"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// noon is the time of the API server.
var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// aToken is one for the example's pool, which ends after a while.
func aToken(id string, left time.Duration) bootstraptoken.Token {
	t := bootstraptoken.Token{Value: nodeconfig.NewSecret(id + ".0123456789canary"), Authentication: true, Description: "Slipway, for NodePool general"}
	if left != 0 {
		t.Expires = noon.Add(left)
	}
	return t
}

// cluster is a cluster's tokens.
type cluster struct {
	all              []bootstraptoken.Token
	created, listed  int
	listErr, makeErr error
	lives            time.Duration // of what it creates, instead of what is wanted
	hold             chan struct{} // creation waits for it, where it is not nil
	deleted          []string
	deleteErr        error
}

func (c *cluster) List(context.Context) ([]bootstraptoken.Token, error) {
	c.listed++
	return slices.Clone(c.all), c.listErr
}

func (c *cluster) Create(ctx context.Context, wanted bootstraptoken.Token) (bootstraptoken.Token, error) {
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return bootstraptoken.Token{}, ctx.Err()
		}
	}
	if c.makeErr != nil {
		return bootstraptoken.Token{}, c.makeErr
	}
	c.created++
	wanted.Value = nodeconfig.NewSecret(fmt.Sprintf("made%02d.0123456789canary", c.created))
	if c.lives != 0 {
		wanted.Expires = noon.Add(c.lives)
	}
	c.all = append(c.all, wanted)
	return wanted, nil
}

func (c *cluster) Delete(_ context.Context, id string) error {
	c.deleted = append(c.deleted, id)
	return c.deleteErr
}

// reasonOf is why there is no token; empty for a token.
func reasonOf(t *testing.T, err error) bootstraptoken.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*bootstraptoken.Error](err)
	if !ok {
		t.Fatalf("%v is not a *bootstraptoken.Error", err)
	}
	if strings.Contains(err.Error(), "canary") || strings.Contains(fmt.Sprintf("%+v", e), "canary") {
		t.Errorf("the error shows a token: %v", err)
	}
	return e.Reason
}

func TestPolicyUsable(t *testing.T) {
	groups := bootstraptoken.Policy{Groups: []string{"system:bootstrappers:slipway"}}
	for name, c := range map[string]struct {
		policy bootstraptoken.Policy
		token  bootstraptoken.Token
		want   bootstraptoken.Reason
		text   string
	}{
		"for ever":         {token: aToken("abcdef", 0)},
		"enough":           {token: aToken("abcdef", 20*time.Minute)},
		"not enough":       {token: aToken("abcdef", 20*time.Minute-time.Second), want: bootstraptoken.Expiring, text: "abcdef expires before the node would have joined (at 2026-11-25T12:19:59Z)"},
		"just expired":     {token: aToken("abcdef", -time.Nanosecond), want: bootstraptoken.Expired, text: "abcdef has expired (at 2026-11-25T11:59:59Z)"},
		"no usage":         {token: bootstraptoken.Token{Value: nodeconfig.NewSecret("abcdef.0123456789canary")}, want: bootstraptoken.WithoutUsage},
		"malformed":        {token: bootstraptoken.Token{Value: nodeconfig.NewSecret("canary")}, want: bootstraptoken.Malformed, text: "the bootstrap token is not of the form"},
		"none":             {want: bootstraptoken.Malformed},
		"no group":         {policy: groups, token: aToken("abcdef", 0), want: bootstraptoken.WithoutGroup},
		"a longer launch":  {policy: bootstraptoken.Policy{Deadline: time.Hour}, token: aToken("abcdef", time.Hour), want: bootstraptoken.Expiring},
		"a shorter margin": {policy: bootstraptoken.Policy{Margin: time.Second}, token: aToken("abcdef", 16*time.Minute)},
	} {
		err := c.policy.Usable(&c.token, noon)
		if got := reasonOf(t, err); got != c.want || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestPolicyCheck(t *testing.T) {
	for name, c := range map[string]struct {
		policy bootstraptoken.Policy
		wrong  int
	}{
		"the defaults":   {},
		"all wrong":      {bootstraptoken.Policy{Lifetime: 10 * time.Minute, Margin: -time.Second, Groups: []string{"system:masters", "system:bootstrappers:A\n"}}, 4},
		"too short":      {bootstraptoken.Policy{Lifetime: 19 * time.Minute}, 1},
		"too long":       {bootstraptoken.Policy{Lifetime: 31 * 24 * time.Hour}, 1},
		"group, no name": {bootstraptoken.Policy{Groups: []string{"system:bootstrappers:"}}, 1},
		"group":          {bootstraptoken.Policy{Groups: []string{"system:bootstrappers:kubeadm:default-node-token"}}, 0},
	} {
		wrong := 0
		if err := c.policy.Check(); err != nil {
			wrong = strings.Count(err.Error(), "\n") + 1
		}
		if wrong != c.wrong {
			t.Errorf("%s: %d problems: %v", name, wrong, c.policy.Check())
		}
	}
}

func TestKeeperGrant(t *testing.T) {
	away := errors.New("connection refused")
	for name, c := range map[string]struct {
		cluster cluster
		policy  bootstraptoken.Policy
		want    string // the token's ID, or a reason
		created int
	}{
		"none there":         {want: "made01", created: 1},
		"reused":             {cluster: cluster{all: []bootstraptoken.Token{aToken("abcdef", time.Hour)}}, want: "abcdef"},
		"the one that lasts": {cluster: cluster{all: []bootstraptoken.Token{aToken("aaaaaa", time.Hour), aToken("cccccc", 2*time.Hour), aToken("bbbbbb", 2*time.Hour)}}, want: "bbbbbb"},
		"for ever lasts":     {cluster: cluster{all: []bootstraptoken.Token{aToken("aaaaaa", 900*time.Hour), aToken("bbbbbb", 0)}}, want: "bbbbbb"},
		"expired":            {cluster: cluster{all: []bootstraptoken.Token{aToken("abcdef", -time.Second)}}, want: "made01", created: 1},
		"expiring":           {cluster: cluster{all: []bootstraptoken.Token{aToken("abcdef", 10*time.Minute)}}, want: "made01", created: 1},
		"of another author":  {cluster: cluster{all: []bootstraptoken.Token{{Value: nodeconfig.NewSecret("abcdef.0123456789canary"), Authentication: true}}}, want: "made01", created: 1},
		"one for each node":  {policy: bootstraptoken.Policy{PerNode: true}, cluster: cluster{all: []bootstraptoken.Token{aToken("abcdef", time.Hour)}}, want: "made01", created: 1},
		"API server away":    {cluster: cluster{listErr: away}, want: "TokensUnavailable"},
		"creation refused":   {cluster: cluster{makeErr: away}, want: "TokenNotCreated"},
		"created too short":  {cluster: cluster{lives: time.Minute}, want: "TokenNotCreated", created: 1},
		"policy":             {policy: bootstraptoken.Policy{Lifetime: time.Second}, want: "TokenPolicyInvalid"},
	} {
		t.Run(name, func(t *testing.T) {
			k := bootstraptoken.Keeper{Store: &c.cluster, Policy: c.policy}
			granted, err := k.Grant(t.Context(), c.policy.Key("general", "general-x7k2p"), noon)
			got := string(reasonOf(t, err))
			if granted != nil {
				got = granted.ID()
			}
			if got != c.want || c.cluster.created != c.created {
				t.Errorf("%s, %d created, %+v, %v", got, c.cluster.created, granted, err)
			}
			if c.created == 1 && err == nil && (!granted.Expires.Equal(noon.Add(time.Hour)) || !strings.HasPrefix(granted.Description, "Slipway, for Node")) {
				t.Errorf("%+v", granted)
			}
		})
	}
}

// TestOneLaunchCreatesTheToken: of 50 launches at once one creates the token, and if that one gives up, another does.
func TestOneLaunchCreatesTheToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{hold: make(chan struct{})}
		k := bootstraptoken.Keeper{Store: c}
		first, cancel := context.WithCancel(t.Context())
		results := make(chan string, 51)
		start := func(ctx context.Context) {
			go func() {
				granted, err := k.Grant(ctx, "NodePool general", noon)
				if err != nil {
					results <- err.Error()
					return
				}
				results <- granted.ID()
			}()
		}
		start(first)
		synctest.Wait() // the first is creating
		for range 50 {
			start(t.Context())
		}
		synctest.Wait() // the others wait for it
		cancel()
		synctest.Wait()
		close(c.hold)
		count := make(map[string]int)
		for range 51 {
			count[<-results]++
		}
		if c.created != 1 || count["made01"] != 50 || len(count) != 2 {
			t.Errorf("%d created, %v", c.created, count)
		}
	})
}

func TestKeeperClean(t *testing.T) {
	claim := aToken("dddddd", time.Hour)
	claim.Description = "Slipway, for NodeClaim gone"
	c := &cluster{deleteErr: errors.New("forbidden"), all: []bootstraptoken.Token{
		aToken("cccccc", -time.Second), aToken("bbbbbb", time.Hour), claim,
		{Value: nodeconfig.NewSecret("aaaaaa.0123456789canary"), Expires: noon.Add(-time.Hour), Description: "of kubeadm"},
	}}
	k := bootstraptoken.Keeper{Store: c}
	live := func(key string) bool { return key == "NodePool general" }
	err := k.Clean(t.Context(), live, noon)
	if got := strings.Join(c.deleted, " "); got != "cccccc dddddd" || err == nil || strings.Count(err.Error(), "forbidden") != 2 {
		t.Errorf("%s, %v", got, err)
	}
	c.listErr = errors.New("away")
	if got := reasonOf(t, k.Clean(t.Context(), live, noon)); got != bootstraptoken.Unavailable {
		t.Error(got)
	}
}
