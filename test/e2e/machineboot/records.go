// Package machineboot reads a machine's own records of its boot, as slipway anatomy does, and compares them with what the lab saw from
// outside. test/e2e/scenario calls it for each case.
package machineboot

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-dev/slipway/internal/anatomy"
	"github.com/slipway-dev/slipway/internal/anatomy/gathered"
	"github.com/slipway-dev/slipway/test/e2e/classic"
	"github.com/slipway-dev/slipway/test/e2e/lab"
)

// unitProperties are those of a unit that a timeline needs.
const unitProperties = "Id,After,ActiveState,Result,InactiveExitTimestampMonotonic,ActiveEnterTimestampMonotonic,InactiveEnterTimestampMonotonic,ExecMainStartTimestampMonotonic"

// bootRecords are the commands that print the documents of a boot, by the file's name, and the documents' names. Machines without the
// agent have them, too.
var bootRecords = map[string]struct{ document, command string }{
	"units":   {"systemd.show", "systemctl show; echo; systemctl show --all -p " + unitProperties + " '*'"},
	"journal": {gathered.JournalName, "journalctl -b -q -o json --output-fields=" + strings.Join(gathered.Fields, ",") + " " + strings.Join(gathered.Matches(), " ")},
	"log":     {"cloud-init.log", "cat /var/log/cloud-init.log"},
	"output":  {"cloud-init-output.log", "cat /var/log/cloud-init-output.log"},
	"azure":   {"azure/events/all.json", "echo '['; cat /var/log/azure/Microsoft.Azure.Extensions.CustomScript/events/*.json | paste -sd,; echo ']'"},
	"listing": {gathered.ListingName, listingScript("/var/lib/kubelet/pki/kubelet-client-current.pem", classic.StartPath, "/opt/azure/containers/*")},
}

// listingScript prints a listing of the files that exist, with their times.
func listingScript(files ...string) string {
	return `echo '{"listedFiles":['; s=; for f in ` + strings.Join(files, " ") + `; do ` +
		`test -e "$f" && echo "$s{\"path\":\"$f\",\"modified\":\"$(date -u -r "$f" +%FT%T.%NZ)\"}" && s=,; done; echo ']}'`
}

// statusName is the file and the document of the agent's status.
const statusName = "slipway-status"

// Read makes the timeline of a machine's boot. status is the path of the agent's status.
func Read(ctx context.Context, vm *lab.VM, status string) (*anatomy.Timeline, error) {
	commands := map[string]string{statusName: "cat " + status + " 2>/dev/null"}
	for name, record := range bootRecords {
		commands[name] = "{ " + record.command + "; } 2>/dev/null"
	}
	files, err := vm.Artifacts(ctx, commands)
	if err != nil {
		return nil, fmt.Errorf("the records of the boot: %w", err)
	}
	var documents []anatomy.Document
	if len(files[statusName]) > 0 {
		documents = append(documents, anatomy.Document{Name: "slipway/status.json", Data: files[statusName]})
	}
	for name, record := range bootRecords {
		if len(files[name]) > 0 {
			documents = append(documents, anatomy.Document{Name: record.document, Data: files[name]})
		}
	}
	return anatomy.Read(documents, anatomy.Options{}), nil
}

// uptimes is how often the machine's clock is compared with the test's.
const uptimes = 12

// KernelStart is when the machine's kernel started, by the test's clock. The machine sends its uptime over the network, so that the
// time on the way is a few milliseconds; the uptime has a resolution of ten. If the machine has no network, the shell answers.
func KernelStart(ctx context.Context, vm *lab.VM) (time.Time, error) {
	started, err := sentUptimes(ctx, vm)
	if err == nil {
		return started, nil
	}
	text, shellErr := vm.Shell.Output(ctx, "cut -d' ' -f1 /proc/uptime")
	answered := time.Now()
	if shellErr != nil {
		return time.Time{}, errors.Join(err, shellErr)
	}
	up, ok := uptime(text)
	if !ok {
		return time.Time{}, fmt.Errorf("the machine's uptime is %q", text)
	}
	return answered.Add(-up), nil
}

// sentUptimes receives the machine's uptime several times. The earliest start that follows counts: each message is late, and each
// uptime is rounded down.
func sentUptimes(ctx context.Context, vm *lab.VM) (earliest time.Time, err error) {
	listener, err := net.Listen("tcp", lab.HostAddress+":0")
	if err != nil {
		return time.Time{}, err
	}
	defer listener.Close()
	result := make(chan time.Time, 1)
	go func() {
		defer close(result)
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		var earliest time.Time
		for lines := bufio.NewScanner(conn); lines.Scan(); {
			arrived := time.Now()
			if up, ok := uptime(lines.Text()); ok && (earliest.IsZero() || arrived.Add(-up).Before(earliest)) {
				earliest = arrived.Add(-up)
			}
			fmt.Fprintln(conn)
		}
		result <- earliest
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	script := fmt.Sprintf("exec 3<>/dev/tcp/%s/%s || exit; for i in {1..%d}; do read u _ </proc/uptime; echo $u >&3; read -t 2 -u 3; done", lab.HostAddress, port, uptimes)
	if _, err := vm.Shell.Output(ctx, script); err != nil {
		return time.Time{}, err
	}
	listener.Close()
	if earliest = <-result; earliest.IsZero() {
		return time.Time{}, errors.New("the machine has sent no uptime")
	}
	return earliest, nil
}

// uptime reads the first number of /proc/uptime.
func uptime(text string) (time.Duration, bool) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	return time.Duration(seconds * float64(time.Second)), err == nil && seconds > 0
}
