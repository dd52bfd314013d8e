module github.com/slipway-dev/slipway/test/e2e

go 1.26.0

require (
	github.com/google/go-containerregistry v0.21.2
	github.com/slipway-dev/slipway v0.0.0
	go.yaml.in/yaml/v3 v3.0.6
	golang.org/x/sys v0.50.0
)

require (
	github.com/BurntSushi/toml v1.6.0 // indirect
	github.com/cavaliergopher/cpio v1.0.1 // indirect
	github.com/godbus/dbus/v5 v5.2.4 // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/therootcompany/xz v1.0.1 // indirect
	golang.org/x/net v0.59.0 // indirect
)

replace github.com/slipway-dev/slipway => ../..
