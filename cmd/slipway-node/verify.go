package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/components"
	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/apply"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/resource"
	"github.com/slipway-dev/slipway/internal/signature"
	"github.com/slipway-dev/slipway/nodeconfig"
)

// verifiedFile is a file of the image, and what came of its comparison.
type verifiedFile struct {
	Path    string `json:"path"`
	Name    string `json:"name,omitempty"`
	Version string `json:"version,omitempty"`
	// SHA256 is the digest that the manifest has, in hexadecimal. For the manifest it is the file's own.
	SHA256 string `json:"sha256,omitempty"`
	// State is "ok", "changed" or "not compared".
	State  string `json:"state"`
	Reason string `json:"reason,omitempty"`
}

func (a *app) verify() *cobra.Command {
	var (
		output  command.Choice
		want    nodeconfig.ManifestRequirement
		signers string
	)
	cmd := &cobra.Command{
		Use:   "verify [flags]",
		Short: "Compare the image's programs with its manifest",
		Long: `Compare each program of the image with its digest in the image's component manifest,
` + components.Path + `, and the manifest with a digest or a signature. Without --sha256 and
--signers the manifest itself is not compared: what changed a program could have changed it, too.

Nothing is changed. The exit code is ` + fmt.Sprint(exitcode.ImageChanged) + ` if a file differs.`,
		Example: `  slipway-node verify
  slipway-node verify --sha256 "$(sha256sum <components.json | cut -d' ' -f1)"
  slipway-node verify --signers allowed_signers -o json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if digest, err := hex.DecodeString(want.SHA256); want.SHA256 != "" && (err != nil || len(digest) != sha256.Size) {
				return cli.Usage("give the 64 hexadecimal digits that sha256sum prints", "--sha256 %q is not a digest", want.SHA256)
			}
			if signers != "" {
				list, err := os.ReadFile(signers)
				if err != nil {
					return cli.Usage("give a list as of ssh-keygen(1), ALLOWED SIGNERS", "--signers: %v", err)
				}
				if _, err := signature.ParseSigners(list); err != nil {
					return cli.Usage("give a list as of ssh-keygen(1), ALLOWED SIGNERS", "--signers %s: %v", signers, err)
				}
				want.Signers = []string{string(list)}
			}
			machine, err := a.opened()
			if err != nil {
				return a.failed(err)
			}
			defer machine.Close()
			files, err := verify(cmd.Context(), machine, &want)
			if err != nil {
				return a.failed(err)
			}
			if err := command.Print(a.Streams, output.Value, files, func(style cli.Style) string { return verifyText(files, style) }); err != nil {
				return err
			}
			for _, f := range files {
				if f.State == "changed" {
					return cli.Quit(exitcode.ImageChanged)
				}
			}
			return nil
		},
	}
	command.AddOutput(cmd, &output)
	cmd.Flags().StringVar(&want.SHA256, "sha256", "", "the manifest's digest must be `DIGEST`, 64 hexadecimal digits")
	cmd.Flags().StringVar(&signers, "signers", "", "a key of the allowed signers in `FILE` must have signed the manifest")
	return cmd
}

// verify compares the manifest and its programs.
func verify(ctx context.Context, machine observed, want *nodeconfig.ManifestRequirement) ([]verifiedFile, error) {
	data, err := machine.ReadFile(components.Path, components.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("the image has no manifest to compare with: %w", err)
	}
	compare := func(f verifiedFile, check *resource.Check) verifiedFile {
		f.State = "ok"
		if err := machine.Probe(ctx, check); err != nil {
			f.State, f.Reason = "changed", err.Error()
			if failed, is := errors.AsType[*apply.CheckError](err); is && failed.Endpoint == f.Path {
				f.Reason = failed.Err.Error()
			}
		}
		return f
	}
	manifest := verifiedFile{Path: components.Path, SHA256: fmt.Sprintf("%x", sha256.Sum256(data))}
	if want.SHA256 == "" && len(want.Signers) == 0 {
		manifest.State, manifest.Reason = "not compared", "give --sha256 or --signers"
	} else {
		manifest = compare(manifest, &resource.Check{Manifest: want})
	}
	listed, err := components.List(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", components.Path, err)
	}
	files := []verifiedFile{manifest}
	for _, c := range listed {
		f := verifiedFile{Path: c.Path, Name: c.Name, Version: c.Version, SHA256: c.SHA256}
		if c.SHA256 == "" {
			f.State, f.Reason = "not compared", "the manifest has no digest"
			files = append(files, f)
			continue
		}
		files = append(files, compare(f, &resource.Check{Digest: &resource.Digest{Path: c.Path, SHA256: c.SHA256}}))
	}
	return files, nil
}

// verifyText formats the comparison for people.
func verifyText(files []verifiedFile, style cli.Style) string {
	var table cli.Table
	for _, f := range files {
		paint := map[string]func(string) string{"ok": style.Green, "changed": style.Red}[f.State]
		table.Row(cli.Cell{Text: f.State, Paint: paint}, cli.Cell{Text: cli.Line(strings.TrimSpace(f.Path + " " + f.Version))}, cli.Cell{Text: cli.Line(f.Reason)})
	}
	return table.String()
}
