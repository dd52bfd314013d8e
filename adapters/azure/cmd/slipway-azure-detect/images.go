package main

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/adapters/azure/detect"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/launch/azure"
)

// imagesFlags are the flags of images.
type imagesFlags struct {
	asking
	output
	location  string
	galleries []string
}

func newImages(s cli.Streams, w world) *cobra.Command {
	var f imagesFlags
	cmd := &cobra.Command{
		Use:   "images --location L [--gallery ID]... [flags]",
		Short: "List the images that a region has, for slipway launch --images",
		Long: `List the images that a region has, and write the list for slipway launch --images: of each definition that a
launch can choose, all versions that their owner has not taken out of "latest".

A gallery is named by its ID: /CommunityGalleries/NAME, /SharedGalleries/NAME, or
/subscriptions/ID/resourceGroups/NAME/providers/Microsoft.Compute/galleries/NAME. Without --gallery it is AKS's
own two, which everybody may read.

If the file is a list already, its pin, its maintenance window, the images in use and the definitions of images of
your own stay: people write them. Images of those definitions are listed, too.`,
		Example: `  slipway-azure-detect images --subscription ID --location eastus --out images.json
  slipway-azure-detect images --subscription ID --location eastus --gallery /SharedGalleries/11111111-1111-1111-1111-111111111111-NODES --out -`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd, s, w) },
	}
	cmd.Flags().StringVarP(&f.location, "location", "l", "", "list the images of the `REGION`, such as eastus")
	cmd.Flags().StringArrayVar(&f.galleries, "gallery", nil, "list the gallery `ID`; may be given more than once")
	f.asking.add(cmd)
	f.output.add(cmd)
	return cmd
}

func (f *imagesFlags) run(cmd *cobra.Command, s cli.Streams, w world) error {
	subscription := f.as(w)
	switch {
	case f.location == "":
		return cli.Usage(command.Hint(cmd), "name the region with --location")
	case subscription == "":
		return cli.Usage(command.Hint(cmd), "name a subscription with --subscription")
	}
	galleries := detect.AKSGalleries()
	if f.galleries != nil {
		galleries = nil
	}
	for _, id := range f.galleries {
		g, err := detect.ParseGallery(id)
		if err != nil {
			return cli.Usage(command.Hint(cmd), "--gallery: %w", err)
		}
		galleries = append(galleries, g)
	}
	former, err := f.former()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), f.timeout)
	defer cancel()
	client, err := w.open(ctx, &f.asking)
	if err != nil {
		return err
	}
	client.Definitions = former.Definitions
	list, err := client.Images(ctx, subscription, f.location, galleries...)
	list.Pin, list.InUse, list.Maintenance = former.Pin, former.InUse, former.Maintenance
	return f.write(s, list, len(list.Images) == 0, err)
}

// former is the list in the output file. It is empty if there is no file. A file that is not a list is an error, so it is not
// replaced.
func (f *imagesFlags) former() (*azure.Images, error) {
	if f.file == standardOutput {
		return new(azure.Images), nil
	}
	data, err := os.ReadFile(f.file)
	if errors.Is(err, fs.ErrNotExist) {
		return new(azure.Images), nil
	}
	if err != nil {
		return nil, command.Failed("read %s: %w", f.file, command.Pathless(err))
	}
	list, problems := azure.ReadImages(data)
	for _, p := range problems {
		if p.Fatal {
			return nil, command.Failed("%s is there and is not a list of images that can be read, so it is not replaced: %s: %s", f.file, p.Path, p.Reason)
		}
	}
	return list, nil
}
