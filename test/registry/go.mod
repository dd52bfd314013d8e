module github.com/slipway-dev/slipway/test/registry

go 1.26.6

require github.com/slipway-dev/slipway v0.0.0

require (
	github.com/distribution/distribution/v3 v3.1.2 // indirect
	github.com/distribution/reference v0.6.0 // indirect
	github.com/opencontainers/go-digest v1.0.0 // indirect
	github.com/opencontainers/image-spec v1.1.1 // indirect
)

replace github.com/slipway-dev/slipway => ../..
