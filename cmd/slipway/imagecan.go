package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/facts"
	"github.com/slipway-dev/slipway/internal/image/ability"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// imageFit is the result of image can.
type imageFit struct {
	Manifest string `json:"manifest"`
	Contract string `json:"contract"`
	// Can is whether the image can make the node, as far as the manifest says.
	Can bool `json:"can"`
	// Unknown is why the manifest does not say it.
	Unknown string `json:"unknown,omitempty"`
	// Problems are what the node needs and does not get.
	Problems []nodeconfig.Problem `json:"problems"`
}

func newImageCan(s cli.Streams) *cobra.Command {
	var from source
	var output command.Choice
	cmd := &cobra.Command{
		Use:   "can -f CONFIG MANIFEST [flags]",
		Short: "Say whether an image can make the node of a contract",
		Long: `Say whether an image can make the node of a contract, from the image's manifest
(/opt/slipway/components.json), before a machine exists. For each thing that the image lacks, the
field of the contract that asks for it is named. "slipway launch --manifest" gives the same answer.

What the contract itself brings (components.artifacts) the image may lack.

Exit codes: 0 the image can, 1 it cannot, 2 the contract or the manifest is wrong, 64 wrong usage.`,
		Example: `  slipway image can -f node.yaml components.json
  slipway image can -f node.yaml components.json -o json`,
		Args: command.Arguments(1, 1, "an image's manifest"),
		RunE: func(_ *cobra.Command, args []string) error {
			fit, c, err := fitOf(s, &from, args[0])
			if err != nil {
				return command.Trouble(err)
			}
			return command.Compared(command.Print(s, output.Value, fit, func(style cli.Style) string { return fit.text(c, style) }), fit.Can)
		},
	}
	from.add(cmd)
	from.addPolicy(cmd)
	command.AddOutput(cmd, &output)
	return cmd
}

// fitOf compares a contract with a manifest. A contract that no image could make a node of is an error.
func fitOf(s cli.Streams, from *source, manifest string) (*imageFit, *contract, error) {
	if err := oneStdin(append([]string{manifest}, from.files...)...); err != nil {
		return nil, nil, err
	}
	c, err := from.read(s)
	if err != nil {
		return nil, nil, err
	}
	if !c.valid() {
		return nil, nil, c.require(s)
	}
	data, err := command.ReadInput(s, manifest)
	if err != nil {
		return nil, nil, err
	}
	image, err := components.Parse(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", cli.Line(command.Title(manifest)), err)
	}
	problems, unknown := ability.Check(&image, c.Contract, facts.Facts{})
	nodeconfig.SortProblems(problems)
	c.Problems = problems
	return &imageFit{manifest, c.name, !c.refused(), unknown, problems}, c, nil
}

// text is the result for people.
func (f *imageFit) text(c *contract, style cli.Style) string {
	var out strings.Builder
	out.WriteString(cli.Problems(c.place(), f.Problems, style))
	image, of := cli.Line(command.Title(f.Manifest)), cli.Line(command.Title(f.Contract))
	switch {
	case !f.Can:
		fmt.Fprintf(&out, "the image of %s cannot make the node of %s\n", image, of)
	case f.Unknown != "":
		fmt.Fprintf(&out, "the image of %s may make the node of %s: it %s\n", image, of, f.Unknown)
	default:
		fmt.Fprintf(&out, "the image of %s can make the node of %s\n", image, of)
	}
	return out.String()
}
