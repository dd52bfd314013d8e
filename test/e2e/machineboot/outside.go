package machineboot

import (
	"context"
	"sync"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// Difference is how a machine's own timeline differs from what the test saw from outside.
type Difference struct {
	Event string `json:"event"`
	// LaterMs is how much later the test saw the event, in milliseconds.
	LaterMs int64 `json:"laterMs"`
}

// certificateRequest has the fields of a request that the test reads.
type certificateRequest struct {
	Spec   struct{ SignerName string }
	Status struct{ Certificate []byte }
}

// kubeletSigner signs the kubelets' client certificates.
const kubeletSigner = "kubernetes.io/kube-apiserver-client-kubelet"

// Requests records when the first request for a kubelet's certificate is made, and when it is answered.
type Requests struct {
	mu             sync.Mutex
	made, answered time.Time
}

// WatchRequests watches the certificate requests, which a case begins without.
func WatchRequests(ctx context.Context, api *lab.API) *Requests {
	w := &Requests{}
	go func() {
		for ctx.Err() == nil {
			if lab.Watch(ctx, api, "/apis/certificates.k8s.io/v1/certificatesigningrequests", w.see) == nil {
				return
			}
			time.Sleep(200 * time.Millisecond)
		}
	}()
	return w
}

func (w *Requests) see(request certificateRequest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if request.Spec.SignerName != kubeletSigner {
		return false
	}
	if w.made.IsZero() {
		w.made = time.Now()
	}
	if len(request.Status.Certificate) > 0 {
		w.answered = time.Now()
	}
	return !w.answered.IsZero()
}

func (w *Requests) times() (made, answered time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made, w.answered
}

// Compare compares a machine's timeline with the API server's watches. An event that only one of them has is left out.
func Compare(t *anatomy.Timeline, kernel time.Time, requests *Requests, registered, ready time.Time) []Difference {
	made, answered := requests.times()
	var list []Difference
	for _, e := range []struct {
		event string
		part  part
		name  string
		seen  time.Time
	}{
		{"certificate requested", ends, "certificate request", made},
		{"certificate received", ends, "certificate approval", answered},
		{"Node registered", happens, "Node registered", registered},
		{"Node Ready", happens, "Node Ready", ready},
	} {
		us, ok := momentOf(t, e.part, e.name)
		if ok && !e.seen.IsZero() {
			at := kernel.Add(time.Duration(us) * time.Microsecond)
			list = append(list, Difference{e.event, e.seen.Sub(at).Milliseconds()})
		}
	}
	return list
}
