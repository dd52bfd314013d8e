package plan

import (
	"github.com/slipway-dev/slipway/internal/plan/concern"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/unitfile"
	oracle "github.com/slipway-dev/slipway/test/unitfile"
)

// How systemd reads what a plan writes.
var (
	readEnvironment = unitfile.Environment
	splitWords      = oracle.Words
	settings        = oracle.Settings
)

// kubeletCommand is the kubelet's command line as systemd makes it of a plan's files.
func kubeletCommand(p resource.Plan) (argv []string, variables map[string]string, err error) {
	return oracle.Command(p, concern.KubeletUnit)
}
