package main

import (
	"slices"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/document"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// launchObject is a kind of document that a launch reads.
type launchObject struct {
	kind string
	// flag is the flag with its file.
	flag *string
	// read reads the document, and returns its problems.
	read func([]byte) []nodeconfig.Problem
}

// objects are all kinds.
func (l *launching) objects() []launchObject {
	return []launchObject{
		{"NodePool", &l.pool, func(data []byte) []nodeconfig.Problem {
			l.request.Pool = new(launch.NodePool)
			return launch.Read(data, launch.KarpenterVersion, "NodePool", l.request.Pool)
		}},
		{"NodeClaim", &l.claim, func(data []byte) []nodeconfig.Problem {
			l.request.Claim = new(launch.NodeClaim)
			return launch.Read(data, launch.KarpenterVersion, "NodeClaim", l.request.Claim)
		}},
		{azure.ClassKind, &l.class, func(data []byte) (problems []nodeconfig.Problem) {
			l.cloud.Class, problems = azure.ReadNodeClass(data)
			if l.cloud.Class == nil {
				return problems
			}
			for i := range problems {
				problems[i].Document = l.cloud.Class.Origin()
			}
			l.ofClass = problems
			return nil
		}},
		{azure.DetectedKind, &l.cluster, func(data []byte) (problems []nodeconfig.Problem) {
			l.cloud.Detected, problems = azure.ReadDetected(data)
			return problems
		}},
		{azure.ImagesKind, &l.images, func(data []byte) (problems []nodeconfig.Problem) {
			l.cloud.Images, problems = azure.ReadImages(data)
			return problems
		}},
		{components.Kind, &l.manifest, func(data []byte) []nodeconfig.Problem {
			image, err := components.Parse(data)
			if l.image = &image; err != nil {
				return []nodeconfig.Problem{{Kind: nodeconfig.Invalid, Path: "$", Reason: err.Error(), Fatal: true}}
			}
			return nil
		}},
	}
}

// configMap is the kind of settings in a stream.
const configMap = "ConfigMap"

// readStream reads the file of several objects, each by its kind. A flag for an object has priority over the stream.
func (l *launching) readStream(s cli.Streams) error {
	if l.stream == "" {
		return nil
	}
	data, err := command.ReadInput(s, l.stream)
	if err != nil {
		return err
	}
	kinds := l.objects()
	var seen []string
	for _, part := range document.Stream(data) {
		tree, err := document.Parse(part)
		if err != nil {
			l.add(command.PlaceName(l.stream), []nodeconfig.Problem{nodeconfig.Unreadable(err)})
			continue
		}
		kind := tree.GetText("kind")
		i := slices.IndexFunc(kinds, func(o launchObject) bool { return o.kind == kind })
		switch {
		case slices.Contains(seen, kind):
			return command.Failed("%s has more than one %s, and a launch takes one", command.Title(l.stream), kind)
		case kind == configMap:
			l.sources = append(l.sources, azure.SettingsSource{Name: command.PlaceName(l.stream), Document: part})
		case i < 0:
			return command.Failed("%s has an object of the kind %q, which a launch does not use", command.Title(l.stream), cli.Shorten(kind, 64))
		case *kinds[i].flag == "":
			if kind == components.Kind { // its document is JSON
				part = tree.AppendJSON(nil)
			}
			l.add(command.PlaceName(l.stream), kinds[i].read(part))
		}
		seen = append(seen, kind)
	}
	return nil
}
