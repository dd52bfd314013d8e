//go:build crosscheck

package crosscheck

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-dev/slipway/internal/envelope"
	"github.com/slipway-dev/slipway/userdata"
)

var (
	documents = flag.Int("documents", 100_000, "how many documents are made")
	seed      = flag.Uint64("seed", 1, "what they are made of")
)

// places are the paths at which a file counts.
var places = []string{userdata.NativeYAMLPath, userdata.NativePath}

// result is Open's result.
type result struct {
	contract envelope.Contract
	err      error
}

func open(data []byte) result {
	c, err := envelope.Open(data, places)
	return result{c, err}
}

// says reports whether the error has a text.
func (r *result) says(text string) bool { return r.err != nil && strings.Contains(r.err.Error(), text) }

func (r *result) none() bool { return errors.Is(r.err, envelope.ErrNone) }

func (r *result) String() string {
	if r.err != nil {
		return "refused: " + r.err.Error()
	}
	return fmt.Sprintf("%s: %q", r.contract.Path, r.contract.Data)
}

// study is one comparison.
type study struct {
	// symbol is the grammar's start symbol, and ask is the request to cloud-init.
	symbol, ask string
	// spoil damages a document, or leaves it unchanged.
	spoil func(*generator, string) string
	// complete reports whether cloud-init does all that the document requires, and expected converts cloud-init's result to the
	// plainest document for Open.
	complete    func(*answer) bool
	expected    func(*answer) result
	differences []difference
}

// comparison is one document with both results.
type comparison struct {
	*study
	document []byte
	theirs   answer
	want     result // by what cloud-init wrote
	ours     result
}

// agreement names how both agree, or returns "".
func (c *comparison) agreement() string {
	switch {
	case !c.complete(&c.theirs):
		if c.ours.err != nil {
			return "both refuse"
		}
	case c.sameFile():
		return "the same file"
	case c.want.none() && c.ours.none():
		return "no file"
	case c.want.err != nil && c.ours.err != nil && fmt.Sprintf("%T", c.want.err) == fmt.Sprintf("%T", c.ours.err):
		return "a file that is no contract"
	}
	return ""
}

// sameFile reports whether both have the same bytes for the same path.
func (c *comparison) sameFile() bool {
	return c.want.err == nil && c.ours.err == nil &&
		bytes.Equal(c.want.contract.Data, c.ours.contract.Data) && c.want.contract.Path == c.ours.contract.Path
}

func (c *comparison) String() string {
	return fmt.Sprintf("%q\n\tcloud-init: type %q, load %q, failed %q, files %q\n\twant %v\n\tgot  %v",
		c.document, c.theirs.Type, c.theirs.Load, c.theirs.Failed, c.theirs.Files, &c.want, &c.ours)
}

// run compares both results for n documents.
func (s *study) run(t *testing.T, n int) {
	tally := tally{study: s, counts: make(map[string]int)}
	begin := time.Now()
	var wait sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for worker := range workers {
		them := startCloudInit(t)
		wait.Go(func() {
			for i := worker; i < n; i += workers {
				c, err := s.compare(them, uint64(i))
				if err != nil {
					t.Error(err)
					return
				}
				tally.add(t, i, c)
				if i%10_000 == 0 && i > 0 {
					fmt.Printf("%d documents, %.0f s\n", i, time.Since(begin).Seconds())
				}
			}
		})
	}
	wait.Wait()
	tally.print()
	if *documents >= 100_000 {
		tally.checkUsed(t)
	}
}

// compare makes a document, and gives it to both.
func (s *study) compare(them *cloudInit, number uint64) (*comparison, error) {
	g := generator{Rand: rand.New(rand.NewPCG(*seed, number))}
	c := &comparison{study: s, document: []byte(s.spoil(&g, g.document(s.symbol)))}
	var err error
	if c.theirs, err = them.ask(s.ask, c.document); err != nil {
		return nil, err
	}
	c.want, c.ours = s.expected(&c.theirs), open(c.document)
	return c, nil
}
