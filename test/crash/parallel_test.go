//go:build failpoint

package crash

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// each calls f for 0 to n-1, on all processors in parallel. The order is undefined, so f must
// depend only on its number.
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
