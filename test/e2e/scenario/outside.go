package scenario

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

// requestWatch records when the first request for a kubelet's certificate is made, and when it is answered.
type requestWatch struct {
	mu             sync.Mutex
	made, answered time.Time
}

// watchRequests watches the certificate requests, which a case begins without.
func watchRequests(ctx context.Context, api *lab.API) *requestWatch {
	w := &requestWatch{}
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

func (w *requestWatch) see(request certificateRequest) bool {
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

func (w *requestWatch) times() (made, answered time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.made, w.answered
}

// differences compares the machine's timeline with the API server's watches. An event that only one of them has is left out.
func (r *caseRun) differences(t *anatomy.Timeline, kernel time.Time) []Difference {
	registered, ready := r.node.times()
	made, answered := r.node.requests.times()
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
