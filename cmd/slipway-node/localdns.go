package main

import (
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-dev/slipway/internal/cli"
	"github.com/slipway-dev/slipway/internal/command"
	"github.com/slipway-dev/slipway/internal/host"
	"github.com/slipway-dev/slipway/internal/localdns"
)

// minRefresh is the shortest interval of lookups: each one queries servers that all machines share.
const minRefresh = 5 * time.Second

func (a *app) localDNS() *cobra.Command {
	var settings localdns.Settings
	stop := false
	cmd := &cobra.Command{
		Use:   "local-dns (--coredns PATH --corefile PATH | --stop)",
		Short: "Run the node's own DNS cache",
		Long: `Run the node's own DNS cache, CoreDNS, and have the machine's resolver ask it when it is ready. It runs
as a service, localdns.service, which a node has whose contract sets network.localDNS.

The cache asks the DNS servers that the machine has, also when DHCP names others later. If the cache
is never ready, ends, or does not answer any more, the resolver asks these servers again, and the
command ends with an error.

With --stop it undoes what a run that was killed has left. It does not matter if there is nothing.`,
		Example: `  slipway-node local-dns --coredns /opt/bin/coredns --corefile /etc/localdns/corefile
  slipway-node local-dns --stop`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.runLocalDNS(cmd, settings, stop) },
	}
	flags := cmd.Flags()
	flags.StringVar(&settings.Program, "coredns", "", "run the program `PATH`")
	flags.StringVar(&settings.Corefile, "corefile", "", "its configuration is at `PATH`")
	flags.StringArrayVar(&settings.Names, "name", nil, "keep the addresses of `NAME` in /etc/localdns/hosts, for when DNS is down")
	flags.DurationVar(&settings.Refresh, "refresh", 15*time.Minute, "look these names up every `DURATION`")
	flags.BoolVar(&stop, "stop", false, "put the resolver back, and remove interface and rules")
	for _, name := range []string{"coredns", "corefile"} {
		command.Must(cmd.MarkFlagFilename(name))
	}
	return cmd
}

// runLocalDNS runs the supervisor of the DNS cache with the command line's settings.
func (a *app) runLocalDNS(cmd *cobra.Command, settings localdns.Settings, stop bool) error {
	for _, flag := range []struct{ name, value string }{{"coredns", settings.Program}, {"corefile", settings.Corefile}} {
		if !stop && !isCleanPath(flag.value) {
			return cli.Usage(command.Hint(cmd), "--%s must be an absolute path, not %q", flag.name, flag.value)
		}
	}
	if settings.Refresh < minRefresh {
		return cli.Usage(command.Hint(cmd), "--refresh must be at least %s, not %s", minRefresh, settings.Refresh)
	}
	if a.root != "" {
		return cli.Usage(command.Hint(cmd), "--root: a directory has no DNS")
	}
	if os.Geteuid() != 0 {
		return a.failed(errors.New("only root can change the machine's DNS"))
	}
	machine, err := host.OpenMachine()
	if err != nil {
		return a.failed(err)
	}
	defer machine.Close()
	a.follows, a.changes = true, true
	a.log = a.newLog(nil)
	supervisor := &localdns.Supervisor{Settings: settings, Machine: machine, Notifier: newSupervisor(a.log), Log: a.log}
	if stop {
		err = supervisor.Stop(cmd.Context())
	} else {
		err = supervisor.Run(cmd.Context())
	}
	if err != nil {
		return command.Failed("%w", err)
	}
	return nil
}
