module github.com/slipway-dev/slipway/test/e2e

go 1.26.0

require (
	github.com/google/go-containerregistry v0.21.2
	github.com/slipway-dev/slipway v0.0.0
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sys v0.50.0
)

replace github.com/slipway-dev/slipway => ../..
