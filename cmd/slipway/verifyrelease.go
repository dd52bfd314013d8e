package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/exitcode"
	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/fetch"
	"github.com/slipway-dev/slipway/internal/release"
	"github.com/slipway-dev/slipway/internal/signature"
)

func newVerifyRelease(s cli.Streams) *cobra.Command {
	var (
		output                command.Choice
		signers, version, out string
		need                  int
	)
	cmd := &cobra.Command{
		Use:   "verify-release DIR|URL --signers FILE [flags]",
		Short: "Verify the files of a release and who has signed them",
		Long: `Verify a release of Slipway: the signatures of its list of files, ` + release.SumsName + `, and the digest of each
file that is there. Two keys must have signed the list. Their public halves are in a list of allowed
signers (ssh-keygen(1)), which you take from another place than the release. A directory may have a
part of the release's files, and must have no others. Of a URL all files are downloaded.

An old release has right signatures, too: name the one that you want with --version.

By hand, for each of both signatures:

  ssh-keygen -Y verify -f allowed_signers -I NAME -n ` + release.SignedFor + ` -s ` + release.SignatureNames[0] + ` <` + release.SumsName + `
  sha256sum --check --ignore-missing ` + release.SumsName + `

Exit codes: 0 right, 1 a signature or a file is not, 64 wrong usage.`,
		Example: `  slipway verify-release release --signers allowed_signers
  slipway verify-release release --signers allowed_signers --version v0.1.0 -o json
  slipway verify-release https://example.com/slipway/v0.1.0 --signers allowed_signers --out release`,
		Args: command.Arguments(1, 1, "the directory or the URL of a release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			allowed, err := readSigners(cmd, signers)
			if err != nil {
				return err
			}
			if need < 1 || need > len(release.SignatureNames) {
				return cli.Usage(command.Hint(cmd), "--signatures %d: want 1 or %d", need, len(release.SignatureNames))
			}
			m := cli.NewMeter(s.Err)
			r, err := verifyRelease(cmd.Context(), args[0], out, m, allowed, need)
			m.Clear()
			if err == nil && version != "" && r.Version != version {
				err = fmt.Errorf("the release is %q, and --version wants %q", r.Version, version)
			}
			if err != nil {
				return command.Failed("%s: %w", cli.Line(args[0]), err)
			}
			err = command.Print(s, output.Value, r, func(style cli.Style) string { return releaseText(r, style) })
			if err == nil && !r.Right() {
				err = cli.Quit(exitcode.Invalid)
			}
			return err
		},
	}
	cmd.Flags().StringVar(&signers, "signers", "", "the keys that may have signed the release are in `FILE`")
	cmd.Flags().IntVar(&need, "signatures", len(release.SignatureNames), "`N` keys must have signed the release")
	cmd.Flags().StringVar(&version, "version", "", "the release must be `VERSION`")
	cmd.Flags().StringVar(&out, "out", "", "keep what is downloaded in `DIR`")
	command.Must(cmd.MarkFlagFilename("signers"))
	command.Must(cmd.MarkFlagDirname("out"))
	command.AddOutput(cmd, &output)
	return cmd
}

func readSigners(cmd *cobra.Command, name string) ([]signature.Signer, error) {
	if name == "" {
		return nil, cli.Usage(command.Hint(cmd), "name the list of allowed signers with --signers FILE")
	}
	list, err := command.ReadInput(cli.Streams{}, name)
	if err != nil {
		return nil, err
	}
	allowed, err := signature.ParseSigners(list)
	if err != nil {
		return nil, command.Failed("--signers %s: %w", cli.Line(name), err)
	}
	return allowed, nil
}

// verifyRelease verifies a release in a directory, or one that it downloads.
func verifyRelease(ctx context.Context, from, out string, m *cli.Meter, allowed []signature.Signer, need int) (*release.Result, error) {
	if !strings.HasPrefix(from, "https://") && !strings.HasPrefix(from, "http://") {
		dir, err := os.OpenRoot(from)
		if err != nil {
			return nil, command.Pathless(err)
		}
		defer dir.Close()
		return release.Verify(dir, allowed, need)
	}
	if out == "" {
		temporary, err := os.MkdirTemp("", "slipway-release-")
		if err != nil {
			return nil, err
		}
		defer os.RemoveAll(temporary)
		out = temporary
	} else if err := os.MkdirAll(out, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(out)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	if err := downloadRelease(ctx, from, dir, m, allowed, need); err != nil {
		return nil, err
	}
	return release.Verify(dir, allowed, need)
}

// downloadRelease downloads the list and its signatures, and then the files of the list, if the signatures are right.
func downloadRelease(ctx context.Context, from string, dir *os.Root, m *cli.Meter, allowed []signature.Signer, need int) error {
	client := &fetch.Client{Proxy: fetch.EnvironmentProxy}
	get := func(sum release.Sum, limit int64) error {
		file, err := dir.OpenFile(sum.Name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		defer file.Close()
		client.Progress = func(bytes, total int64) { m.Update(sum.Name, bytes, total) }
		_, err = client.Get(ctx, fetch.Request{From: []string{strings.TrimSuffix(from, "/") + "/" + sum.Name}, SHA256: sum.SHA256, MaxBytes: limit}, file)
		return err
	}
	for _, name := range append([]string{release.SumsName}, release.SignatureNames...) {
		if err := get(release.Sum{Name: name}, release.MaxSums); err != nil {
			return err
		}
	}
	sums, _, err := release.Signed(dir, allowed, need)
	if err != nil {
		return err
	}
	for _, sum := range sums {
		if err := get(sum, release.MaxFile); err != nil {
			return err
		}
	}
	return nil
}

// releaseText shows a result to people.
func releaseText(r *release.Result, style cli.Style) string {
	var b strings.Builder
	if r.Version != "" {
		fmt.Fprintf(&b, "Slipway %s, commit %s\n", cli.Line(r.Version), cli.Line(r.Commit))
	}
	fmt.Fprintf(&b, "signed by %s\n\n", cli.List(r.Signers, "and"))
	absent := 0
	for _, f := range r.Files {
		state := f.State
		switch f.State {
		case release.Absent:
			absent++
			continue
		case release.OK:
			state = style.Green(state)
		default:
			state = style.Red(state)
		}
		fmt.Fprintf(&b, "  %s  %s", state, cli.Line(f.Name))
		if f.Reason != "" {
			fmt.Fprintf(&b, ": %s", cli.Line(f.Reason))
		}
		b.WriteByte('\n')
	}
	if absent > 0 {
		is := "are"
		if absent == 1 {
			is = "is"
		}
		fmt.Fprintf(&b, "\n%s of the release %s not here\n", cli.Plural(absent, "file"), is)
	}
	return b.String()
}
