package probe

import (
	"context"
	"time"

	"github.com/slipway-dev/slipway/internal/poll"
)

// The longest time that a kubelet waits for its certificate alone.
//
// Until everything else is there that the kubelet waits for ("ready"), an attempt of the agent's costs it nothing. From
// then on the attempt must not make the node Ready later than without it, by more than the attempt's duration. A
// started kubelet sends a separate request one to three seconds later, with another key. After a failure it does so
// again after 2, 4, 8 and 16 seconds, and then every 32. A kubelet that does not rotate its certificate ends instead,
// and systemd starts it again after two seconds. It waits for an approval for 15 minutes (k8s.io/client-go v0.36.3
// util/certificate/certificate_manager.go, run and rotateCerts, and csr/csr.go; k8s.io/kubernetes v1.36.3
// pkg/kubelet/certificate/bootstrap/bootstrap.go, LoadClientCert). So once everything else is ready:
//
//	the server                         the agent waits                       a kubelet alone
//	cannot be reached                  for nothing                           tries it again and again
//	sends nothing                      until answerPatience after it began   waits 10 s for a handshake, 30 s for a connection
//	answers 401, 429, 500, 503         for nothing                           gets the same answer, and asks again
//	answers 403                        answerPatience after the first        is not Ready before the cluster is changed;
//	                                                                         one answer is not sufficient to be certain
//	accepts the request
//	  and it stays unapproved          checks.apiServerTimeout in all        waits as well: two requests would be no better
//	  and then answers 401             for nothing                           has the same token, which has expired
//	  and then answers 403             answerPatience                        as above
//	  and then answers 429, 500, 503   answerPatience                        asks again
//	  and then is gone                 answerPatience                        asks again when the server is back
//	  and hangs                        watchSpan and twice answerPatience    notices it after 45 s (HTTP/2 ping)
//
// Only an attempt that has begun before, or is the first, waits for an answer. TestPatience has the rows. If a
// certificate is issued for an abandoned request, it is useless: its key was only in the agent's memory.
const (
	// answerPatience is how long a silent server, or one that answered before, may take to answer: about as long as a
	// kubelet needs to send its request. It limits an attempt only when everything else is ready.
	answerPatience = 2 * time.Second
	// watchSpan is the duration of a watch. The next watch shows whether the request still exists.
	watchSpan = 5 * time.Second
)

// after calls giveUp after a time once everything else is ready, unless ctx is done before.
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

// heard records that the server has answered, or has sent an answer that must be confirmed by a second one.
func (c *certifier) heard() { c.hope = time.Now().Add(answerPatience) }

// pause waits between two attempts, and reports whether another one follows: when everything else is ready, only while
// there is hope.
func (c *certifier) pause(ctx context.Context, d time.Duration) bool {
	return c.hopefully(ctx, d, poll.Sleep)
}

// hopefully sleeps, and reports whether to continue: when everything else is ready, only while there is hope.
func (c *certifier) hopefully(ctx context.Context, d time.Duration, sleep func(context.Context, time.Duration) bool) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if time.Now().Add(d).After(c.hope) {
		c.after(ctx, 0, cancel)
	}
	return sleep(ctx, d)
}
