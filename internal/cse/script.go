package cse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// scriptHead waits for the image's scripts, which its own start writes, and makes what the extension's handler makes
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

// scriptCloud prepares a machine in a cloud that is none of Azure's own, with the program that the image has for that.
const scriptCloud = `for init in /opt/azure/containers/init-aks-custom-cloud.sh "$INIT_AKS_CLOUD_FILEPATH"; do
    [ ! -f "$init" ] || { "$init" >> /var/log/azure/cluster-provision.log 2>&1 || exit; break; }
done
`

const scriptRun = `/usr/bin/nohup /bin/bash -c "/bin/bash /opt/azure/containers/provision_start.sh"
`

// trigger starts the scripts of an image in an environment of their variables, as AKS's own program does (AKS node contract,
// 2.3 provision). What prepares a machine of a cloud of its own comes first, and its code is the answer where it fails.
const trigger = `mkdir -p "${PROVISION_OUTPUT%/*}"
echo "$(date),$(hostname)" > "$PROVISION_OUTPUT"
if [ -f "$INIT_AKS_CLOUD_FILEPATH" ]; then
    "$INIT_AKS_CLOUD_FILEPATH" >> /var/log/azure/cluster-provision.log 2>&1 || exit
fi
exec /usr/bin/nohup /bin/bash `

// Trigger is the command that starts an image's provisioning scripts, of which first is the first. Its environment must
// have the variables.
func Trigger(first string) []string { return []string{"/bin/bash", "-c", trigger + shellQuoted(first)} }

// before2025 are variables that only the scripts of older images read; the program of those images had them from constants,
// or not at all (Karpenter's Azure provider, node bootstrap variables).
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

// Script is a script that runs the provisioning scripts of an AKS image from before 2025 with the variables of a contract,
// as [Variables] returns them: custom data for a machine whose image has no agent. A shell gives every value back as it is.
// An error names a variable that no shell can hold.
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

// Assigned are the variables that [Script] assigns for those of a contract, sorted by name: they, and those of older images.
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
	slices.SortFunc(all, func(a, b Variable) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// shellQuoted is a value as a shell reads it back: between single quotes nothing has a meaning but the quote itself
// (POSIX.1-2017, Shell Command Language, 2.2.2).
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }
