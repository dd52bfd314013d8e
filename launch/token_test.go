package launch_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// noon is the time of the API server.
var noon = time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)

// aToken is one for the example's pool, which ends after a while.
func aToken(id string, left time.Duration) launch.Token {
	t := launch.Token{Value: nodeconfig.NewSecret(id + ".0123456789canary"), Authentication: true, Description: "Slipway, for NodePool general"}
	if left != 0 {
		t.Expires = noon.Add(left)
	}
	return t
}

// cluster is a cluster's tokens.
type cluster struct {
	all              []launch.Token
	created, listed  int
	listErr, makeErr error
	lives            time.Duration // of what it creates, instead of what is wanted
	hold             chan struct{} // creation waits for it, where it is not nil
	deleted          []string
	deleteErr        error
}

func (c *cluster) List(context.Context) ([]launch.Token, error) {
	c.listed++
	return slices.Clone(c.all), c.listErr
}

func (c *cluster) Create(ctx context.Context, wanted launch.Token) (launch.Token, error) {
	if c.hold != nil {
		select {
		case <-c.hold:
		case <-ctx.Done():
			return launch.Token{}, ctx.Err()
		}
	}
	if c.makeErr != nil {
		return launch.Token{}, c.makeErr
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
func reasonOf(t *testing.T, err error) launch.Reason {
	t.Helper()
	if err == nil {
		return ""
	}
	e, ok := errors.AsType[*launch.TokenError](err)
	if !ok {
		t.Fatalf("%v is no token error", err)
	}
	if strings.Contains(err.Error(), "canary") || strings.Contains(fmt.Sprintf("%+v", e), "canary") {
		t.Errorf("the error shows a token: %v", err)
	}
	return e.Reason
}

func TestTokenUsable(t *testing.T) {
	groups := launch.TokenPolicy{Groups: []string{"system:bootstrappers:slipway"}}
	for name, c := range map[string]struct {
		policy launch.TokenPolicy
		token  launch.Token
		want   launch.Reason
		text   string
	}{
		"for ever":         {token: aToken("abcdef", 0)},
		"enough":           {token: aToken("abcdef", 20*time.Minute)},
		"not enough":       {token: aToken("abcdef", 20*time.Minute-time.Second), want: launch.TokenExpiring, text: "abcdef expires before the node would have joined (at 2026-11-25T12:19:59Z)"},
		"just expired":     {token: aToken("abcdef", -time.Nanosecond), want: launch.TokenExpired, text: "abcdef has expired (at 2026-11-25T11:59:59Z)"},
		"no usage":         {token: launch.Token{Value: nodeconfig.NewSecret("abcdef.0123456789canary")}, want: launch.TokenWithoutUsage},
		"malformed":        {token: launch.Token{Value: nodeconfig.NewSecret("canary")}, want: launch.TokenMalformed, text: "the bootstrap token is not of the form"},
		"none":             {want: launch.TokenMalformed},
		"no group":         {policy: groups, token: aToken("abcdef", 0), want: launch.TokenWithoutGroup},
		"a longer launch":  {policy: launch.TokenPolicy{Deadline: time.Hour}, token: aToken("abcdef", time.Hour), want: launch.TokenExpiring},
		"a shorter margin": {policy: launch.TokenPolicy{Margin: time.Second}, token: aToken("abcdef", 16*time.Minute)},
	} {
		err := c.policy.Usable(&c.token, noon)
		if got := reasonOf(t, err); got != c.want || err != nil && !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

func TestTokenPolicyCheck(t *testing.T) {
	for name, c := range map[string]struct {
		policy launch.TokenPolicy
		wrong  int
	}{
		"the defaults":   {},
		"all wrong":      {launch.TokenPolicy{Lifetime: 10 * time.Minute, Margin: -time.Second, Groups: []string{"system:masters", "system:bootstrappers:A\n"}}, 4},
		"too short":      {launch.TokenPolicy{Lifetime: 19 * time.Minute}, 1},
		"too long":       {launch.TokenPolicy{Lifetime: 31 * 24 * time.Hour}, 1},
		"group, no name": {launch.TokenPolicy{Groups: []string{"system:bootstrappers:"}}, 1},
		"group":          {launch.TokenPolicy{Groups: []string{"system:bootstrappers:kubeadm:default-node-token"}}, 0},
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

// templateOf is the template of a case, with its request.
func templateOf(t testing.TB, name string) (*launch.Launch, launch.Request) {
	t.Helper()
	_, requests, templates := rendered(t, name)
	return templates[0], requests[0]
}

func TestTokenKeeper(t *testing.T) {
	away := errors.New("connection refused")
	for name, c := range map[string]struct {
		template string
		cluster  cluster
		policy   launch.TokenPolicy
		want     string // the token's ID, or a reason
		created  int
	}{
		"none there":         {want: "made01", created: 1},
		"reused":             {cluster: cluster{all: []launch.Token{aToken("abcdef", time.Hour)}}, want: "abcdef"},
		"the one that lasts": {cluster: cluster{all: []launch.Token{aToken("aaaaaa", time.Hour), aToken("cccccc", 2*time.Hour), aToken("bbbbbb", 2*time.Hour)}}, want: "bbbbbb"},
		"for ever lasts":     {cluster: cluster{all: []launch.Token{aToken("aaaaaa", 900*time.Hour), aToken("bbbbbb", 0)}}, want: "bbbbbb"},
		"expired":            {cluster: cluster{all: []launch.Token{aToken("abcdef", -time.Second)}}, want: "made01", created: 1},
		"expiring":           {cluster: cluster{all: []launch.Token{aToken("abcdef", 10*time.Minute)}}, want: "made01", created: 1},
		"somebody else's":    {cluster: cluster{all: []launch.Token{{Value: nodeconfig.NewSecret("abcdef.0123456789canary"), Authentication: true}}}, want: "made01", created: 1},
		"one for each node":  {policy: launch.TokenPolicy{PerNode: true}, cluster: cluster{all: []launch.Token{aToken("abcdef", time.Hour)}}, want: "made01", created: 1},
		"API server away":    {cluster: cluster{listErr: away}, want: "TokensUnavailable"},
		"creation refused":   {cluster: cluster{makeErr: away}, want: "TokenNotCreated"},
		"created too short":  {cluster: cluster{lives: time.Minute}, want: "TokenNotCreated", created: 1},
		"policy":             {policy: launch.TokenPolicy{Lifetime: time.Second}, want: "TokenPolicyInvalid"},
		"none needed":        {template: "attested", cluster: cluster{listErr: away}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.template == "" {
				c.template = "example"
			}
			template, request := templateOf(t, c.template)
			k := launch.TokenKeeper{Tokens: &c.cluster, Policy: c.policy}
			granted, err := k.Grant(t.Context(), template, request, noon)
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
			if !template.NeedsToken() {
				if contract, err := template.Contract(nodeconfig.NewSecret("abcdef.0123456789canary")); err != nil || strings.Contains(string(contract.Document), "canary") || c.cluster.listed > 0 {
					t.Errorf("a node that needs no token has one: %v", err)
				}
			}
		})
	}
}

// TestTokenFlight: of 50 launches at once one creates the token, and where that one gives up, another does.
func TestTokenFlight(t *testing.T) {
	template, request := templateOf(t, "example")
	synctest.Test(t, func(t *testing.T) {
		c := &cluster{hold: make(chan struct{})}
		k := launch.TokenKeeper{Tokens: c}
		first, cancel := context.WithCancel(t.Context())
		results := make(chan string, 51)
		start := func(ctx context.Context) {
			go func() {
				granted, err := k.Grant(ctx, template, request, noon)
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
		if c.created != 1 || count["made01"] != 50 || count["no bootstrap token could be created: context canceled"] != 1 {
			t.Errorf("%d created, %v", c.created, count)
		}
	})
}

func TestTokenClean(t *testing.T) {
	claim := aToken("dddddd", time.Hour)
	claim.Description = "Slipway, for NodeClaim gone"
	c := &cluster{deleteErr: errors.New("forbidden"), all: []launch.Token{
		aToken("cccccc", -time.Second), aToken("bbbbbb", time.Hour), claim,
		{Value: nodeconfig.NewSecret("aaaaaa.0123456789canary"), Expires: noon.Add(-time.Hour), Description: "of kubeadm"},
	}}
	k := launch.TokenKeeper{Tokens: c}
	live := func(key string) bool { return key == "NodePool general" }
	err := k.Clean(t.Context(), live, noon)
	if got := strings.Join(c.deleted, " "); got != "cccccc dddddd" || err == nil || strings.Count(err.Error(), "forbidden") != 2 {
		t.Errorf("%s, %v", got, err)
	}
	c.listErr = errors.New("away")
	if got := reasonOf(t, k.Clean(t.Context(), live, noon)); got != launch.TokensUnavailable {
		t.Error(got)
	}
}
