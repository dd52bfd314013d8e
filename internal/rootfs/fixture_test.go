package rootfs

import "github.com/slipway-dev/slipway/test/hosttest"

var (
	must      = hosttest.Must
	wantError = hosttest.WantError
)
