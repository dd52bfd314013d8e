// Package parallel does the same with several things at a time, with a limit. internal/apply stages files with it, and
// internal/rootfs syncs directories: what takes time there is to wait for the disk, and file systems and disks sync those
// together that ask together.
package parallel

import (
	"sync"
	"sync/atomic"
)

// Each calls do with every number from 0 below n, at most limit at a time, and returns when all calls have returned.
// With a limit of one, the calls are made in order, by the goroutine that called Each.
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
