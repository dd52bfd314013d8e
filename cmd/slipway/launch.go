package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch"
	"github.com/slipway-dev/slipway/launch/azure"
	"github.com/slipway-dev/slipway/nodeconfig"
	"github.com/slipway-dev/slipway/userdata"
)

// launching has the flags of launch.
type launching struct {
	settings            []string
	environment         bool
	pool, class, claim  string
	instanceType, types string
	cluster, images     string
	manifest, stream    string
	sources             []azure.SettingsSource
	tokenFile, userData string
	explain, script     bool
	output              command.Choice
	allowed             []string
	problems            launch.Problems
	ofClass             []nodeconfig.Problem // the problems of the class alone, beside which all others are reported
	cloud               azure.Input
	request             launch.Request
	image               *components.Manifest
}

func newLaunch(s cli.Streams) *cobra.Command {
	var l launching
	cmd := &cobra.Command{
		Use:   "launch --settings S --nodepool P --nodeclass C --nodeclaim M --instance-type T [FIELD]",
		Short: "Show what would be launched for a node claim",
		Long: `Show what would be launched for a node claim of Karpenter on Azure: image, size, disk, network, tags
and the node's contract, with all problems. No cloud and no cluster is asked.

--script writes the script of AKS's variables instead, for an image that has no Slipway; -o json then says of
each variable whether it decides anything.
With --explain each value says where it is from, and what it overrode; FIELD restricts that to a value
and what is below it, such as kubelet.config or machine.disk.
--user-data writes the document that the machine is created with, in base64. It takes a bootstrap token,
from --token-file or from the settings. The file holds the token, and only its owner can read it.
The objects may all be in one file, which --objects names. Without --instance-types the type is one of
those that "slipway launch types" shows.
Without --nodeclaim it is a claim as the pool would make it. With --manifest what the node needs is
compared with what the image can do.

The output of -o json is also a record of the node, which "slipway launch diff" compares later. Where no machine would be
launched, nothing of the node is shown but its problems, and -o json has those alone.`,
		Example: `  slipway launch --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml
  slipway launch --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml --explain machine.disk
  slipway launch diff running.json --settings settings.yaml --nodeclass nodeclass.yaml --nodeclaim nodeclaim.yaml --instance-type Standard_D4ds_v5 --instance-types skus.json --cluster detected.yaml --images images.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 1:
				return cli.Usage(command.Hint(cmd), "name one field; there are %d", len(args))
			case len(args) == 1 && !l.explain:
				return cli.Usage(command.Hint(cmd), "%q is a field without --explain", args[0])
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return l.run(s, strings.Join(args, "")) },
	}
	l.inputs(cmd)
	flags := cmd.Flags()
	flags.StringVar(&l.manifest, "manifest", "", "read the manifest of the image, /opt/slipway/components.json, from `FILE`")
	command.Must(cmd.MarkFlagFilename("manifest", "yaml", "yml", "json"))
	flags.StringVar(&l.tokenFile, "token-file", "", "read the bootstrap token from `FILE`")
	flags.StringVar(&l.userData, "user-data", "", "write the user data to `FILE`")
	flags.BoolVar(&l.script, "script", false, "write the script of variables for an image of AKS's without Slipway as user data")
	flags.BoolVar(&l.explain, "explain", false, "say of each value where it is from")
	command.AddAllowUnapplied(cmd, &l.allowed)
	command.AddOutput(cmd, &l.output)
	cmd.AddCommand(newLaunchDiff(s), newLaunchSettings(s), newLaunchTypes(s))
	return cmd
}

// inputs adds the flags that name a launch's inputs.
func (l *launching) inputs(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&l.settings, "settings", nil, "read settings from `FILE`: options by name, or a ConfigMap; a later one goes before an earlier one")
	flags.BoolVar(&l.environment, "settings-from-environment", false, "read settings from environment variables, before those of files")
	for _, f := range []struct {
		value      *string
		name, help string
	}{
		{&l.pool, "nodepool", "read the NodePool from `FILE`"},
		{&l.class, "nodeclass", "read the AKSNodeClass from `FILE`"},
		{&l.claim, "nodeclaim", "read the NodeClaim from `FILE`"},
		{&l.cluster, "cluster", "read what was detected of the cluster from `FILE`"},
		{&l.images, "images", "read the images of the region from `FILE`"},
		{&l.types, "instance-types", "read the instance types from `FILE`, as \"az vm list-skus -o json\" writes them; default: the common ones"},
		{&l.stream, "objects", "read all of these from `FILE`, one after the other, with --- between"},
	} {
		flags.StringVar(f.value, f.name, "", f.help)
		command.Must(cmd.MarkFlagFilename(f.name, "yaml", "yml", "json"))
	}
	command.Must(cmd.MarkFlagFilename("settings", "yaml", "yml", "json"))
	flags.StringVar(&l.instanceType, "instance-type", "", "the instance `TYPE` that was chosen")
}

// run reads the inputs, decides, and shows what would be launched.
func (l *launching) run(s cli.Streams, field string) error {
	if err := l.read(s); err != nil {
		return err
	}
	unread := len(nodeconfig.Fatal(l.problems)) > 0
	l.problems = append(l.problems, l.inClass(l.ofClass)...)
	if unread {
		return l.refuse(s, []azure.Reason{})
	}
	made := launch.Render(&l.cloud, l.request)
	l.problems = l.problems.Join(l.inClass(made.Problems())...)
	l.problems = l.problems.Join(l.inClass(made.Check(l.image, l.allowed...))...)
	if len(nodeconfig.Fatal(l.problems)) > 0 {
		against := []azure.Reason{}
		if made.Document().Machine.Image.ID == "" {
			against = l.notTaken(made)
		}
		return l.refuse(s, against)
	}
	explanation := made.Explain(field)
	if field != "" && len(explanation) == 0 {
		return command.Failed("the launch has no value %q", field)
	}
	token, err := l.token(s)
	if err != nil {
		return err
	}
	nodeconfig.SortProblems(l.problems)
	if l.output.Value == command.AsJSON {
		err = command.WriteJSON(s, l.json(made, explanation))
	} else {
		err = command.Write(s, l.text(made, explanation, cli.StyleOf(s.Out)))
	}
	if err != nil {
		return err
	}
	_, _ = io.WriteString(s.Err, cli.Problems("launch", l.problems, cli.StyleOf(s.Err)))
	return l.write(s, made, token)
}

// refuse prints the problems, of which some are fatal, and the reasons against images if those are one of them. It
// prints nothing of the launch: a problem may be a value that is harmful when it is used.
func (l *launching) refuse(s cli.Streams, against []azure.Reason) error {
	nodeconfig.SortProblems(l.problems)
	if l.output.Value == command.AsJSON {
		if err := command.WriteJSON(s, launchResult{NotTaken: against, Problems: l.problems}); err != nil {
			return err
		}
	}
	style := cli.StyleOf(s.Err)
	_, _ = io.WriteString(s.Err, cli.Problems("launch", l.problems, style)+notTakenText(against, style))
	return command.Failed("no machine would be launched: %s", cli.Plural(len(nodeconfig.Fatal(l.problems)), "error"))
}

// read reads the files of the flags. It keeps all problems of all documents.
func (l *launching) read(s cli.Streams) error {
	if err := oneStdin(append(slices.Clone(l.settings), l.pool, l.class, l.claim, l.cluster, l.images, l.types, l.manifest, l.stream, l.tokenFile)...); err != nil {
		return err
	}
	if err := l.readStream(s); err != nil {
		return err
	}
	if err := l.missing(); err != nil {
		return err
	}
	if err := l.readSettings(s); err != nil {
		return err
	}
	for _, o := range l.objects() {
		if *o.flag == "" {
			continue
		}
		data, err := command.ReadInput(s, *o.flag)
		if err != nil {
			return err
		}
		l.add(command.PlaceName(*o.flag), o.read(data))
	}
	return l.readType(s)
}

// missing names everything that a launch needs and the command line does not give.
func (l *launching) missing() error {
	var what, flags []string
	for _, need := range []struct {
		given      bool
		what, flag string
	}{
		{len(l.settings) > 0 || l.environment || len(l.sources) > 0, "settings", "--settings FILE"},
		{l.pool != "" || l.claim != "" || l.request.Pool != nil || l.request.Claim != nil, "claim or pool", "--nodeclaim FILE or --nodepool FILE"},
		{l.instanceType != "", "instance type", "--instance-type TYPE"},
	} {
		if !need.given {
			what, flags = append(what, need.what), append(flags, need.flag)
		}
	}
	if len(what) == 0 {
		return nil
	}
	return cli.Usage("use "+strings.Join(flags, ", "), "no %s given", cli.List(what, "and no"))
}

// add keeps the problems of a document.
func (l *launching) add(name string, problems []nodeconfig.Problem) {
	for _, p := range problems {
		p.Document = name
		l.problems = append(l.problems, p)
	}
}

// inClass replaces the object's name by the class's file name in problems.
func (l *launching) inClass(problems []nodeconfig.Problem) []nodeconfig.Problem {
	for i := range problems {
		if l.cloud.Class != nil && problems[i].Document == l.cloud.Class.Origin() {
			problems[i].Document = command.PlaceName(cmp.Or(l.class, l.stream))
		}
	}
	return problems
}

func (l *launching) readSettings(s cli.Streams) error {
	sources := slices.Clone(l.sources)
	if l.environment {
		sources = append(sources, environmentSettings())
	}
	for _, name := range l.settings {
		source, err := fileSettings(s, name)
		if err != nil {
			return err
		}
		sources = append(sources, source)
	}
	settings, problems := azure.Reload(nil, sources...)
	l.cloud.Settings, l.problems = settings, append(l.problems, problems...)
	return nil
}

func (l *launching) readType(s cli.Streams) (err error) {
	if l.types == "" {
		l.cloud.TypeSource = "the built-in table"
		if l.cloud.Type, err = azure.KnownInstanceType(l.instanceType); err != nil {
			l.add("--instance-type", []nodeconfig.Problem{{Kind: nodeconfig.Invalid, Path: "$", Reason: err.Error(), Fatal: true}})
		}
		return nil
	}
	data, err := command.ReadInput(s, l.types)
	if err != nil {
		return err
	}
	l.cloud.TypeSource = command.PlaceName(l.types)
	location := ""
	if l.cloud.Settings != nil {
		location = l.cloud.Settings.Location
	}
	if l.cloud.Type, err = azure.ReadInstanceType(data, l.instanceType, location); err != nil {
		l.add(command.PlaceName(l.types), []nodeconfig.Problem{{Kind: nodeconfig.Invalid, Path: "$", Reason: err.Error(), Fatal: true}})
	}
	return nil
}

// token is the bootstrap token from the file, or else from the settings.
func (l *launching) token(s cli.Streams) (nodeconfig.Secret, error) {
	if l.tokenFile == "" {
		return l.cloud.Settings.BootstrapToken, nil
	}
	data, err := command.ReadInput(s, l.tokenFile)
	if err != nil {
		return nodeconfig.Secret{}, err
	}
	return nodeconfig.NewSecret(strings.TrimSpace(string(data))), nil
}

// write writes the user data, if requested.
func (l *launching) write(s cli.Streams, made *launch.Launch, token nodeconfig.Secret) error {
	if l.userData == "" {
		return nil
	}
	if token.IsZero() && made.NeedsToken() {
		return &cli.Error{Code: exitcode.Invalid, Err: fmt.Errorf("no bootstrap token is given"), Hint: "name one with --token-file FILE"}
	}
	data, err := made.UserData(token)
	if l.script {
		data, _, err = azure.Script(made, token)
	}
	if large, ok := errors.AsType[*userdata.TooLargeError](err); ok {
		_, _ = io.WriteString(s.Err, sizeTable("what the user data is made of, in bytes", large.Parts)+sizeTable(largestSettings, large.Settings))
	}
	if err != nil {
		return command.Failed("user data: %w", err)
	}
	if err := command.WriteFile(l.userData, []byte(data+"\n"), command.Private); err != nil {
		return command.Failed("%w", err)
	}
	return nil
}
