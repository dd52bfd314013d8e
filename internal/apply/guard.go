package apply

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
)

// Guard calls f and turns a panic into an error: otherwise the process would end without the result that another
// program waits for. The log gets the operation and the stack.
func Guard(log *slog.Logger, what string, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			log.Error("panic", "in", what, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
			err = fmt.Errorf("this is a defect of the agent; please report it with the log: panic: %v", cause)
		}
	}()
	return f()
}

// Lock takes the lock that keeps applies apart. It waits until ctx is done.
func Lock(ctx context.Context, host Host) (unlock func() error, err error) {
	unlock, err = host.Lock(ctx, LockPath)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("take the lock %s: another run may hold it: %w", LockPath, err)
	case err != nil:
		return nil, fmt.Errorf("take the lock that keeps runs apart: %w", err)
	}
	return unlock, nil
}
