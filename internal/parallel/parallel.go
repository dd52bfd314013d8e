// Package parallel processes several items in parallel, with a limit. internal/apply downloads components with it, and
// internal/rootfs syncs files and directories, because file systems and disks combine parallel syncs.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do with every number from 0 to n-1, at most limit at a time, and returns when all calls have returned. If
// limit is one, Each makes the calls in order, in its goroutine.
func Each(n, limit int, do func(i int)) {
	if limit <= 1 || n <= 1 {
		for i := range n {
			do(i)
		}
		return
	}
	var wait sync.WaitGroup
	var next atomic.Int32
	for range min(limit, n) {
		wait.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wait.Wait()
}
