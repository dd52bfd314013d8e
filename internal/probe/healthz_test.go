package probe

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

// listen serves plain HTTP with one handler.
func listen(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = quiet
	server.Start()
	t.Cleanup(server.Close)
	return server.URL + "/healthz"
}

func healthzCheck(url string, timeout time.Duration) *resource.Check {
	return &resource.Check{Label: "healthz", Timeout: resource.Duration(timeout), Healthz: &resource.Healthz{URL: url}}
}

func TestHealthz(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	var requests atomic.Int32
	url := listen(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method != "GET" || r.URL.Path != "/healthz" {
			t.Errorf("request %s %s", r.Method, r.URL)
		}
		if requests.Add(1) < 3 {
			http.Error(w, "[-]syncloop failed", http.StatusInternalServerError)
		}
	})
	must(t, wait(t.Context(), healthzCheck(url, time.Minute)))
	if got := requests.Load(); got != 3 {
		t.Errorf("%d requests", got)
	}
}

func TestHealthzFailures(t *testing.T) {
	answer := func(status int, body string) string {
		return listen(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
			w.Write([]byte(body))
		})
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	for name, test := range map[string]struct {
		url  string
		want []string
	}{
		"unwell":    {answer(500, "\x1b[31m[+]ping ok\n[-]syncloop failed: "+probeToken+"\n"), []string{"HTTP status 500: [31m[+]ping ok [-]syncloop failed: [redacted] (attempt"}},
		"long":      {answer(500, strings.Repeat("x", 1<<20)), []string{strings.Repeat("x", 100) + "... (attempt"}},
		"redirects": {answer(302, ""), []string{"HTTP status 302 (attempt"}},
		"closed":    {closed.URL, []string{closed.URL, "does not answer", "connection refused", "attempt"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				err := wait(t.Context(), healthzCheck(test.url, time.Minute))
				wantCheckError(t, err, resource.CauseUnhealthy, test.want...)
				if took := time.Since(hosttest.Began); took > time.Minute || len(err.Error()) > 800 {
					t.Errorf("took %s, and says %d bytes", took, len(err.Error()))
				}
			})
		})
	}
	for _, url := range []string{
		"", "127.0.0.1:10248", "https://127.0.0.1/", "http://10.0.0.1/healthz", "http://169.254.169.254/", "http://localhost/", "http://a@127.0.0.1/",
		"http://127.0.0.1.example.org/", "http://[::ffff:10.0.0.1]/",
	} {
		synctest.Test(t, func(t *testing.T) {
			wantCheckError(t, wait(t.Context(), healthzCheck(url, time.Minute)), resource.CauseUnhealthy, "is not")
			if time.Since(hosttest.Began) > 0 {
				t.Errorf("%q is tried again", url)
			}
		})
	}
	ctx := hosttest.NewTimed(t)
	silent := listen(t, func(_ http.ResponseWriter, r *http.Request) {
		ctx.Over()
		never(r)
	})
	wantCheckError(t, wait(ctx, healthzCheck(silent, time.Minute)), resource.CauseUnhealthy, "does not answer")
}
