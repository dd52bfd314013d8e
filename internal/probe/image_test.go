package probe

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/test/hosttest"
)

const imageStatus = "/runtime.v1.ImageService/ImageStatus"

// TestHasImageAsksAStartingRuntimeAgain: a runtime that was just started rejects each request until it is initialized.
func TestHasImageAsksAStartingRuntimeAgain(t *testing.T) {
	present := grpcAnswer{frame: []byte{0, 0, 0, 0, 2, 0x0a, 0}, status: "0"}
	absent := grpcAnswer{frame: make([]byte, 5), status: "0"}
	starting := grpcAnswer{status: "2", message: "server is not initialized yet"} // containerd 1.6
	unavailable := grpcAnswer{status: "14", message: "server is not initialized yet"}
	for name, test := range map[string]struct {
		answers []grpcAnswer
		has     bool
		wrong   string
		took    bool // it takes the whole timeout
	}{
		"present":               {answers: []grpcAnswer{present}, has: true},
		"absent":                {answers: []grpcAnswer{absent}},
		"present after a while": {answers: []grpcAnswer{starting, unavailable, starting, starting, present}, has: true},
		"absent after a while":  {answers: []grpcAnswer{starting, absent}},
		"never initialized":     {answers: []grpcAnswer{starting}, wrong: "gRPC status 2: server is not initialized yet", took: true},
		"no CRI":                {answers: []grpcAnswer{unknown}, wrong: "gRPC status 12"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket := listenUnix(t, &fakeRuntime{answers: map[string][]grpcAnswer{imageStatus: test.answers}})
			synctest.Test(t, func(t *testing.T) {
				image := &resource.Image{Image: "registry.example/pause:3.10", Socket: socket, Timeout: resource.Duration(time.Minute)}
				has, err := (Cluster{}).HasImage(t.Context(), image)
				if has != test.has || (err == nil) != (test.wrong == "") || err != nil && !strings.Contains(err.Error(), test.wrong) {
					t.Errorf("%v, %v", has, err)
				}
				if took := time.Since(hosttest.Began); test.took != (took >= 55*time.Second) || took > time.Minute {
					t.Errorf("took %s", took)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		missing := &resource.Image{Image: "a", Socket: filepath.Join(t.TempDir(), "missing"), Timeout: resource.Duration(time.Minute)}
		if _, err := (Cluster{}).HasImage(t.Context(), missing); err == nil || !strings.Contains(err.Error(), "no such file") || time.Since(hosttest.Began) != 0 {
			t.Errorf("without a runtime: %v", err)
		}
	})
}
