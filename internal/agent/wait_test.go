package agent

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/state"
	"github.com/slipway-dev/slipway/status"
)

// Wait returns the published result and its exit code. If it can read none, it returns a document that reports that.
func TestWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, result string // the result; "-" means no file
		code         int
		says         string
	}{
		{name: "success", result: `{"ExitCode": "0", "Output": "done"}`},
		{name: "failure", result: `{"ExitCode": "51", "Error": "no API server"}`, code: 51},
		{name: "a number", result: `{"ExitCode": 51}`, code: 51},
		{name: "another spelling", result: `{"exitcode": "124"}`, code: 124},
		{name: "none", result: "-", code: exitcode.AKSNodeController, says: aksPlace.result.Path},
		{name: "empty", result: "", code: exitcode.AKSNodeController, says: "empty"},
		{name: "garbage", result: "\x00\x01", code: exitcode.AKSNodeController, says: "not one JSON object"},
		{name: "truncated", result: `{"ExitCode": "0"`, code: exitcode.AKSNodeController, says: "not one JSON object"},
		{name: "two", result: `{"ExitCode": "0"}{}`, code: exitcode.AKSNodeController, says: "not one JSON object"},
		{name: "no code", result: `{"Output": "x"}`, code: exitcode.AKSNodeController, says: "no ExitCode"},
		{name: "no number", result: `{"ExitCode": "zero"}`, code: exitcode.AKSNodeController, says: "not an integer"},
		{name: "null", result: `{"ExitCode": null}`, code: exitcode.AKSNodeController, says: "no ExitCode"},
		// A process cannot end with these codes: it would end with another one, such as 0.
		{name: "too large", result: `{"ExitCode": "256"}`, code: exitcode.AKSNodeController, says: "256"},
		{name: "negative", result: `{"ExitCode": "-1"}`, code: exitcode.AKSNodeController, says: "-1"},
		{name: "too long", result: `{"ExitCode": "0", "Output": "` + strings.Repeat("x", 2<<20) + `"}`, code: exitcode.AKSNodeController, says: "is larger than the limit"},
	} {
		n := newNode(t)
		n.deliver(aksPlace.complete, nil)
		if c.result != "-" {
			n.deliver(aksPlace.result.Path, []byte(c.result))
		}
		document, code, waited := n.Wait(t.Context())
		if code != c.code || (waited != nil) != (c.says != "") || waited != nil && !strings.Contains(waited.Error(), c.says) {
			t.Errorf("%s: %d, %v", c.name, code, waited)
			continue
		}
		unread := c.result == "-" || len(c.result) > int(aksPlace.result.Limit)
		if !unread && !bytes.Equal(document, []byte(c.result)) {
			t.Errorf("%s: the document is %s", c.name, document)
		}
		if unread {
			doc, err := status.ParseCSE(document)
			if own, _ := doc.Code(); err != nil || own != code || !strings.Contains(doc.Error, c.says) {
				t.Errorf("%s: the document is %s", c.name, document)
			}
			// Runbooks for AKS search for these words, in the document and in the extension's message.
			if said := "failed to read provision.json"; !strings.Contains(doc.Error, said) || !strings.Contains(waited.Error(), said) {
				t.Errorf("%s: %v, and the document is %s; want both to say %q", c.name, waited, document, said)
			}
		}
	}
}

// Wait returns a result that comes later. Another program may deliver it, at either path.
func TestWaitForLaterResult(t *testing.T) {
	t.Parallel()
	for _, p := range []destination{aksPlace, nativePlace} {
		n := newNode(t)
		later := newNode(t, n.root)
		var once sync.Once
		n.host.before = func(op, _ string) error {
			if op == "WaitForFiles" {
				go once.Do(func() {
					later.deliver(p.result.Path, []byte(`{"ExitCode": "7"}`))
					later.deliver(p.complete, nil)
				})
			}
			return nil
		}
		if document, code, err := n.Wait(t.Context()); code != 7 || err != nil || string(document) != `{"ExitCode": "7"}` {
			t.Errorf("%s: %d, %v, %s", p.complete, code, err, document)
		}
	}
}

// Wait waits for another agent.
func TestWaitForAgent(t *testing.T) {
	t.Parallel()
	for contract, want := range map[string]int{string(example(t, "aks/minimal.json")): 0, "{": exitcode.AKSNodeController} {
		n := newNode(t)
		n.deliver(aksContract, []byte(contract))
		waiter := newNode(t, n.root)
		type waited struct {
			document []byte
			code     int
			err      error
		}
		done := make(chan waited)
		go func() {
			document, code, err := waiter.Wait(context.Background())
			done <- waited{document, code, err}
		}()
		n.provision()
		got := <-done
		if got.code != want || got.err != nil || !bytes.Equal(got.document, n.read(aksPlace.result.Path)) {
			t.Errorf("%d, %v, %s", got.code, got.err, got.document)
		}
	}
}

func TestWaitGivesUp(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	document, code, err := n.Wait(ctx)
	doc, parseErr := status.ParseCSE(document)
	if code != exitcode.Timeout || err == nil || parseErr != nil || doc.ExitCode != "124" || !strings.Contains(doc.Error, "no result after") {
		t.Errorf("%d, %v, %s", code, err, document)
	}
	n.host.before = func(op, _ string) error {
		if op == "WaitForFiles" {
			return syscall.ENOSPC // inotify's limit
		}
		return nil
	}
	if document, code, err := n.Wait(t.Context()); code != exitcode.AKSNodeController || err == nil || !bytes.Contains(document, []byte("no space")) {
		t.Errorf("%d, %v, %s", code, err, document)
	}
	if entries, err := os.ReadDir(n.root); err != nil || len(entries) > 0 {
		t.Errorf("waiting has made %v", entries)
	}
}

// Wait shows every ten seconds what a waiting run waits for, and the result has it at the end.
func TestWaitReportsWhatIsAwaited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const awaited = "2026-01-02T03:04:05Z kubernetes: waits: no such host"
		n := newNode(t)
		n.deliver(state.Waiting.Path, []byte(awaited))
		// The kernel's notifications do not follow the test's clock.
		n.host.hang = func(ctx context.Context, _, _ string) error {
			<-ctx.Done()
			return ctx.Err()
		}
		ctx, cancel := context.WithTimeout(t.Context(), 35*time.Second)
		defer cancel()
		document, code, err := n.Wait(ctx)
		if code != exitcode.Timeout || err == nil || !bytes.Contains(document, []byte("it waits since "+awaited)) {
			t.Errorf("%d, %v, %s", code, err, document)
		}
		if said := strings.Count(n.log.String(), awaited); said != 3 {
			t.Errorf("%d times in 35 s: %s", said, n.log)
		}
	})
}

func TestLastStatus(t *testing.T) {
	t.Parallel()
	n := newNode(t)
	if _, err := n.LastStatus(); err == nil || !strings.Contains(err.Error(), "no provisioning has ended") {
		t.Error(err)
	}
	n.deliver(aksContract, example(t, "aks/minimal.json"))
	want := n.provision()
	if got, err := n.LastStatus(); err != nil || got.Config.Digest != want.Config.Digest || len(got.Changes) != len(want.Changes) {
		t.Errorf("%+v, %v", got, err)
	}
	n.deliver(state.Status.Path, []byte("{}"))
	if _, err := n.LastStatus(); err == nil {
		t.Error("another document is a status")
	}
}
