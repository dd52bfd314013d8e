package cse

import (
	"fmt"
	"slices"
	"strings"
)

// scriptHead waits for the image's scripts, which the image's own start writes, and creates what the extension's handler creates
// elsewhere (Karpenter's Azure provider, custom data of its scriptless mode: the image's scripts wait for the line in the
// manifest).
const scriptHead = `#!/bin/bash
# Runs the provisioning scripts of an AKS node image with the variables below, sorted by name.
set -o allexport
echo '#EOF' >> /opt/azure/manifest.json
mkdir -p /var/log/azure/Microsoft.Azure.Extensions.CustomScript/events
echo "$(date),$(hostname)" > /var/log/azure/cluster-provision-cse-output.log
for i in $(seq 1 1200); do
    grep -Fq EOF /opt/azure/containers/provision.sh && break
    [ "$i" -lt 1200 ] || exit 100
    sleep 1
done
`

// scriptCloud prepares a machine in a custom cloud, with the image's program for that.
const scriptCloud = `for init in /opt/azure/containers/init-aks-custom-cloud.sh "$INIT_AKS_CLOUD_FILEPATH"; do
    [ ! -f "$init" ] || { "$init" >> /var/log/azure/cluster-provision.log 2>&1 || exit; break; }
done
`

const scriptRun = `/usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"
`

// trigger starts an image's scripts with their variables, as AKS's own program does (AKS node contract, 2.3 provision). The program
// for custom clouds runs first, and if it fails, its exit code is the result.
const trigger = `mkdir -p "${PROVISION_OUTPUT%/*}"
echo "$(date),$(hostname)" > "$PROVISION_OUTPUT"
if [ -f "$INIT_AKS_CLOUD_FILEPATH" ]; then
    "$INIT_AKS_CLOUD_FILEPATH" >> /var/log/azure/cluster-provision.log 2>&1 || exit
fi
exec /usr/bin/nohup /bin/bash `

// Trigger returns the command that starts an image's provisioning scripts, with first as the first one. Its environment must have
// the variables.
func Trigger(first string) []string { return []string{"/bin/bash", "-c", trigger + shellQuoted(first)} }

// before2025 are variables that only the scripts of older images read; the program of those images set them from constants, or not
// at all (Karpenter's Azure provider, node bootstrap variables).
var before2025 = []Variable{
	{"CNI_PLUGINS_URL", ""},
	{"CONTAINER_RUNTIME", "containerd"},
	{"ENABLE_TLS_BOOTSTRAPPING", "true"},
	{"HYPERKUBE_URL", ""},
	{"IS_KRUSTLET", "false"},
	{"MCR_REPOSITORY_BASE", "mcr.microsoft.com"},
	{"NEEDS_CONTAINERD", "true"},
	{"NEEDS_DOCKER_LOGIN", "false"},
	{"TELEPORTD_PLUGIN_DOWNLOAD_URL", ""},
	{"TELEPORT_ENABLED", "false"},
}

// Script returns a script that runs the provisioning scripts of an AKS image from before 2025 with the variables of a contract, as
// [Variables] returns them: custom data for a machine whose image has no agent. A shell reads every value back unchanged. An error
// names a variable that no shell can hold.
func Script(variables []Variable) ([]byte, error) {
	all, values := Assigned(variables), Map(variables)
	if reasons := check(all); reasons != nil {
		return nil, fmt.Errorf("the contract %s", strings.Join(reasons, "; it "))
	}
	var script strings.Builder
	script.WriteString(scriptHead)
	for _, v := range all {
		script.WriteString(v.Name + "=" + shellQuoted(v.Value) + "\n")
	}
	if values["IS_CUSTOM_CLOUD"] == "true" {
		script.WriteString(scriptCloud)
	}
	script.WriteString(scriptRun)
	return []byte(script.String()), nil
}

// Assigned returns the variables that [Script] assigns for those of a contract, sorted by name: they, and those of older images.
func Assigned(variables []Variable) []Variable {
	all, values := slices.Clone(variables), Map(variables)
	for _, old := range before2025 {
		if _, ok := values[old.Name]; ok {
			continue
		}
		if old.Name == "ENABLE_TLS_BOOTSTRAPPING" && values["TLS_BOOTSTRAP_TOKEN"] == "" {
			old.Value = "false"
		}
		all = append(all, old)
	}
	sortByName(all)
	return all
}

// shellQuoted quotes a value for a shell: between single quotes only the quote itself has a meaning (POSIX.1-2017, Shell Command
// Language, 2.2.2).
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
