//go:build failpoint

package crash

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f for 0 to n-1, on every processor at once. Which one gets which number is left open, so f
// must depend on its number alone.
func each(n int, f func(i int)) {
	var (
		wait sync.WaitGroup
		next atomic.Int64
	)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				f(i)
			}
		})
	}
	wait.Wait()
}
