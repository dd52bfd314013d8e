package karpenter_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/slipway-dev/slipway/adapters/karpenter"
	"github.com/slipway-dev/slipway/launch/bootstraptoken"
)

// ids are the IDs of the cluster's tokens.
func (f *fixture) ids() []string {
	var all []string
	for _, token := range f.tokens() {
		all = append(all, string(token.Data["token-id"]))
	}
	return all
}

// tokenOf is the ID of the token in a machine's user data.
func tokenOf(t testing.TB, l karpenter.Launch) string {
	t.Helper()
	found := regexp.MustCompile(`"([a-z0-9]{6})\.[a-z0-9]{16}"`).FindStringSubmatch(userDataOf(t, l))
	if found == nil {
		t.Fatal("there is no token in the user data")
	}
	return found[1]
}

// TestTokenSecret: the secret has the form that Kubernetes requires.
func TestTokenSecret(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		f.options.Tokens = bootstraptoken.Policy{PerNode: true, Lifetime: 2 * time.Hour, Groups: []string{"system:bootstrappers:a", "system:bootstrappers:b"}}
	}, claimOf(t, "general-abcde", ""))
	f.lifecycle("general-abcde")
	if len(f.tokens()) != 1 {
		t.Fatal(f.tokens(), f.errors)
	}
	token := f.tokens()[0]
	data := func(key string) string { return string(token.Data[key]) }
	if token.Name != "bootstrap-token-"+data("token-id") || token.Namespace != "kube-system" || token.Type != "bootstrap.kubernetes.io/token" {
		t.Errorf("%s %s %s", token.Namespace, token.Name, token.Type)
	}
	for key, want := range map[string]string{
		"token-id": `^[a-z0-9]{6}$`, "token-secret": `^[a-z0-9]{16}$`, "expiration": `^2026-11-25T14:00:00Z$`, "description": `^Slipway, for NodeClaim general-abcde$`,
		"usage-bootstrap-authentication": `^true$`, "auth-extra-groups": `^system:bootstrappers:a,system:bootstrappers:b$`,
	} {
		if !regexp.MustCompile(want).MatchString(data(key)) {
			t.Errorf("%s is not %s", key, want)
		}
	}
	if len(token.Data) != 6 {
		t.Errorf("it has %d fields", len(token.Data))
	}
}

// TestTokenAtOnce: 20 concurrent launches make one token, and tokens of other programs are not used.
func TestTokenAtOnce(t *testing.T) {
	f := newFixture(t, nil, tokenSecret(""))
	var group sync.WaitGroup
	errs := make([]error, 20)
	for i := range errs {
		group.Go(func() { _, errs[i] = f.provider.Create(f.ctx, claimOf(t, fmt.Sprintf("general-%02d", i), "")) })
	}
	group.Wait()
	if err := errors.Join(errs...); err != nil || len(f.tokens()) != 2 || len(f.cloud.started) != len(errs) {
		t.Fatalf("%d tokens, %d machines, %v", len(f.tokens()), len(f.cloud.started), err)
	}
	for _, l := range f.cloud.started {
		if id := tokenOf(t, l); id == "abcdef" || !slices.Contains(f.ids(), id) {
			t.Errorf("%s has the token %s", l.Name, id)
		}
	}
}

// TestTokenExpires: a token is used as long as it lasts for a launch; then a new one is made. If the program loses the right to
// make tokens, no machine starts, and the claim has the reason.
func TestTokenExpires(t *testing.T) {
	taken := false
	f := newFixture(t, func(f *fixture) {
		f.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if _, is := o.(*corev1.Secret); is && taken {
				return forbidden(o.GetName())
			}
			return c.Create(ctx, o, opts...)
		}
	})
	var used []string
	for i, step := range []time.Duration{0, 40 * time.Minute, time.Second, 41 * time.Minute} {
		f.clock.Step(step)
		taken = i == 3
		name := fmt.Sprintf("general-%02d", i)
		f.add(name)
		claim := f.lifecycle(name)
		if i == 3 {
			c := claim.StatusConditions().Get(v1.ConditionTypeLaunched)
			if len(f.cloud.started) != 3 || c.Reason != string(bootstraptoken.NotCreated) || !strings.Contains(c.Message, "the controller may not") {
				t.Errorf("%d machines, %+v", len(f.cloud.started), c)
			}
			continue
		}
		used = append(used, tokenOf(t, f.cloud.started[i]))
	}
	// The core's controller sleeps for a second after each launch, so the second one is at 40:01, and the third after the margin.
	if used[0] == used[1] || used[1] != used[2] || len(f.tokens()) != 2 {
		t.Errorf("%v of %v", used, f.ids())
	}
}

// TestServerTime: the API server's clock decides, and an event reports a difference.
func TestServerTime(t *testing.T) {
	asked := 0
	f := newFixture(t, func(f *fixture) {
		f.options.ServerTime = func(context.Context) (time.Time, error) {
			asked++
			return f.clock.Now().Add(3 * time.Hour), nil
		}
	}, tokenSecret("2026-11-25T14:00:00Z"))
	for i := range 3 {
		if _, err := f.provider.Create(f.ctx, claimOf(t, fmt.Sprintf("general-%02d", i), "")); err != nil {
			t.Fatal(err)
		}
	}
	made := f.tokens()[slices.IndexFunc(f.tokens(), func(s corev1.Secret) bool { return s.Name != "bootstrap-token-abcdef" })]
	if got := string(made.Data["expiration"]); got != "2026-11-25T16:00:00Z" || asked != 1 || len(f.tokens()) != 2 {
		t.Errorf("it expires at %s; asked %d times", got, asked)
	}
	if !f.recorder.said("ClockSkew", "3h0m0s") {
		t.Error("no event reports the difference")
	}
	f.clock.Step(10 * time.Minute)
	if _, err := f.provider.Create(f.ctx, claimOf(t, "general-late", "")); err != nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// TestServerTimeUnknown: if the server does not answer the question for its time, a new token shows it. The first launch fails,
// because its token would expire at once; the second one uses the learned time.
func TestServerTimeUnknown(t *testing.T) {
	f := newFixture(t, func(f *fixture) {
		f.funcs.Create = func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			o.SetCreationTimestamp(metav1.NewTime(f.clock.Now().Add(3 * time.Hour)))
			return c.Create(ctx, o, opts...)
		}
	})
	_, err := f.provider.Create(f.ctx, claimOf(t, "general-abcde", ""))
	f.errors = append(f.errors, err)
	if err == nil || !strings.Contains(err.Error(), "has expired (at 2026-11-25T13:00:00Z)") || len(f.cloud.started) != 0 {
		t.Errorf("%v, %d machines", err, len(f.cloud.started))
	}
	if _, err := f.provider.Create(f.ctx, claimOf(t, "general-abcde", "")); err != nil || len(f.tokens()) != 2 {
		t.Errorf("%v, %d tokens", err, len(f.tokens()))
	}
}

// TestServerDate: the server's time comes from the Date of an answer.
func TestServerDate(t *testing.T) {
	date := "Wed, 25 Nov 2026 12:00:00 GMT"
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", date)
		if r.URL.Path != "/prefix/version" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer server.Close()
	ask, err := karpenter.ServerDate(&rest.Config{Host: server.URL + "/prefix"})
	if err != nil {
		t.Fatal(err)
	}
	if at, err := ask(t.Context()); err != nil || !at.Equal(noon) {
		t.Errorf("%v, %v", at, err)
	}
	date = "noon"
	if _, err := ask(t.Context()); err == nil {
		t.Error("noon is a time")
	}
	server.Close()
	if _, err := ask(t.Context()); err == nil {
		t.Error("a server that is gone answers")
	}
	if _, err := karpenter.ServerDate(&rest.Config{Host: "://"}); err == nil {
		t.Error("a wrong address is taken")
	}
}
