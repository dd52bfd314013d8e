package classic

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"fmt"
	"strings"
)

//go:embed helpers.sh
var helpers string

//go:embed main.sh
var steps string

//go:embed start.sh
var start string

// scriptDir is the directory of the scripts on AKS's nodes.
const scriptDir = "/opt/azure/containers/"

// writers are the functions that write the node's files, each with the prefixes of its files' paths. The longest match counts.
var writers = []struct {
	function string
	prefixes []string
}{
	{"write_modules", []string{"/etc/modules-load.d/"}},
	{"write_containerd", []string{"/etc/containerd/", "/etc/systemd/system/containerd.service", "/etc/sysctl.d/99-force-bridge-"}},
	{"write_sysctl", []string{"/etc/sysctl.d/"}},
	{"write_kubelet_unit", []string{"/etc/systemd/system/kubelet"}},
	{"write_azure", []string{"/etc/kubernetes/azure.json"}},
	{"write_authority", []string{"/etc/kubernetes/certs/"}},
	{"write_kubelet", []string{"/etc/default/", "/etc/systemd/system/kubelet.service.d/10-tlsbootstrap.conf", "/var/lib/kubelet/", "/etc/kubernetes/"}},
}

// writerOf is the function that writes a file, or "".
func writerOf(path string) string {
	var function, longest string
	for _, w := range writers {
		for _, prefix := range w.prefixes {
			if strings.HasPrefix(path, prefix) && len(prefix) > len(longest) {
				function, longest = w.function, prefix
			}
		}
	}
	return function
}

// CustomData is a cloud-config that writes the scripts and makes cloud-init's last stage run them. The API server is an IPv4
// address, at port 443.
func CustomData(node *Node, apiServer string) ([]byte, error) {
	script, err := provision(node, apiServer)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	out.WriteString("#cloud-config\nwrite_files:\n")
	for _, f := range []struct{ name, content string }{
		{"provision_source.sh", helpers},
		{"provision.sh", script},
		{"provision_start.sh", "#!/bin/bash\n" + start},
	} {
		packed, err := pack(f.content)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "- {path: %s%s, permissions: \"0744\", owner: root, encoding: gz+b64, content: %s}\n", scriptDir, f.name, packed)
	}
	fmt.Fprintf(&out, "runcmd:\n- [/bin/bash, %sprovision_start.sh]\n", scriptDir)
	return out.Bytes(), nil
}

// pack compresses a file for cloud-init's write_files.
func pack(content string) (string, error) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(content)); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(packed.Bytes()), nil
}

// provision is the script of the steps, with the node's files as here-documents.
func provision(node *Node, apiServer string) (string, error) {
	bodies := make(map[string]*strings.Builder)
	for _, w := range writers {
		bodies[w.function] = new(strings.Builder)
	}
	for _, f := range node.Files {
		body := bodies[writerOf(f.Path)]
		if body == nil {
			return "", fmt.Errorf("no step writes %s: give it one in the table of writers", f.Path)
		}
		fmt.Fprintf(body, "\twrite_file %04o %s <<'EOF'\n%s\nEOF\n", f.Mode, f.Path, base64.StdEncoding.EncodeToString(f.Content))
	}
	var script strings.Builder
	fmt.Fprintf(&script, "#!/bin/bash\n. %sprovision_source.sh\n", scriptDir)
	fmt.Fprintf(&script, "api_server=%s\nkubelet=%s\nmetadata=%simds_instance_metadata_cache.json\n", apiServer, node.Kubelet, scriptDir)
	fmt.Fprintf(&script, "modules=(%s)\ndirectories=(%s)\n", strings.Join(node.Modules, " "), strings.Join(node.Directories, " "))
	for _, w := range writers {
		fmt.Fprintf(&script, "%s() {\n%s\t:\n}\n", w.function, bodies[w.function].String())
	}
	script.WriteString(steps)
	return script.String(), nil
}
