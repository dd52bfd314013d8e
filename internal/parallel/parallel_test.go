package parallel_test

import (
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/slipway-dev/slipway/internal/parallel"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 7, 100} {
		for _, limit := range []int{0, 1, 3, 200} {
			synctest.Test(t, func(t *testing.T) { testEach(t, n, limit) })
		}
	}
}

func testEach(t *testing.T, n, limit int) {
	var mu sync.Mutex
	var got []int
	begun, goOn := 0, make(chan struct{})
	go parallel.Each(n, limit, func(i int) {
		mu.Lock()
		begun++
		mu.Unlock()
		<-goOn
		mu.Lock()
		got = append(got, i)
		mu.Unlock()
	})
	synctest.Wait()
	if want := min(n, max(limit, 1)); begun != want {
		t.Errorf("%d, limit %d: %d at a time, want %d", n, limit, begun, want)
	}
	close(goOn)
	synctest.Wait()
	if limit <= 1 && !slices.IsSorted(got) {
		t.Errorf("%d, limit %d: not in order: %v", n, limit, got)
	}
	slices.Sort(got)
	for i := range max(n, len(got)) {
		if i >= len(got) || got[i] != i {
			t.Fatalf("%d, limit %d: got %v", n, limit, got)
		}
	}
}
