package probe

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

// How long a kubelet is kept waiting for its certificate alone.
//
// Until everything else is there that it waits for ("ready"), it loses nothing by a try of the agent's. From then on the try must not
// make the node Ready later than it would be without, by more than the try itself takes. A kubelet that is started sends its own
// request one to three seconds later, with a key of its own. After a failure it does so again after 2, 4, 8 and 16 seconds, and then
// every 32. One that does not rotate its certificate ends instead, and systemd starts it again after two. It waits for an approval
// for 15 minutes (k8s.io/client-go v0.36.3 util/certificate/certificate_manager.go, run and rotateCerts, and csr/csr.go;
// k8s.io/kubernetes v1.36.3 pkg/kubelet/certificate/bootstrap/bootstrap.go, LoadClientCert). So once all else is ready:
//
//	the server                         the agent waits                       a kubelet alone
//	cannot be reached                  for nothing                           tries it again and again
//	says nothing                       until answerPatience after it began   waits 10 s for a handshake, 30 s for a connection
//	answers 401, 429, 500, 503         for nothing                           gets the same answer, and asks again
//	answers 403                        answerPatience after the first        is not Ready before somebody changes the cluster;
//	                                                                         one answer is too little to say that for certain
//	takes the request
//	  and nobody approves it           checks.apiServerTimeout in all        waits as well: two requests would be no better
//	  and then answers 401             for nothing                           has the same token, which has expired
//	  and then answers 403             answerPatience                        as above
//	  and then answers 429, 500, 503   answerPatience                        asks again
//	  and then is gone                 answerPatience                        asks again when the server is back
//	  and hangs                        watchSpan and twice answerPatience    notices it after 45 s (HTTP/2 ping)
//
// An answer is looked for by an attempt that has begun before, or is the first. TestPatience has the rows. A certificate that is
// issued for a request that was given up is used by nobody: its key was in the agent's memory alone.
const (
	// answerPatience is how long a server that says nothing, or was heard before, may take to answer: about as long as a kubelet takes
	// to ask by itself. It bounds an attempt only when all else is ready.
	answerPatience = 2 * time.Second
	// watchSpan is how long a server is asked to report what becomes of a request before it is asked again, which says whether it is
	// still there.
	watchSpan = 5 * time.Second
)

// after gives something up once it has had some time, and all else is ready, unless ctx is done before.
func (c *certifier) after(ctx context.Context, patience time.Duration, giveUp func()) {
	go func() {
		if !poll.Sleep(ctx, patience) {
			return
		}
		select {
		case <-ctx.Done():
		case <-c.ready:
			giveUp()
		}
	}()
}

// heard notes that the server is there, or has said something that wants to be heard twice.
func (c *certifier) heard() { c.hope = time.Now().Add(answerPatience) }

// pause waits between two attempts, and reports whether there is to be another one: when all else is ready, only while there is hope.
func (c *certifier) pause(ctx context.Context, d time.Duration) bool {
	return c.hopefully(ctx, d, poll.Sleep)
}

// hopefully sleeps, and reports whether to go on: when all else is ready, only while there is hope.
func (c *certifier) hopefully(ctx context.Context, d time.Duration, sleep func(context.Context, time.Duration) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if time.Now().Add(d).After(c.hope) {
		c.after(ctx, 0, cancel)
	}
	return sleep(ctx, d)
}
